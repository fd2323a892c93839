; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
((comment) @injection.content
  (#set! injection.language "comment"))
