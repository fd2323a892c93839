//===- InputFormat.h - The input formats ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Arguments.h"
#include "IR/GraphBuilder.h"
#include "IR/Schedule.h"

#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// The kind of contents of an input file.
enum class InputKind {
#define PIPEC_INPUT_FORMAT(Kind, Name, Extension, Sniff, Read, Summary) Kind,
#include "Driver/InputFormats.def"
};

/// A size required by the command line, and how it was written there.
struct WantedSize {
  /// The allowed values.
  std::vector<int64_t> numbers;
  std::string written;
};

/// The options about a list of steps.
struct InputOptions {
  /// The sizes that it must have.
  std::optional<WantedSize> ranks;
  std::optional<WantedSize> stages;
  std::optional<WantedSize> microbatches;
  /// The value of `--dialect`; empty if it was not given.
  llvm::StringRef dialect;
  /// The value of `--reduce`, if given.
  std::optional<llvm::StringRef> reduced;
  /// The value of `--tie`, if given.
  std::optional<llvm::StringRef> ties;
  /// The ranks of `--ranks-present`; empty for lists of all ranks.
  std::vector<unsigned> present;
  /// The edges of `--graph` and `--connect`.
  GivenGraph graph;
  /// The value of `--slices`, if given.
  std::optional<unsigned> slices;
};

/// One row of InputFormats.def.
struct InputFormat {
  InputKind kind;
  llvm::StringLiteral name;
  llvm::StringLiteral extension;
  bool (*sniff)(llvm::StringRef text);
  /// Reads the schedule. `path` provides its name; `text` must be a
  /// file of the engine's `SourceFiles`. Null for a program.
  llvm::FailureOr<Schedule> (*read)(llvm::StringRef path, llvm::StringRef text,
                                    const InputOptions &options,
                                    DiagEngine &diags);
  llvm::StringLiteral summary;
};

/// All formats, in the order of the table.
llvm::ArrayRef<InputFormat> allInputFormats();
const InputFormat &inputFormat(InputKind kind);

/// The maximum size in bytes of an input of this kind.
uint64_t maxInputBytes(InputKind kind);

/// Determines the kind of an input: from `--input` if given, otherwise from its
/// extension, otherwise from its first characters.
InputKind inputKind(llvm::StringRef path, llvm::StringRef text,
                    const Arguments &args);

/// Reads steps of a `kind` other than `Program`. Reports sizes that differ from
/// the required ones, and options that this kind does not have.
llvm::FailureOr<Schedule> readStepInput(InputKind kind, llvm::StringRef path,
                                        llvm::StringRef text,
                                        const InputOptions &options,
                                        DiagEngine &diags);

} // namespace pipec
