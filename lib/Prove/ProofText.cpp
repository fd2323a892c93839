//===- ProofText.cpp - Certificates for all sizes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prove/ProofText.h"

#include "Certificate/CertificateLines.h"
#include "Simulation/MemoryLimit.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;

namespace pipec {

static constexpr StringLiteral title = "pipec-proof";

bool isProofText(StringRef text) { return text.ltrim().starts_with(title); }

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static raw_ostream &operator<<(raw_ostream &os, Affine value) {
  return os << value.a << ' ' << value.b << ' ' << value.c;
}

void writeProofText(const ProofText &proof, raw_ostream &os) {
  os << title << " 1\nticks " << proof.perUnit << '\n';
  for (const ProofFamily &family : proof.families) {
    os << "microbatches " << family.microbatches << " units " << family.units
       << " from " << family.least << '\n';
    for (auto [rank, list] : enumerate(family.ranks)) {
      os << "rank " << rank << '\n';
      for (auto [repeats, begin, end] : list.parts) {
        os << (repeats ? "block\n" : "once\n");
        for (const PatternStep &step :
             ArrayRef(list.steps).slice(begin, end - begin))
          os << stepKindName(step.step.kind()) << ' ' << step.step.stage()
             << (step.step.joined() ? " &" : "") << " unit " << step.unit
             << " start " << step.start << '\n';
      }
    }
    os << "end\n";
  }
  if (!proof.bound)
    return;
  os << "bound rank " << proof.bound->rank;
  for (const LineBound::Letter &letter : proof.bound->letters)
    os << ' ' << stepKindName(letter.kind) << ' ' << letter.stage << " without "
       << letter.first << ' ' << letter.last;
  os << '\n';
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

class ProofReader : CertificateLines {
public:
  ProofReader(StringRef text, DiagEngine &diags)
      : CertificateLines(text, diags) {}

  FailureOr<ProofText> read() {
    if (!line(title) || !word("1") || !end() || !line("ticks") ||
        !number(made.perUnit) || !end())
      return failure();
    do
      if (!readFamily())
        return failure();
    while (rest.ltrim().starts_with("microbatches"));
    if (!rest.trim().empty() && !readBound())
      return failure();
    return std::move(made);
  }

private:
  bool affine(Affine &into) {
    return signedNumber(into.a) && signedNumber(into.b) && signedNumber(into.c);
  }
  bool readFamily() {
    ProofFamily &family = made.families.emplace_back();
    if (!line("microbatches") || !affine(family.microbatches) ||
        !word("units") || !affine(family.units) || !word("from") ||
        !number(family.least, 1 << 20) || !end() || !line())
      return false;
    while (words[0] != "end") {
      if (words[0] == "rank") {
        int64_t rank = 0;
        if (!number(rank, maxRanks) || !end())
          return false;
        if (rank != int64_t(family.ranks.size())) {
          at = 1;
          return wrong("rank " + Twine(family.ranks.size()));
        }
        family.ranks.emplace_back();
      } else if (family.ranks.empty()) {
        at = 0;
        return wrong("a line `rank`");
      } else if (!readLine(family.ranks.back())) {
        return false;
      }
      if (!line())
        return false;
    }
    return end();
  }
  bool kind(StepKind &into) {
    for (StepKind one : {StepKind::F, StepKind::B, StepKind::I, StepKind::W,
                         StepKind::R, StepKind::Update})
      if (accept(stepKindName(one)))
        return into = one, true;
    return wrong("a step");
  }
  bool readBound() {
    LineBound &bound = made.bound.emplace();
    if (!line("bound") || !word("rank") || !number(bound.rank, maxRanks))
      return false;
    while (at != words.size()) {
      LineBound::Letter &letter = bound.letters.emplace_back();
      if (!kind(letter.kind) || !number(letter.stage, maxStages - 1) ||
          !word("without") || !number(letter.first, maxUnits) ||
          !number(letter.last, maxUnits))
        return false;
    }
    return endOfText();
  }
  bool readLine(RankPattern &list) {
    if (words[0] == "block" || words[0] == "once") {
      list.parts.push_back(
          {words[0] == "block", list.steps.size(), list.steps.size()});
      return end();
    }
    at = 0;
    if (list.parts.empty())
      return wrong("`block` or `once`");
    StepKind of;
    PatternStep step;
    unsigned stage = 0;
    if (!kind(of) || !number(stage, maxStages - 1))
      return false;
    step.step = Step(of, stage, 0);
    step.step.setJoined(accept("&"));
    if (!word("unit") || !affine(step.unit) || !word("start") ||
        !affine(step.start) || !end())
      return false;
    if (!list.parts.back().repeats && (step.unit.c != 0 || step.start.c != 0)) {
      at = 0;
      return wrong("a step that does not repeat");
    }
    list.steps.push_back(step);
    list.parts.back().end = list.steps.size();
    return true;
  }

  ProofText made;
};

} // namespace

FailureOr<ProofText> readProofText(StringRef text, DiagEngine &diags) {
  return ProofReader(text, diags).read();
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

/// True if `list` is the list of the pattern for x.
static bool isList(const RankPattern &pattern, const StepList &list,
                   int64_t x) {
  size_t at = 0;
  for (auto [repeats, begin, end] : pattern.parts)
    for (int64_t t = 0; t != (repeats ? x : 1); ++t)
      for (size_t i = begin; i != end; ++i, ++at) {
        const PatternStep &step = pattern.steps[i];
        if (at == list.size() || list[at].kind() != step.step.kind() ||
            list[at].stage() != step.step.stage() ||
            list[at].joined() != step.step.joined() ||
            int64_t(list[at].unit()) != step.unit.at(x, t))
          return false;
      }
  return at == list.size();
}

/// True if `schedule` is the schedule of the family for x.
static bool isMember(const ProofFamily &family, const Schedule &schedule,
                     int64_t x) {
  if (family.ranks.size() != schedule.numRanks ||
      family.units.at(x) != int64_t(schedule.numUnits))
    return false;
  for (auto [pattern, list] : zip_equal(family.ranks, schedule.ranks))
    if (!isList(pattern, withoutBubbles(list), x))
      return false;
  return true;
}

FailureOr<CheckedProof> checkProofText(const ProofText &proof,
                                       const Schedule &schedule,
                                       DiagEngine &diags) {
  FailureOr<TickCosts> costs = TickCosts::make(schedule, diags);
  if (failed(costs))
    return failure();
  if (costs->perUnit() != proof.perUnit)
    return diags.report(DiagLoc(), diag::CertificateDiffers,
                        "number of ticks per unit of time", proof.perUnit,
                        costs->perUnit());
  auto unproven = [&](const Twine &why) {
    return diags.report(DiagLoc(), diag::ProofOpen, why.str());
  };
  if (std::string why = unprovableCosts(schedule, *costs); !why.empty())
    return unproven(why);
  CheckedProof result;
  result.families = proof.families.size();
  bool found = false;
  int64_t least = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> rate;
  int64_t microbatches = schedule.numMicrobatches();
  for (const ProofFamily &family : proof.families) {
    int64_t growth = family.microbatches.b;
    if (growth <= 0 || growth > maxUnits || family.microbatches.a < 0 ||
        family.microbatches.a > maxUnits || family.microbatches.c != 0 ||
        family.units.c != 0 || family.units.b != growth * schedule.numSlices ||
        family.units.a != family.microbatches.a * schedule.numSlices ||
        family.units.a > maxUnits)
      return unproven("its numbers of micro-batches do not grow");
    least = std::min(least, family.microbatches.at(family.least));
    int64_t more = microbatches - family.microbatches.a;
    bool isOwn =
        more >= 0 && more % growth == 0 && more / growth >= family.least;
    if (isOwn && !isMember(family, schedule, more / growth))
      return unproven("it is for other lists of steps");
    found |= isOwn;
    Pattern pattern{&schedule, &*costs, std::nullopt, family.units,
                    family.ranks};
    for (const RankPattern &list : family.ranks)
      for (const PatternStep &step : list.steps)
        if (step.step.stage() >= schedule.numStages)
          return unproven("it has more stages");
    if (family.ranks.size() != schedule.numRanks)
      return unproven("it has other ranks");
    std::string why = proveCover(pattern);
    if (!why.empty())
      return unproven(why);
    std::optional<ProvenTimes> times = proveTimes(pattern, why);
    if (!times)
      return unproven(why);
    if (!times->completes)
      return unproven("steps that take no time");
    if (times->least > family.least)
      return unproven("it is only for larger numbers of micro-batches");
    if (rate && (*rate != times->makespan.b || result.step != growth))
      return unproven("its families grow differently");
    rate = times->makespan.b;
    result.step = growth;
    result.from = std::max(result.from, family.microbatches.at(family.least));
    if (!isOwn)
      continue;
    auto line =
        lineThrough(family.microbatches.a, costs->time(times->makespan.a),
                    growth, costs->time(*rate));
    if (!line)
      return unproven("times that are too large");
    result.makespan = *line;
  }
  if (!found)
    return unproven("it is not for " + Twine(microbatches) +
                    " micro-batches; the least number is " + Twine(least));
  result.rate = costs->time(*rate);
  auto keepsLimit = [&] {
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    return checkMemoryLimit(schedule, Severity::Warning, diags);
  };
  if (proof.bound && !keepsLimit())
    return unproven("a bound within a memory limit that the lists exceed");
  std::string why;
  if (proof.bound &&
      !(result.bound = proveLine(*proof.bound, schedule, *costs, why)))
    return unproven(why);
  return result;
}

} // namespace pipec
