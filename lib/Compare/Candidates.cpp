//===- Candidates.cpp - Schedules for one model at one size ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare/Candidates.h"

#include "Driver/Figures.h"
#include "Support/Words.h"
#include "Transforms/Passes.h"
#include "Transforms/SaveMemory.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include <tuple>

using namespace llvm;

namespace pipec {

FailureOr<ShippedTarget>
makeShippedTarget(StringRef name, DiagEngine &diags,
                  std::optional<CommunicatorForm> communicators) {
  std::optional<std::string> own;
  if (communicators)
    own = passesFor(name, *communicators);
  FailureOr<Pipeline> passes =
      parsePipeline(own ? StringRef(*own) : name, allPasses(), diags);
  if (failed(passes))
    return failure();
  ShippedTarget target{name.str(), PassManager(std::move(*passes))};
  if (name == "torch" ||
      (name.starts_with("torch-") && name != "torch-compute")) {
    target.torch = &torchVersions.back();
    for (const TorchVersion &version : torchVersions)
      if (name.contains(version.name))
        target.torch = &version;
  }
  return target;
}

bool Candidate::isBefore(const Candidate &other) const {
  if (outcome != other.outcome)
    return outcome < other.outcome;
  if (outcome == Outcome::Fits) {
    if (int order =
            Rational::compare(figures->makespan, other.figures->makespan))
      return order < 0;
    if (int order = Rational::compare(figures->memory.total,
                                      other.figures->memory.total))
      return order < 0;
  }
  // A schedule that was found comes after those that it equals.
  return std::make_tuple(request.has_value(), std::cref(name),
                         std::cref(values)) <
         std::make_tuple(other.request.has_value(), std::cref(other.name),
                         std::cref(other.values));
}

FailureOr<CandidateEvaluator>
CandidateEvaluator::make(const CandidateOptions &options, FrameworkJudge &judge,
                         DiagEngine &diags) {
  // Lists for other models can be far slower if ranks wait at transfers.
  std::string pass = "insert-p2p";
  if (options.model &&
      waitModelInfo(options.model->kind()).holds != WaitHolds::None)
    pass += ("{order=timed,model=" + options.model->name() + "}").str();
  FailureOr<Pipeline> pipeline = parsePipeline(pass, allPasses(), diags);
  if (failed(pipeline))
    return failure();
  return CandidateEvaluator(options, PassManager(std::move(*pipeline)), judge,
                            diags);
}

/// Keeps only the compute steps.
static void dropTransfers(Schedule &schedule) {
  for (StepList &list : schedule.ranks)
    llvm::erase_if(list, [](Step step) {
      return !isCompute(step.kind()) &&
             objectOf(stateBefore(step.kind())) != Object::Copy;
    });
  schedule.times.clear();
}

/// A hash of the placement and the steps of a list of computes.
static std::pair<uint64_t, uint64_t> hashOrder(const Schedule &computes) {
  std::vector<uint64_t> words;
  for (unsigned d = 0; d != computes.placement.numDirections(); ++d)
    for (uint32_t rank : computes.placement.map(d))
      words.push_back(rank);
  for (const StepList &list : computes.ranks) {
    words.push_back(~uint64_t(0));
    for (Step step : list)
      words.push_back(uint64_t(step.stage()) << 40 |
                      uint64_t(step.unit()) << 8 | unsigned(step.kind()) << 1 |
                      unsigned(step.joined()));
  }
  XXH128_hash_t hash =
      xxh3_128bits(ArrayRef(reinterpret_cast<const uint8_t *>(words.data()),
                            words.size() * sizeof(uint64_t)));
  return {hash.high64, hash.low64};
}

/// Replaces the costs and the memory of the schedule by those given, and checks
/// the result.
LogicalResult CandidateEvaluator::applySettings(Schedule &schedule,
                                                const GivenSettings &given,
                                                Candidate &candidate) {
  candidate.stages = schedule.numStages;
  candidate.copies = schedule.placement.numDirections();
  schedule.costs = CostSettings();
  schedule.memory = MemorySettings();
  std::optional<StageLayers> layers;
  if (given.layout)
    layers = given.layout->cut(schedule.numStages);
  if (layers)
    candidate.layout = layoutText(*layers);
  if (failed(applyCosts(schedule, given, diags)) ||
      failed(applyMemory(schedule, given, diags)) ||
      failed(verify(schedule, diags)))
    return failure();
  candidate.hasLayers = !schedule.layers.empty();
  return success();
}

/// Runs the passes of the target. Without one, the schedule has transfers if
/// there is a communication model.
LogicalResult CandidateEvaluator::runPasses(Schedule &schedule,
                                            ShippedTarget *target) {
  if (target)
    return target->passes.run(schedule, diags);
  if (!options.model)
    dropTransfers(schedule);
  else if (!schedule.hasP2P())
    return transfers.run(schedule, diags);
  return success();
}

FailureOr<Report> CandidateEvaluator::run(Schedule &schedule,
                                          CandidateForm form,
                                          Candidate &candidate) {
  if (failed(applySettings(schedule, *form.given, candidate)))
    return failure();
  Schedule computes = schedule;
  dropTransfers(computes);
  candidate.order = hashOrder(computes);
  if (failed(runPasses(schedule, form.target)))
    return failure();
  std::optional<CommModel> model = options.model;
  if (!model && form.target)
    model = modelOfTarget(form.target->name);
  FailureOr<Report> report =
      pipec::measure(schedule, model, diags, options.jitter);
  CostUse use = schedule.costUse();
  candidate.kinds = use.kinds();
  candidate.assumed = AssumedCosts(schedule.costs, use);
  candidate.rounding = schedule.rounding;
  const TorchVersion *torch = form.target ? form.target->torch : nullptr;
  if (succeeded(report))
    candidate.verdicts =
        judge.judge(computes, torch ? schedule : computes,
                    torch ? *torch : torchVersions.back(), schedule.layers);
  return report;
}

void CandidateEvaluator::measure(FailureOr<Schedule> schedule,
                                 CandidateForm form, Candidate &candidate) {
  if (form.target)
    candidate.target = form.target->name;
  if (failed(schedule))
    return;
  measureAsIs(*schedule, form, candidate);
  if (candidate.outcome == Candidate::Outcome::TooLarge && !form.target)
    saveMemory(*schedule, form, candidate);
}

/// Recomputes activations of a schedule that exceeds the memory limit, or if
/// their costs are given copies them to the host, whichever is faster.
void CandidateEvaluator::saveMemory(const Schedule &schedule,
                                    CandidateForm form, Candidate &candidate) {
  Schedule computes = schedule;
  Candidate unused = candidate;
  if (failed(applySettings(computes, *form.given, unused)))
    return;
  std::string reason = candidate.reason;
  for (SavedSchedule &saved : pipec::saveMemory(computes, diags)) {
    Candidate other = candidate;
    other.memoryBy = saved.memoryBy;
    measureAsIs(std::move(saved.schedule), form, other);
    if (other.outcome == Candidate::Outcome::Fits && other.isBefore(candidate))
      candidate = std::move(other);
  }
  if (candidate.outcome != Candidate::Outcome::Fits)
    candidate.reason = reason;
}

void CandidateEvaluator::measureAsIs(Schedule schedule, CandidateForm form,
                                     Candidate &candidate) {
  FailureOr<Report> figures = run(schedule, form, candidate);
  if (failed(figures))
    return;
  candidate.figures = std::move(*figures);
  candidate.reason.clear();
  candidate.outcome = Candidate::Outcome::Fits;
  Rational most = candidate.figures->memory.total;
  if (candidate.figures->isOverLimit()) {
    candidate.outcome = Candidate::Outcome::TooLarge;
    candidate.reason = "a rank keeps " + decimalText(most);
  }
}

/// For the lifetime of the result, errors are stored as the reason why the
/// candidate is not ranked.
static DiagEngine::ScopedFilter keepReason(Candidate &candidate,
                                           DiagEngine &diags) {
  return DiagEngine::ScopedFilter(diags, [&candidate](Diagnostic &found) {
    if (candidate.reason.empty())
      candidate.reason = found.message;
    return false;
  });
}

Candidate CandidateEvaluator::evaluate(const ScheduleSource &source,
                                       const CheckedSchedule &schedule,
                                       const ParamValues &params,
                                       CandidateForm form) {
  Candidate candidate;
  candidate.name = schedule.decl->name.text.str();
  candidate.path = source.path();
  candidate.isProgram = true;
  // Leave out the size, which is the same for all candidates.
  ParamValues further;
  for (const auto &[name, value] : params) {
    const auto *param =
        find_if(schedule.decl->params, [&, &name = name](const auto &param) {
          return param.name.text == name || param.label.text == name;
        });
    if (param->role != ast::Role::Ranks &&
        param->role != ast::Role::Microbatches && !hasOneSlice(*param, value))
      further.push_back({name, value});
  }
  candidate.values = further;
  candidate.params = paramText(further);
  auto run = [&](Candidate candidate) {
    auto kept = keepReason(candidate, diags);
    LowerOptions lowering;
    lowering.maxSteps = options.maxSteps;
    lowering.params = {
        {"ranks", options.ranks},
        {"microbatches", int64_t(options.microbatches) * candidate.slices}};
    if (candidate.slices != 1)
      lowering.slices = candidate.slices;
    llvm::append_range(lowering.params, further);
    FailureOr<Schedule> lowered = source.lower(schedule, lowering, diags);
    if (succeeded(lowered)) {
      candidate.values = furtherParams(schedule, *lowered);
      candidate.params = paramText(candidate.values);
    }
    measure(std::move(lowered), form, candidate);
    return candidate;
  };
  if (options.slices == 1 || schedule.slices)
    return run(std::move(candidate));
  // Some orders are valid in slices without a parameter for them.
  auto say = [](Candidate candidate, const Twine &text) {
    candidate.params += ((candidate.params.empty() ? "" : ", ") + text).str();
    return candidate;
  };
  Candidate sliced = candidate;
  sliced.slices = options.slices;
  sliced = run(std::move(sliced));
  if (sliced.outcome != Candidate::Outcome::Refused)
    return say(std::move(sliced), "slices = " + Twine(options.slices));
  return say(run(std::move(candidate)), "without slices");
}

Candidate CandidateEvaluator::evaluate(const ScheduleSource &source,
                                       CandidateForm form) {
  Candidate candidate;
  candidate.name = candidate.path = source.path();
  FailureOr<Schedule> schedule = source.read({}, {}, diags);
  if (failed(schedule)) {
    candidate.reason = "it cannot be read";
    return candidate;
  }
  candidate.name = schedule->name;
  if (schedule->numRanks != options.ranks ||
      schedule->numMicrobatches() != options.microbatches) {
    candidate.reason =
        "it has " + countText(schedule->numRanks, "rank") + " and " +
        countText(schedule->numMicrobatches(), "micro-batch", "es");
    return candidate;
  }
  auto kept = keepReason(candidate, diags);
  measure(std::move(schedule), form, candidate);
  return candidate;
}

std::vector<Candidate>
CandidateEvaluator::search(ScheduleSearch &search, const SearchRequest &request,
                           ArrayRef<CandidateForm> forms) {
  Candidate candidate;
  candidate.name = ("found (" + Twine(request.isV ? "v" : "loop") + ", " +
                    countText(request.chunks, "chunk") + ")")
                       .str();
  candidate.request = request;
  FailureOr<PlacementResult> found = failure();
  // The settings with the layout that was found.
  std::optional<GivenSettings> given;
  {
    auto kept = keepReason(candidate, diags);
    if (request.anyLayout) {
      FailureOr<LayoutResult> all = searchLayouts(search, request, diags);
      if (succeeded(all)) {
        candidate.bound = all->summary.bound;
        given = request.given;
        given->layout = LayerLayout(all->result.found.schedule.layers);
        found = std::move(all->result);
      }
    } else {
      found = searchPlacements(search, request, diags);
    }
  }
  if (succeeded(found)) {
    candidate.request = found->problem.request;
    candidate.form = found->found.form;
    if (!candidate.bound)
      candidate.bound = found->bound().bound;
  }
  std::vector<Candidate> all;
  for (CandidateForm form : forms) {
    Candidate &one = all.emplace_back(candidate);
    auto kept = keepReason(one, diags);
    if (given)
      form.given = &*given;
    if (succeeded(found))
      measure(found->found.schedule, form, one);
    else if (form.target)
      one.target = form.target->name;
  }
  return all;
}

} // namespace pipec
