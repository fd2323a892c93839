" Programs of pipec
" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
" Made by utils/editor-grammars.py from the tables of the compiler.
if exists('b:current_syntax')
  finish
endif
syntax case match

syntax keyword pipeDeclaration cooldown cost expect fn forward_only fsdp import let memory pattern phase placement require schedule steady warmup
syntax keyword pipeControl at else fill for idle if in repeat reverse
syntax keyword pipeValue chunks microbatches rank ranks stages
syntax keyword pipeStep B F I OFFLOAD R RELOAD UPDATE W WAIT_OFFLOAD
syntax match pipeFunction /\v<%(abs|ceil_div|max|min|stage)>\ze\s*\(/
syntax match pipeDeclaration /\v((^|[;{}])\s*)@<=%(alias|connect|graph|overlap|sections|tie)>\ze(\s+[[:alnum:]_"]|\s*\{)/
syntax match pipeConstant /\v(<placement\s+)@<=%(bidirectional|blocked|loop|v|wave)>/
syntax match pipeConstant /\v(<expect\s+)@<=%(bubble_makespan|bubble_span|host|idle|makespan|peak|span)>/
syntax match pipeConstant /\v<%(context_gradient|during|factor|host_limit|limit|occupancy|offload|overlap|p2p|parameters|port|receive|reduce_grad|reduce_tied|reload|reshard|sharded|stash|unshard|update)>\ze\s*\=[^=]/
syntax match pipeConstant /\v<%(max_active|prefetch)>\ze\s+\k/
syntax match pipeConstant /\v<%(layout)>\ze\s*"/
syntax match pipeName /\v(<(schedule|fn|pattern|phase)\s+)@<=\k+/
syntax match pipeNumber /\v<\d+(\.\d+)?>/
syntax match pipeComment +//.*$+ contains=pipeTodo,@Spell
syntax keyword pipeTodo TODO FIXME contained
syntax region pipeString start=+"+ skip=+\\.+ end=+"+ oneline

highlight default link pipeDeclaration Keyword
highlight default link pipeControl Statement
highlight default link pipeValue Identifier
highlight default link pipeStep Constant
highlight default link pipeFunction Function
highlight default link pipeConstant Constant
highlight default link pipeName Type
highlight default link pipeNumber Number
highlight default link pipeComment Comment
highlight default link pipeTodo Todo
highlight default link pipeString String

let b:current_syntax = 'pipe'
