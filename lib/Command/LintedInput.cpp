//===- LintedInput.cpp - One input of the lint command --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/LintedInput.h"

#include "Compare/Frameworks.h"
#include "Frameworks/TargetCheck.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Diagnostics/VerifierDiags.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

LintedInput::LintedInput(const CommandRun &run, const InputRequest *request)
    : run(run), args(run.args), session(run.session), diags(run.diags),
      request(request) {
  framework = findFramework(args.text(Opt::Consumer));
  if (framework && framework->framework == Framework::PyTorch)
    framework = nullptr;
  if (framework && !framework->usesTorch())
    options = LintOptions::withoutPyTorch();
  // An unknown name is an error of the command line.
  options.require =
      parseWaitModel(args.text(Opt::Require)).value_or(WaitModel::Stream);
}

std::string LintedInput::absentText() const {
  std::vector<unsigned> absent = options.present.absent();
  if (absent.empty())
    return "";
  std::string text = absent.size() == 1 ? "rank " : "ranks ";
  for (unsigned rank : absent)
    text += (rank == absent.front()  ? ""
             : rank == absent.back() ? " and "
                                     : ", ") +
            std::to_string(rank);
  return text;
}

FailureOr<Schedule> LintedInput::load() {
  FailureOr<OpenedInput> input = request->open(run.search, diags);
  if (failed(input))
    return failure();
  kind = input->kind;
  FailureOr<Schedule> schedule =
      request->makeSchedule(*input, run.search, session);
  if (failed(schedule))
    return failure();
  // Both options were checked when the schedule was read.
  if (auto present = readPresentRanks(args, diags); !present->empty())
    options.present = PresentRanks(*present, schedule->numRanks);
  // Orders of HyperParallel need their idle slots, and it reduces gradients
  // itself.
  if (kind == InputKind::HyperParallel) {
    options.idleSlot = options.noReduceGrad = std::nullopt;
    options.forPyTorch = options.forPyTorch && aboutTorch();
  }
  // Nor does a list that Megatron-LM made train in PyTorch's runtime.
  if (kind == InputKind::TeOrder && !args.has(Opt::Consumer))
    options = LintOptions::withoutPyTorch();
  // Costs that no rule needs are not a mistake: one command line is for all
  // files of a project.
  return schedule;
}

LintResult LintedInput::find(const Schedule &schedule) {
  // All findings are shown, since they are the output of this command.
  diags.setErrorLimit(0);
  run.progress.phase("looking for findings");
  return pipec::lint(schedule, options, diags);
}

void LintedInput::showFindings(DiagEngine::Handler show,
                               function_ref<void()> body) {
  FoldedFindings folded;
  session.withHandler(
      [&](const Diagnostic &found) {
        if (kind == InputKind::Program)
          folded.add(found);
        else
          show(found);
      },
      body);
  for (const Diagnostic &found : folded.take())
    show(found);
}

bool LintedInput::aboutTorch() const {
  if (args.has(Opt::Pytorch))
    return true;
  bool isForeign =
      kind == InputKind::TeOrder || kind == InputKind::HyperParallel;
  return !framework && (!isForeign || args.has(Opt::Consumer));
}

void LintedInput::judgeFramework(const Schedule &schedule) {
  if (!framework->target.empty() && !framework->usesTorch()) {
    Target target = targetCalled(framework->target);
    auto check = [&](DiagEngine &to) {
      (void)checkTarget(schedule, target, to);
    };
    frameworkReasons = errorsOf(session.files(), check);
    check(diags);
    return;
  }
  Schedule computes = schedule;
  for (StepList &list : computes.ranks)
    llvm::erase_if(list, [](Step step) { return !isCompute(step.kind()); });
  computes.times.clear();
  Verdicts verdicts =
      FrameworkJudge(diags).judge(computes, schedule, torchVersions.back(),
                                  /*layout=*/{}, framework->framework);
  const Verdict &verdict = verdicts[size_t(framework->framework)];
  if (verdict.how != RunsAs::No)
    return;
  frameworkReasons.push_back(
      {diag::FrameworkRefuses, Severity::Error, SMRange(),
       DiagEngine::format(diag::FrameworkRefuses, framework->title,
                          verdict.reason)});
  (void)diags.report(schedule.source, diag::FrameworkRefuses, framework->title,
                     verdict.reason);
}

void LintedInput::judge(const Schedule &schedule, const LintResult &result) {
  isRead = true;
  if (!result.faults.empty()) {
    reasons.fill(result.faults);
    frameworkReasons = result.faults;
    return;
  }
  StringRef required = args.text(Opt::Pytorch);
  if (std::string absent = absentText(); !absent.empty()) {
    Diagnostic reason{diag::PresentAbsent, Severity::Error, SMRange(),
                      DiagEngine::format(diag::PresentAbsent, absent)};
    reasons.fill({reason});
    frameworkReasons.push_back(reason);
    if (!required.empty() || framework)
      (void)diags.report(schedule.source, diag::PresentAbsent, absent);
    return;
  }
  if (framework)
    judgeFramework(schedule);
  for (auto [version, found] : zip_equal(torchVersions, reasons)) {
    auto check = [&, &version = version](DiagEngine &to) {
      (void)checkForTorch(schedule, version, to);
    };
    found = errorsOf(session.files(), check);
    if (version.name == required)
      check(diags);
  }
}

void LintedInput::printText(raw_ostream &os, const Schedule &schedule) {
  LintResult result;
  KindLimit limit(10, diag::NoteMoreFindings);
  DiagPrinter show = session.printerTo(os);
  showFindings(
      [&](const Diagnostic &found) {
        if (limit.admits(found))
          show(found);
      },
      [&] {
        result = find(schedule);
        judge(schedule, result);
      });
  if (session.isVerifying())
    return;
  limit.noteMore(show);
  if (std::string absent = absentText(); !absent.empty())
    os << "not judged: " << absent << ", "
       << countText(result.unjudgedTransfers, "transfer")
       << " with other ranks, deadlocks through these, memory\n";
  os << "safe under:";
  // A schedule that is safe under any model is safe under the mildest.
  ArrayRef<WaitModel> models = mainWaitModels();
  for (WaitModel model : models)
    if (result.safe[model])
      os << ' ' << waitModelName(model);
  os << (result.safe[models.back()] ? "\n" : " no model\n");
  if (result.buffers && !result.safe[WaitModel::Stream]) {
    os << "completes with: ";
    if (result.communicators)
      os << countText(*result.communicators, "communicator")
         << (result.fewest ? "" : ", no two of which can be one") << '\n';
    else
      os << countText(*result.buffers, "buffer") << " per directed edge\n";
  }
  if (framework) {
    os << framework->title << ": ";
    if (!result.faults.empty())
      os << "no: the schedule has errors\n";
    else if (!isGoodForFramework())
      os << "no: " << frameworkReasons.front().message << '\n';
    else
      os << "yes\n";
  }
  if (!aboutTorch())
    return;
  StringRef format = torchFormat(schedule);
  for (size_t i = 0; i != torchVersions.size(); ++i) {
    os << torchVersions[i].phrase << ": ";
    if (!result.faults.empty())
      os << "no: the schedule has errors\n";
    else if (!isGoodFor(i))
      os << "no: " << reasons[i].front().message << '\n';
    else
      os << "yes, as " << format
         << (format == "compute_only" ? ", to which it adds the transfers\n"
                                      : "\n");
  }
}

void LintedInput::printJson(json::OStream &json,
                            ArrayRef<Diagnostic> unusable) {
  LintResult result;
  auto print = [&](const Diagnostic &finding) {
    writeDiagnostic(json, finding, session.files(),
                    /*csvCells=*/kind == InputKind::Csv);
  };
  std::vector<Diagnostic> errors;
  json.attributeArray("findings", [&] {
    FailureOr<Schedule> schedule = failure();
    auto fail = [&](const Diagnostic &found) {
      print(found);
      if (found.severity == Severity::Error && errors.empty())
        errors.push_back(found);
    };
    for_each(unusable, fail);
    if (unusable.empty())
      showFindings(fail, [&] { schedule = load(); });
    if (failed(schedule)) {
      reasons.fill(errors);
      frameworkReasons = errors;
      return;
    }
    showFindings(print, [&] {
      result = find(*schedule);
      judge(*schedule, result);
    });
  });
  writeArray(json, "absent_ranks", options.present.absent(),
             [&](unsigned rank) { json.value(rank); });
  json.attribute("unjudged_transfers", int64_t(result.unjudgedTransfers));
  json.attributeObject("safe", [&] {
    for (WaitModel model : mainWaitModels())
      json.attribute(waitModelName(model), result.safe[model]);
  });
  json.attribute("blocking", result.safe[WaitModel::Blocking]);
  json.attribute("communicators", valueOrNull(result.communicators));
  json.attribute("buffers", valueOrNull(result.buffers));
  json.attributeObject("pytorch", [&] {
    for (size_t i = 0; i != torchVersions.size(); ++i)
      json.attribute(torchVersions[i].name, isGoodFor(i));
  });
  json.attributeObject("pytorch_reasons", [&] {
    for (size_t i = 0; i != torchVersions.size(); ++i)
      writeArray(json, torchVersions[i].name, reasons[i], print);
  });
  if (!framework)
    return;
  json.attributeObject("frameworks", [&] {
    json.attribute(framework->key, isGoodForFramework());
  });
  json.attributeObject("framework_reasons", [&] {
    writeArray(json, framework->key, frameworkReasons, print);
  });
}

FileFindings LintedInput::collect() {
  FileFindings result;
  result.path = shownPath(request->path).str();
  showFindings(
      [&](const Diagnostic &found) { result.findings.push_back(found); },
      [&] {
        FailureOr<Schedule> schedule = load();
        if (succeeded(schedule))
          judge(*schedule, find(*schedule));
      });
  return result;
}

} // namespace pipec
