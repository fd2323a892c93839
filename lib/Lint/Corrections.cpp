//===- Corrections.cpp - Correcting an input in place ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lint/Findings.h"

#include "Driver/Input.h"
#include "Driver/Io.h"
#include "Lint/Lint.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <tuple>

using namespace llvm;

namespace pipec {

namespace {

/// An edit by its offsets in the text.
struct TextEdit {
  size_t begin;
  size_t end;
  std::string text;
};

/// The edits of one finding.
using Correction = std::vector<TextEdit>;

/// What lint finds in one text.
class TextFindings {
public:
  TextFindings(StringRef text, const OpenedInput &input,
               const InputRequest &request, const LintOptions &options,
               const SearchPath &search);

  ArrayRef<Correction> corrections() const { return all; }
  /// The number of findings with an unsafe correction that is not among these.
  size_t numUnsafe() const { return unsafe; }
  bool isBetterThan(const TextFindings &other) const {
    return score() > other.score();
  }

private:
  /// The number of phases that succeeded.
  enum Progress { ToSyntax, ToImports, ToNames, ToSchedule, ToEnd };

  /// The size counts for a definition that only an unused one uses: without
  /// that one, it is the next to be reported.
  std::tuple<int, int64_t, int64_t, int64_t> score() const {
    return {int(progress), -errors, -warnings, -size};
  }
  void add(const Diagnostic &found, const SourceFiles &files);

  bool withUnsafe;
  size_t unsafe = 0;
  const char *begin = nullptr;
  Progress progress = ToEnd;
  int64_t errors = 0;
  int64_t warnings = 0;
  int64_t size;
  std::vector<Correction> all;
};

} // namespace

TextFindings::TextFindings(StringRef text, const OpenedInput &input,
                           const InputRequest &request,
                           const LintOptions &options, const SearchPath &search)
    : withUnsafe(request.args.has(Opt::UnsafeFixes)), size(text.size()) {
  SourceFiles files;
  DiagEngine diags(files, [&](const Diagnostic &found) { add(found, files); });
  diags.setErrorLimit(0);
  // Both were checked before.
  (void)applyWarnings(request.args, diags);
  Expected<StringRef> added =
      files.add(MemoryBuffer::getMemBufferCopy(text, input.path));
  if (!added) {
    consumeError(added.takeError());
    return;
  }
  begin = added->data();
  OpenedInput edited = input;
  edited.text = *added;
  FailureOr<Schedule> schedule = request.makeSchedule(edited, search, diags);
  if (succeeded(schedule))
    (void)lint(*schedule, options, diags);
}

void TextFindings::add(const Diagnostic &found, const SourceFiles &files) {
  if (found.severity == Severity::Error) {
    auto phase = diag::phaseOf(found.id);
    bool isImport = phase == diag::Phase::Command && found.range.isValid();
    progress = std::min(progress, phase == diag::Phase::Syntax ? ToSyntax
                                  : isImport                   ? ToImports
                                  : phase == diag::Phase::Sema ? ToNames
                                                               : ToSchedule);
    ++errors;
  }
  warnings += found.severity == Severity::Warning;
  ArrayRef<FixIt> edits = found.fixIts;
  for (const Diagnostic &note : found.notes)
    if (edits.empty())
      edits = note.fixIts;
  Correction correction;
  for (const FixIt &edit : edits) {
    if (files.textOf(edit.range.Start).data() != begin)
      return;
    correction.push_back({size_t(edit.range.Start.getPointer() - begin),
                          size_t(edit.range.End.getPointer() - begin),
                          edit.text});
  }
  if (correction.empty())
    return;
  if (edits.front().isSafe || withUnsafe)
    all.push_back(std::move(correction));
  else
    ++unsafe;
}

/// Applies the corrections whose edits do not overlap those of earlier ones.
/// Sets `count` to their number.
static std::string apply(StringRef text, ArrayRef<Correction> corrections,
                         size_t &count) {
  std::vector<TextEdit> edits;
  auto overlaps = [&](const TextEdit &edit) {
    return any_of(edits, [&](const TextEdit &other) {
      return edit.begin <= other.end && other.begin <= edit.end;
    });
  };
  count = 0;
  for (const Correction &correction : corrections) {
    if (any_of(correction, overlaps))
      continue;
    llvm::append_range(edits, correction);
    ++count;
  }
  std::ranges::sort(edits, {}, &TextEdit::begin);
  std::string result;
  size_t at = 0;
  for (const TextEdit &edit : edits) {
    result += text.slice(at, edit.begin);
    result += edit.text;
    at = edit.end;
  }
  return result + text.drop_front(at).str();
}

/// The text of an input after the corrections that its findings propose.
struct CorrectedText {
  std::string text;
  CorrectedFindings counts = {};
};

/// Applies edits until none improves the text: findings of an earlier phase
/// disappear, or there are fewer errors, or as many and fewer warnings, or as
/// many of both in a shorter text. So the result is the same for its own text.
static CorrectedText correctText(const OpenedInput &input,
                                 const InputRequest &request,
                                 const LintOptions &options,
                                 const SearchPath &search) {
  // Corrections that are tried one by one.
  constexpr size_t maxSingle = 50;
  // So many are not tried together before.
  constexpr size_t maxFirst = 8;
  auto find = [&](StringRef text) {
    return TextFindings(text, input, request, options, search);
  };
  CorrectedText result{input.text.str()};
  TextFindings found = find(result.text);
  auto improve = [&](ArrayRef<Correction> corrections) {
    size_t count = 0;
    std::string text = apply(result.text, corrections, count);
    TextFindings after = find(text);
    if (!after.isBetterThan(found))
      return false;
    result.text = std::move(text);
    result.counts.corrected += count;
    found = std::move(after);
    return true;
  };
  // Every round improves the text, so the rounds end.
  for (;;) {
    std::vector<Correction> corrections = found.corrections();
    result.counts.unsafe = found.numUnsafe();
    if (corrections.empty())
      return result;
    // Together they are fewer runs, but a good one may hide that another one
    // does not help.
    auto single = [&](const Correction &each) { return improve(each); };
    bool isBetter =
        corrections.size() <= maxFirst
            ? any_of(corrections, single) || improve(corrections)
            : improve(corrections) ||
                  any_of(ArrayRef(corrections).take_front(maxSingle), single);
    if (!isBetter)
      return result;
  }
}

FailureOr<CorrectedFindings> correctFile(const InputRequest &request,
                                         const LintOptions &options,
                                         const SearchPath &search,
                                         DiagEngine &diags) {
  // What cannot be read is reported when it is checked.
  SourceFiles files;
  DiagEngine silent(files, [](const Diagnostic &) {});
  FailureOr<OpenedInput> input = request.open(search, silent);
  if (failed(input))
    return CorrectedFindings();
  if (request.path == "-" || input->path != request.path)
    return reportUsageError(diags, "--fix changes files that are given by "
                                   "their path, and `" +
                                       shortened(shownPath(request.path)) +
                                       "` is not one");
  CorrectedText corrected = correctText(*input, request, options, search);
  if (corrected.counts.corrected == 0)
    return corrected.counts;
  OutputFile file(input->path);
  std::error_code error = file.open(nulls());
  if (!error) {
    file.stream() << corrected.text;
    error = file.commit();
  }
  if (error)
    return reportUnwritable(diags, input->path, error);
  return corrected.counts;
}

} // namespace pipec
