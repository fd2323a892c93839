//===- ItemWords.h - Words that begin an item of a schedule -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_PARSE_ITEMWORDS_H
#define PIPEC_PARSE_ITEMWORDS_H

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

#endif // PIPEC_PARSE_ITEMWORDS_H
