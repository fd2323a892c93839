//===- Input.cpp - The schedule that a command line names -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Input.h"

#include "Driver/Describe.h"
#include "Driver/Program.h"
#include "Driver/StepInput.h"
#include "IRGen/IRGen.h"
#include "Import/CostProfile.h"
#include "Sema/Sema.h"

using namespace llvm;

namespace pipec {

InputFlags::InputFlags(cl::OptionCategory &category)
    : path(cl::Positional, cl::desc("<file or name>"), cl::cat(category)),
      defines("D", cl::Prefix,
              cl::desc("Give a parameter a value, by label or name"),
              cl::value_desc("NAME=VALUE"), cl::cat(category)),
      includes("I", cl::Prefix,
               cl::desc("Look for imports and programs in this folder"),
               cl::value_desc("FOLDER"), cl::cat(category)),
      schedule("schedule",
               cl::desc("The schedule to take, where a file has several"),
               cl::value_desc("NAME"), cl::cat(category)),
      cost("cost",
           cl::desc("Costs of steps, over those of program and profile"),
           cl::value_desc("F=1,F&B=2.5,p2p=0.1"), cl::cat(category)),
      costProfile("cost-profile",
                  cl::desc("A JSON file of costs, over the program's"),
                  cl::value_desc("FILE"), cl::cat(category)),
      maxSteps("max-steps",
               cl::desc("Steps, loop rounds and calls that a program may take, "
                        "all ranks together (default 2^28)"),
               cl::value_desc("N"), cl::init(LowerOptions().maxSteps),
               cl::cat(category)),
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

InFlightDiagnostic unusable(DiagEngine &diags, const Twine &why) {
  return diags.report(DiagLoc(), diag::UnusableOption, why.str());
}

FailureOr<OpenedInput> openInput(const InputFlags &flags,
                                 const SearchPath &search, DiagEngine &diags) {
  if (flags.path.empty())
    return unusable(diags, "no input; --help shows what there is to give");
  std::optional<std::string> path = search.findInput(flags.path);
  if (!path)
    return reportInputNotFound(flags.path, search, diags);
  FailureOr<StringRef> text = openInput(*path, diags);
  if (failed(text))
    return failure();
  return OpenedInput{*path, *text, inputKind(*path, *text)};
}

static LogicalResult readDefines(const InputFlags &flags,
                                 LowerOptions &lowering, DiagEngine &diags) {
  for (StringRef define : flags.defines) {
    auto [name, value] = define.split('=');
    int64_t number = 0;
    if (name.empty() || value.empty())
      return unusable(diags, "`-D" + define + "` is not NAME=VALUE");
    if (value.getAsInteger(10, number))
      return unusable(diags, "`" + value + "` in `-D" + define +
                                 "` is not a 64-bit integer");
    lowering.params.push_back({name.str(), number});
  }
  return success();
}

static LogicalResult readCosts(const InputFlags &flags, LowerOptions &lowering,
                               DiagEngine &diags) {
  if (flags.costProfile.getNumOccurrences()) {
    FailureOr<StringRef> text = openInput(flags.costProfile, diags);
    if (failed(text))
      return failure();
    FailureOr<CostSettings> costs = readCostProfile(*text, diags);
    if (failed(costs))
      return failure();
    lowering.costs.push_back(*costs);
  }
  if (flags.cost.getNumOccurrences()) {
    FailureOr<CostSettings> costs = readCostOption(flags.cost, diags);
    if (failed(costs))
      return failure();
    lowering.costs.push_back(*costs);
  }
  return success();
}

static FailureOr<Schedule> readSteps(const InputFlags &flags,
                                     const OpenedInput &input,
                                     ArrayRef<CostSettings> costs,
                                     DiagEngine &diags) {
  if (!flags.defines.empty())
    return unusable(diags, "-D on an input that has no parameters");
  StepInputOptions sizes;
  if (flags.stages.getNumOccurrences())
    sizes.stages = flags.stages;
  if (flags.microbatches.getNumOccurrences())
    sizes.microbatches = flags.microbatches;
  FailureOr<Schedule> schedule =
      readStepInput(input.kind, input.path, input.text, sizes, diags);
  if (failed(schedule) || failed(applyCosts(*schedule, costs, diags)))
    return failure();
  return schedule;
}

FailureOr<Schedule> makeSchedule(const InputFlags &flags,
                                 const OpenedInput &input,
                                 const SearchPath &search, DiagEngine &diags) {
  LowerOptions lowering;
  lowering.maxSteps = flags.maxSteps;
  if (failed(readDefines(flags, lowering, diags)) ||
      failed(readCosts(flags, lowering, diags)))
    return failure();
  if (input.kind != InputKind::Program)
    return readSteps(flags, input, lowering.costs, diags);

  ast::Context context;
  ProgramLoader loader(search, context, diags);
  FailureOr<ast::Module *> module = loader.load(input.path, input.text);
  if (failed(module))
    return failure();
  FailureOr<CheckedProgram> program = checkProgram(**module, context, diags);
  if (failed(program))
    return failure();
  auto chosen = chooseSchedule(*program, flags.schedule, input.path, diags);
  if (failed(chosen))
    return failure();
  return lower(*program, **chosen, lowering, diags);
}

} // namespace pipec
