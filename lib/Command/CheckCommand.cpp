//===- CheckCommand.cpp - The check command -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Certificate/Certificate.h"
#include "Certificate/OrderCertificate.h"
#include "Command/ProveCommand.h"
#include "Compare/CheckRun.h"
#include "Driver/Figures.h"
#include "Driver/Input.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Json.h"
#include "Support/Words.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// One run of the command.
class Check : CommandRun {
public:
  explicit Check(const CommandRun &run) : CommandRun(run) {}

  LogicalResult run();

private:
  LogicalResult readInput();
  void checkAll();
  LogicalResult readEveryM();
  void checkEveryM(CheckRun &run, const ScheduleSource &source,
                   const CheckedSchedule &schedule);
  LogicalResult checkCertificate();
  LogicalResult checkOrder(StringRef text, const Schedule &schedule);
  LogicalResult checkEverySize(StringRef text, const Schedule &schedule);
  LogicalResult checkAllFigures(const Certificate &certificate,
                                const Schedule &schedule, unsigned &unknown);
  void printText(raw_ostream &os) const;
  void printJson(json::OStream &json) const;

  Grid grid;
  LowerOptions lowering;
  std::vector<CostSettings> costs;
  ScheduleList schedules;
  std::vector<CheckResult> results;
  /// The proofs of `--every-m`, with the costs of each.
  std::vector<ProofResult> proofs;
  bool isUndecided = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult Check::readInput() {
  if (failed(readLoweringButCosts(args, lowering, diags)) ||
      failed(store(readLayout(args, lowering.given.layout, diags),
                   lowering.given.layout)) ||
      failed(store(readCosts(args, diags), costs)) ||
      failed(schedules.addAll(grid, search, args, diags)))
    return failure();
  lowering.given.keepOwnSizes = true;
  if (costs.empty())
    costs.emplace_back();
  std::vector<const ast::ScheduleDecl *> decls = schedules.decls();
  if (failed(
          checkInputOptions(args, !decls.empty(), schedules.hasSteps(), diags)))
    return failure();
  if (failed(grid.fit(decls, schedules.hasSteps(), diags)))
    return failure();
  return args.has(Opt::EveryM) ? readEveryM() : success();
}

/// Reports inputs that have no proof for every number of micro-batches.
LogicalResult Check::readEveryM() {
  if (schedules.hasSteps())
    return diags.report(DiagLoc(), diag::OptionNeeds, "--every-m",
                        "programs, and an input is a list of steps");
  for (const auto &[source, schedule] : schedules.entries())
    for (StringRef name : {schedule->microbatches->label.text,
                           schedule->microbatches->name.text})
      if (!name.empty() && !grid.valuesOf(name).empty())
        return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                            (name + "=").str() +
                                std::to_string(grid.valuesOf(name).front()),
                            "with --every-m, which takes every number");
  return success();
}

/// Proves a schedule at each point of the grid, and checks its clauses for the
/// numbers of micro-batches up to three periods of the proof.
void Check::checkEveryM(CheckRun &run, const ScheduleSource &source,
                        const CheckedSchedule &schedule) {
  grid.forEachPoint(*schedule.decl, [&](const ParamValues &params) {
    // Without a proof, small sizes are checked.
    int64_t most = 32;
    for (const CostSettings &over : costs) {
      LowerOptions own = lowering;
      own.given.costs.push_back(over);
      own.params = params;
      FailureOr<ProofResult> result =
          prove({source.checkedProgram(), schedule, std::move(own), diags});
      // What cannot run was reported.
      if (failed(result))
        continue;
      const ScheduleProof *proof = result->proof();
      isUndecided |= !proof;
      if (proof)
        most = std::max(most, proof->from + 3 * proof->step * proof->period);
      proofs.push_back(std::move(*result));
    }
    for (int64_t m = 1; m <= most; ++m) {
      ParamValues size = params;
      size.push_back({schedule.microbatches->name.text.str(), m});
      run.checkSize(source, schedule, lowering, size);
    }
    progress.advance();
  });
}

void Check::checkAll() {
  CheckRun run(costs, diags);
  for (const auto &[source, schedule] : schedules.entries()) {
    if (schedule) {
      progress.phase("checking " + schedule->decl->name.text.str());
      progress.setTotal(grid.numPoints(*schedule->decl));
      run.begin(*schedule, source->path());
      if (args.has(Opt::EveryM)) {
        checkEveryM(run, *source, *schedule);
        results.push_back(run.finish());
        continue;
      }
      grid.forEachPoint(
          *schedule->decl,
          [&, source = source, schedule = schedule](const ParamValues &params) {
            run.checkSize(*source, *schedule, lowering, params);
            progress.advance();
          });
    } else {
      run.checkSteps(*source, lowering, grid.wanted(args));
    }
    results.push_back(run.finish());
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The line of a proof.
static void printProof(const ProofResult &result, raw_ostream &os) {
  os << terminalText(result.name) << '(' << paramText(result.params) << "): ";
  const ScheduleProof *proof = result.proof();
  if (!proof) {
    os << "not proven for every number of micro-batches: " << result.undecided()
       << '\n';
    return;
  }
  os << "proven for every number of micro-batches "
     << seriesText(proof->from, proof->step * proof->period)
     << ": valid, makespan " << decimalText(proof->makespan) << " + "
     << decimalText(proof->rate) << " n\n";
}

void Check::printText(raw_ostream &os) const {
  for (const ProofResult &proof : proofs)
    printProof(proof, os);
  for (const CheckResult &result : results) {
    os << terminalText(result.name) << ": "
       << countText(result.checked, "size");
    if (costs.size() > 1)
      os << " under " << countText(costs.size(), "cost setting");
    os << ", " << countText(result.clauses.size(), "clause") << ", ";
    if (uint64_t failures = result.failures)
      os << failures << " of " << countText(result.figures, "figure")
         << " failed";
    else if (result.figures)
      os << countText(result.figures, "figure") << " hold";
    else
      os << "nothing checked";
    if (result.broken)
      os << ", " << countText(result.broken, "size") << " with errors";
    if (!result.refused.empty())
      os << ", " << countText(result.refused.size(), "size") << " refused";
    os << '\n';
    if (!result.refused.empty())
      os << "  refused first: " << paramText(result.refused[0].params) << ": "
         << result.refused[0].reason << '\n';
  }
}

static void printClause(json::OStream &json, const ClauseResult &clause,
                        const SourceFiles &files) {
  json.attribute("metric", metricName(clause.metric));
  writeLocation(json, files.expand(clause.source), files);
  json.attribute("figures", clause.figures);
  json.attribute("failures", clause.failures);
  writeObjects(json, "failed", clause.shown, [&](const FailedFigure &failed) {
    const Expectation &expectation = failed.figure.expectation;
    json.attribute("rank", valueOrNull(expectation.rank));
    json.attribute("relation", relationName(expectation.relation));
    writeExact(json, "expected", expectation.value);
    writeExact(json, "measured", failed.figure.measured);
    writeParams(json, failed.params);
    json.attribute("costs", failed.costs);
  });
}

void Check::printJson(json::OStream &json) const {
  if (args.has(Opt::EveryM))
    writeObjects(json, "every_m", proofs, [&](const ProofResult &result) {
      writeProof(result, /*model=*/std::nullopt, json);
    });
  json.attribute("good", std::ranges::all_of(results, &CheckResult::good));
  writeObjects(json, "schedules", results, [&](const CheckResult &result) {
    json.attribute("name", json::fixUTF8(result.name));
    json.attribute("file", json::fixUTF8(result.path));
    json.attribute("good", result.good());
    json.attribute("sizes", result.checked);
    json.attribute("broken", result.broken);
    json.attribute("costs", costs.size());
    writeObjects(json, "clauses", result.clauses, [&](const auto &clause) {
      printClause(json, clause, diags.sourceFiles());
    });
    writeObjects(json, "refused", result.refused, [&](const auto &refused) {
      writeParams(json, refused.params);
      json.attribute("reason", refused.reason);
    });
  });
}

//===----------------------------------------------------------------------===//
// Certificates
//===----------------------------------------------------------------------===//

/// The costs of a schedule that the proof of a certificate leaves out, one per
/// line.
static std::vector<StringRef> leftOut(const Schedule &schedule) {
  std::vector<StringRef> costs;
  auto has = [&](Figure figure) {
    return any_of(schedule.costs.places(), [&](const auto &place) {
      std::optional<Rational> value = place.second.get(figure);
      return value && !value->isZero();
    });
  };
  if (has(Figure::Occupancy))
    costs.push_back("transfers that wait for an occupied edge");
  if (has(Figure::Port))
    costs.push_back("transfers that wait for a port");
  if (schedule.costs.has(FigureScope::Microbatch))
    costs.push_back("factors of micro-batches above the least");
  if (schedule.costs.general(Figure::Overlap) < Rational(1) ||
      !schedule.costs.overlaps.empty())
    costs.push_back("overlaps, which may take less time than their steps");
  return costs;
}

/// Checks a certificate of `pipec prove`.
LogicalResult Check::checkEverySize(StringRef text, const Schedule &schedule) {
  FailureOr<ProofText> proof = readProofText(text, diags);
  if (failed(proof))
    return failure();
  FailureOr<CheckedProof> result = checkProofText(*proof, schedule, diags);
  if (failed(result))
    return failure();
  return write(
      [&](raw_ostream &os) {
        os << terminalText(schedule.name) << ": proven for "
           << countText(result->families, "list")
           << " per rank, with micro-batches from " << result->from << " on; "
           << result->step << " more take " << decimalText(result->rate)
           << " more\n";
        if (result->bound)
          os << "  makespan " << lineText(result->makespan)
             << "; no schedule with backwards of this form has less than "
             << lineText(result->bound->line)
             << " for every m >= " << result->bound->from << '\n';
      },
      [&](json::OStream &json) {
        json.attribute("proven", true);
        json.attribute("families", result->families);
        json.attribute("from", result->from);
        json.attribute("step", result->step);
        writeExact(json, "rate", result->rate);
        if (!result->bound)
          return;
        writeExact(json, "base", result->makespan.base);
        writeExact(json, "bound_rate", result->bound->line.rate);
        writeExact(json, "bound_base", result->bound->line.base);
        json.attribute("bound_from", result->bound->from);
      });
}

/// Checks a certificate of `pipec order`.
LogicalResult Check::checkOrder(StringRef text, const Schedule &schedule) {
  FailureOr<CheckedOrder> result = checkOrderCertificate(text, schedule, diags);
  if (failed(result))
    return failure();
  return write(
      [&](raw_ostream &os) {
        os << terminalText(schedule.name) << ": makespan "
           << decimalText(result->makespan)
           << "; proven: no order of this batch has less than "
           << decimalText(result->bound) << '\n';
      },
      [&](json::OStream &json) {
        json.attribute("proven", true);
        writeExact(json, "makespan", result->makespan);
        writeExact(json, "bound", result->bound);
      });
}

/// Compares the figures of all variants with the costs of the command. Without
/// these, counts the variants that do not follow from the schedule alone.
LogicalResult Check::checkAllFigures(const Certificate &certificate,
                                     const Schedule &schedule,
                                     unsigned &unknown) {
  if (failed(checkVariants(certificate, diags)) ||
      failed(readLowering(args, lowering, diags)))
    return failure();
  bool given = false;
  for (Opt option : {Opt::Cost, Opt::CostProfile, Opt::Parts, Opt::Layers})
    given |= args.has(option);
  for (const Certificate::Variant &variant : certificate.variants) {
    if (!variant.problem)
      continue;
    DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &found) {
      return given && found.severity == Severity::Error;
    });
    if (succeeded(checkFigures(variant, schedule, lowering.given, diags)))
      continue;
    if (given)
      return failure();
    ++unknown;
  }
  return success();
}

/// `loop with 2 chunks and split backwards`
static std::string nameOf(const Certificate::Variant &variant) {
  return variant.placement + " with " + countText(variant.chunks, "chunk") +
         " and " + (variant.split ? "split" : "whole") + " backwards" +
         (variant.layers.empty()
              ? ""
              : ", all layouts of " + layoutText({variant.layers}));
}

static void printVariants(const Certificate &certificate, unsigned unknown,
                          raw_ostream &os) {
  os << "  of all: no schedule of " << certificate.variants.size()
     << " variants has less than " << decimalText(*certificate.boundOfAll)
     << ":\n";
  for (const Certificate::Variant &variant : certificate.variants) {
    os << "    " << nameOf(variant);
    if (variant.state == Certificate::Variant::Covered)
      os << ": no better than with split ones";
    if (variant.state == Certificate::Variant::Excluded)
      os << ": not proven, said to have none: " << terminalText(variant.reason);
    os << '\n';
  }
  if (unknown)
    os << "  the figures of " << countText(unknown, "variant")
       << " are those of the certificate, and were not compared: they need the "
          "costs of the search\n";
}

LogicalResult Check::checkCertificate() {
  for (Opt option : {Opt::Library, Opt::Grid})
    if (args.has(option))
      return args.reportUseless(
          option, "with --certificate, which is of one schedule", diags);
  FailureOr<InputRequest> request = InputRequest::read(args, search, diags);
  if (failed(request))
    return failure();
  FailureOr<Schedule> schedule = request->makeSchedule(search, session);
  if (failed(schedule) || failed(verify(*schedule, diags)))
    return failure();
  constexpr uint64_t maxBytes = uint64_t(1) << 30;
  FailureOr<StringRef> text =
      openInput(args.text(Opt::Certificate), diags, maxBytes);
  if (failed(text))
    return failure();
  progress.phase("checking the certificate");
  if (isProofText(*text))
    return checkEverySize(*text, *schedule);
  if (isOrderCertificate(*text))
    return checkOrder(*text, *schedule);
  FailureOr<Certificate> certificate = readCertificate(*text, diags);
  if (failed(certificate) ||
      failed(checkSame(*certificate, *schedule, diags)) ||
      failed(checkProof(*certificate, diags)))
    return failure();
  unsigned unknown = 0;
  if (certificate->boundOfAll &&
      failed(checkAllFigures(*certificate, *schedule, unknown)))
    return failure();
  auto time = [&](Rational ticks) {
    return Rational::mul(ticks, certificate->tick).value_or(0);
  };
  Rational makespan = time(certificate->makespan);
  Rational bound = time(certificate->refuted + 1);
  StringRef form = certificate->split ? "split" : "whole";
  return write(
      [&](raw_ostream &os) {
        os << terminalText(schedule->name) << ": makespan "
           << decimalText(makespan) << "; proven: no schedule with " << form
           << " backwards has less than " << decimalText(bound) << '\n';
        if (!certificate->layout.empty() && !certificate->boundOfAll)
          os << "  of one layout, " << terminalText(certificate->layout)
             << ": schedules of other layouts may have less\n";
        if (certificate->boundOfAll)
          printVariants(*certificate, unknown, os);
        for (StringRef cost : leftOut(*schedule))
          os << "  the proof leaves out " << cost << '\n';
      },
      [&](json::OStream &json) {
        json.attribute("proven", true);
        writeExact(json, "makespan", makespan);
        writeExact(json, "bound", bound);
        json.attribute("backward", form);
        json.attribute("layout", textOrNull(certificate->layout));
        writeTexts(json, "left_out", leftOut(*schedule));
        if (!certificate->boundOfAll)
          return;
        writeExact(json, "bound_all", *certificate->boundOfAll);
        writeObjects(
            json, "variants", certificate->variants,
            [&](const Certificate::Variant &variant) {
              using Variant = Certificate::Variant;
              json.attribute("placement", variant.placement);
              json.attribute("chunks", variant.chunks);
              json.attribute("backward", variant.split ? "split" : "whole");
              json.attribute("proven", variant.state != Variant::Excluded);
            });
        json.attribute("variants_not_compared", unknown);
      });
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

LogicalResult Check::run() {
  if (args.has(Opt::Certificate))
    return checkCertificate();
  if (failed(readInput()))
    return failure();
  checkAll();
  if (isUndecided)
    session.setStatus(3);
  return write([&](raw_ostream &os) { printText(os); },
               [&](json::OStream &json) { printJson(json); });
}

LogicalResult runCheck(const CommandRun &run) { return Check(run).run(); }

} // namespace pipec
