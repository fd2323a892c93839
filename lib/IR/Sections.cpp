//===- Sections.cpp - The parts of a layer, and their order ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/Sections.h"

#include "Cost/GivenSettings.h"
#include "IR/Schedule.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/SemaDiags.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

LogicalResult addStream(std::vector<std::string> &names, StringRef name,
                        SMRange place, DiagEngine &diags) {
  if (name == "compute" || parseSharedStream(name))
    return diags.report(place, diag::StreamNameTaken, name);
  if (names.size() + 1 == maxStreams)
    return diags.report(place, diag::TooManyStreams, maxStreams - 1);
  names.push_back(name.str());
  return success();
}

size_t Sections::find(StringRef name) const {
  return find_if(list, [&](const Section &one) { return one.name == name; }) -
         list.begin();
}

FailureOr<unsigned> Sections::stream(StringRef name, SMRange place,
                                     DiagEngine &diags) {
  auto known = llvm::find(streams, name);
  unsigned number = known - streams.begin() + 1;
  if (known == streams.end() && failed(addStream(streams, name, place, diags)))
    return failure();
  return number;
}

bool Sections::isSplit(unsigned section) const {
  return any_of(body, [&](const BodyStep &step) {
    return step.kind == StepKind::W && step.section == section;
  });
}

/// The index of the time of a step of a section.
static unsigned costIndex(StepKind kind) {
  return kind == StepKind::W                          ? 2
         : kind == StepKind::F || kind == StepKind::R ? 0
                                                      : 1;
}

void Sections::Section::setCost(StepKind kind, Rational time) {
  costs[costIndex(kind)] = time;
}

bool Sections::hasCosts() const {
  return any_of(list, [](const Section &section) {
    return any_of(section.costs,
                  [](const auto &cost) { return cost.has_value(); });
  });
}

std::optional<Sections::BodyStep>
Sections::withoutCost(bool forwardOnly) const {
  for (unsigned section = 0; section != list.size(); ++section)
    for (StepKind kind : {StepKind::F, StepKind::B, StepKind::W})
      if (!list[section].costs[costIndex(kind)] &&
          (kind == StepKind::F || !forwardOnly) &&
          (kind != StepKind::W || isSplit(section)))
        return BodyStep{kind, section};
  return std::nullopt;
}

static bool isForward(StepKind kind) {
  return kind == StepKind::F || kind == StepKind::R;
}

/// The step of the same member that `step` needs.
static SectionStep needOf(SectionStep step, unsigned numSections) {
  if (step.kind == StepKind::W) {
    step.kind = StepKind::I;
  } else if (isForward(step.kind)) {
    step.layer -= step.section == 0;
    step.section = step.section == 0 ? numSections - 1 : step.section - 1;
  } else {
    step.layer += step.section + 1 == numSections;
    step.section = step.section + 1 == numSections ? 0 : step.section + 1;
  }
  return step;
}

LogicalResult Sections::checkBody(ArrayRef<SMRange> places, SMRange whole,
                                  DiagEngine &diags) const {
  unsigned errors = diags.numErrors();
  auto text = [&](StepKind kind, unsigned section) {
    return (stepKindName(kind) + "." + list[section].name).str();
  };
  auto placeOf = [&](StepKind kind, unsigned section) -> const BodyStep * {
    auto it = find_if(body, [&](const BodyStep &step) {
      return step.kind == kind && step.section == section;
    });
    return it == body.end() ? nullptr : &*it;
  };
  for (const BodyStep &step : body) {
    SMRange place = places[&step - body.data()];
    if (placeOf(step.kind, step.section) != &step) {
      (void)diags.report(place, diag::BodyTwice, text(step.kind, step.section));
      continue;
    }
    SectionStep need = needOf({step.kind, 1, step.section, 0}, list.size());
    const BodyStep *before =
        need.layer == 1
            ? placeOf(need.kind == StepKind::I ? StepKind::B : need.kind,
                      need.section)
            : nullptr;
    // In the last layer, the steps marked `last` are at the end.
    if (before && (before > &step || (before->last && !step.last)))
      (void)diags.report(place, diag::BodyOrder, text(step.kind, step.section),
                         text(before->kind, before->section));
  }
  for (unsigned section = 0; section != list.size(); ++section)
    for (StepKind kind : {StepKind::F, StepKind::B})
      if (!placeOf(kind, section))
        (void)diags.report(whole, diag::BodyWithout, text(kind, section));
  return success(diags.numErrors() == errors);
}

//===----------------------------------------------------------------------===//
// The order of a group
//===----------------------------------------------------------------------===//

/// The steps layer by layer: the pairs of layers of a forward and a backward,
/// then the rest of the backward, then the rest of the forward.
std::vector<SectionStep> Sections::inBodyOrder(ArrayRef<Member> members) const {
  std::vector<BodyStep> order = body;
  if (order.empty()) {
    for (unsigned section = 0; section != list.size(); ++section)
      order.push_back({StepKind::F, section});
    for (unsigned section = list.size(); section-- != 0;)
      order.push_back({StepKind::B, section});
  }
  auto isIn = [&](const Member &member, const BodyStep &step) {
    switch (member.kind) {
    case StepKind::F:
    case StepKind::R:
      return step.kind == StepKind::F;
    case StepKind::B:
      return step.kind != StepKind::F;
    case StepKind::I:
      return step.kind == StepKind::B;
    default:
      return step.kind == StepKind::W;
    }
  };
  std::vector<SectionStep> steps, last;
  unsigned rounds = 0, pairs = ~0u;
  for (const Member &member : members) {
    rounds = std::max(rounds, member.layers);
    pairs = std::min(pairs, member.layers);
  }
  auto run = [&](unsigned round, auto runs) {
    for (const BodyStep &step : order)
      for (auto [index, member] : enumerate(members)) {
        if (!isIn(member, step) || round >= member.layers || !runs(member))
          continue;
        StepKind kind = step.kind == StepKind::F   ? member.kind
                        : step.kind == StepKind::W ? StepKind::W
                        : isSplit(step.section)    ? StepKind::I
                                                   : StepKind::B;
        unsigned layer =
            isForward(member.kind) ? round : member.layers - 1 - round;
        bool moves = step.last && round + 1 == member.layers;
        (moves ? last : steps)
            .push_back({kind, layer, step.section, uint32_t(index)});
      }
  };
  for (unsigned round = 0; round != pairs; ++round)
    run(round, [](const Member &) { return true; });
  for (bool forward : {false, true})
    for (unsigned round = pairs; round < rounds; ++round)
      run(round, [&](const Member &member) {
        return isForward(member.kind) == forward;
      });
  append_range(steps, last);
  return steps;
}

/// True if `step` is `need` or the backward, whole or not, of its section.
static bool satisfies(const SectionStep &step, const SectionStep &need) {
  auto side = [](StepKind kind) {
    return kind == StepKind::B ? StepKind::I : kind;
  };
  return side(step.kind) == side(need.kind) && step.layer == need.layer &&
         step.section == need.section && step.member == need.member;
}

std::optional<std::vector<SectionStep>>
Sections::order(ArrayRef<Member> members) const {
  auto isPair = [](const Member &a, const Member &b) {
    return a.kind == StepKind::F && makesInputGradient(b.kind);
  };
  if (members.size() != 1 &&
      (members.size() != 2 ||
       (!isPair(members[0], members[1]) && !isPair(members[1], members[0]))))
    return std::nullopt;
  std::vector<SectionStep> result;
  for (const SectionStep &step : inBodyOrder(members)) {
    auto at = result.end();
    if (unsigned stream = list[step.section].stream) {
      SectionStep need = needOf(step, list.size());
      auto before = find_if(reverse(result), [&](const SectionStep &other) {
        return satisfies(other, need) || list[other.section].stream == stream;
      });
      // Otherwise, the step that it needs precedes the group.
      if (before != result.rend())
        at = before.base();
    }
    result.insert(at, step);
  }
  return result;
}

std::optional<Rational> Sections::duration(ArrayRef<SectionStep> steps) const {
  Rational now, last;
  std::vector<Rational> free(streams.size() + 1);
  DenseMap<uint64_t, Rational> ends;
  auto key = [&](const SectionStep &step) {
    uint64_t place = uint64_t(step.layer) * list.size() + step.section;
    return (place * 2 + step.member) * 2 + (step.kind == StepKind::W);
  };
  for (const SectionStep &step : steps) {
    const Section &section = list[step.section];
    Rational start = std::max(now, ends.lookup(key(needOf(step, list.size()))));
    Rational &stream = free[section.stream];
    std::optional<Rational> end =
        Rational::add(std::max(start, stream),
                      section.costs[costIndex(step.kind)].value_or(Rational()));
    if (!end)
      return std::nullopt;
    stream = *end;
    if (section.stream == 0)
      now = *end;
    ends[key(step)] = *end;
    last = std::max(last, *end);
  }
  return last;
}

std::optional<CostSettings> Sections::prices() const {
  CostSettings costs;
  if (!hasCosts())
    return costs;
  bool fits = true;
  auto timeOf = [&](ArrayRef<Member> members) {
    std::optional<Rational> time = duration(*order(members));
    fits &= time.has_value();
    return time.value_or(Rational());
  };
  bool even = all_equal(layers);
  for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
    if (even)
      costs.set(costFigure(kind), timeOf({{kind, layers[0]}}));
    else
      for (auto [stage, own] : enumerate(layers))
        costs.set(costFigure(kind), timeOf({{kind, own}}),
                  {FigureScope::Stage, unsigned(stage)});
  using Kinds = SmallVector<StepKind, 2>;
  for (const Kinds &kinds :
       {Kinds{StepKind::F, StepKind::B}, Kinds{StepKind::B, StepKind::F},
        Kinds{StepKind::F, StepKind::I}, Kinds{StepKind::I, StepKind::F}})
    if (even)
      costs.set(
          {kinds, timeOf({{kinds[0], layers[0]}, {kinds[1], layers[0]}})});
  return fits ? std::optional(costs) : std::nullopt;
}

LogicalResult priceSections(Schedule &schedule, const CostSettings &before,
                            DiagEngine &diags) {
  std::optional<CostSettings> prices = schedule.sections.prices();
  if (!prices)
    return diags.report(schedule.source, diag::SectionsOverflow);
  CostSettings &costs = schedule.costs, fresh;
  for (const auto &[place, row] : prices->places())
    for (auto [figure, value] : row)
      if (auto own = costs.get(figure, place);
          own ? own == before.get(figure, place) : !costs.has(figure))
        fresh.set(figure, value, place);
  for (const CostSettings::Overlap &overlap : prices->overlaps)
    if (auto own = costs.ofOverlap(overlap.members);
        !own || own == before.ofOverlap(overlap.members))
      fresh.set(overlap);
  costs.merge(fresh);
  return success();
}

LogicalResult giveSections(Schedule &schedule, const GivenSettings &given,
                           DiagEngine &diags) {
  if (given.sections.empty())
    return success();
  std::optional<CostSettings> before = schedule.sections.prices();
  for (const GivenSettings::SectionTime &one : given.sections) {
    size_t number = schedule.sections.find(one.name);
    if (number == schedule.sections.list.size())
      return diags.report(one.source, diag::UnknownSection, one.name);
    schedule.sections.list[number].setCost(one.kind, one.time);
  }
  return priceSections(schedule, before.value_or(CostSettings()), diags);
}

} // namespace pipec
