" Step IR of pipec
" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
" Made by utils/editor-grammars.py from the tables of the compiler.
if exists('b:current_syntax')
  finish
endif
syntax case match

syntax keyword stepsWord forward_only param map connect graph tie order stream section layers body layout cost memory fsdp expect schedule ranks stages microbatches slices rank overlap batch
syntax keyword stepsStep F B I W R UPDATE SEND_F RECV_F SEND_B RECV_B WAIT_SEND_F WAIT_SEND_B UNSHARD RESHARD REDUCE_GRAD WAIT_REDUCE_GRAD OFFLOAD WAIT_OFFLOAD RELOAD REDUCE_TIED bubble
syntax match stepsHeader /^pipec-steps\s\+\d\+/
syntax match stepsName /@\k\+/
syntax match stepsPhase /^\s*\k\+:/
syntax match stepsPlace /\<[smrt]\d\+\>/
syntax match stepsNumber /\<\d\+\>/
syntax match stepsComment +//.*$+ contains=@Spell
syntax region stepsString start=+"+ skip=+\\.+ end=+"+ oneline

highlight default link stepsWord Keyword
highlight default link stepsStep Constant
highlight default link stepsHeader PreProc
highlight default link stepsName Type
highlight default link stepsPhase Label
highlight default link stepsPlace Identifier
highlight default link stepsNumber Number
highlight default link stepsComment Comment
highlight default link stepsString String

let b:current_syntax = 'pipesteps'
