//===- ScheduleSource.cpp - One input, schedules of any size --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/ScheduleSource.h"

#include "Driver/Grid.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
using namespace llvm;

namespace pipec {

/// Reports that `input` is neither a file nor a name in the library.
static LogicalResult reportNotFound(StringRef input, const SearchPath &search,
                                    DiagEngine &diags) {
  InFlightDiagnostic error =
      diags.report(DiagLoc(), diag::InputNotFound, shortened(input));
  std::vector<std::string> names;
  for (StringRef folder : search.folders())
    llvm::append_range(names, programNames(folder));
  std::vector<StringRef> candidates(names.begin(), names.end());
  if (StringRef meant = nearestWord(input, candidates); !meant.empty())
    error.note(DiagLoc(), diag::NoteDidYouMean, meant);
  return failure();
}

FailureOr<OpenedInput> findInput(StringRef name, const SearchPath &search,
                                 const Arguments &args, DiagEngine &diags) {
  std::optional<std::string> path = search.findInput(name);
  if (!path)
    return reportNotFound(name, search, diags);
  FailureOr<StringRef> text = openInput(*path, diags, [&](StringRef begin) {
    return maxInputBytes(inputKind(*path, begin, args));
  });
  if (failed(text))
    return failure();
  return OpenedInput{*path, *text, inputKind(*path, *text, args), name.str()};
}

LogicalResult checkIsProgram(const OpenedInput &input, DiagEngine &diags) {
  if (input.kind == InputKind::Program)
    return success();
  return reportUsageError(diags, "`" + Twine(shownPath(input.path)) +
                                     "` is not a program");
}

FailureOr<std::unique_ptr<ScheduleSource>>
ScheduleSource::parse(const OpenedInput &input, const SearchPath &search,
                      DiagEngine &diags) {
  std::unique_ptr<ScheduleSource> source(new ScheduleSource(input));
  if (!source->isProgram())
    return source;
  ProgramLoader loader(search, source->context, diags);
  FailureOr<ast::Module *> module = loader.load(input.path, input.text);
  if (failed(module))
    return failure();
  source->parsed = *module;
  return source;
}

LogicalResult ScheduleSource::check(DiagEngine &diags) {
  if (!parsed)
    return success();
  return store(checkProgram(*parsed, context, diags), program);
}

FailureOr<std::unique_ptr<ScheduleSource>>
ScheduleSource::load(const OpenedInput &input, const SearchPath &search,
                     DiagEngine &diags) {
  auto source = parse(input, search, diags);
  if (failed(source) || failed((*source)->check(diags)))
    return failure();
  return source;
}

FailureOr<std::unique_ptr<ScheduleSource>>
ScheduleSource::find(StringRef name, const SearchPath &search,
                     const Arguments &args, DiagEngine &diags) {
  FailureOr<OpenedInput> input = findInput(name, search, args, diags);
  if (failed(input))
    return failure();
  return load(*input, search, diags);
}

FailureOr<const ast::ScheduleDecl *>
findSchedule(ArrayRef<const ast::ScheduleDecl *> schedules, StringRef name,
             StringRef path, DiagEngine &diags) {
  std::vector<StringRef> names, candidates;
  for (const ast::ScheduleDecl *schedule : schedules) {
    if (schedule->name.text == name)
      return schedule;
    names.push_back(schedule->name.text);
  }
  candidates = names;
  for (const ast::ScheduleDecl *schedule : schedules) {
    if (schedule->hasAlias(name))
      return schedule;
    for (const ast::StringLit &alias : schedule->aliases())
      candidates.push_back(alias.value);
  }
  InFlightDiagnostic error = diags.report(DiagLoc(), diag::UnknownSchedule,
                                          shortened(name), shownPath(path));
  if (StringRef meant = nearestWord(name, candidates); !meant.empty())
    error.note(DiagLoc(), diag::NoteDidYouMean, meant);
  error.note(DiagLoc(), diag::NoteChoices, join(names, "`, `"));
  return failure();
}

FailureOr<const CheckedSchedule *>
ScheduleSource::schedule(StringRef name, DiagEngine &diags) const {
  if (schedules().empty())
    return diags.report(DiagLoc(), diag::NoSchedule, path());
  std::vector<const ast::ScheduleDecl *> decls;
  std::vector<StringRef> names;
  for (const CheckedSchedule &schedule : schedules()) {
    decls.push_back(schedule.decl);
    names.push_back(schedule.decl->name.text);
  }
  if (!name.empty()) {
    FailureOr<const ast::ScheduleDecl *> found =
        findSchedule(decls, name, path(), diags);
    if (failed(found))
      return failure();
    return &schedules()[llvm::find(decls, *found) - decls.begin()];
  }
  if (const CheckedSchedule *schedule = aliased(""))
    return schedule;
  if (names.size() != 1)
    return diags.report(DiagLoc(), diag::SeveralSchedules, path(), names.size(),
                        join(names, ", "));
  return &schedules()[0];
}

const CheckedSchedule *ScheduleSource::aliased(StringRef name) const {
  StringRef alias = name.empty() ? StringRef(input.word) : name;
  for (const CheckedSchedule &schedule : schedules())
    if (schedule.decl->hasAlias(alias))
      return &schedule;
  return nullptr;
}

FailureOr<Schedule> ScheduleSource::lower(const CheckedSchedule &schedule,
                                          const LowerOptions &options,
                                          DiagEngine &diags) const {
  return pipec::lower(*program, schedule, options, diags);
}

FailureOr<Schedule> ScheduleSource::read(const InputOptions &sizes,
                                         const LowerOptions &lowering,
                                         DiagEngine &diags) const {
  InputOptions options = sizes;
  options.graph = lowering.graph;
  options.slices = lowering.slices;
  FailureOr<Schedule> schedule =
      readStepInput(input.kind, input.path, input.text, options, diags);
  if (failed(schedule) ||
      failed(giveSections(*schedule, lowering.given, diags)) ||
      failed(applyCosts(*schedule, lowering.given, diags)) ||
      failed(applyMemory(*schedule, lowering.given, diags)))
    return failure();
  return schedule;
}

LogicalResult ScheduleList::add(StringRef name, StringRef schedule,
                                const SearchPath &search, const Arguments &args,
                                DiagEngine &diags) {
  auto source = ScheduleSource::find(name, search, args, diags);
  if (failed(source))
    return failure();
  sources.push_back(std::move(*source));
  const ScheduleSource &added = *sources.back();
  if (!added.isProgram()) {
    all.push_back({&added, nullptr});
    return success();
  }
  if (schedule.empty() && !added.schedules().empty() && !added.aliased("")) {
    for (const CheckedSchedule &one : added.schedules())
      all.push_back({&added, &one});
    return success();
  }
  FailureOr<const CheckedSchedule *> chosen = added.schedule(schedule, diags);
  if (failed(chosen))
    return failure();
  all.push_back({&added, *chosen});
  return success();
}

LogicalResult ScheduleList::addAll(Grid &grid, const SearchPath &search,
                                   const Arguments &args, DiagEngine &diags) {
  std::vector<std::string> names;
  if (failed(store(Grid::read(args, Grid::Values::Many, names, diags), grid)))
    return failure();
  if (args.isOn(Opt::Library, false))
    append_range(names, search.libraryFiles());
  if (names.empty())
    return reportMissingInput(diags);
  return success(all_of(names, [&](StringRef name) {
    return succeeded(add(name, args.text(Opt::Schedule), search, args, diags));
  }));
}

bool ScheduleList::hasSteps() const {
  return any_of(all, [](const Entry &entry) { return !entry.schedule; });
}

std::vector<const ast::ScheduleDecl *> ScheduleList::decls() const {
  std::vector<const ast::ScheduleDecl *> decls;
  for (const Entry &entry : all)
    if (entry.schedule)
      decls.push_back(entry.schedule->decl);
  return decls;
}

} // namespace pipec
