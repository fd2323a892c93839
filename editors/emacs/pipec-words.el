;;; pipec-words.el --- The words of pipec  -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

;;; Commentary:
;; Made by utils/editor-grammars.py from the tables of the compiler.

;;; Code:

(defconst pipec-words-keywords
  '("at" "cooldown" "cost" "else" "expect" "fill" "fn" "for" "forward_only" "fsdp" "idle" "if"
    "import" "in" "let" "memory" "pattern" "phase" "placement" "repeat" "require" "reverse"
    "schedule" "steady" "warmup")
  "Words of programs.")

(defconst pipec-words-items
  '("alias" "connect" "graph" "overlap" "sections" "tie")
  "Words that are names everywhere but at the beginning of an item.")

(defconst pipec-words-values
  '("chunks" "microbatches" "rank" "ranks" "stages")
  "Values, and the labels of parameters.")

(defconst pipec-words-letters
  '("B" "F" "I" "OFFLOAD" "R" "RELOAD" "UPDATE" "W" "WAIT_OFFLOAD")
  "Steps of programs.")

(defconst pipec-words-functions
  '("abs" "ceil_div" "max" "min" "stage")
  "Functions of the language.")

(defconst pipec-words-placements
  '("bidirectional" "blocked" "loop" "v" "wave")
  "Names of placements.")

(defconst pipec-words-figures
  '("bubble_makespan" "bubble_span" "context_gradient" "during" "factor" "host" "host_limit"
    "idle" "layout" "limit" "makespan" "max_active" "occupancy" "offload" "overlap" "p2p"
    "parameters" "peak" "port" "prefetch" "receive" "reduce_grad" "reduce_tied" "reload"
    "reshard" "sharded" "span" "stash" "unshard" "update")
  "Figures, metrics, and entries of `fsdp' and `cost'.")

(defconst pipec-words-steps-keywords
  '("batch" "body" "connect" "cost" "expect" "forward_only" "fsdp" "graph" "layers" "layout"
    "map" "memory" "microbatches" "order" "overlap" "param" "rank" "ranks" "schedule" "section"
    "slices" "stages" "stream" "tie")
  "Words of step IR.")

(defconst pipec-words-steps-kinds
  '("B" "F" "I" "OFFLOAD" "R" "RECV_B" "RECV_F" "REDUCE_GRAD" "REDUCE_TIED" "RELOAD" "RESHARD"
    "SEND_B" "SEND_F" "UNSHARD" "UPDATE" "W" "WAIT_OFFLOAD" "WAIT_REDUCE_GRAD" "WAIT_SEND_B"
    "WAIT_SEND_F" "bubble")
  "Kinds of steps in step IR.")

(provide 'pipec-words)
;;; pipec-words.el ends here
