//===- CertificateWriter.h - The text of a proof ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_CERTIFICATEWRITER_H
#define PIPEC_SEARCH_CERTIFICATEWRITER_H

#include "Search/Model.h"
#include "Search/Prover.h"

namespace pipec::search {

/// Writes a certificate (docs/Search.md): the problem, words of that makespan,
/// and a proof. `layout` is that of the problem if it is one of those that were
/// searched, else empty.
void writeCertificate(const Model &model, llvm::StringRef layout,
                      const Words &words, Rational makespan,
                      const Refutation &proof, llvm::raw_ostream &os);

} // namespace pipec::search

#endif // PIPEC_SEARCH_CERTIFICATEWRITER_H
