//===- Emitter.h - The interface of all output formats ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Simulation/CostDraw.h"
#include "Support/DiagEngine.h"
#include "Waiting/Communicators.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <optional>
#include <string>

namespace llvm::json {
class OStream;
}

namespace pipec {

/// A part of the time of a schedule, in the unit of its costs.
struct TimeWindow {
  Rational from;
  Rational to;
  /// As given, for messages.
  std::string text;
};

class Simulation;
struct Report;
struct JitterReport;

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
#define PIPEC_EMIT_OPTION(Id, Name, Type, CxxType, Field, Default, Help)       \
  CxxType Field = Default;
#include "Emit/EmitOptions.def"
  /// `--model`: the communication model if the schedule has transfers
  /// (Simulation/Simulate.h); nothing means `edge`.
  std::optional<CommModel> model;
  /// `--jitter` with its draws and its seed.
  std::optional<Jitter> jitter;
  /// `--format=json`, for formats with text and JSON.
  bool json = false;
  /// True if the stream is a terminal with colors.
  bool colors = false;
  /// The schedule of `--with`.
  const Schedule *with = nullptr;
  /// The times of `with` if they were recorded; a trace then shows both.
  const Simulation *withRun = nullptr;
  /// `-o`: the path of the output; empty without one.
  std::string output;
  /// The text of the template, and the loader of its partials.
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

namespace detail {
enum EmitOptionNumber : unsigned {
#define PIPEC_EMIT_OPTION(Id, Name, Type, CxxType, Field, Default, Help)       \
  Id##EmitNumber,
#include "Emit/EmitOptions.def"
  NumEmitOptions
};
} // namespace detail

/// The options of the command line that may affect a format: those of
/// EmitOptions.def, and others, which other commands take, too.
enum class EmitUse : unsigned {
  None = 0,
#define PIPEC_EMIT_OPTION(Id, Name, Type, CxxType, Field, Default, Help)       \
  Id = 1U << detail::Id##EmitNumber,
#include "Emit/EmitOptions.def"
  Model = 1U << detail::NumEmitOptions,
  Jitter = Model << 1,
  Format = Jitter << 1,
  /// --cost, --cost-profile and --parts, which may also affect passes.
  Costs = Format << 1,
  /// --layers, --split and --layout, without costs.
  Layers = Costs << 1,
  /// One of them must be given, or the schedule must have a layout.
  NeedsLayers = Layers << 1,
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

/// Writes a page without schedules, which its script gets later.
llvm::LogicalResult writeEmptyPage(llvm::raw_ostream &os, DiagEngine &diags);

/// A time of a JitterReport with few digits, which are all that draws
/// determine.
std::string jitterText(Rational time);
/// Writes the attribute `jitter`, an object.
void writeJitter(const JitterReport &jitter, llvm::json::OStream &json);

/// Writes a report as the JSON object documented in docs/Report.md; `more` adds
/// attributes to it.
void writeReport(
    const Schedule &schedule, const Report &report, llvm::json::OStream &json,
    llvm::function_ref<void()> more = [] {});

} // namespace pipec
