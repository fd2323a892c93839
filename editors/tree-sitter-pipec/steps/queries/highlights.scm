; Made by utils/editor-grammars.py from the tables of the compiler.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

(comment) @comment
(string) @string
(number) @constant.numeric
(rational) @constant.numeric

"pipec-steps" @keyword.directive
["batch" "body" "connect" "cost" "expect" "fsdp" "graph" "layers" "layout" "map" "memory" "microbatches" "order" "overlap" "param" "rank" "ranks" "schedule" "section" "slices" "stages" "stream" "tie"] @keyword
(forward_only) @keyword
["OFFLOAD" "RECV_B" "RECV_F" "REDUCE_GRAD" "REDUCE_TIED" "RELOAD" "RESHARD" "SEND_B" "SEND_F" "UNSHARD" "UPDATE" "WAIT_OFFLOAD" "WAIT_REDUCE_GRAD" "WAIT_SEND_B" "WAIT_SEND_F"] @constant.builtin
(letter) @constant.builtin
(bubble) @constant.builtin

(schedule name: (identifier) @type)
(phase name: (identifier) @label)
(parameter name: (identifier) @variable.parameter)
(setting figure: (identifier) @constant.builtin)
(metric name: (identifier) @constant.builtin)
[(stage) (microbatch) (peer) (group)] @variable.builtin

["!=" "&" "->" "<" "<-" "<=" "=" "==" ">" ">=" "@"] @operator
["{" "}" "(" ")"] @punctuation.bracket
["," ":"] @punctuation.delimiter
