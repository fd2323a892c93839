//===- ProveCommand.h - The JSON of proofs ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Command/CommandRun.h"
#include "Prove/Prove.h"

namespace pipec {

/// Writes the attributes of a proof, or why there is none. `model` is that of
/// its transfers, if it has any.
void writeProof(const ProofResult &result, std::optional<WaitModel> model,
                llvm::json::OStream &json);

} // namespace pipec
