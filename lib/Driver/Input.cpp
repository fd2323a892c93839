//===- Input.cpp - The input schedule of a command ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Input.h"

#include "Cost/LayoutText.h"
#include "Import/CostText.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <numeric>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// The options about layers, in the order of `--help`.
static constexpr Opt layoutOptions[] = {Opt::Layers, Opt::Split, Opt::Layout};

double spreadOfQuartiles(double lower, double upper, double mean) {
  return mean > 0 ? (upper - lower) / 1.349 / mean : 0;
}

std::optional<Rational> measuredSpread(const json::Object &profile) {
  const json::Object *measured = profile.getObject("measured");
  if (!measured)
    return std::nullopt;
  double largest = measured->getNumber("step_spread").value_or(0);
  const json::Object *kinds = measured->getObject("kinds");
  const json::Object *layers = profile.getObject("layers");
  for (const auto &[name, kind] : kinds &&layers ? *kinds : json::Object()) {
    const json::Object *spreads =
        kind.getAsObject() ? kind.getAsObject()->getObject("spread") : nullptr;
    const json::Object *times = layers->getObject(name);
    for (const auto &[figure, range] :
         spreads &&times ? *spreads : json::Object()) {
      const json::Array *ends = range.getAsArray();
      if (ends && ends->size() == 2)
        largest = std::max(
            largest, spreadOfQuartiles(ends->front().getAsNumber().value_or(0),
                                       ends->back().getAsNumber().value_or(0),
                                       times->getNumber(figure).value_or(0)));
    }
  }
  constexpr int64_t digits = 10000;
  int64_t rounded = std::llround(std::min(largest, double(maxSpread)) * digits);
  return rounded > 0 ? Rational::make(rounded, digits) : std::nullopt;
}

LogicalResult readJitter(const Arguments &args, std::optional<Jitter> &jitter,
                         DiagEngine &diags) {
  if (!args.has(Opt::Jitter))
    return success();
  jitter.emplace();
  bool ofProfile = false;
  for (StringRef item : args.items(Opt::Jitter)) {
    auto [scope, spread] = *parseSpread(item);
    if (spread
            ? std::exchange(jitter->spreads[size_t(scope)], spread).has_value()
            : std::exchange(ofProfile, true))
      return diags.report(DiagLoc(), diag::ValueTwice, item.split(':').first,
                          "--jitter");
  }
  std::optional<Rational> &ofSteps = jitter->spreads[size_t(JitterScope::Step)];
  if (ofProfile && !ofSteps) {
    if (args.has(Opt::CostProfile)) {
      FailureOr<StringRef> text =
          openInput(args.text(Opt::CostProfile), diags, maxProfileBytes);
      if (failed(text))
        return failure();
      // Syntax errors are reported with the costs.
      if (std::optional<json::Object> profile = parseJsonObject(*text))
        ofSteps = measuredSpread(*profile);
    }
    if (!ofSteps)
      return diags.report(DiagLoc(), diag::OptionNeeds, "--jitter=profile",
                          "a --cost-profile with spreads of measured times");
  }
  args.get(Opt::Draws, jitter->draws);
  args.get(Opt::JitterSeed, jitter->seed);
  return success();
}

LogicalResult checkJitterUsed(const Arguments &args,
                              const std::optional<Jitter> &jitter,
                              const CostSettings &costs, DiagEngine &diags) {
  if (!jitter ||
      any_of(ArrayRef(jitter->spreads).drop_back(),
             [](const auto &spread) { return spread.has_value(); }) ||
      any_of(costs.places(), [](const auto &place) {
        std::optional<Rational> latency = place.second.get(Figure::P2P);
        return latency && !latency->isZero();
      }))
    return success();
  return args.reportUseless(Opt::Jitter, "on transfers without latency", diags);
}

std::optional<CommunicatorForm> readCommunicatorForm(const Arguments &args) {
  const CommunicatorForm *form =
      find_if(communicatorForms, [&](const CommunicatorForm &form) {
        return form.name == args.text(Opt::Communicators);
      });
  if (form == std::end(communicatorForms))
    return std::nullopt;
  return *form;
}

FailureOr<std::optional<CommModel>> readModel(const Arguments &args,
                                              DiagEngine &diags) {
  std::optional<CommModel> model;
  if (args.has(Opt::Model)) {
    StringRef text = args.text(Opt::Model);
    if (isModelFile(text))
      return openCommunicators(text, diags);
    model = *parseWaitModel(text);
  } else if (auto form = readCommunicatorForm(args)) {
    model = form->model;
  } else if (args.has(Opt::Target)) {
    model = modelOfTarget(args.text(Opt::Target));
  }
  return model;
}

LogicalResult checkModelUsed(const Arguments &args,
                             ArrayRef<const Schedule *> schedules,
                             DiagEngine &diags) {
  // A schedule with one rank has no transfers, but one rank is a valid size.
  if (!args.has(Opt::Model) || any_of(schedules, [](const Schedule *schedule) {
        return schedule->hasP2P() || schedule->numRanks == 1;
      }))
    return success();
  return args.reportUseless(
      Opt::Model,
      "on steps without transfers, which --passes=insert-p2p inserts", diags);
}

LogicalResult checkInputOptions(const Arguments &args, bool hasPrograms,
                                bool hasSteps, DiagEngine &diags) {
  auto report = [&](Opt option, StringRef where) {
    return args.reportUseless(option, where, diags);
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
  for (StringRef part : args.items(Opt::RanksPresent)) {
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
      return args.reportUseless(option, where, diags);
  return success();
}

LogicalResult readLowering(const Arguments &args, LowerOptions &lowering,
                           DiagEngine &diags) {
  if (failed(readLoweringButLayouts(args, lowering, diags)) ||
      failed(store(readLayout(args, lowering.given.layout, diags),
                   lowering.given.layout)))
    return failure();
  lowering.given.layoutOfProfile &=
      none_of(layoutOptions, [&](Opt option) { return args.has(option); });
  return success();
}

LogicalResult readLoweringButLayouts(const Arguments &args,
                                     LowerOptions &lowering,
                                     DiagEngine &diags) {
  std::vector<CostSettings> costs;
  if (failed(readLoweringButCosts(args, lowering, diags)) ||
      failed(store(readCosts(args, diags), costs)))
    return failure();
  llvm::append_range(lowering.given.costs, costs);
  return readMemoryLimit(args, lowering.given, diags);
}

LogicalResult readLoweringButCosts(const Arguments &args,
                                   LowerOptions &lowering, DiagEngine &diags) {
  lowering.maxSteps = args.count(Opt::MaxSteps, lowering.maxSteps);
  lowering.graph = readGraph(args);
  lowering.slices = args.number(Opt::Slices);
  if (args.has(Opt::CostProfile)) {
    FailureOr<StringRef> text =
        openInput(args.text(Opt::CostProfile), diags, maxProfileBytes);
    if (failed(text) ||
        failed(store(readCostProfile(*text, diags), lowering.given)))
      return failure();
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
  for (StringRef text : args.list(Opt::Cost))
    if (failed(store(readCostOption(text, diags), all.emplace_back())))
      return failure();
  return all;
}

GivenGraph readGraph(const Arguments &args) {
  GivenGraph graph;
  for (auto [option, edges] :
       {std::pair(Opt::Graph, &graph.all), {Opt::Connect, &graph.more}})
    for (StringRef edge : args.items(option))
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
      !(given.allMemory() == MemorySettings()) ||
      llvm::any_of(given.layers, [](const std::optional<LayerFigures> &kind) {
        return kind && !(kind->memory == FigureRow());
      });
  if (limit->inBytes && !sizesGiven)
    (void)diags.report(DiagLoc(), diag::LimitInBytes,
                       shortened(args.text(Opt::MemoryLimit)));
  given.inBytes |= limit->inBytes && sizesGiven;
  given.memory.emplace_back().set(Figure::Limit, limit->value);
  return success();
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Adds the value of an option to the files of the run, so that messages can
/// point into it.
static FailureOr<StringRef> addText(Opt option, StringRef value,
                                    DiagEngine &diags) {
  std::string name = optionInfo(option).spelling();
  Expected<StringRef> text =
      diags.sourceFiles().add(MemoryBuffer::getMemBufferCopy(value, name));
  if (text)
    return *text;
  return diags.report(DiagLoc(), diag::FileUnreadable, name,
                      toString(text.takeError()));
}

/// The numbers of layers of `--split`; their sum is limited.
static FailureOr<SmallVector<size_t>> readNumbers(StringRef list,
                                                  DiagEngine &diags) {
  SmallVector<size_t> numbers;
  size_t sum = 0;
  for (StringRef part : split(list, ',')) {
    size_t number = 0;
    if (part.trim().getAsInteger(10, number) || number > maxLayoutSize ||
        (sum += number) > maxLayoutSize)
      return diags.report(DiagLoc(), diag::OptionValue, shortened(part),
                          "--split",
                          "a number of layers, of at most " +
                              std::to_string(maxLayoutSize) + " in all");
    numbers.push_back(number);
  }
  return numbers;
}

static FailureOr<LayerLayout>
readSplit(StringRef list, const std::optional<std::string> &layers,
          DiagEngine &diags) {
  FailureOr<SmallVector<size_t>> numbers = readNumbers(list, diags);
  if (failed(numbers))
    return failure();
  size_t sum = std::accumulate(numbers->begin(), numbers->end(), size_t(0));
  constexpr char decoder = letterOf(LayerKind::Decoder);
  std::string all = layers ? *layers : std::string(sum, decoder);
  if (sum != all.size())
    return reportUsageError(diags,
                            "--split=" + shortened(list) + " adds up to " +
                                countText(sum, "layer") +
                                ", and --layers gives " + Twine(all.size()));
  StageLayers stages;
  StringRef rest = all;
  for (size_t number : *numbers) {
    stages.push_back(rest.take_front(number).str());
    rest = rest.drop_front(number);
  }
  return LayerLayout(std::move(stages));
}

/// Reports a layout whose stages cannot be shared among the ranks evenly.
static LogicalResult checkRanks(const LayerLayout &layout, unsigned ranks,
                                DiagLoc loc, DiagEngine &diags) {
  if (layout.isEven() || *layout.numStages() % ranks == 0)
    return success();
  return diags.report(loc, diag::LayoutRanks,
                      countText(*layout.numStages(), "stage"),
                      countText(ranks, "rank"));
}

FailureOr<std::vector<LayerLayout>>
readLayouts(const Arguments &args, const std::optional<LayerLayout> &ofProfile,
            unsigned ranks, DiagEngine &diags) {
  std::vector<LayerLayout> layouts;
  std::optional<std::string> layers;
  if (args.has(Opt::Layers)) {
    auto text = addText(Opt::Layers, args.text(Opt::Layers), diags);
    if (failed(text) || failed(store(parseLayers(*text, diags), layers)))
      return failure();
    if (!args.has(Opt::Split))
      layouts.push_back(LayerLayout::even(*layers));
  }
  for (auto [option, value] : args.lists({Opt::Split, Opt::Layout})) {
    auto text = addText(option, value, diags);
    if (failed(text))
      return failure();
    auto layout = option == Opt::Split ? readSplit(*text, layers, diags)
                                       : parseLayout(*text, diags);
    if (failed(layout))
      return failure();
    SMRange place(SMLoc::getFromPointer(text->begin()),
                  SMLoc::getFromPointer(text->end()));
    if (failed(checkRanks(*layout, ranks, place, diags)))
      return failure();
    layouts.push_back(std::move(*layout));
  }
  if (!layouts.empty() || !ofProfile)
    return layouts;
  DiagLoc place;
  if (!ofProfile->places().empty())
    place = ofProfile->places().front();
  if (failed(checkRanks(*ofProfile, ranks, place, diags)))
    return failure();
  layouts.push_back(*ofProfile);
  return layouts;
}

FailureOr<std::optional<LayerLayout>>
readLayout(const Arguments &args, const std::optional<LayerLayout> &ofProfile,
           DiagEngine &diags) {
  FailureOr<std::vector<LayerLayout>> layouts =
      readLayouts(args, ofProfile, /*ranks=*/1, diags);
  if (failed(layouts))
    return failure();
  if (layouts->size() > 1)
    return diags.report(DiagLoc(), diag::GivenCount,
                        countText(layouts->size(), "layout"), "one is",
                        shortened(layouts->back().text()));
  if (layouts->empty())
    return std::optional<LayerLayout>();
  return std::optional(std::move(layouts->front()));
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
    if (failed(store(readPresentRanks(args, diags), options.present)))
      return failure();
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
