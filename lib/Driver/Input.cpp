//===- Input.cpp - The schedule that a command line names -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Input.h"

#include "Import/CostProfile.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

LowerFlags::LowerFlags(cl::OptionCategory &category)
    : defines("D", cl::Prefix,
              cl::desc("Give a parameter a value, by label or name"),
              cl::value_desc("NAME=VALUE"), cl::cat(category)),
      schedule("schedule",
               cl::desc("The schedule to take, where a file has several"),
               cl::value_desc("NAME"), cl::cat(category)),
      cost("cost",
           cl::desc("Costs of steps, over those of program and profile"),
           cl::value_desc("F=1,F&B=2.5,p2p=0.1"), cl::cat(category)),
      costProfile("cost-profile",
                  cl::desc("A JSON file of costs, over the program's"),
                  cl::value_desc("FILE"), cl::cat(category)),
      parts("parts",
            cl::desc("The given costs and sizes are those of one of N equal "
                     "parts of the model, not of a stage"),
            cl::value_desc("N"), cl::cat(category)),
      maxSteps("max-steps",
               cl::desc("Steps, loop rounds and calls that a program may take, "
                        "all ranks together (default 2^28)"),
               cl::value_desc("N"), cl::init(LowerOptions().maxSteps),
               cl::cat(category)) {}

InputFlags::InputFlags(cl::OptionCategory &category)
    : LowerFlags(category),
      path(cl::Positional, cl::desc("<file or name>"), cl::cat(category)),
      stages("stages", cl::desc("The number of stages that a CSV must have"),
             cl::value_desc("N"), cl::cat(category)),
      microbatches("microbatches",
                   cl::desc("The number of micro-batches that a CSV must have"),
                   cl::value_desc("N"), cl::cat(category)) {}

ModelFlag::ModelFlag(cl::OptionCategory &category)
    : name("model",
           cl::desc("How transfers wait in time, where the schedule has "
                    "transfers: stream, pair, edge (default) or buffered"),
           cl::value_desc("MODEL"), cl::cat(category)) {}

LogicalResult ModelFlag::read(std::optional<WaitModel> &model,
                              DiagEngine &diags) const {
  if (!name.getNumOccurrences())
    return success();
  model = parseWaitModel(name);
  if (!model)
    return unusable(diags, "no model `" + name + "`");
  return success();
}

WarningFlags::WarningFlags(cl::OptionCategory &category)
    : names("W", cl::Prefix,
            cl::desc("-WNAME and -Wno-NAME switch a warning on and off, "
                     "-Werror makes all of them errors"),
            cl::value_desc("NAME"), cl::cat(category)) {}

LogicalResult WarningFlags::apply(DiagEngine &diags) const {
  for (StringRef name : names) {
    if (name == "error") {
      diags.setWarningsAreErrors(true);
      continue;
    }
    bool on = !name.consume_front("no-");
    if (!diags.setWarning(name, on))
      return unusable(diags, "no warning `" + name + "`");
  }
  return success();
}

FailureOr<OpenedInput> openInput(const InputFlags &flags,
                                 const SearchPath &search, DiagEngine &diags) {
  if (flags.path.empty())
    return reportNoInput(diags);
  return findInput(flags.path, search, diags);
}

//===----------------------------------------------------------------------===//
// Options of lowering
//===----------------------------------------------------------------------===//

LogicalResult LowerFlags::read(LowerOptions &lowering,
                               DiagEngine &diags) const {
  if (failed(readButCosts(lowering, diags)))
    return failure();
  FailureOr<std::vector<CostSettings>> costs = readCosts(diags);
  if (failed(costs))
    return failure();
  llvm::append_range(lowering.given.costs, *costs);
  return success();
}

LogicalResult LowerFlags::readButCosts(LowerOptions &lowering,
                                       DiagEngine &diags) const {
  lowering.maxSteps = maxSteps;
  for (StringRef define : defines) {
    auto [name, value] = define.split('=');
    int64_t number = 0;
    if (name.empty() || value.empty())
      return unusable(diags, "`-D" + define + "` is not NAME=VALUE");
    if (value.getAsInteger(10, number))
      return unusable(diags, "`" + value + "` in `-D" + define +
                                 "` is not a 64-bit integer");
    lowering.params.push_back({name.str(), number});
  }
  if (costProfile.getNumOccurrences()) {
    FailureOr<StringRef> text = openInput(costProfile, diags);
    if (failed(text))
      return failure();
    FailureOr<GivenSettings> profile = readCostProfile(*text, diags);
    if (failed(profile))
      return failure();
    lowering.given = std::move(*profile);
  }
  if (!parts.getNumOccurrences())
    return success();
  if (parts == 0 || parts > maxStages)
    return unusable(diags, "a model of " + Twine(parts) +
                               " parts; it has from 1 to " + Twine(maxStages));
  lowering.given.per = CostPer::Part;
  lowering.given.parts = parts;
  return success();
}

FailureOr<std::vector<CostSettings>>
LowerFlags::readCosts(DiagEngine &diags) const {
  std::vector<CostSettings> all;
  for (StringRef text : cost) {
    FailureOr<CostSettings> costs = readCostOption(text, diags);
    if (failed(costs))
      return failure();
    all.push_back(*costs);
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

FailureOr<Schedule> makeSchedule(const InputFlags &flags,
                                 const OpenedInput &input,
                                 const SearchPath &search,
                                 DiagSession &session) {
  DiagEngine &diags = session.engine();
  LowerOptions lowering;
  if (failed(flags.read(lowering, diags)))
    return failure();
  session.progress().phase(input.kind == InputKind::Program ? "lowering"
                                                            : "reading");
  auto source = ScheduleSource::load(input, search, diags);
  if (failed(source))
    return failure();
  if ((*source)->isProgram()) {
    auto chosen = (*source)->schedule(flags.schedule, diags);
    if (failed(chosen))
      return failure();
    return (*source)->lower(**chosen, lowering, diags);
  }
  if (!flags.defines.empty())
    return unusable(diags, "-D on an input that has no parameters");
  StepInputOptions sizes;
  if (flags.stages.getNumOccurrences())
    sizes.stages = flags.stages;
  if (flags.microbatches.getNumOccurrences())
    sizes.microbatches = flags.microbatches;
  return (*source)->read(sizes, lowering, diags);
}

} // namespace pipec
