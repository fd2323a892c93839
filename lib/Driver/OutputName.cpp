//===- OutputName.cpp - Formats by the output file name -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Io.h"

#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace llvm;

namespace pipec {

bool isPythonPicture(StringRef kind) { return kind == "pdf" || kind == "png"; }

/// The extension of the output file, in lower case and without the dot.
static std::string outputExtension(const Arguments &args) {
  StringRef extension = sys::path::extension(args.text(Opt::Output));
  extension.consume_front(".");
  return extension.lower();
}

/// Extensions of pictures and documents that are not written. Any other unknown
/// extension says nothing.
static constexpr StringLiteral otherPictures[] = {
    "bmp", "eps", "gif", "jpeg", "jpg", "ps", "tif", "tiff", "webp"};

/// Reports the name of a file for a picture of a format that is not written.
static LogicalResult checkIsWritten(const Arguments &args, DiagEngine &diags) {
  std::string extension = outputExtension(args);
  if (!is_contained(otherPictures, extension))
    return success();
  std::set<StringRef> known;
  for (const EmitterInfo &info : allEmitters())
    for (StringRef one : split(info.extensions, ' '))
      if (!one.empty())
        known.insert(one);
  return reportUsageError(
      diags, "no output has a name with ." + extension + ", as `" +
                 shortened(args.text(Opt::Output)) +
                 "` has; the names end in ." + join(known, ", .") +
                 ", and in .pdf and .png with the Python package, " +
                 "`python3 -m pipec`");
}

/// The output formats whose files have that extension.
static SmallVector<StringRef, 4> emittersOf(StringRef extension) {
  SmallVector<StringRef, 4> names;
  for (const EmitterInfo &info : allEmitters())
    if (!extension.empty() && info.hasExtension(extension))
      names.push_back(info.name);
  return names;
}

static InFlightDiagnostic reportContradiction(const Arguments &args,
                                              const Twine &what,
                                              const Twine &names,
                                              DiagEngine &diags) {
  return reportUsageError(diags, what + " into `" +
                                     shortened(args.text(Opt::Output)) +
                                     "`, whose name is that of " + names);
}

LogicalResult checkOutputName(const Arguments &args, const EmitterInfo &emitter,
                              DiagEngine &diags) {
  SmallVector<StringRef, 4> names = emittersOf(outputExtension(args));
  if (names.empty() || is_contained(names, emitter.name))
    return success();
  return reportContradiction(args,
                             args.has(Opt::Emit)
                                 ? "`" + args.written(Opt::Emit) + "`"
                                 : emitter.summary.str(),
                             join(names, " or "), diags);
}

FailureOr<const EmitterInfo *> chooseEmitter(const Arguments &args,
                                             DiagEngine &diags) {
  // Output files of templates may have any name.
  if (args.has(Opt::Template))
    return findEmitter(args.text(Opt::Emit, "template"));
  if (failed(checkIsWritten(args, diags)))
    return failure();
  std::string extension = outputExtension(args);
  if (isPythonPicture(extension))
    return reportUsageError(diags, "`" + shortened(args.text(Opt::Output)) +
                                       "` has the name of a format that only "
                                       "the Python package writes: `python3 -m "
                                       "pipec`");
  if (args.has(Opt::Emit)) {
    const EmitterInfo *emitter = findEmitter(args.text(Opt::Emit));
    if (failed(checkOutputName(args, *emitter, diags)))
      return failure();
    return emitter;
  }
  SmallVector<StringRef, 4> names = emittersOf(extension);
  if (names.size() > 1 && !is_contained(names, "timeline"))
    return reportUsageError(diags,
                            "`" + shortened(args.text(Opt::Output)) +
                                "` has a name that several kinds of output "
                                "have, of which --emit names one: " +
                                join(names, ", "));
  return findEmitter(names.size() == 1 ? names[0] : "timeline");
}

FailureOr<StringRef> chooseForm(const Arguments &args, form::Set forms,
                                bool byOption, DiagEngine &diags) {
  if (failed(checkIsWritten(args, diags)))
    return failure();
  bool isGiven = byOption && args.has(Opt::Format);
  StringRef form = isGiven ? args.text(Opt::Format) : "text";
  std::string extension = outputExtension(args);
  const auto *named = find_if(allForms(), [&](const FormInfo &info) {
    return !extension.empty() && info.extension == extension;
  });
  bool isForm = named != allForms().end();
  if (isForm && (named->form & forms) && (!isGiven || form == named->name))
    return StringRef(named->name);
  SmallVector<StringRef, 4> names = emittersOf(extension);
  if (isForm)
    names.assign({named->name});
  if (names.empty())
    return form;
  return reportContradiction(
      args, isGiven ? "`" + args.written(Opt::Format) + "`" : "text",
      join(names, " or "), diags);
}

} // namespace pipec
