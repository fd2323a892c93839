//===- Completion.cpp - Proposals at a position ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/OpenDocument.h"

#include "Cost/Expectation.h"
#include "Cost/Figure.h"
#include "Support/StepKind.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <optional>
#include <set>

using namespace llvm;

namespace pipec::lsp {

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

namespace {

struct WordInfo {
  StringLiteral word;
  /// A set of places.
  unsigned places;
  StringLiteral doc;
};

/// The table of words, and the places in it.
namespace place {
enum : unsigned {
  File = 1 << 0,
  Item = 1 << 1,
  Block = 1 << 2,
  Params = 1 << 3,
  Value = 1 << 4,
  Function = 1 << 5,
  Placement = 1 << 6,
  Fsdp = 1 << 7,
  Within = 1 << 8,
  Cost = 1 << 9,
};

constexpr WordInfo words[] = {
#define PIPEC_WORD(Word, Places, Doc) {Word, Places, Doc},
#include "LanguageServer/Words.def"
};
} // namespace place

struct MetricInfo {
  StringLiteral name;
  bool perRank;
  StringLiteral doc;
};

constexpr MetricInfo metrics[] = {
#define PIPEC_METRIC(Id, Name, PerRank, Value, Doc) {Name, PerRank, Doc},
#include "Cost/Metrics.def"
};

} // namespace

std::string describeWord(StringRef word) {
  for (const WordInfo &info : place::words)
    if (info.word == word)
      return info.doc.str();
  for (const MetricInfo &info : metrics)
    if (info.name == word)
      return info.doc.str();
  for (const FigureInfo &info : allFigures())
    if (info.name == word || info.inner() == word)
      return (blockName(info.block) + ": " + info.doc).str();
  return "";
}

std::string callOfWord(StringRef word) {
  for (const MetricInfo &info : metrics)
    if (info.name == word)
      return info.perRank ? (word + "(rank)").str() : "";
  std::string doc = describeWord(word);
  StringRef call = StringRef(doc).substr(doc.find("`" + word.str() + "("));
  if (word.empty() || call.empty())
    return "";
  return call.drop_front().substr(0, call.find(')')).str();
}

//===----------------------------------------------------------------------===//
// Where the cursor is
//===----------------------------------------------------------------------===//

namespace {

/// The kind of a pair of braces, brackets or parentheses.
enum class Frame { File, Schedule, Params, Block, Fn, Settings, Fsdp, Other };

/// A walk over the tokens before the cursor.
class Scanner {
public:
  explicit Scanner(StringRef text) : text(text) {
    stack.push_back({Frame::File});
    run();
  }

  struct Open {
    Frame frame;
    /// Settings: the block and the scope.
    FigureBlock block = FigureBlock::Cost;
    FigureScope scope = FigureScope::Whole;
    /// The first word of the figures whose second ones are given here.
    StringRef figure = {};
    /// The first word of the statement at the cursor, or of the part of it that
    /// has its own braces, such as `repeat`; empty at its beginning.
    StringRef head = {};
    std::vector<Proposal> names = {};
  };

  /// True if the cursor is in a comment or in a string.
  bool inText = false;
  /// The token before the word at the cursor.
  StringRef last;
  std::vector<Open> stack;

private:
  void run();
  void word(StringRef word);
  void open(char c);
  void name(StringRef word, Proposal::Kind kind) {
    stack.back().names.push_back({word.str(), kind});
  }

  StringRef text;
  /// Names that the next block defines: arguments, loop variables.
  std::vector<Proposal> pending;
};

/// True for words that are followed by the name that they define.
bool precedesNewName(StringRef word) {
  return is_contained({"let", "fn", "pattern", "for", "schedule", "phase"},
                      word);
}

/// Words that begin a statement, and `else`; letters of steps do not.
bool isHead(StringRef word) {
  constexpr unsigned starts = place::File | place::Item | place::Block;
  return word == "else" ||
         (word.size() > 1 && any_of(place::words, [&](const WordInfo &info) {
            return info.word == word && (info.places & starts);
          }));
}

} // namespace

void Scanner::word(StringRef word) {
  Open &at = stack.back();
  if (last == "let")
    name(word, Proposal::Kind::Variable);
  else if (last == "fn" || last == "pattern")
    name(word, Proposal::Kind::Function);
  else if (last == "for")
    pending.push_back({word.str(), Proposal::Kind::Variable});
  bool isName = precedesNewName(last);
  if (at.frame == Frame::Params && !isDigit(word[0]) && last != "=" &&
      (last == "(" || last == "," || last == "ranks" ||
       last == "microbatches" || last == "chunks" || last == "slices"))
    pending.push_back({word.str(), Proposal::Kind::Variable});
  if (at.frame == Frame::Params && word == "slices")
    for (StringRef value : {"slices", "units"})
      pending.push_back({value.str(), Proposal::Kind::Variable});
  bool inSettings = at.frame == Frame::Settings || at.frame == Frame::Fsdp;
  if (!isName && (inSettings ? at.head.empty() : isHead(word)) &&
      // `cost(p2p)` and `expect ... if` are within a statement.
      !(at.head == "expect" && (word == "cost" || word == "if")))
    at.head = word;
  last = word;
}

void Scanner::open(char c) {
  Open &at = stack.back();
  Open next{Frame::Other};
  if (c == '(') {
    if (at.frame == Frame::File && at.head == "schedule")
      next.frame = Frame::Params;
    else if ((at.head == "fn" || at.head == "pattern") && last != at.head)
      next.frame = Frame::Params;
  } else if (c == '{') {
    StringRef head = at.head;
    if (at.frame == Frame::File && head == "schedule")
      next.frame = Frame::Schedule;
    else if (head == "fn")
      next.frame = Frame::Fn;
    else if (at.frame == Frame::Schedule && head == "fsdp")
      next.frame = Frame::Fsdp;
    else if (at.frame == Frame::Schedule &&
             (head == "cost" || head == "memory")) {
      next.frame = Frame::Settings;
      next.block = head == "cost" ? FigureBlock::Cost : FigureBlock::Memory;
    } else if (at.frame == Frame::Settings) {
      next.frame = Frame::Settings;
      next.block = at.block;
      next.scope = FigureScope::Overlap;
      if (!innerNames(at.block, at.scope, head).empty()) {
        next.scope = at.scope;
        next.figure = head;
      }
      for (const ScopeInfo *scope : scopesOf(at.block))
        if (scope->word == head)
          next.scope = scope->scope;
      if (const ScopeInfo *inside = scopeInside(at.block, at.scope);
          inside && inside->word == head)
        next.scope = inside->scope;
    } else if (at.frame != Frame::File || head == "pattern") {
      next.frame =
          head == "graph" || head == "placement" ? Frame::Other : Frame::Block;
    }
    next.names = std::move(pending);
    pending.clear();
  }
  stack.push_back(std::move(next));
}

void Scanner::run() {
  size_t end = text.size();
  // The word at the cursor is being completed.
  while (end != 0 && isWordByte(text[end - 1]))
    --end;
  for (size_t i = 0; i < end;) {
    char c = text[i];
    if (isSpace(c)) {
      ++i;
    } else if (text.substr(i).starts_with("//")) {
      i = text.find('\n', i);
      if (i >= end)
        inText = true;
    } else if (c == '"') {
      size_t close = i + 1;
      while (close < end && text[close] != '"' && text[close] != '\n')
        close += text[close] == '\\' ? 2 : 1;
      inText = close >= end;
      i = close + 1;
      last = "\"";
    } else if (isWordByte(c)) {
      StringRef found = text.slice(i, end).take_while(isWordByte);
      i += found.size();
      word(found);
    } else {
      if (c == '(' || c == '{' || c == '[')
        open(c);
      else if ((c == ')' || c == '}' || c == ']') && stack.size() > 1)
        stack.pop_back();
      // The end of a statement. Braces end one only in blocks: `if` may
      // continue with `else`.
      if (c == ';' || c == '}')
        stack.back().head = "";
      last = text.substr(i++, 1);
    }
  }
}

//===----------------------------------------------------------------------===//
// Proposals
//===----------------------------------------------------------------------===//

static void addWords(unsigned places, std::vector<Proposal> &all) {
  for (const WordInfo &info : place::words)
    if (info.places & places)
      all.push_back({info.word.str(),
                     info.places & places & place::Function
                         ? Proposal::Kind::Function
                     : info.places & places & place::Placement
                         ? Proposal::Kind::EnumMember
                         : Proposal::Kind::Keyword,
                     info.doc.str()});
}

static void addFigures(const Scanner::Open &open, std::vector<Proposal> &all) {
  for (const FigureInfo &info : allFigures())
    if (info.block == open.block && info.isIn(open.scope) &&
        (open.figure.empty()
             ? info.inner().empty()
             : info.word() == open.figure && !info.inner().empty()))
      all.push_back({(open.figure.empty() ? info.word() : info.inner()).str(),
                     Proposal::Kind::Property, info.doc.str()});
  if (open.scope == FigureScope::Whole && open.figure.empty())
    for (const ScopeInfo *scope : scopesOf(open.block))
      if (scope->numbers != 0)
        all.push_back(
            {scope->word.str(), Proposal::Kind::Keyword, scope->doc.str()});
  if (const ScopeInfo *inside = scopeInside(open.block, open.scope);
      inside && open.figure.empty())
    all.push_back(
        {inside->word.str(), Proposal::Kind::Keyword, inside->doc.str()});
}

std::vector<Proposal> complete(StringRef before,
                               std::vector<Proposal> imported) {
  Scanner scanner(before);
  std::vector<Proposal> all;
  const Scanner::Open &at = scanner.stack.back();
  StringRef last = scanner.last;
  // New names, comments and strings are free text.
  if (scanner.inText || last == "import" || last == "alias" ||
      (precedesNewName(last) && (last != "for" || at.frame != Frame::Other)))
    return all;

  bool atStart = last.empty() || last == "{" || last == "}" || last == ";";
  bool operand = StringSwitch<bool>(last)
                     .Cases("=", "+", "-", "*", "/", "%", "<", ">", true)
                     .Cases("!", "?", ":", "(", "[", ",", "&", "|", true)
                     .Cases("repeat", "if", "in", "reverse", "at", true)
                     .Cases("require", "connect", "tie", ".", true)
                     .Default(false);
  auto namesAndWords = [&](unsigned places) {
    // The visible names are the names of all open frames.
    for (const Scanner::Open &open : reverse(scanner.stack))
      llvm::append_range(all, reverse(open.names));
    llvm::append_range(all, imported);
    addWords(places, all);
  };
  constexpr unsigned inValues = place::Value | place::Function;
  auto expression = [&] { namesAndWords(inValues); };

  switch (at.frame) {
  case Frame::File:
    if (atStart)
      addWords(place::File, all);
    break;
  case Frame::Params:
    if (last == "(" || last == ",")
      addWords(place::Params, all);
    else if (operand)
      expression();
    break;
  case Frame::Schedule:
    if (atStart) {
      addWords(place::Item, all);
    } else if (last == "placement") {
      addWords(place::Placement, all);
    } else if (last == "expect") {
      for (const MetricInfo &info : metrics)
        all.push_back({info.name.str() + (info.perRank ? "(rank)" : ""),
                       Proposal::Kind::Property, info.doc.str()});
    } else {
      expression();
    }
    break;
  case Frame::Settings:
    if (atStart) {
      addFigures(at, all);
      if (at.block == FigureBlock::Cost && at.scope == FigureScope::Whole)
        addWords(place::Cost, all);
    } else {
      expression();
    }
    break;
  case Frame::Fsdp:
    if (atStart)
      addWords(place::Fsdp, all);
    else
      expression();
    break;
  case Frame::Block:
    // Statements between steps have no terminator, so a new one may begin
    // wherever an expression may continue.
    namesAndWords(operand           ? inValues
                  : at.head.empty() ? unsigned(place::Block)
                                    : place::Block | inValues);
    break;
  case Frame::Fn:
    expression();
    if (atStart)
      all.push_back({"let", Proposal::Kind::Keyword, describeWord("let")});
    break;
  case Frame::Other:
    expression();
    break;
  }
  // A name may be visible for two reasons.
  std::set<std::string> seen;
  llvm::erase_if(all, [&](const Proposal &proposal) {
    return !seen.insert(proposal.word).second;
  });
  return all;
}

std::vector<Proposal> completeSteps(StringRef before) {
  // The entries of StepText/HeaderParser.cpp.
  static constexpr std::pair<StringLiteral, StringLiteral> entries[] = {
      {"forward_only", "the schedule has no backwards"},
      {"param", "`param p = 2, m = 8`: the parameters that it was made with"},
      {"map", "`map 0 1 1 0`: the rank of each stage"},
      {"graph", "`graph 0 -> 1 0 -> 2`: the edges between stages"},
      {"connect", "`connect 0 -> 3`: an edge in addition to the chain"},
      {"tie", "`tie 0 3`: stages that share parameters"},
      {"order", "`order 2 0 1`: the number of each micro-batch in the batch"},
      {"stream", "`stream network 1 3`: stages that run beside the others"},
      {"layout", "`layout \"Et|tL\"`: the layers of each stage"},
      {"cost", "`cost F = 1 B = 2`: times; `cost stage 0 F = 2`"},
      {"memory",
       "`memory F = 1 limit = 4`: sizes; `memory bytes`: they are bytes"},
      {"fsdp", "`fsdp stages all`: stages with sharded parameters"},
      {"expect", "`expect makespan == 33`: a figure that `pipec check` tests"},
      {"rank", "`rank 0 { ... }`: the list of a rank"}};
  auto [above, line] = before.rsplit('\n');
  if (!before.contains('\n'))
    line = before, above = "";
  while (!line.empty() && isWordByte(line.back()))
    line = line.drop_back();
  line = line.trim();
  size_t depth = 0;
  while (!above.empty()) {
    auto [here, rest] = above.split('\n');
    here = here.split("//").first;
    depth += here.count('{');
    depth -= std::min(depth, here.count('}'));
    above = rest;
  }
  std::vector<Proposal> all;
  if (depth == 1 && line.empty())
    for (auto [word, doc] : entries)
      all.push_back({word.str(), Proposal::Kind::Keyword, doc.str()});
  if (depth == 2 && (line.empty() || line.ends_with("&")))
    for (unsigned kind = 0; kind != numStepKinds; ++kind) {
      std::string word = stepKindName(StepKind(kind)).str();
      all.push_back({word, Proposal::Kind::EnumMember, describeWord(word)});
    }
  return all;
}

} // namespace pipec::lsp
