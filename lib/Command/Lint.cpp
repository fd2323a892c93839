//===- Lint.cpp - The lint command -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"

#include "Analysis/Lint.h"
#include "Driver/Input.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <map>

using namespace llvm;

namespace pipec {

namespace {

struct LintFlags : CommandFlags {
  LintFlags()
      : CommandFlags("pipec lint options", "Write the findings to FILE") {}

  InputFlags input{category};
  cl::opt<std::string> require{
      "require",
      cl::desc("What does not end under this model is an error: stream "
               "(default), pair, edge or buffered"),
      cl::value_desc("MODEL"), cl::init("stream"), cl::cat(category)};
  cl::list<std::string> grades{
      "grade", cl::CommaSeparated,
      cl::desc("How grave a finding is: RULE is loss-order, unused-unshard, "
               "idle-slot, forward-only, no-reduce-grad, slot-order, "
               "microbatch-order or memory-limit, GRADE is error, warning, "
               "note or off"),
      cl::value_desc("RULE=GRADE,..."), cl::cat(category)};
  WarningFlags warnings{category};
  FormatFlag format{category};
};

} // namespace

static FailureOr<LintOptions> readOptions(const LintFlags &flags,
                                          DiagEngine &diags) {
  LintOptions options;
  std::optional<WaitModel> model = parseWaitModel(flags.require);
  if (!model)
    return unusable(diags, "no model `" + flags.require + "`");
  options.require = *model;
  for (StringRef grade : flags.grades) {
    auto [rule, value] = grade.split('=');
    std::optional<Severity> *place =
        rule == "loss-order"       ? &options.lossOrder
        : rule == "unused-unshard" ? &options.unusedUnshard
        : rule == "idle-slot"      ? &options.idleSlot
        : rule == "forward-only"   ? &options.forwardOnly
        : rule == "no-reduce-grad" ? &options.noReduceGrad
        : rule == "slot-order"     ? &options.slotOrder
        : rule == "microbatch-order" ? &options.microbatchOrder
        : rule == "memory-limit"     ? &options.memoryLimit
                                     : nullptr;
    if (!place)
      return unusable(diags, "no rule `" + rule + "` in `--grade`");
    if (value == "off")
      place->reset();
    else if (value == "error")
      *place = Severity::Error;
    else if (value == "warning")
      *place = Severity::Warning;
    else if (value == "note")
      *place = Severity::Note;
    else
      return unusable(diags, "no grade `" + value + "` in `--grade`");
  }
  if (failed(flags.warnings.apply(diags)) || failed(flags.format.check(diags)))
    return failure();
  return options;
}

namespace {

/// Shows the first few findings of each kind and counts the others.
class FindingCap {
public:
  explicit FindingCap(DiagEngine::Handler show) : show(std::move(show)) {}

  void operator()(const Diagnostic &finding) {
    if (++counts[finding.id] <= shown)
      show(finding);
  }
  /// Says how many there were beside those shown.
  void finish() const {
    for (auto [id, count] : counts)
      if (count > shown)
        show({diag::Id::NoteMoreFindings, Severity::Note, SMRange(),
              DiagEngine::format(diag::Id::NoteMoreFindings, count - shown,
                                 diagInfo(id).name)});
  }

private:
  static constexpr size_t shown = 10;
  DiagEngine::Handler show;
  std::map<diag::Id, size_t> counts;
};

} // namespace

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static LogicalResult lint(const LintFlags &flags, const CommandRun &run) {
  DiagEngine &diags = run.diags;
  FailureOr<LintOptions> options = readOptions(flags, diags);
  if (failed(options))
    return failure();
  FailureOr<OpenedInput> input = openInput(flags.input, run.search, diags);
  if (failed(input))
    return failure();
  FailureOr<Schedule> schedule =
      makeSchedule(flags.input, *input, run.search, run.session);
  if (failed(schedule))
    return failure();

  // Every finding counts, and they are the output of this command.
  diags.setErrorLimit(0);
  auto find = [&](const DiagEngine::Handler &finding) {
    run.progress.phase("looking for findings");
    LintResult result;
    run.session.divert(
        finding, [&] { result = pipec::lint(*schedule, *options, diags); });
    return result;
  };
  return run.write(
      flags.format,
      [&](raw_ostream &os) {
        DiagEngine::Handler printer = run.session.printerTo(os);
        if (flags.diags.verifyDiagnostics) {
          find(printer);
          return;
        }
        FindingCap cap(printer);
        LintResult result = find(std::ref(cap));
        cap.finish();
        os << "safe under:";
        for (WaitModel model : allWaitModels)
          if (result.safe[unsigned(model)])
            os << ' ' << waitModelName(model);
        os << (is_contained(result.safe, true) ? "\n" : " no model\n");
      },
      [&](json::OStream &json) {
        LintResult result;
        json.attributeArray("findings", [&] {
          result = find([&](const Diagnostic &finding) {
            writeDiagnostic(json, finding, run.session.files(),
                            /*csvCells=*/input->kind == InputKind::Csv);
          });
        });
        json.attributeObject("safe", [&] {
          for (WaitModel model : allWaitModels)
            json.attribute(waitModelName(model), result.safe[unsigned(model)]);
        });
      });
}

int lintMain(const CommandLine &line) {
  LintFlags flags;
  return runCommand(
      line, flags,
      "Looks for everything that is wrong with a schedule, a step list or a "
      "CSV.",
      [&](const CommandRun &run) { return lint(flags, run); });
}

} // namespace pipec
