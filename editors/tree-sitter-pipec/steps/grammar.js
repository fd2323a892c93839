/**
 * @file Step IR of pipec (.steps), after docs/StepIR.md.
 * @license Apache-2.0 WITH LLVM-exception
 */
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const list1 = (rule) => seq(rule, repeat(seq(",", rule)));

module.exports = grammar({
  name: "pipesteps",

  word: ($) => $.identifier,

  // Lines end statements.
  extras: ($) => [/[ \t\r]/, $.comment],

  rules: {
    source_file: ($) => seq(optional($._end), $.format, $._end, $.schedule, optional($._end)),

    format: ($) => seq("pipec-steps", $.number),

    schedule: ($) =>
      seq(
        "schedule",
        "@",
        field("name", $._name),
        "{",
        seq("ranks", field("ranks", $.number)),
        seq("stages", field("stages", $.number)),
        seq("microbatches", field("microbatches", $.number)),
        optional(seq("slices", field("slices", $.number))),
        $._end,
        repeat(seq($._entry, $._end)),
        repeat(seq($.rank, $._end)),
        "}",
      ),

    // The header

    _entry: ($) =>
      choice($.forward_only, $.param, $.map, $.connect, $.graph, $.tie, $.order, $.stream, $.section, $.layers, $.body, $.layout, $.cost, $.memory, $.fsdp, $.expect),

    forward_only: () => "forward_only",

    param: ($) => seq("param", list1($.parameter)),

    parameter: ($) => seq(field("name", $._name), "=", field("value", $.rational)),

    map: ($) => seq("map", repeat1($.number)),

    connect: ($) => seq("connect", list1($.edge)),

    graph: ($) => seq("graph", list1($.edge)),

    edge: ($) => seq(field("from", $.number), "->", field("to", $.number)),

    tie: ($) => seq("tie", repeat1($.number)),

    order: ($) => seq("order", repeat1($.number)),

    stream: ($) => seq("stream", field("name", $._name), repeat1($.number)),

    section: ($) =>
      seq("section", field("name", $._name), optional(seq("on", field("stream", $._name))), repeat($.setting)),

    layers: ($) => seq("layers", repeat1($.number)),

    body: ($) => seq("body", repeat($.body_step)),

    body_step: ($) => seq(optional("last"), $.letter, ".", field("section", $._name)),

    layout: ($) => seq("layout", $.string),

    cost: ($) => seq("cost", optional($.scope), repeat1($.setting)),

    memory: ($) => choice(seq("memory", repeat1(choice("bytes", $.setting))), seq("memory", $.scope, repeat1($.setting))),

    scope: ($) =>
      choice(
        seq("stage", $.number, optional(seq("microbatch", $.number))),
        seq(choice("rank", "microbatch", "slice", "nodes"), $.number),
        seq("edge", $.edge),
      ),

    setting: ($) =>
      seq(
        choice(
          field("figure", $.identifier),
          seq($.letter, optional(seq(repeat1(seq("&", $.letter)), optional("factor")))),
        ),
        "=",
        field("value", $.rational),
      ),

    letter: () => choice("F", "B", "I", "W"),

    fsdp: ($) =>
      seq(
        "fsdp",
        seq("stages", $._stages),
        optional(seq("max_active", $.number)),
        optional(seq("prefetch", $.number)),
        optional(seq("reduce", $._stages)),
      ),

    _stages: ($) => choice("all", "none", repeat1($.number)),

    expect: ($) =>
      seq(
        "expect",
        $.metric,
        field("relation", choice("==", "!=", "<", "<=", ">", ">=")),
        field("value", $.rational),
      ),

    metric: ($) => seq(field("name", $.identifier), optional(seq("(", $.number, ")"))),

    // The lists of steps

    rank: ($) => seq("rank", field("rank", $.number), "{", $._end, repeat(seq($._line, $._end)), "}"),

    _line: ($) => choice($.phase, $.line),

    phase: ($) => seq(field("name", $._name), ":"),

    line: ($) => seq(choice($._step, $.overlap, $.batch), optional(seq("@", field("start", $.rational)))),

    _step: ($) => choice($.compute, $.transfer, $.wait, $.sharding, $.bubble),

    compute: ($) => seq($.letter, $.stage, $.microbatch),

    transfer: ($) =>
      seq(
        choice(
          seq(field("kind", choice("SEND_F", "SEND_B")), $.stage, $.microbatch, "->"),
          seq(field("kind", choice("RECV_F", "RECV_B")), $.stage, $.microbatch, "<-"),
        ),
        choice($.peer, $.stage),
      ),

    wait: ($) =>
      choice(
        seq(
          field("kind", choice("WAIT_SEND_F", "WAIT_SEND_B")),
          $.stage,
          $.microbatch,
          optional(seq("->", $.stage)),
        ),
        seq(field("kind", "WAIT_REDUCE_GRAD"), $.stage),
      ),

    sharding: ($) =>
      choice(
        seq(field("kind", choice("UNSHARD", "RESHARD", "REDUCE_GRAD")), $.stage),
        seq(field("kind", "REDUCE_TIED"), $.group),
      ),

    bubble: () => "bubble",

    overlap: ($) => seq("overlap", $.compute, repeat1(seq("&", $.compute))),

    batch: ($) => seq("batch", $.transfer, repeat1(seq(",", $.transfer))),

    // Tokens

    _name: ($) => choice($.identifier, $.string),

    identifier: () => /[a-zA-Z_][a-zA-Z0-9_]*/,

    stage: () => token(prec(1, /s[0-9]+/)),

    microbatch: () => token(prec(1, /m[0-9]+(\.[0-9]+)?/)),

    peer: () => token(prec(1, /r[0-9]+/)),

    group: () => token(prec(1, /t[0-9]+/)),

    number: () => /[0-9]+/,

    rational: () => /-?[0-9]+([\/.][0-9]+)?/,

    string: () => /"([^"\\\r\n]|\\["\\]|\\[0-9a-fA-F]{2})*"/,

    comment: () => token(seq("//", /[^\r\n]*/)),

    _end: () => repeat1("\n"),
  },
});
