//===- LayoutOptions.h - The options about layers ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Cost/LayerLayout.h"
#include "Driver/Arguments.h"

namespace pipec {

/// The options about layers, in the order of `--help`.
inline constexpr Opt layoutOptions[] = {Opt::Layers, Opt::Split, Opt::Layout};

/// Reads the layouts of `--layers` without `--split`, which is even, and of
/// each `--split` and `--layout`, in the order of the command line. Without
/// any, returns `ofProfile`, if it is there. Reports texts that are not
/// layouts, at their columns, and numbers of stages that are not a multiple of
/// `ranks`.
llvm::FailureOr<std::vector<LayerLayout>>
readLayouts(const Arguments &args, const std::optional<LayerLayout> &ofProfile,
            unsigned ranks, DiagEngine &diags);

/// The same for a command with at most one layout; reports more.
llvm::FailureOr<std::optional<LayerLayout>>
readLayout(const Arguments &args, const std::optional<LayerLayout> &ofProfile,
           DiagEngine &diags);

} // namespace pipec
