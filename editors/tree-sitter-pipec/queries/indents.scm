; Indentation in Helix.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
[
  (schedule_body)
  (block)
  (function_body)
  (explicit_placement)
  (settings)
  (graph)
  (fsdp)
  (parameters)
] @indent

"}" @outdent

(parameters
  ")" @outdent)
