; Made by utils/editor-grammars.py from the tables of the compiler.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

(comment) @comment

(string) @string
(message) @string
(escape) @string.escape
(placeholder) @string.special

(number) @constant.numeric
(decimal) @constant.numeric

[
  "alias" "connect" "cooldown" "cost" "expect" "fn" "forward_only" "fsdp" "graph" "import" "let"
  "memory" "overlap" "pattern" "phase" "placement" "require" "schedule" "sections" "steady" "tie"
  "warmup"
] @keyword

[
  "at" "else" "fill" "for" "idle" "if" "in" "repeat" "reverse"
] @keyword.control

(explicit_placement ["on" "stage"] @keyword)

[
  "chunks" "microbatches" "rank" "ranks" "stages"
] @variable.builtin

(letter) @constant.builtin

(schedule name: (identifier) @type)
(function_definition name: (identifier) @function)
(pattern_definition name: (identifier) @function)
(use pattern: (identifier) @function)
(phase name: (identifier) @label)
(parameter name: (identifier) @variable.parameter)
(arguments (identifier) @variable.parameter)

(call function: (identifier) @function.builtin
  (#any-of? @function.builtin
    "abs" "ceil_div" "max" "min" "stage"))

(call function: (identifier) @function
  (#not-any-of? @function
    "abs" "ceil_div" "max" "min" "stage"))

(placement kind: (identifier) @constant.builtin
  (#any-of? @constant.builtin
    "bidirectional" "blocked" "loop" "v" "wave"))

(metric name: (identifier) @constant.builtin
  (#any-of? @constant.builtin
    "bubble_makespan" "bubble_span" "host" "idle" "makespan" "peak" "span"))

(setting figure: (identifier) @constant.builtin
  (#any-of? @constant.builtin
    "context_gradient" "during" "factor" "host_limit" "limit" "occupancy" "offload" "overlap" "p2p"
    "parameters" "port" "receive" "reduce_grad" "reduce_tied" "reload" "reshard" "sharded" "stash"
    "unshard" "update"))

(cost_of figure: (identifier) @constant.builtin
  (#any-of? @constant.builtin
    "context_gradient" "during" "factor" "host_limit" "limit" "occupancy" "offload" "overlap" "p2p"
    "parameters" "port" "receive" "reduce_grad" "reduce_tied" "reload" "reshard" "sharded" "stash"
    "unshard" "update"))

(scope kind: (identifier) @type.builtin
  (#any-of? @type.builtin
    "edge" "microbatch" "nodes" "rank" "slice" "stage"))

(fsdp_entry name: (identifier) @constant.builtin
  (#any-of? @constant.builtin
    "max_active" "prefetch"))

(layout ["layout"] @constant.builtin)

[
  "!" "!=" "%" "&" "&&" "*" "+" "-" "->" ".." "/" ":" "<" "<=" "=" "==" ">" ">=" "?" "||"
] @operator

["(" ")" "[" "]" "{" "}"] @punctuation.bracket

[";" ","] @punctuation.delimiter
