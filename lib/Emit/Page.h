//===- Page.h - Parts of the interactive page ----------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Emit/Picture.h"

namespace pipec {

/// The pictures of a page of --emit=html: of `schedule`, and of a second one if
/// `options` has one. Reports what a picture cannot show.
llvm::FailureOr<llvm::SmallVector<Picture, 2>>
pagePictures(const Schedule &schedule, const EmitOptions &options,
             DiagEngine &diags);

/// Writes a page without schedules, which its script gets later.
llvm::LogicalResult writeEmptyPage(llvm::raw_ostream &os, DiagEngine &diags);

} // namespace pipec
