/**
 * @file Programs of pipec (.pipe), after grammar/PipeLexer.g4 and PipeParser.g4.
 * @license Apache-2.0 WITH LLVM-exception
 */
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// The levels of binary operators, loosest first. Comparisons do not chain.
const LEVELS = [
  { name: "or", operators: ["||"], chains: true },
  { name: "and", operators: ["&&"], chains: true },
  { name: "equality", operators: ["==", "!="], chains: true },
  { name: "comparison", operators: ["<", "<=", ">", ">="], chains: false },
  { name: "sum", operators: ["+", "-"], chains: true },
  { name: "product", operators: ["*", "/", "%"], chains: true },
];

const list1 = (rule) => seq(rule, repeat(seq(",", rule)));
const list = (rule) => optional(list1(rule));
const lines = (rule) => seq("{", optional(seq(rule, repeat(seq(";", rule)), optional(";"))), "}");

/** Two hidden rules per level: what an operand may be, and the operation, a `binary_expression`. */
function levels() {
  const rules = {};
  LEVELS.forEach(({ name, operators, chains }, index) => {
    const tighter = index + 1 < LEVELS.length ? `_${LEVELS[index + 1].name}` : "_unary";
    rules[`_${name}`] = ($) => choice(alias($[`_${name}_operation`], $.binary_expression), $[tighter]);
    rules[`_${name}_operation`] = ($) =>
      seq(
        field("left", $[chains ? `_${name}` : tighter]),
        field("operator", operators.length > 1 ? choice(...operators) : operators[0]),
        field("right", $[tighter]),
      );
  });
  return rules;
}

module.exports = grammar({
  name: "pipe",

  word: ($) => $.identifier,

  extras: ($) => [/[ \t\r\n]/, $.comment],

  // After `idle`, a name is a count, or begins the use of a pattern.
  conflicts: ($) => [[$.idle]],

  rules: {
    source_file: ($) =>
      repeat(choice($.import_declaration, $.function_definition, $.pattern_definition, $.schedule)),

    import_declaration: ($) => seq("import", field("path", $.string), ";"),

    schedule: ($) =>
      seq("schedule", field("name", $.identifier), field("parameters", $.parameters), field("body", $.schedule_body)),

    parameters: ($) => seq("(", list($.parameter), ")"),

    parameter: ($) =>
      seq(
        optional(field("label", choice("ranks", "microbatches", "chunks", $.identifier))),
        field("name", $.identifier),
        optional(seq("=", field("default", $._expression))),
      ),

    schedule_body: ($) => seq("{", repeat($._item), "}"),

    _item: ($) =>
      choice(
        $.placement,
        $.require,
        $.expect,
        $.forward_only,
        $.cost,
        $.memory,
        $.fsdp,
        $.connect,
        $.graph,
        $.tie,
        $.alias,
        $.sections,
        $.overlap_body,
        $.let,
        $.function_definition,
        $.pattern_definition,
        $.phase,
      ),

    // Placement and settings

    placement: ($) =>
      seq(
        "placement",
        choice(
          seq(field("kind", $.identifier), optional(seq("(", field("count", $._expression), ")")), ";"),
          $.explicit_placement,
        ),
      ),

    explicit_placement: ($) =>
      seq(
        "{",
        "stages",
        field("stages", $._expression),
        ";",
        "stage",
        field("variable", $.identifier),
        "on",
        field("rank", $._expression),
        optional(";"),
        "}",
      ),

    connect: ($) => seq("connect", $.edge, ";"),

    graph: ($) => seq("graph", lines($.edge)),

    edge: ($) =>
      seq(
        field("from", $._expression),
        "->",
        field("to", $._expression),
        optional(seq("for", field("variable", $.identifier), "in", $.range)),
      ),

    range: ($) => seq(field("first", $._expression), "..", field("end", $._expression)),

    tie: ($) => seq("tie", list1($._expression), ";"),

    alias: ($) => seq("alias", list1($.string), ";"),

    sections: ($) => seq("sections", "(", field("layers", $._expression), ")", lines($.section)),

    section: ($) => seq(field("name", $.identifier), optional(seq("on", field("stream", $.identifier)))),

    overlap_body: ($) => seq("overlap", $.letters, "{", repeat($.body_step), "}"),

    body_step: ($) => seq(optional("last"), $.letter, ".", field("section", $.identifier)),

    require: ($) =>
      seq("require", field("condition", $._expression), optional(seq(",", field("text", $.message))), ";"),

    expect: ($) =>
      seq(
        "expect",
        $.metric,
        field("relation", choice("==", "!=", "<", "<=", ">", ">=")),
        field("value", $._expression),
        optional(seq("if", field("condition", $._expression))),
        ";",
      ),

    // (A metric in parentheses is an error of the compiler.)
    metric: ($) =>
      seq(
        field("name", choice($.identifier, "idle")),
        optional(seq("(", choice(field("rank", $._expression), "idle"), ")")),
      ),

    forward_only: ($) => seq("forward_only", ";"),

    cost: ($) => seq("cost", $.settings),

    memory: ($) => seq("memory", $.settings),

    settings: ($) => lines(choice($.setting, $.layout, $.scope)),

    setting: ($) => seq(field("figure", choice($.letters, $.identifier)), "=", field("value", $._expression)),

    layout: ($) => seq("layout", $.string),

    scope: ($) =>
      seq(
        choice(
          $.letters,
          seq(
            field("kind", choice($.identifier, "rank")),
            field("of", $._expression),
            optional(seq("->", field("to", $._expression))),
          ),
        ),
        $.settings,
        optional(seq("for", field("variable", $.identifier), "in", $.range)),
      ),

    fsdp: ($) => seq("fsdp", lines($.fsdp_entry)),

    fsdp_entry: ($) =>
      choice(
        seq(field("name", "stages"), list1($._expression)),
        seq(field("name", $.identifier), field("value", $._expression)),
      ),

    letters: ($) => seq($.letter, repeat(seq("&", $.letter))),

    letter: () => choice("F", "B", "I", "W"),

    // Definitions

    let: ($) => seq("let", field("name", $.identifier), "=", field("value", $._expression), ";"),

    function_definition: ($) =>
      seq("fn", field("name", $.identifier), field("parameters", $.arguments), field("body", $.function_body)),

    function_body: ($) => seq("{", repeat($.let), field("result", $._expression), "}"),

    pattern_definition: ($) =>
      seq("pattern", field("name", $.identifier), field("parameters", $.arguments), field("body", $.block)),

    arguments: ($) => seq("(", list($.identifier), ")"),

    // Steps

    phase: ($) =>
      seq(
        choice("warmup", "steady", "cooldown", seq("phase", field("name", $.identifier))),
        field("body", $.block),
      ),

    block: ($) => seq("{", repeat($._statement), "}"),

    _statement: ($) =>
      choice(
        $.let,
        $.function_definition,
        $.pattern_definition,
        $.repeat,
        $.for,
        $.if,
        $.steps,
        $.idle,
        $.use,
        $.at,
        $.fill,
      ),

    repeat: ($) => seq("repeat", field("count", $._expression), field("body", $.block)),

    for: ($) =>
      seq("for", field("variable", $.identifier), "in", optional("reverse"), $.range, field("body", $.block)),

    if: ($) =>
      seq(
        "if",
        field("condition", $._expression),
        field("then", $.block),
        optional(seq("else", field("else", choice($.if, $.block)))),
      ),

    steps: ($) => seq($.step, repeat(seq("&", $.step))),

    step: ($) =>
      choice(
        seq(
          $.letter,
          optional(
            seq(
              "[",
              field("chunk", $._expression),
              optional(seq(",", field("microbatch", $._expression), optional(seq(",", field("slice", $._expression))))),
              "]",
            ),
          ),
        ),
        seq(alias("W", $.letter), "*", optional(seq("[", field("chunk", $._expression), "]"))),
      ),

    idle: ($) =>
      seq("idle", optional(field("count", choice($.number, $._name, seq("(", $._expression, ")"))))),

    use: ($) => seq(field("pattern", $.identifier), "(", list($._expression), ")"),

    at: ($) => seq("at", field("slot", $._expression), field("body", $.block)),

    fill: ($) => seq("fill", field("body", $.block)),

    // Expressions

    _expression: ($) => choice($.conditional_expression, $._or),

    conditional_expression: ($) =>
      seq(
        field("condition", $._or),
        "?",
        field("then", $._expression),
        ":",
        field("else", $._expression),
      ),

    ...levels(),

    _unary: ($) => choice($.unary_expression, $._primary),

    unary_expression: ($) => seq(field("operator", choice("-", "!")), field("operand", $._unary)),

    _primary: ($) =>
      choice(
        $.number,
        $.decimal,
        $.letter,
        $.cost_of,
        $.call,
        $._name,
        $.parenthesized_expression,
      ),

    cost_of: ($) => seq("cost", "(", field("figure", choice($.letters, $.identifier)), ")"),

    call: ($) => seq(field("function", $.identifier), "(", list($._expression), ")"),

    parenthesized_expression: ($) => seq("(", $._expression, ")"),

    _name: ($) => choice($.identifier, $.value),

    // The sizes of the schedule, and the rank.
    value: () => choice("rank", "ranks", "stages", "chunks", "microbatches"),

    // Tokens

    identifier: () => /[a-zA-Z_][a-zA-Z0-9_]*/,

    number: () => /[0-9]+/,

    decimal: () => /[0-9]+\.[0-9]+/,

    string: ($) => seq('"', repeat(choice($.escape, $._text, $._brace)), token.immediate('"')),

    // The text of `require`: a string in which names in braces are replaced.
    message: ($) => seq('"', repeat(choice($.escape, $._text, $.placeholder)), token.immediate('"')),

    escape: () => token.immediate(/\\["\\{]/),

    placeholder: () => token.immediate(/\{[a-zA-Z_][a-zA-Z0-9_]*\}/),

    _text: () => token.immediate(/[^"\\\r\n{]+/),

    _brace: () => token.immediate("{"),

    comment: () => token(seq("//", /[^\r\n]*/)),
  },
});
