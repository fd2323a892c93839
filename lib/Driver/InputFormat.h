//===- InputFormat.h - The formats that are read ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_INPUTFORMAT_H
#define PIPEC_DRIVER_INPUTFORMAT_H

#include "Driver/Arguments.h"
#include "IR/Schedule.h"

#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// What an input file holds.
enum class InputKind {
#define PIPEC_INPUT_FORMAT(Kind, Name, Extension, Sniff, Read, Summary) Kind,
#include "Driver/InputFormats.def"
};

/// A size that the command line insists on, and how it was written there.
struct WantedSize {
  /// One of these.
  std::vector<int64_t> numbers;
  std::string written;
};

/// Sizes that steps or a CSV must have.
struct WantedSizes {
  std::optional<WantedSize> ranks;
  std::optional<WantedSize> stages;
  std::optional<WantedSize> microbatches;
};

/// One row of InputFormats.def.
struct InputFormat {
  InputKind kind;
  llvm::StringLiteral name;
  llvm::StringLiteral extension;
  bool (*sniff)(llvm::StringRef text);
  /// Reads the schedule. `path` names that of a CSV, `text` is a file of the
  /// engine's `SourceFiles`. Null for a program.
  llvm::FailureOr<Schedule> (*read)(llvm::StringRef path, llvm::StringRef text,
                                    const WantedSizes &sizes,
                                    DiagEngine &diags);
  llvm::StringLiteral summary;
};

/// All formats, in the order of the table.
llvm::ArrayRef<InputFormat> allInputFormats();
const InputFormat &inputFormat(InputKind kind);

/// Bytes that an input of this kind may have.
uint64_t maxInputBytes(InputKind kind);

/// Finds out what an input holds: as `--input` says, else by its extension,
/// else by its first characters.
InputKind inputKind(llvm::StringRef path, llvm::StringRef text,
                    const Arguments &args);

/// Reads steps of a `kind` that is not `Program`. Reports sizes that are not
/// the wanted ones.
llvm::FailureOr<Schedule> readStepInput(InputKind kind, llvm::StringRef path,
                                        llvm::StringRef text,
                                        const WantedSizes &sizes,
                                        DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_DRIVER_INPUTFORMAT_H
