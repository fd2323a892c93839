//===- LintCommand.cpp - The lint command -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Results/TorchVerdict.h"

#include "Driver/Input.h"
#include "Lint/Lint.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <map>

using namespace llvm;

namespace pipec {

/// The rules whose severity --grade sets.
static constexpr std::pair<StringLiteral,
                           std::optional<Severity> LintOptions::*>
    rules[] = {
        {"loss-order", &LintOptions::lossOrder},
        {"unused-unshard", &LintOptions::unusedUnshard},
        {"idle-slot", &LintOptions::idleSlot},
        {"forward-only", &LintOptions::forwardOnly},
        {"no-reduce-grad", &LintOptions::noReduceGrad},
        {"slot-order", &LintOptions::slotOrder},
        {"microbatch-order", &LintOptions::microbatchOrder},
        {"memory-limit", &LintOptions::memoryLimit},
};

static constexpr std::pair<StringLiteral, std::optional<Severity>> grades[] = {
    {"error", Severity::Error},
    {"warning", Severity::Warning},
    {"note", Severity::Note},
    {"off", std::nullopt},
};

/// The row of `table` called `name`; reports when there is none.
template <typename Row, size_t n>
static const Row *findRow(const Row (&table)[n], StringRef name, StringRef noun,
                          DiagEngine &diags) {
  std::vector<StringRef> names;
  for (const Row &row : table) {
    if (row.first == name)
      return &row;
    names.push_back(row.first);
  }
  (void)reportUnknownChoice(diags, noun, name, names);
  return nullptr;
}

static FailureOr<LintOptions> readOptions(const Arguments &args,
                                          DiagEngine &diags) {
  LintOptions options;
  options.require = *parseWaitModel(args.text(Opt::Require, "stream"));
  SmallVector<StringRef> settings;
  for (StringRef list : args.list(Opt::Grade))
    list.split(settings, ',');
  for (StringRef setting : settings) {
    auto [rule, value] = setting.split('=');
    const auto *place = findRow(rules, rule, "rule of --grade", diags);
    if (!place)
      return failure();
    const auto *grade = findRow(grades, value, "grade of --grade", diags);
    if (!grade)
      return failure();
    options.*place->second = grade->second;
  }
  if (failed(applyWarnings(args, diags)))
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

namespace {

/// One run of the command.
class Lint : CommandRun {
public:
  explicit Lint(const CommandRun &run) : CommandRun(run) {}
  LogicalResult run();

private:
  /// Finds and reads the schedule; nothing is left to lint when that fails.
  FailureOr<Schedule> load();
  LintResult find(const Schedule &schedule);
  void printText(raw_ostream &os, const Schedule &schedule);
  void printJson(json::OStream &json);
  /// Fills `reasons`, and reports those against the version that --pytorch
  /// names. --grade and -W have no part in that.
  void judge(const Schedule &schedule, const LintResult &result);
  /// True when that version loads the schedule and trains rightly with it.
  bool isGoodFor(size_t version) const {
    return isRead && reasons[version].empty();
  }

  bool isRead = false;
  /// The reasons against each of `torchVersions`. A schedule that cannot be
  /// read, or whose list is wrong, has these errors as reasons against all.
  std::array<std::vector<Diagnostic>, torchVersions.size()> reasons;
  LintOptions options;
  std::optional<InputRequest> request;
  std::optional<InputKind> kind;
};

} // namespace

FailureOr<Schedule> Lint::load() {
  FailureOr<OpenedInput> input = request->open(search, diags);
  if (failed(input))
    return failure();
  kind = input->kind;
  return request->makeSchedule(*input, search, session);
}

LintResult Lint::find(const Schedule &schedule) {
  // Every finding counts, and they are the output of this command.
  diags.setErrorLimit(0);
  progress.phase("looking for findings");
  return pipec::lint(schedule, options, diags);
}

void Lint::judge(const Schedule &schedule, const LintResult &result) {
  isRead = true;
  if (!result.faults.empty()) {
    reasons.fill(result.faults);
    return;
  }
  StringRef required = args.text(Opt::Pytorch);
  for (auto [version, found] : zip_equal(torchVersions, reasons)) {
    found = reasonsAgainst(schedule, version, session.files());
    if (version.name == required)
      (void)checkForTorch(schedule, version, diags);
  }
}

void Lint::printText(raw_ostream &os, const Schedule &schedule) {
  LintResult result;
  FindingCap cap(session.printerTo(os));
  session.divert(std::ref(cap), [&] {
    result = find(schedule);
    judge(schedule, result);
  });
  if (session.isVerifying())
    return;
  cap.finish();
  os << "safe under:";
  for (WaitModel model : allWaitModels)
    if (result.safe[unsigned(model)])
      os << ' ' << waitModelName(model);
  os << (is_contained(result.safe, true) ? "\n" : " no model\n");
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

/// Writes one object, also for an input that cannot be read; then its errors
/// are the findings.
void Lint::printJson(json::OStream &json) {
  LintResult result;
  auto print = [&](const Diagnostic &finding) {
    writeDiagnostic(json, finding, session.files(),
                    /*csvCells=*/kind == InputKind::Csv);
  };
  std::vector<Diagnostic> errors;
  json.attributeArray("findings", [&] {
    FailureOr<Schedule> schedule = failure();
    session.divert(
        [&](const Diagnostic &found) {
          print(found);
          if (found.severity == Severity::Error && errors.empty())
            errors.push_back(found);
        },
        [&] { schedule = load(); });
    if (failed(schedule)) {
      reasons.fill(errors);
      return;
    }
    session.divert(print, [&] {
      result = find(*schedule);
      judge(*schedule, result);
    });
  });
  json.attributeObject("safe", [&] {
    for (WaitModel model : allWaitModels)
      json.attribute(waitModelName(model), result.safe[unsigned(model)]);
  });
  json.attributeObject("pytorch", [&] {
    for (size_t i = 0; i != torchVersions.size(); ++i)
      json.attribute(torchVersions[i].name, isGoodFor(i));
  });
  json.attributeObject("pytorch_reasons", [&] {
    for (size_t i = 0; i != torchVersions.size(); ++i)
      json.attributeArray(torchVersions[i].name, [&] {
        for (const Diagnostic &reason : reasons[i])
          print(reason);
      });
  });
}

LogicalResult Lint::run() {
  FailureOr<LintOptions> read = readOptions(args, diags);
  if (failed(read))
    return failure();
  options = *read;
  FailureOr<InputRequest> input = InputRequest::read(args, diags);
  if (failed(input))
    return failure();
  request.emplace(std::move(*input));
  if (args.text(Opt::Format) == "json")
    return write([](raw_ostream &) {},
                 [&](json::OStream &json) { printJson(json); });
  FailureOr<Schedule> schedule = load();
  if (failed(schedule))
    return failure();
  return write([&](raw_ostream &os) { printText(os, *schedule); },
               [](json::OStream &) {});
}

LogicalResult runLint(const CommandRun &run) { return Lint(run).run(); }

} // namespace pipec
