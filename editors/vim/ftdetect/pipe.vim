" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
autocmd BufRead,BufNewFile *.pipe setfiletype pipe
autocmd BufRead,BufNewFile *.steps setfiletype pipesteps
