//===- Html.cpp - --emit=html and --emit=live: the page of a schedule -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One self-contained file: templates/page.html with its style and script, and
// one block of JSON (PageData.cpp) per schedule, a second one for comparison
// with `--with`. --emit=live writes these blocks and the figures of --emit=report;
// the command adds the parameters of the program and the messages
// (Command/LiveOutput.cpp).
//
//===----------------------------------------------------------------------===//

#include "Emit/Palette.h"
#include "Emit/Picture.h"
#include "Explain/Report.h"
#include "Template/Template.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

namespace {

constexpr char pageTemplate[] =
#include "Emit/page.html.inc"
    ;
constexpr char pageStyle[] =
#include "Emit/page.css.inc"
    ;
constexpr char pageProgram[] =
#include "Emit/page.js.inc"
    ;

/// The limits for opening a page in seconds.
constexpr Picture::Limits pageLimits = {/*steps=*/1000000, /*ranks=*/4096};

} // namespace

/// The style of the page, with the color of idle time.
static std::string styleOfPage() {
  std::string text;
  raw_string_ostream(text)
      << ":root { --lane: " << idleColor(Scheme::Light)
      << "; }\n@media (prefers-color-scheme: dark) { :root { --lane: "
      << idleColor(Scheme::Dark) << "; } }\n"
      << pageStyle;
  return text;
}

/// The program of the page without indentation and lines of comments, which are
/// a quarter of it.
static std::string programOfPage() {
  std::string text;
  for (StringRef line : split(pageProgram, '\n'))
    if (line = line.ltrim(); !line.empty() && !line.starts_with("//"))
      (text += line) += '\n';
  return text;
}

/// Writes the page around the blocks of JSON that `writeBlocks` writes.
static LogicalResult writePage(StringRef title, StringRef titleClass,
                               raw_ostream &os, DiagEngine &diags,
                               function_ref<void()> writeBlocks) {
  std::string style = styleOfPage(), program = programOfPage();
  TextData data;
  data.set("title", title);
  data.set("titleClass", titleClass);
  data.set("style", style);
  data.set("program", program);
  auto [head, tail] = StringRef(pageTemplate).split("{{! schedules }}\n");
  if (failed(renderEmbedded(head, data, os, diags)))
    return failure();
  writeBlocks();
  return renderEmbedded(tail, data, os, diags);
}

/// The pictures of a page: of `schedule`, and of a second one if `options` has
/// one. Reports what a picture cannot show.
static FailureOr<SmallVector<Picture, 2>>
pagePictures(const Schedule &schedule, const EmitOptions &options,
             DiagEngine &diags) {
  SmallVector<Picture, 2> pictures;
  for (const Schedule *shown : {&schedule, options.with}) {
    if (!shown)
      continue;
    FailureOr<Picture> picture =
        Picture::make(*shown, options, pageLimits, diags,
                      shown == options.with ? options.withRun : nullptr);
    if (failed(picture) || failed(checkResults(*shown, diags)))
      return failure();
    pictures.push_back(std::move(*picture));
  }
  return pictures;
}

LogicalResult writeEmptyPage(raw_ostream &os, DiagEngine &diags) {
  return writePage("", "unseen", os, diags, [] {});
}

LogicalResult emitHtml(const Schedule &schedule, const EmitOptions &options,
                       raw_ostream &os, DiagEngine &diags) {
  auto pictures = pagePictures(schedule, options, diags);
  if (failed(pictures))
    return failure();
  bool hasTitle = options.title && !options.title->empty();
  std::string title = markupText(
      hasTitle ? *options.title : schedule.name + ": " + sizesText(schedule));
  return writePage(title, hasTitle ? "" : "unseen", os, diags, [&] {
    for (const Picture &picture : *pictures) {
      os << "<script type=\"application/json\" class=\"pipec-schedule\">\n";
      writePageData(picture, diags.sourceFiles(), os);
      os << "</script>\n";
    }
  });
}

LogicalResult emitLive(const Schedule &schedule, const EmitOptions &options,
                       raw_ostream &os, DiagEngine &diags) {
  auto pictures = pagePictures(schedule, options, diags);
  if (failed(pictures))
    return failure();
  ReportOptions what;
  what.model = options.model;
  SmallVector<Report, 2> reports;
  for (const Picture &picture : *pictures) {
    FailureOr<Report> report = makeReport(picture.schedule(), what, diags);
    if (failed(report))
      return failure();
    // The page has these lists.
    report->path.clear();
    report->gaps.clear();
    reports.push_back(std::move(*report));
  }
  json::OStream json(os);
  json.object([&] {
    constexpr StringLiteral keys[] = {"report", "with"};
    for (auto [i, key] : enumerate(keys)) {
      json.attributeBegin(key);
      if (i < reports.size())
        writeReport((*pictures)[i].schedule(), reports[i], json);
      else
        json.value(nullptr);
      json.attributeEnd();
    }
    json.attributeArray("pages", [&] {
      for (const Picture &picture : *pictures)
        json.rawValue([&](raw_ostream &raw) {
          writePageData(picture, diags.sourceFiles(), raw);
        });
    });
  });
  return success();
}

} // namespace pipec
