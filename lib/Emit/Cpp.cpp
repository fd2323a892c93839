//===- Cpp.cpp - --emit=cpp: an executor in C++ -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes one C++20 source for one schedule. The text around the steps is
// templates/executor.mustache; the steps themselves are streamed into it, as
// loops found in them (CppLoops.h), one function a family of ranks
// (CppFamilies.h), or with `--cpp=table` as constant tables.
//
//===----------------------------------------------------------------------===//

#include "Emit/CppNames.h"
#include "Emit/CppSteps.h"
#include "Emit/Emitter.h"
#include "Support/Diagnostics/EmitDiags.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <kainjow/mustache.hpp>

using namespace llvm;

namespace pipec {

namespace {

constexpr char executorTemplate[] =
#include "Emit/executor.mustache.inc"
    ;

std::string quoted(StringRef text) {
  std::string escaped;
  raw_string_ostream os(escaped);
  os.write_escaped(text, /*UseHexEscapes=*/false);
  std::string result = "\"";
  for (char c : escaped) {
    // Two of them may begin a trigraph.
    if (c == '?' && result.back() == '?')
      result += '\\';
    result += c;
  }
  return result + '"';
}

/// Finds the lines of steps. Steps of a rank come from few statements, so each
/// position is looked up once.
class SourceLines {
public:
  SourceLines(const Schedule &schedule, const SourceFiles &files)
      : files(files) {
    SMLoc loc = files.expand(schedule.source);
    if (!loc.isValid())
      return;
    std::string path = files.lineColumn(loc).file.str();
    file = sys::path::filename(path).str();
    fromProgram = StringRef(file).ends_with(".pipe");
  }

  /// The name of the file, without folders; empty when unknown.
  const std::string &fileName() const { return file; }

  /// 0 when the step comes from a list of steps: there the line says no more
  /// than the step does.
  unsigned operator()(Step step) {
    if (!fromProgram || !step.source().isValid())
      return 0;
    auto [it, isNew] = lines.try_emplace(step.source().offset, 0);
    if (isNew)
      it->second = files.lineColumn(files.expand(step.source())).line;
    return it->second;
  }

private:
  const SourceFiles &files;
  std::string file;
  bool fromProgram = false;
  DenseMap<uint32_t, unsigned> lines;
};

/// True when a tensor has to cross ranks.
bool needsTransfers(const Schedule &schedule) {
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d) {
    ArrayRef<uint32_t> map = schedule.placement.map(d);
    for (size_t stage = 1; stage < map.size(); ++stage)
      if (map[stage] != map[stage - 1])
        return true;
  }
  return false;
}

kainjow::mustache::data describe(const Schedule &schedule,
                                 const SourceLines &lines) {
  kainjow::mustache::data data;
  std::string name = cppNamespace(schedule.name);
  auto text = [](auto writer) {
    std::string result;
    raw_string_ostream os(result);
    writer(os);
    return result;
  };
  auto boolean = [](bool value) { return value ? "true" : "false"; };

  std::string title = cppComment(schedule.name);
  title = title.size() < 40 ? title + ": an executor " : "an executor ";
  title.resize(std::max<size_t>(56, title.size()), '-');
  data.set("title", title);
  data.set("namespace", name);
  data.set("guard", cppGuard(schedule.name));
  if (std::string shortName = cppShortName(schedule.name); !shortName.empty())
    data.set("shortName", shortName);
  if (!lines.fileName().empty())
    data.set("source", cppComment(lines.fileName()));
  kainjow::mustache::data params(kainjow::mustache::data::type::list);
  for (const auto &[param, value] : schedule.params) {
    kainjow::mustache::data row;
    row.set("name", cppComment(param));
    row.set("value", std::to_string(value));
    params.push_back(row);
  }
  data.set("params", params);
  data.set("ranks", std::to_string(schedule.numRanks));
  data.set("stages", std::to_string(schedule.numStages));
  data.set("microbatches", std::to_string(schedule.numMicrobatches));
  data.set("bidirectional", schedule.placement.bidirectional()
                                ? kainjow::mustache::data::type::bool_true
                                : kainjow::mustache::data::type::bool_false);
  data.set("quotedName", quoted(schedule.name));
  data.set("quotedSource", quoted(lines.fileName()));
  data.set("forwardOnly", boolean(schedule.forwardOnly));
  data.set("directions", std::to_string(schedule.placement.numDirections()));

  std::vector<int64_t> map;
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
    for (uint32_t rank : schedule.placement.map(d))
      map.push_back(rank);
  data.set("rankOfStage",
           text([&](raw_ostream &os) { writeNumbers(map, 4, os); }));

  std::vector<int64_t> sharded(schedule.numStages, 0);
  bool reduces = false;
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      if (step.kind() == StepKind::Unshard || step.kind() == StepKind::Reshard)
        sharded[step.stage()] = 1;
      reduces |= step.kind() == StepKind::ReduceGrad;
    }
  if (is_contained(sharded, 1))
    data.set("sharded",
             text([&](raw_ostream &os) { writeNumbers(sharded, 4, os); }));
  data.set("reducesGradients", boolean(reduces));
  bool waitsForSends = schedule.hasSendWaits();
  bool waitsForReductions = schedule.hasReduceWaits();
  if (waitsForSends || waitsForReductions)
    data.set("waits", kainjow::mustache::data::type::bool_true);
  data.set("waitsForSends", boolean(waitsForSends));
  data.set("waitsForReductions", boolean(waitsForReductions));
  return data;
}

/// The parts of the template between its two marks.
struct TemplateParts {
  StringRef head, middle, tail;
};

TemplateParts splitTemplate() {
  auto [head, rest] = StringRef(executorTemplate).split("{{! steps }}\n");
  auto [middle, tail] = rest.split("{{! cases }}\n");
  assert(!tail.empty() && "the template lost a mark");
  return {head, middle, tail};
}

void render(StringRef part, const kainjow::mustache::data &data,
            raw_ostream &os) {
  kainjow::mustache::mustache page(part.str());
  assert(page.is_valid() && "a broken template");
  os << page.render(data);
}

void writeCase(unsigned rank, Twine call, raw_ostream &os) {
  os << "    case " << rank << ":\n      " << call << ";\n      break;\n";
}

} // namespace

LogicalResult emitCpp(const Schedule &schedule, const EmitOptions &options,
                      raw_ostream &os, DiagEngine &diags) {
  if (needsTransfers(schedule) && !schedule.hasP2P())
    return diags.report(schedule.source, diag::OutputWithoutTransfers,
                        schedule.name);
  SourceLines lines(schedule, diags.sourceFiles());
  kainjow::mustache::data data = describe(schedule, lines);
  TemplateParts parts = splitTemplate();
  render(parts.head, data, os);

  std::string cases;
  raw_string_ostream casesOs(cases);
  auto lineOf = [&](Step step) { return lines(step); };
  if (options.cppTable) {
    os << "\nusing enum pipec::runtime::StepKind;\n";
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      if (all_of(schedule.ranks[rank],
                 [](Step step) { return step.kind() == StepKind::Bubble; }))
        continue;
      writeTable(schedule, rank, lineOf, os);
      writeCase(rank, "x.steps(rank" + Twine(rank) + ")", casesOs);
    }
  } else {
    std::vector<LoopTree> trees;
    for (const StepList &list : schedule.ranks)
      trees.push_back(findLoops(list));
    std::vector<RankFamily> families = findFamilies(trees, lineOf);
    std::vector<std::string> calls(schedule.numRanks);
    for (const RankFamily &family : families) {
      writeFamily(schedule, family, trees[family.ranks.front()], lineOf, os);
      for (size_t i = 0; i != family.ranks.size(); ++i)
        calls[family.ranks[i]] =
            family.name + "(x" +
            (family.columns.empty()
                 ? std::string()
                 : ", " + family.name + "Rows[" + std::to_string(i) + "]") +
            ")";
    }
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      if (!calls[rank].empty())
        writeCase(rank, calls[rank], casesOs);
  }
  if (cases.empty())
    casesOs << "    default:\n      break;\n";

  render(parts.middle, data, os);
  os << casesOs.str();
  render(parts.tail, data, os);
  return success();
}

} // namespace pipec
