//===- OpenDocument.h - A document that is open in the editor ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "LanguageServer/Analysis.h"
#include "LanguageServer/Server.h"

namespace pipec::lsp {

/// Maps offsets between two versions of a text that differ in one part.
class Shift {
public:
  Shift() = default;
  Shift(llvm::StringRef oldText, llvm::StringRef newText);

  /// The offset in the old (new) text, unless it is inside the changed part.
  std::optional<size_t> toOld(size_t offset) const;
  std::optional<size_t> toNew(size_t offset) const;
  std::optional<Span> toNew(Span span) const;

private:
  size_t same = std::numeric_limits<size_t>::max();
  size_t oldTail = 0;
  size_t newTail = 0;
};

struct Server::OpenDocument {
  explicit OpenDocument(Document document)
      : document(std::move(document)), lines(this->document.text) {}

  void setText(llvm::StringRef text, int64_t version);

  Document document;
  LineMap lines;
  /// The version whose diagnostics are to be published.
  bool isChanged = true;
  /// The analysis of this version; null until it is needed.
  std::shared_ptr<Analysis> latest;
  /// The last analysis that could read its text, possibly of an earlier
  /// version; null if there is none.
  std::shared_ptr<Analysis> read;
};

/// The place that a request is about.
struct Server::Target {
  OpenDocument *document = nullptr;
  /// The analysis to ask; null if no version contains the place.
  std::shared_ptr<Analysis> analysis;
  /// From the text of `analysis` to the text of the document.
  Shift shift;
  /// The offset in the text of `analysis`.
  size_t offset = 0;

  /// The name at the offset; null without one, and in step IR.
  const Occurrence *name() const;
  /// The same if it can be renamed; otherwise why not.
  llvm::Expected<const Occurrence *> renameable() const;
  /// In step IR: the `Location` of the definition of the name at the offset, or
  /// null, and all places of the name.
  llvm::json::Value stepDefinition() const;
  std::vector<Span> stepPlaces(bool withDefinition) const;
  /// In step IR: the edit that gives it another name, or with an empty one the
  /// range of its name.
  Answer renamedStep(llvm::StringRef newName) const;
  /// A span of the analysed text as a range of the document.
  std::optional<llvm::json::Value> range(Span span) const;
};

/// The makespan and the bubble of a schedule: `makespan 33, bubble 27.3 %`.
/// Empty if it cannot run.
std::string figuresOf(const ShownSchedule &schedule);

/// A text in Markdown in the form of the protocol.
llvm::json::Object markdown(llvm::StringRef text);

/// A proposal of completion.
struct Proposal {
  /// The values of `CompletionItemKind` of the protocol.
  enum class Kind : uint8_t {
    Function = 3,
    Variable = 6,
    Module = 9,
    Property = 10,
    Keyword = 14,
    EnumMember = 20,
  };
  std::string word;
  Kind kind;
  std::string doc = {};
};

/// The canonical form of step IR that was read as `schedule`. The printer has
/// no comments, so that a text with comments keeps its lines in their order,
/// each in the canonical form.
std::string formatSteps(llvm::StringRef text, const Schedule &schedule);

/// The comment about a statement: after it on its last line, or alone on the
/// lines before it; without slashes.
std::string commentOf(llvm::SMRange statement, llvm::StringRef file);

/// A call of the function, placement or metric of the language with this name,
/// with the names of its arguments: `min(a, b, ...)`; empty if there is none.
std::string callOfWord(llvm::StringRef word);

/// The description of a word of the language, of a figure of the costs, or of a
/// metric, with Markdown; empty if `word` is none of these.
std::string describeWord(llvm::StringRef word);

/// Returns the words that may replace the last word of `before`, the text of a
/// program up to the cursor. Needs no tree, since programs are rarely complete
/// while they are typed. `imported` are the functions and patterns of imported
/// files.
std::vector<Proposal> complete(llvm::StringRef before,
                               std::vector<Proposal> imported);

/// The same for step IR: entries of the header, or kinds of steps in the list
/// of a rank.
std::vector<Proposal> completeSteps(llvm::StringRef before);

} // namespace pipec::lsp
