//===- Input.cpp - The input schedule of a command ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Input.h"

#include "Driver/LayoutOptions.h"
#include "Import/CostText.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

std::optional<WaitModel> readModel(const Arguments &args) {
  if (!args.has(Opt::Model))
    return args.has(Opt::Target) ? modelOfTarget(args.text(Opt::Target))
                                 : std::nullopt;
  return parseWaitModel(args.text(Opt::Model));
}

LogicalResult checkModelUsed(const Arguments &args,
                             ArrayRef<const Schedule *> schedules,
                             DiagEngine &diags) {
  // A schedule with one rank has no transfers, but one rank is a valid size.
  if (!args.has(Opt::Model) || any_of(schedules, [](const Schedule *schedule) {
        return schedule->hasP2P() || schedule->numRanks == 1;
      }))
    return success();
  return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                      args.written(Opt::Model),
                      "on steps without transfers, which --passes=insert-p2p "
                      "inserts");
}

LogicalResult checkInputOptions(const Arguments &args, bool hasPrograms,
                                bool hasSteps, DiagEngine &diags) {
  auto report = [&](Opt option, StringRef where) {
    return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                        args.written(option), where);
  };
  if (!hasPrograms)
    if (auto option = args.firstOf(optgroup::Programs | optgroup::Lowering))
      return report(*option, "on an input that is not a program");
  if (!hasSteps) {
    if (auto option = args.firstOf(optgroup::StepSizes))
      return report(*option, "on a program, whose stages follow from --ranks "
                             "and --chunks");
    if (auto option = args.firstOf(optgroup::ListForm))
      return report(*option, "on a program");
    if (args.has(Opt::RanksPresent))
      return report(Opt::RanksPresent, "on a program");
  }
  return success();
}

FailureOr<std::vector<unsigned>> readPresentRanks(const Arguments &args,
                                                  DiagEngine &diags) {
  std::vector<unsigned> ranks;
  if (!args.has(Opt::RanksPresent))
    return ranks;
  SmallVector<StringRef> parts;
  args.text(Opt::RanksPresent).split(parts, ',');
  for (StringRef part : parts) {
    unsigned rank = 0;
    bool isRank = !part.getAsInteger(10, rank) && rank < maxRanks;
    if (!isRank || is_contained(ranks, rank))
      return diags.report(DiagLoc(), diag::OptionValue, shortened(part),
                          args.written(Opt::RanksPresent),
                          isRank ? "a further rank" : "a rank");
    ranks.push_back(rank);
  }
  return ranks;
}

LogicalResult checkCostsUsed(const Arguments &args, CostUses uses,
                             const Twine &where, DiagEngine &diags) {
  // Profiles may have memory settings too, which parts divide.
  for (Opt option : {Opt::Cost, Opt::CostProfile, Opt::Parts, Opt::Layers,
                     Opt::Split, Opt::Layout})
    if (args.has(option) && !uses.times &&
        !(uses.limit && option != Opt::Cost) &&
        !(uses.layers && is_contained(layoutOptions, option)) &&
        !(uses.layers && uses.hasLayout && option == Opt::CostProfile))
      return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                          args.written(option), where.str());
  return success();
}

LogicalResult readLowering(const Arguments &args, LowerOptions &lowering,
                           DiagEngine &diags) {
  if (failed(readLoweringButLayouts(args, lowering, diags)))
    return failure();
  FailureOr<std::optional<LayerLayout>> layout =
      readLayout(args, lowering.given.layout, diags);
  if (failed(layout))
    return failure();
  lowering.given.layout = std::move(*layout);
  lowering.given.layoutOfProfile &=
      none_of(layoutOptions, [&](Opt option) { return args.has(option); });
  return success();
}

LogicalResult readLoweringButLayouts(const Arguments &args,
                                     LowerOptions &lowering,
                                     DiagEngine &diags) {
  if (failed(readLoweringButCosts(args, lowering, diags)))
    return failure();
  FailureOr<std::vector<CostSettings>> costs = readCosts(args, diags);
  if (failed(costs))
    return failure();
  llvm::append_range(lowering.given.costs, *costs);
  return success();
}

LogicalResult readLoweringButCosts(const Arguments &args,
                                   LowerOptions &lowering, DiagEngine &diags) {
  lowering.maxSteps = args.count(Opt::MaxSteps, lowering.maxSteps);
  lowering.graph = readGraph(args);
  if (args.has(Opt::CostProfile)) {
    FailureOr<StringRef> text =
        openInput(args.text(Opt::CostProfile), diags, maxProfileBytes);
    if (failed(text))
      return failure();
    FailureOr<GivenSettings> profile = readCostProfile(*text, diags);
    if (failed(profile))
      return failure();
    lowering.given = std::move(*profile);
  }
  if (std::optional<unsigned> parts = args.number(Opt::Parts)) {
    lowering.given.per = CostPer::Part;
    lowering.given.parts = *parts;
  }
  return success();
}

FailureOr<std::vector<CostSettings>> readCosts(const Arguments &args,
                                               DiagEngine &diags) {
  std::vector<CostSettings> all;
  for (StringRef text : args.list(Opt::Cost)) {
    FailureOr<CostSettings> costs = readCostOption(text, diags);
    if (failed(costs))
      return failure();
    all.push_back(*costs);
  }
  return all;
}

GivenGraph readGraph(const Arguments &args) {
  GivenGraph graph;
  for (auto [option, edges] :
       {std::pair(Opt::Graph, &graph.all), {Opt::Connect, &graph.more}})
    for (StringRef edge : split(args.text(option), ','))
      if (args.has(option))
        edges->push_back(*parseEdge(edge));
  return graph;
}

LogicalResult readMemoryLimit(const Arguments &args, GivenSettings &given,
                              DiagEngine &diags) {
  if (!args.has(Opt::MemoryLimit))
    return success();
  std::optional<MemorySize> limit =
      parseMemorySize(args.text(Opt::MemoryLimit));
  bool sizesGiven =
      given.layersSource.isValid() || !(given.allMemory() == MemorySettings());
  if (limit->inBytes && !sizesGiven)
    (void)diags.report(DiagLoc(), diag::LimitInBytes,
                       shortened(args.text(Opt::MemoryLimit)));
  given.memory.emplace_back().set(Figure::Limit, limit->value);
  return success();
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Reports that the command line has no input. A word such as `zb1p=8` may be
/// meant as one.
static InFlightDiagnostic reportMissingInput(const Arguments &args,
                                             const SearchPath &search,
                                             DiagEngine &diags) {
  InFlightDiagnostic error = reportMissingInput(diags);
  for (const std::string &word : args.words()) {
    auto [name, value] = StringRef(word).split('=');
    if (!search.findInput(name))
      continue;
    error.note(DiagLoc(), diag::NoteDidYouMean,
               (name + " ranks=" + value).str());
    break;
  }
  return error;
}

FailureOr<std::vector<InputRequest>>
InputRequest::readAll(const Arguments &args, const SearchPath &search,
                      DiagEngine &diags) {
  std::vector<std::string> inputs;
  FailureOr<Grid> sizes = Grid::read(args, Grid::Values::One, inputs, diags);
  if (failed(sizes))
    return failure();
  if (inputs.empty())
    return reportMissingInput(args, search, diags);
  std::vector<InputRequest> requests;
  for (const std::string &input : inputs)
    requests.push_back({args, input, *sizes});
  return requests;
}

FailureOr<InputRequest> InputRequest::read(const Arguments &args,
                                           const SearchPath &search,
                                           DiagEngine &diags) {
  FailureOr<std::vector<InputRequest>> all = readAll(args, search, diags);
  if (failed(all))
    return failure();
  return all->front();
}

FailureOr<OpenedInput> InputRequest::open(const SearchPath &search,
                                          DiagEngine &diags) const {
  return findInput(path, search, args, diags);
}

FailureOr<Schedule> InputRequest::makeSchedule(const SearchPath &search,
                                               DiagSession &session) const {
  FailureOr<OpenedInput> input = open(search, session.engine());
  if (failed(input))
    return failure();
  return makeSchedule(*input, search, session);
}

FailureOr<Schedule> InputRequest::makeSchedule(const OpenedInput &input,
                                               const SearchPath &search,
                                               DiagSession &session,
                                               const Schedule *first) const {
  bool isProgram = input.kind == InputKind::Program;
  session.progress().phase(isProgram ? "lowering" : "reading");
  return makeSchedule(input, search, session.engine(), first);
}

FailureOr<Schedule> InputRequest::makeSchedule(const OpenedInput &input,
                                               const SearchPath &search,
                                               DiagEngine &diags,
                                               const Schedule *first) const {
  LowerOptions lowering;
  if (failed(readLowering(args, lowering, diags)))
    return failure();
  auto source = ScheduleSource::load(input, search, diags);
  if (failed(source))
    return failure();
  return makeSchedule(**source, std::move(lowering), diags, first);
}

FailureOr<Schedule> InputRequest::makeSchedule(const ScheduleSource &source,
                                               LowerOptions lowering,
                                               DiagEngine &diags,
                                               const Schedule *first) const {
  lowering.given.model = first;
  bool isProgram = source.isProgram();
  if (!first && failed(checkInputOptions(args, isProgram, !isProgram, diags)))
    return failure();
  if (!isProgram) {
    if (!first && failed(sizes.fit({}, /*otherInputs=*/true, diags)))
      return failure();
    InputOptions options = sizes.wanted(args);
    FailureOr<std::vector<unsigned>> present = readPresentRanks(args, diags);
    if (failed(present))
      return failure();
    options.present = std::move(*present);
    return source.read(options, lowering, diags);
  }
  auto chosen =
      source.schedule(first ? StringRef() : args.text(Opt::Schedule), diags);
  if (failed(chosen))
    return failure();
  const ast::ScheduleDecl *decl = (*chosen)->decl;
  if (!first && failed(sizes.fit(decl, /*otherInputs=*/false, diags)))
    return failure();
  Grid all = sizes;
  if (first)
    all.setSizesOf(*first);
  lowering.params = all.point(*decl);
  return source.lower(**chosen, lowering, diags);
}

} // namespace pipec
