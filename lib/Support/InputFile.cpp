//===- InputFile.cpp - Opening the files of a run -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/InputFile.h"

#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

std::string normalizeMessage(StringRef message) {
  std::string text = message.str();
  if (text.size() > 1 && isUpper(text[0]) && !isUpper(text[1]))
    text[0] = toLower(text[0]);
  return text;
}

FailureOr<StringRef> openInput(StringRef path, DiagEngine &diags,
                               SourceFiles::ByteLimit limit, DiagLoc loc) {
  Expected<StringRef> text = diags.sourceFiles().open(path, limit);
  if (text)
    return *text;
  handleAllErrors(
      text.takeError(),
      [&](const FileTooLargeError &error) {
        (void)diags.report(loc, diag::FileTooLarge, shownPath(path),
                           error.limit);
      },
      [&](const ErrorInfoBase &error) {
        (void)diags.report(loc, diag::FileUnreadable, shownPath(path),
                           normalizeMessage(error.message()));
      });
  return failure();
}

FailureOr<StringRef> openInput(StringRef path, DiagEngine &diags,
                               uint64_t limit, DiagLoc loc) {
  return openInput(path, diags, [limit](StringRef) { return limit; }, loc);
}

} // namespace pipec
