// The grammar of the .pipe language; docs/LangRef.md explains every rule.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

parser grammar PipeParser;

options { tokenVocab = PipeLexer; }

file : topLevel* EOF ;

topLevel
  : importDecl
  | fnDecl
  | patternDecl
  | scheduleDecl
  ;

importDecl : IMPORT STRING SEMI ;

scheduleDecl
  : SCHEDULE name LPAREN (param (COMMA param)*)? RPAREN
    LBRACE scheduleItem* RBRACE
  ;

param : label name (ASSIGN expr)? | name (ASSIGN expr)? ;

label : RANKS | MICROBATCHES | CHUNKS | ID ;

name : ID ;

scheduleItem
  : placement
  | require
  | expect
  | forwardOnly
  | costBlock
  | memoryBlock
  | fsdpBlock
  | connect
  | graph
  | tie
  | alias
  | sections
  | overlap
  | letStmt
  | fnDecl
  | patternDecl
  | phase
  ;

// Placement and settings

placement
  : PLACEMENT ID (LPAREN expr RPAREN)? SEMI
  | PLACEMENT LBRACE STAGES expr SEMI ID name ID expr SEMI? RBRACE
  ;

// The first words of these are names everywhere else (PipeLexer.g4).

connect : CONNECT edge SEMI ;

graph : GRAPH LBRACE (edge (SEMI edge)* SEMI?)? RBRACE ;

edge : expr ARROW expr (FOR name IN expr DOTDOT expr)? ;

tie : TIE expr (COMMA expr)* SEMI ;

alias : ALIAS STRING (COMMA STRING)* SEMI ;

sections : SECTIONS LPAREN expr RPAREN LBRACE (section (SEMI section)* SEMI?)? RBRACE ;

section : name (ID name)? ;

overlap : OVERLAP letters LBRACE bodyStep* RBRACE ;

bodyStep : ID? letter DOT name ;

require : REQUIRE expr (COMMA STRING)? SEMI ;

expect : EXPECT metric relation expr (IF expr)? SEMI ;

metric : (ID | IDLE) (LPAREN (expr | IDLE) RPAREN)? ;

relation : EQEQ | NEQ | LT | LE | GT | GE ;

forwardOnly : FORWARD_ONLY SEMI ;

costBlock : COST settings ;

memoryBlock : MEMORY settings ;

settings : LBRACE (setting (SEMI setting)* SEMI?)? RBRACE ;

setting
  : letters ASSIGN expr
  | ID ASSIGN expr
  | ID STRING
  | letters settings
  | (ID | RANK) expr (ARROW expr)? settings (FOR name IN expr DOTDOT expr)?
  | ID
  | IN
  ;

fsdpBlock : FSDP LBRACE (fsdpEntry (SEMI fsdpEntry)* SEMI?)? RBRACE ;

fsdpEntry
  : STAGES expr (COMMA expr)*
  | ID expr
  ;

letters : letter (AMP letter)* ;

letter : F | B | I | W ;

// Definitions

letStmt : LET name ASSIGN expr SEMI ;

fnDecl : FN name arguments LBRACE letStmt* expr RBRACE ;

patternDecl : PATTERN name arguments block ;

arguments : LPAREN (name (COMMA name)*)? RPAREN ;

// Steps

phase : (WARMUP | STEADY | COOLDOWN | PHASE name) block ;

block : LBRACE stmt* RBRACE ;

stmt
  : letStmt
  | fnDecl
  | patternDecl
  | repeatStmt
  | forStmt
  | ifStmt
  | steps
  | idle
  | use
  | atStmt
  | fillStmt
  ;

repeatStmt : REPEAT expr block ;

forStmt : FOR name IN REVERSE? expr DOTDOT expr block ;

ifStmt : IF expr block (ELSE (ifStmt | block))? ;

steps : step (AMP step)* ;

step : (letter | stepWord) STAR? (LBRACK expr (COMMA expr (COMMA expr)?)? RBRACK)? ;

stepWord : STEP_WORD ;

idle : IDLE idleCount? ;

idleCount : INT | nameUse | LPAREN expr RPAREN ;

use : ID LPAREN (expr (COMMA expr)*)? RPAREN ;

atStmt : AT expr block ;

fillStmt : FILL block ;

// Expressions, loosest first

expr : orExpr (QUEST expr COLON expr)? ;

orExpr : andExpr (OROR andExpr)* ;

andExpr : equality (ANDAND equality)* ;

equality : comparison ((EQEQ | NEQ) comparison)* ;

comparison : sum ((LT | LE | GT | GE) sum)? ;

sum : product ((PLUS | MINUS) product)* ;

product : unary ((STAR | SLASH | PERCENT) unary)* ;

unary : (MINUS | BANG) unary | primary ;

primary
  : INT
  | DECIMAL
  | letter
  | COST LPAREN (letters | ID) RPAREN
  | ID LPAREN (expr (COMMA expr)*)? RPAREN
  | nameUse
  | LPAREN expr RPAREN
  ;

nameUse : ID | RANK | RANKS | STAGES | CHUNKS | MICROBATCHES ;
