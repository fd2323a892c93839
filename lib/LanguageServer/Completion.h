//===- Completion.h - Proposals at a position -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace pipec::lsp {

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

/// The description of a word of the language, of a figure of the costs, or of a
/// metric, with Markdown; empty if `word` is none of these.
std::string describeWord(llvm::StringRef word);

/// Returns the words that may replace the last word of `before`, the text of a
/// program up to the cursor. Needs no tree, since programs are rarely complete
/// while they are typed. `imported` are the functions and patterns of imported
/// files.
std::vector<Proposal> complete(llvm::StringRef before,
                               std::vector<Proposal> imported);

} // namespace pipec::lsp
