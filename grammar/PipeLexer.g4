// Words of the .pipe language.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Step letters, roles and the words that start a statement are reserved. Words
// that only mean something in one place (`loop`, `v`, `group`, `on`, `all`,
// `makespan`, ...) are plain IDs: `chunks v = 2` must stay legal.

lexer grammar PipeLexer;

// Words that are an ID everywhere but at the beginning of an item of a schedule
// (lib/Parse/Tokens.cpp).
// STEP_WORD is one of these words where a step may begin, and an ID everywhere
// else: R, OFFLOAD, WAIT_OFFLOAD, RELOAD, UPDATE.
tokens { CONNECT, GRAPH, TIE, ALIAS, SECTIONS, OVERLAP, STEP_WORD }

SCHEDULE     : 'schedule';
IMPORT       : 'import';
PLACEMENT    : 'placement';
REQUIRE      : 'require';
EXPECT       : 'expect';
FORWARD_ONLY : 'forward_only';
COST         : 'cost';
MEMORY       : 'memory';
FSDP         : 'fsdp';
LET          : 'let';
FN           : 'fn';
PATTERN      : 'pattern';
REPEAT       : 'repeat';
FOR          : 'for';
IN           : 'in';
REVERSE      : 'reverse';
IF           : 'if';
ELSE         : 'else';
WARMUP       : 'warmup';
STEADY       : 'steady';
COOLDOWN     : 'cooldown';
PHASE        : 'phase';
IDLE         : 'idle';
AT           : 'at';
FILL         : 'fill';
RANKS        : 'ranks';
MICROBATCHES : 'microbatches';
CHUNKS       : 'chunks';
RANK         : 'rank';
STAGES       : 'stages';

F : 'F';
B : 'B';
I : 'I';
W : 'W';

LPAREN : '(';
RPAREN : ')';
LBRACE : '{';
RBRACE : '}';
LBRACK : '[';
RBRACK : ']';
COMMA  : ',';
SEMI   : ';';
DOTDOT : '..';
DOT    : '.';
EQEQ   : '==';
NEQ    : '!=';
LE     : '<=';
GE     : '>=';
LT     : '<';
GT     : '>';
ARROW  : '->';
ASSIGN : '=';
OROR   : '||';
ANDAND : '&&';
AMP    : '&';
BANG   : '!';
QUEST  : '?';
COLON  : ':';
PLUS   : '+';
MINUS  : '-';
STAR   : '*';
SLASH  : '/';
PERCENT : '%';

DECIMAL : [0-9]+ '.' [0-9]+;
INT     : [0-9]+;
ID      : [a-zA-Z_] [a-zA-Z0-9_]*;
STRING  : '"' ( '\\' ~[\r\n] | ~["\\\r\n] )* '"';

COMMENT : '//' ~[\r\n]* -> channel(HIDDEN);
SPACE   : [ \t\r\n]+ -> skip;

// Always a token, so that the parser's messages speak of it too.
UNKNOWN : . ;
