//===- Writers.h - Results as programs and certificates ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Search/Model.h"
#include "Search/Periodic.h"

namespace pipec::search {

/// Writes words as a `.pipe` program with one pattern per rank, in which
/// repeated parts are loops, and with the costs, the layout and the memory
/// settings of the model. Micro-batches are implicit: the n-th letter is
/// micro-batch n. The blocks of the words, where they are known, are the outer
/// loops.
void writeProgram(const Model &model, const Words &words,
                  const std::optional<Periodic> &blocks, Rational makespan,
                  llvm::ArrayRef<Rational> peaks, llvm::raw_ostream &os);

/// What a program for every number of micro-batches says.
struct EveryProgram {
  /// It takes `least` + `step` n micro-batches.
  uint32_t least = 1, step = 1;
  std::string comment;
  /// `makespan == 30 * m + 12 if m >= 9`
  std::vector<std::string> clauses = {};
};

/// The least number of micro-batches with which the words keep a block on each
/// rank.
uint32_t leastOf(const Problem &problem, const Words &words,
                 const Periodic &blocks);

/// Writes words as a program that repeats the blocks as often as the number of
/// micro-batches asks for.
void writeEveryProgram(const Model &model, const Words &words,
                       const Periodic &blocks, const EveryProgram &every,
                       llvm::raw_ostream &os);

/// Writes the lists of a schedule of one direction without transfers, in such a
/// program. A step names its micro-batch, and its slice, where these are not
/// those that a program counts.
void writeLists(const Schedule &schedule, Rational makespan,
                llvm::ArrayRef<Rational> peaks, llvm::raw_ostream &os);

/// Writes a certificate (docs/Search.md): the problem, words with their
/// makespan, and a proof. `layout` is the layout of the problem if several were
/// searched, else empty.
void writeCertificate(const Model &model, llvm::StringRef layout,
                      const Words &words, Rational makespan,
                      const Refutation &proof, llvm::raw_ostream &os);

/// A placement or form of the backward in a certificate of several, or a
/// layout.
struct CertifiedVariant {
  /// `loop chunks 2 backward split`, and what follows in its line; the text of
  /// a layout.
  std::string name;
  /// Its problem, unless this is that of the certificate or there is none; with
  /// all layouts, one of single layers.
  std::optional<Model> model = std::nullopt;
  /// Nothing if the variant with split backwards covers it.
  std::optional<Refutation> proof = std::nullopt;
  /// The layouts that have proofs of their own.
  std::vector<CertifiedVariant> layouts = {};
};

/// Writes that no schedule of these has a makespan below `bound`, after the
/// certificate of the first one.
void writeVariants(Rational bound, llvm::ArrayRef<CertifiedVariant> variants,
                   llvm::raw_ostream &os);

} // namespace pipec::search
