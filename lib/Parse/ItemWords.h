//===- ItemWords.h - Words that begin an item of a schedule -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

namespace antlr4 {
class CommonTokenStream;
}

namespace pipec {

/// Turns `connect`, `graph`, `tie` and `alias` into tokens of their own where
/// an item of a schedule may begin. No name can occur there, so that these
/// words are names in all other places, and programs that use them as names
/// stay valid.
void findItemWords(antlr4::CommonTokenStream &tokens);

} // namespace pipec
