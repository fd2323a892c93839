//===- Emitter.cpp - The table of output formats --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/Emitter.h"

#include "Frameworks/FrameworkFormats.h"
#include "Frameworks/FrameworkTargets.h"
#include "StepText/StepPrinter.h"
#include "Support/Diagnostics/EmitDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

/// The emitter of a framework's format, which has no options and no order of
/// the batch.
template <auto emit>
static LogicalResult emitPlain(const Schedule &schedule, const EmitOptions &,
                               raw_ostream &os, DiagEngine &diags) {
  for (auto [i, number] : enumerate(schedule.order))
    if (number != i) {
      (void)diags.report(schedule.source, diag::OrderLost, i, number);
      break;
    }
  return emit(schedule, os, diags);
}

ArrayRef<EmitterInfo> allEmitters() {
  using enum EmitUse;
  static constexpr EmitterInfo emitters[] = {
#define PIPEC_EMITTER(Name, Function, Target, Extensions, Uses, Summary)       \
  {Name, Function, Target, Extensions, Uses, Summary},
#define PIPEC_FRAMEWORK_EMITTER(Name, Function, Target, Extensions, Uses,      \
                                Summary)                                       \
  {Name, emitPlain<Function>, Target, Extensions, Uses, Summary},
#define PIPEC_PROGRAM_EMITTER(Name, Extensions, Summary)                       \
  {Name, nullptr, "", Extensions, None, Summary},
#include "Emit/Emitters.def"
  };
  return emitters;
}

static const EmitterInfo *emitterCalled(StringRef name) {
  const EmitterInfo *it = find_if(allEmitters(), [&](const EmitterInfo &info) {
    return info.name == name;
  });
  return it == allEmitters().end() ? nullptr : it;
}

ArrayRef<FrameworkEmitter> frameworkEmitters() {
  static const auto emitters = [] {
    std::vector<FrameworkEmitter> made;
    for (const FrameworkInfo &framework : frameworkTable)
      if (!emitterCalled(framework.key)) {
        EmitterInfo emitter = *emitterCalled(framework.output());
        if (emitter.target.empty())
          emitter.target = framework.target;
        std::string summary =
            "`" + emitter.name.str() + "`, for " + framework.title.str();
        if (!emitter.target.empty())
          summary += ", with --target=" + emitter.target.str();
        made.push_back({framework.key, emitter, summary});
      }
    return made;
  }();
  return emitters;
}

const EmitterInfo *findEmitter(StringRef name) {
  for (const FrameworkEmitter &one : frameworkEmitters())
    if (one.key == name)
      return &one.emitter;
  return emitterCalled(name);
}

bool EmitterInfo::hasExtension(StringRef extension) const {
  return !extension.empty() && is_contained(split(extensions, ' '), extension);
}

LogicalResult emitSteps(const Schedule &schedule, const EmitOptions &,
                        raw_ostream &os, DiagEngine &) {
  printSteps(schedule, os);
  return success();
}

LogicalResult emitTorchSettings(const Schedule &schedule,
                                const EmitOptions &options, raw_ostream &os,
                                DiagEngine &diags) {
  StringRef stem = sys::path::stem(options.output);
  bool hasName = !stem.empty() && stem != "-";
  std::string csv = (hasName ? stem : StringRef(schedule.name)).str() + ".csv";
  return emitTorchConfig(schedule, csv, os, diags);
}

} // namespace pipec
