//===- Live.cpp - --emit=live: what the live page shows -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The member `result` of the output: the figures of --emit=report and the
// blocks of JSON of --emit=html. The command adds the parameters of the program
// and the messages (Command/LiveOutput.cpp).
//
//===----------------------------------------------------------------------===//

#include "Emit/Page.h"
#include "Emit/PageData.h"
#include "Emit/ReportDetail.h"

using namespace llvm;

namespace pipec {

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
    for (auto [i, key] : enumerate(ArrayRef<StringRef>{"report", "with"})) {
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
          PageData(picture, diags.sourceFiles(), raw).write();
        });
    });
  });
  return success();
}

} // namespace pipec
