//===- Jaxpp.cpp - --emit=jaxpp: its lists of tasks -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists that `tasks` of a schedule of JaxPP returns, as JSON; docs/JaxPP.md
// has the loader. A rank is a list, and a task is [type, stage, micro-batch],
// or a list of these for tasks that JaxPP fuses into one:
//
//   step                                 JSON
//   F s0 m7, B s0 m7                     ["FWD",0,7], ["BWD",0,7]
//   I s0 m7, W s0 m7                     ["BWD_I",0,7], ["BWD_W",0,7]
//   B s0 m7 of a list with halves        [["BWD_I",0,7],["BWD_W",0,7]]
//   overlap F s0 m7 & B s0 m3            [["FWD",0,7],["BWD",0,3]]
//
// JaxPP splits the backwards of all stages or of none, hence the third row.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

static bool splitsBackwards(const Schedule &schedule) {
  return any_of(schedule.ranks, [](const StepList &list) {
    return any_of(list, [](Step step) { return isHalf(step.kind()); });
  });
}

/// The names of a kind in JaxPP's TaskType: two for a whole backward of a
/// schedule that splits backwards.
static SmallVector<StringRef, 2> taskTypes(StepKind kind, bool split) {
  switch (kind) {
  case StepKind::F:
    return {"FWD"};
  case StepKind::B:
    if (split)
      return {"BWD_I", "BWD_W"};
    return {"BWD"};
  case StepKind::I:
    return {"BWD_I"};
  case StepKind::W:
    return {"BWD_W"};
  default:
    llvm_unreachable("other steps are not tasks");
  }
}

static void writeTasks(const StepList &list, bool split, raw_ostream &os) {
  ListSeparator comma(",");
  os << '[';
  for (size_t i = 0, end; i != list.size(); i = end) {
    end = Schedule::groupEnd(list, i);
    if (list[i].kind() == StepKind::Bubble)
      continue;
    bool fused = end - i > 1 || (split && list[i].kind() == StepKind::B);
    os << comma << (fused ? "[" : "");
    ListSeparator inner(",");
    for (Step step : ArrayRef(list).slice(i, end - i))
      for (StringRef type : taskTypes(step.kind(), split))
        os << inner << "[\"" << type << "\"," << step.stage() << ','
           << step.unit() << ']';
    os << (fused ? "]" : "");
  }
  os << ']';
}

LogicalResult emitJaxpp(const Schedule &schedule, raw_ostream &os,
                        DiagEngine &diags) {
  return emitJsonFile(schedule, Output::JaxppTasks, "pipec-jaxpp 1", os, diags,
                      [&](json::OStream &json) {
                        bool split = splitsBackwards(schedule);
                        json.attribute("is_partial_bwd", split);
                        writeRankLines(json, "tasks", schedule,
                                       [&](unsigned rank, raw_ostream &out) {
                                         writeTasks(schedule.ranks[rank], split,
                                                    out);
                                       });
                      });
}

} // namespace pipec
