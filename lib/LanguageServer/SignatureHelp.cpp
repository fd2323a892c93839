//===- SignatureHelp.cpp - The parameters of the call at a position -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the text before the cursor, since a call is rarely complete while it is
// typed; functions and patterns are those of the last version that could be
// read.
//
//===----------------------------------------------------------------------===//

#include "LanguageServer/OpenDocument.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec::lsp {

namespace {

/// An open parenthesis or bracket before the cursor.
struct OpenCall {
  char bracket = 0;
  /// The two words before it, the nearest first.
  StringRef name, before;
  /// The first words of the arguments; the last is that at the cursor.
  SmallVector<StringRef> arguments = {""};
};

struct Signature {
  /// `half(n)`
  std::string label, doc;
  /// Documents of the parameters, in their order; may be empty.
  SmallVector<std::string> params = {};
};

} // namespace

/// The innermost open bracket; nothing in comments, strings and blocks.
static std::optional<OpenCall> openCall(StringRef text) {
  SmallVector<OpenCall> open;
  StringRef last, before;
  for (size_t i = 0; i < text.size();) {
    StringRef rest = text.drop_front(i);
    if (rest.starts_with("//")) {
      i = text.find('\n', i);
      if (i == StringRef::npos)
        return std::nullopt;
    } else if (rest[0] == '"') {
      size_t close = 1;
      while (close < rest.size() && rest[close] != '"' && rest[close] != '\n')
        close += rest[close] == '\\' ? 2 : 1;
      if (close >= rest.size())
        return std::nullopt;
      i += close + 1;
      last = "";
    } else if (isWordByte(rest[0])) {
      StringRef word = rest.take_while(isWordByte);
      if (!open.empty() && open.back().arguments.back().empty())
        open.back().arguments.back() = word;
      before = std::exchange(last, word);
      i += word.size();
    } else {
      char c = rest[0];
      if (c == '(' || c == '[' || c == '{')
        open.push_back({c, last, before});
      else if ((c == ')' || c == ']' || c == '}') && !open.empty())
        open.pop_back();
      else if (c == ',' && !open.empty())
        open.back().arguments.push_back("");
      if (!isSpace(c))
        last = before = "";
      ++i;
    }
  }
  if (open.empty() || open.back().bracket == '{' || open.back().name.empty())
    return std::nullopt;
  return open.back();
}

/// The function or pattern of this name: the last of the document, or one that
/// it imports.
static std::optional<Signature> declared(const Analysis &analysis,
                                         StringRef name) {
  SMRange found;
  auto look = [&](ArrayRef<ast::Stmt *> stmts) {
    for (const ast::Stmt *stmt : stmts) {
      const auto *fn = dyn_cast<ast::FnDecl>(stmt);
      const auto *pattern = dyn_cast<ast::PatternDecl>(stmt);
      if ((fn && fn->name.text == name) ||
          (pattern && pattern->name.text == name))
        found = stmt->range;
    }
  };
  if (!analysis.module())
    return std::nullopt;
  for (const ast::ImportDecl &import : analysis.module()->imports)
    if (import.module)
      look(import.module->decls);
  look(analysis.module()->decls);
  for (const ast::ScheduleDecl *schedule : analysis.module()->schedules)
    look(schedule->body.stmts);
  if (!found.isValid())
    return std::nullopt;
  StringRef text = ast::sourceText(found);
  text = text.substr(text.find(name));
  return Signature{text.substr(0, text.find(')') + 1).str(),
                   commentOf(found, analysis.files().textOf(found.Start))};
}

/// The roles of parameters after `schedule name(`.
static constexpr StringLiteral roles[] = {"ranks", "microbatches", "chunks",
                                          "slices"};

static std::optional<Signature> signatureOf(const OpenCall &call,
                                            const Analysis *analysis) {
  if (call.bracket == '[') {
    if (!is_contained({"F", "B", "I", "W"}, call.name))
      return std::nullopt;
    return Signature{
        (call.name + "[chunk, microbatch, slice]").str(),
        describeWord(call.name),
        {"the chunk of this rank", "the micro-batch",
         "the slice of the micro-batch, in a schedule with slices"}};
  }
  if (call.before == "schedule") {
    Signature signature{(call.name + "(").str(), describeWord("schedule")};
    ListSeparator comma;
    for (StringRef role : roles) {
      signature.label +=
          (Twine(StringRef(comma)) + role + " name = value").str();
      signature.params.push_back(describeWord(role));
    }
    signature.label += ")";
    return signature;
  }
  // The names here are new.
  if (call.before == "fn" || call.before == "pattern")
    return std::nullopt;
  if (analysis)
    if (std::optional<Signature> found = declared(*analysis, call.name))
      return found;
  std::string word = callOfWord(call.name);
  if (word.empty())
    return std::nullopt;
  return Signature{std::move(word), describeWord(call.name)};
}

/// The parameter at the cursor. The roles of a schedule may have any order: the
/// role at the cursor, or else the first that is missing.
static size_t activeOf(const OpenCall &call, size_t numParams) {
  if (call.before != "schedule" || call.bracket != '(')
    return std::min(call.arguments.size() - 1, numParams);
  const auto *written = find(roles, call.arguments.back());
  if (written == std::end(roles) && call.arguments.back().empty())
    written = find_if(roles, [&](StringRef role) {
      return !is_contained(call.arguments, role);
    });
  return written - roles;
}

Expected<json::Value> Server::signatureHelp(const json::Object &params,
                                            Target &at) {
  std::optional<Position> position = positionFrom(params.get("position"));
  if (!position)
    return invalid("no usable `position`");
  StringRef text = at.document->document.text;
  if (at.document->latest->isSteps() || text.size() > maxDocumentBytes)
    return nullptr;
  std::optional<OpenCall> call =
      openCall(text.take_front(at.document->lines.offset(*position)));
  std::optional<Signature> found =
      call ? signatureOf(*call, at.analysis.get()) : std::nullopt;
  if (!found)
    return nullptr;
  SmallVector<StringRef> names;
  StringRef label = found->label;
  label.drop_front(label.find_first_of("([") + 1)
      .rtrim(")]")
      .split(names, ',', -1, /*KeepEmpty=*/false);
  json::Array parameters;
  for (auto [i, name] : enumerate(names)) {
    json::Object parameter{{"label", json::fixUTF8(name.trim())}};
    if (i < found->params.size())
      parameter["documentation"] = markdown(found->params[i]);
    parameters.push_back(std::move(parameter));
  }
  size_t active = activeOf(*call, names.size());
  // `...` stands for all further ones. After the last, none is active.
  if (active >= names.size() && !names.empty() && names.back().trim() == "...")
    active = names.size() - 1;
  json::Object signature{{"label", json::fixUTF8(label)},
                         {"parameters", std::move(parameters)}};
  if (!found->doc.empty())
    signature["documentation"] = markdown(found->doc);
  return json::Object{{"signatures", json::Array{std::move(signature)}},
                      {"activeSignature", 0},
                      {"activeParameter", int64_t(active)}};
}

} // namespace pipec::lsp
