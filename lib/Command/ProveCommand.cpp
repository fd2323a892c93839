//===- ProveCommand.cpp - The prove command -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/ProveCommand.h"

#include "Driver/Figures.h"
#include "Driver/Input.h"
#include "Prove/Prove.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

static void printTimes(const ScheduleProof &proof, raw_ostream &os) {
  Rational more(proof.step * proof.period);
  Rational each = Rational::div(proof.rate, more).value_or(0);
  if (proof.period == 1)
    os << "  makespan " << decimalText(proof.makespan) << " + "
       << decimalText(proof.rate) << " n";
  else
    os << "  makespan " << decimalText(proof.makespan) << " at " << proof.from
       << " micro-batches; " << proof.step * proof.period << " more take "
       << decimalText(proof.rate) << " more";
  os << ", that is " << decimalText(each) << " per micro-batch; work of a rank "
     << decimalText(proof.work);
  std::optional<Rational> idle = excess(each, proof.work);
  if (proof.work == each)
    os << ": no idle time in the steady state";
  else if (idle)
    os << ": " << rateText(*idle) << " above it";
  os << '\n';
}

static void printPeaks(const ScheduleProof &proof, raw_ostream &os) {
  os << "  peaks";
  for (Rational peak : proof.peaks)
    os << ' ' << decimalText(peak);
  if (!proof.hasPeaks) {
    os << " with " << proof.from << " micro-batches; not proven with more";
  } else if (any_of(proof.peakRates,
                    [](Rational rate) { return !rate.isZero(); })) {
    os << " at " << proof.from << " micro-batches; "
       << proof.step * proof.period << " more add";
    for (Rational rate : proof.peakRates)
      os << ' ' << decimalText(rate);
  }
  os << '\n';
}

static void printProof(const ProofResult &result,
                       std::optional<WaitModel> model, raw_ostream &os) {
  os << terminalText(result.name) << '(' << paramText(result.params) << "): ";
  const ScheduleProof *proof = result.proof();
  if (!proof) {
    os << "undecided: " << result.undecided() << '\n';
    return;
  }
  os << "for every number of micro-batches m = "
     << seriesText(proof->from, proof->step) << "\n  valid; completes "
     << (model ? "with the transfers of insert-p2p, " +
                     waitModelName(*model).str() + ": " +
                     waitModelPhrase(*model).str()
               : "under free arrival")
     << '\n';
  printTimes(*proof, os);
  printPeaks(*proof, os);
}

void writeProof(const ProofResult &result, std::optional<WaitModel> model,
                json::OStream &json) {
  json.attribute("schedule", json::fixUTF8(result.name));
  writeParams(json, result.params);
  if (model)
    json.attribute("model", waitModelName(*model));
  const ScheduleProof *proof = result.proof();
  if (!proof) {
    json.attribute("valid", nullptr);
    json.attribute("undecided", json::fixUTF8(result.undecided()));
    return;
  }
  json.attribute("valid", true);
  json.attribute("from", proof->from);
  json.attribute("step", proof->step);
  json.attribute("period", proof->period);
  writeExact(json, "makespan", proof->makespan);
  writeExact(json, "rate", proof->rate);
  writeExact(json, "work", proof->work);
  json.attributeArray("peak", [&] {
    for (Rational peak : proof->peaks) {
      Decimal decimal = toDecimal(peak, /*exactDigits=*/15);
      if (decimal.exact)
        json.rawValue(decimal.text);
      else
        json.value(peak.toDouble());
    }
  });
}

/// Writes the certificate.
static LogicalResult certify(const CommandRun &run,
                             const ScheduleProof &proof) {
  return writeFile(
      run.args.text(Opt::Certificate), run.standardOutput(), run.diags,
      [&](raw_ostream &os) { writeProofText(proof.certificate, os); });
}

LogicalResult runProve(const CommandRun &run) {
  DiagEngine &diags = run.diags;
  FailureOr<InputRequest> request =
      InputRequest::read(run.args, run.search, diags);
  if (failed(request))
    return failure();
  FailureOr<OpenedInput> input = request->open(run.search, diags);
  if (failed(input) || failed(checkIsProgram(*input, diags)))
    return failure();
  auto source = ScheduleSource::load(*input, run.search, diags);
  if (failed(source))
    return failure();
  FailureOr<const CheckedSchedule *> schedule =
      (*source)->schedule(run.args.text(Opt::Schedule), diags);
  LowerOptions lowering;
  if (failed(schedule) || failed(readLowering(run.args, lowering, diags)) ||
      failed(request->sizes.fit({(*schedule)->decl}, /*otherInputs=*/false,
                                diags)))
    return failure();
  const ast::ParamDecl &all = *(*schedule)->microbatches;
  for (StringRef name : {all.label.text, all.name.text})
    if (!name.empty() && !request->sizes.valuesOf(name).empty())
      return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                          (name + "=").str() +
                              std::to_string(request->sizes.valuesOf(name)[0]),
                          "on a proof for every number of micro-batches");
  lowering.params = request->sizes.point(*(*schedule)->decl);
  FailureOr<std::optional<CommModel>> given = readModel(run.args, diags);
  if (failed(given))
    return failure();
  std::optional<WaitModel> model;
  if (*given) {
    if ((*given)->communicators())
      return diags.report(DiagLoc(), diag::OptionValue, (*given)->name(),
                          "--model", "the name of a model");
    model = (*given)->kind();
  }
  if (model && run.args.has(Opt::Certificate))
    return run.args.reportUseless(Opt::Certificate, "with --model", diags);
  run.progress.phase("proving");
  FailureOr<ProofResult> result =
      prove({(*source)->checkedProgram(), **schedule, std::move(lowering),
             diags, model});
  if (failed(result))
    return failure();
  warnOfCosts({&result->schedule}, diags);
  const ScheduleProof *proof = result->proof();
  if (!proof)
    run.session.setStatus(3);
  else if (run.args.has(Opt::Certificate) && failed(certify(run, *proof)))
    return failure();
  return run.write(
      [&](raw_ostream &os) { printProof(*result, model, os); },
      [&](json::OStream &json) { writeProof(*result, model, json); });
}

} // namespace pipec
