//===- ModuleNames.h - The names of layers in models ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torchtitan and NeMo AutoModel are given the modules of each stage by their
// names, as `module_fqns_per_model_part`.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// The names of layers in the models of a framework.
struct LayerNames {
  llvm::StringLiteral embedding;
  /// Before the number of a decoder layer.
  llvm::StringLiteral decoder;
  llvm::StringLiteral norm;
  llvm::StringLiteral head;
  /// A module of every stage; empty if there is none.
  llvm::StringLiteral everywhere;
};

inline constexpr LayerNames titanNames = {"tok_embeddings", "layers.", "norm",
                                          "lm_head", ""};
/// Those of causal models of Hugging Face. NeMo AutoModel ignores names that a
/// model does not have.
inline constexpr LayerNames huggingFaceNames = {"model.embed_tokens",
                                                "model.layers.", "model.norm",
                                                "lm_head", "model.rotary_emb"};

/// The modules of each stage; empty if the layers are unknown, one of them has
/// no name, or a stage has none. The ends of a model of decoder
/// layers alone are added.
std::vector<std::vector<std::string>> moduleNames(StageLayers stages,
                                                  const LayerNames &known);

/// Warns of the first stage for which `moduleNames` has no names, if the layers
/// are known; at its place in the layout.
void checkModuleNames(const Schedule &schedule, DiagEngine &diags);

} // namespace pipec
