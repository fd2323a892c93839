//===- ShellCompletion.h - Completion of command lines ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Library.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace pipec {

/// Prints the completions of the last word of a command line. `words` are
/// those up to the cursor, without the name of the program; the last one may be
/// empty. Each line is a whole word, a tab and a description:
///
///     --emit=csv<tab>the CSV of torch.distributed.pipelining
///
/// A word that ends with `=` or `-` is not complete. A line that begins with a
/// tab means that names of files fit too, after the text that follows the tab.
void printCandidates(llvm::ArrayRef<std::string> words,
                     const SearchPath &search, llvm::raw_ostream &os);

/// The shells that `pipec completion` has a script for.
std::vector<llvm::StringRef> completionShells();

} // namespace pipec
