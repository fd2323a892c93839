//===- Emitter.h - The interface of all output formats ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_EMITTER_H
#define PIPEC_EMIT_EMITTER_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"
#include "Waiting/WaitModel.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <optional>
#include <string>

namespace pipec {

/// A part of the time of a schedule, in the unit of its costs.
struct TimeWindow {
  Rational from;
  Rational to;
  /// As given, for messages.
  std::string text;
};

class Simulation;

/// How a picture shows the memory of each rank over time.
enum class MemoryView {
  /// A curve per rank, below the lanes.
  Panel,
  /// A strip below each lane: the darker, the more memory.
  Heat,
  None,
};

/// Options of the output from the command line.
struct EmitOptions {
  /// `--cpp=table`: constant tables instead of code.
  bool cppTable = false;
  /// `--model`: the communication model if the schedule has transfers
  /// (Simulation/Simulate.h); nothing means `edge`.
  std::optional<WaitModel> model;
  /// `--format=json`, for formats with text and JSON.
  bool json = false;
  /// True if the stream is a terminal with colors.
  bool colors = false;
  /// `--width`: the maximum width, in columns of text or pixels of a picture; 0
  /// means no limit.
  unsigned width = 0;
  /// `--scale`: the pixels of one unit of length of a picture.
  Rational scale = 1;
  /// `--title`: the title of a picture; nothing means the name of the schedule.
  std::optional<std::string> title;
  /// `--memory`: how a picture shows the memory of the ranks.
  MemoryView memoryView = MemoryView::Panel;
  /// `--timeline=down`: slots as rows and ranks as columns.
  bool timelineDown = false;
  /// `--window`: the part that a picture shows; nothing means all.
  std::optional<TimeWindow> window;
  /// `--with`: a second schedule, for formats that compare two.
  const Schedule *with = nullptr;
  /// The times of `with` if they were recorded; a trace then shows both.
  const Simulation *withRun = nullptr;
  /// `-o`: the path of the output; empty without one.
  std::string output;
  /// `--template`: its text, and the loader of its partials.
  llvm::StringRef templateText;
  std::function<llvm::FailureOr<llvm::StringRef>(llvm::StringRef name,
                                                 DiagLoc loc)>
      templatePartial;
};

/// Writes `schedule` to `os`. Reports what the format cannot express and fails;
/// the caller then discards the output.
using EmitFunction = llvm::LogicalResult (*)(const Schedule &schedule,
                                             const EmitOptions &options,
                                             llvm::raw_ostream &os,
                                             DiagEngine &diags);

#define PIPEC_EMITTER(Name, Function, Target, Extensions, Uses, Summary)       \
  llvm::LogicalResult Function(const Schedule &, const EmitOptions &,          \
                               llvm::raw_ostream &, DiagEngine &);
#include "Emit/Emitters.def"

/// The options of the command line that may affect a format.
enum class EmitUse : unsigned {
  None = 0,
  Cpp = 1 << 0,
  Model = 1 << 1,
  Format = 1 << 2,
  Window = 1 << 3,
  Width = 1 << 4,
  With = 1 << 5,
  /// --cost, --cost-profile and --parts, which may also affect passes.
  Costs = 1 << 6,
  Template = 1 << 7,
  /// --layers, --split and --layout, without costs.
  Layers = 1 << 8,
  /// One of them must be given, or the schedule must have a layout.
  NeedsLayers = 1 << 9,
  Timeline = 1 << 10,
  Title = 1 << 11,
  /// --scale and --memory.
  Drawing = 1 << 12,
};
constexpr EmitUse operator|(EmitUse a, EmitUse b) {
  return EmitUse(unsigned(a) | unsigned(b));
}

struct EmitterInfo {
  llvm::StringLiteral name;
  /// Null for a format that prints the program itself.
  EmitFunction function;
  /// The target whose passes run first if the command line specifies none.
  llvm::StringLiteral target;
  /// The extensions of files in this format, without dots.
  llvm::StringLiteral extensions;
  EmitUse uses;
  llvm::StringLiteral summary;

  bool printsProgram() const { return !function; }
  bool hasUse(EmitUse use) const { return unsigned(uses) & unsigned(use); }
  /// True for an extension of this format; `extension` is in lower case.
  bool hasExtension(llvm::StringRef extension) const;
};

/// All formats, in the order of the table.
llvm::ArrayRef<EmitterInfo> allEmitters();
/// A format that the key of a framework names: the first output of the
/// framework, after the passes of its target.
struct FrameworkEmitter {
  llvm::StringRef key;
  EmitterInfo emitter;
  std::string summary;
};
/// One for each framework whose key is not the name of a format.
llvm::ArrayRef<FrameworkEmitter> frameworkEmitters();
/// The format with that name or key; null if there is none.
const EmitterInfo *findEmitter(llvm::StringRef name);

} // namespace pipec

#endif // PIPEC_EMIT_EMITTER_H
