//===- ListText.h - Reading step IR and CSV at run time ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of List.h. The compiler has checked the file that it has written, so
// only what an executor relies on is checked again: the form, and the ranges of
// numbers. The executor checks the steps as they run.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_LISTTEXT_H
#define PIPEC_RUNTIME_LISTTEXT_H

#include "pipec/runtime/Errors.h"
#include "pipec/runtime/Schedule.h"
#include "pipec/runtime/Steps.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pipec::runtime::detail {

/// What a file says of a schedule, with the memory that a `Schedule` points to.
struct ListParts {
  std::string name, source;
  int ranks = 0, stages = 0, microbatches = 0, slices = 1;
  bool forwardOnly = false;
  /// One row per direction.
  std::vector<std::vector<int>> maps;
  std::vector<StageEdge> edges;
  std::vector<std::vector<int>> ties;
  std::vector<std::string> streamNames;
  std::vector<int> streamOfStage;
  /// By micro-batch, its number in the batch; empty if they are the same.
  std::vector<int> order;
  /// The stages whose gradients are reduced; without a value all.
  std::optional<std::vector<int>> reduced;
  std::vector<std::vector<Step>> lists;
};

/// A line of a file, read from left to right.
class ListCursor {
public:
  ListCursor(std::string_view text, std::string place)
      : rest(text), place(std::move(place)) {}

  [[noreturn]] void fail(const std::string &what) const {
    throw RefusedError(place + ": " + what);
  }
  void skipBlanks() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t' ||
                             rest.front() == '\r'))
      rest.remove_prefix(1);
  }
  bool atEnd() {
    skipBlanks();
    return rest.empty() || rest.starts_with("//");
  }
  bool take(std::string_view text) {
    skipBlanks();
    if (!rest.starts_with(text))
      return false;
    rest.remove_prefix(text.size());
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text))
      fail("expected `" + std::string(text) + "`, found `" +
           std::string(rest.substr(0, 20)) + "`");
  }
  /// Letters, digits and `_`; may be empty.
  std::string_view word() {
    skipBlanks();
    std::size_t size = 0;
    while (size != rest.size() &&
           (std::isalnum((unsigned char)rest[size]) || rest[size] == '_'))
      ++size;
    std::string_view found = rest.substr(0, size);
    rest.remove_prefix(size);
    return found;
  }
  /// Letters and `_` alone.
  std::string_view letters() {
    std::size_t size = 0;
    while (size != rest.size() &&
           (std::isalpha((unsigned char)rest[size]) || rest[size] == '_'))
      ++size;
    std::string_view found = rest.substr(0, size);
    rest.remove_prefix(size);
    return found;
  }
  bool atDigit() {
    skipBlanks();
    return !rest.empty() && std::isdigit((unsigned char)rest.front());
  }
  /// A number below `limit`.
  int number(int limit, const char *what) {
    if (!atDigit())
      fail("expected the number of a " + std::string(what) + ", found `" +
           std::string(rest.substr(0, 20)) + "`");
    long long value = 0;
    for (; !rest.empty() && std::isdigit((unsigned char)rest.front()) &&
           value < limit;
         rest.remove_prefix(1))
      value = 10 * value + (rest.front() - '0');
    if (value >= limit)
      fail(std::string(what) + " " + std::to_string(value) +
           " is out of range");
    return int(value);
  }
  /// A word, or a text in quotation marks.
  std::string name() {
    if (!take("\""))
      return std::string(word());
    std::string text;
    while (!rest.empty() && rest.front() != '"') {
      if (rest.front() == '\\' && rest.size() > 1)
        rest.remove_prefix(1);
      text += rest.front();
      rest.remove_prefix(1);
    }
    expect("\"");
    return text;
  }
  std::string_view rest;

private:
  std::string place;
};

/// The kind with this name, if there is one.
inline std::optional<StepKind> kindNamed(std::string_view name) {
  for (int kind = 0; kind != numStepKinds; ++kind)
    if (name == stepName(StepKind(kind)))
      return StepKind(kind);
  return std::nullopt;
}

constexpr int maxListSize = 1 << 24;

/// Reads the text form of step IR (docs/StepIR.md). Costs and the like are
/// passed over.
class StepIRText {
public:
  StepIRText(std::string_view text, ListParts &parts)
      : text(text), parts(parts) {}

  void read() {
    while (std::optional<ListCursor> line = nextLine())
      readLine(*line);
    if (state != State::End)
      cursor("").fail("the file ends before the schedule does");
    if (int(parts.lists.size()) != parts.ranks)
      cursor("").fail("the file has " + std::to_string(parts.lists.size()) +
                      " lists for " + std::to_string(parts.ranks) + " ranks");
  }

private:
  enum class State { Version, Header, Entries, Rank, End };

  ListCursor cursor(std::string_view line) const {
    return {line, parts.source + ":" + std::to_string(number)};
  }
  /// The next line with contents.
  std::optional<ListCursor> nextLine() {
    while (!text.empty()) {
      std::size_t end = std::min(text.find('\n'), text.size());
      ++number;
      ListCursor line = cursor(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.atEnd())
        return line;
    }
    return std::nullopt;
  }

  void readLine(ListCursor &line) {
    switch (state) {
    case State::Version:
      line.take("\xef\xbb\xbf");
      line.expect("pipec-steps");
      if (int version = line.number(1000, "version");
          version != 1 && version != 2)
        line.fail("version " + std::to_string(version) +
                  " of step IR is not supported");
      state = State::Header;
      break;
    case State::Header:
      line.expect("schedule");
      line.expect("@");
      parts.name = line.name();
      line.expect("{");
      line.expect("ranks");
      parts.ranks = line.number(1 << 16, "rank");
      line.expect("stages");
      parts.stages = line.number(1 << 16, "stage");
      line.expect("microbatches");
      parts.microbatches = line.number(maxListSize, "micro-batch");
      if (line.take("slices"))
        parts.slices = std::max(1, line.number(maxListSize, "slice"));
      if (line.take("}"))
        state = State::End;
      else
        state = State::Entries;
      break;
    case State::Entries:
      readEntry(line);
      break;
    case State::Rank:
      if (line.take("}"))
        state = State::Entries;
      else
        readSteps(line);
      break;
    case State::End:
      line.fail("there is text after the schedule");
    }
  }

  std::vector<int> stageList(ListCursor &line) {
    std::vector<int> stages;
    while (line.atDigit())
      stages.push_back(line.number(parts.stages, "stage"));
    return stages;
  }

  void readOrder(ListCursor &line) {
    std::vector<bool> seen(std::size_t(parts.microbatches));
    while (line.atDigit()) {
      int number = line.number(parts.microbatches, "micro-batch");
      if (seen[std::size_t(number)])
        line.fail("micro-batch " + std::to_string(number) +
                  " is in the order twice");
      seen[std::size_t(number)] = true;
      parts.order.push_back(number);
    }
    if (int(parts.order.size()) != parts.microbatches)
      line.fail("the order has " + std::to_string(parts.order.size()) + " of " +
                std::to_string(parts.microbatches) + " micro-batches");
  }

  void readEntry(ListCursor &line) {
    if (line.take("}")) {
      state = State::End;
      return;
    }
    ListCursor whole = line;
    std::string_view key = line.word();
    if (key == "rank") {
      if (line.number(parts.ranks, "rank") != int(parts.lists.size()))
        line.fail("the ranks are not in order");
      line.expect("{");
      parts.lists.emplace_back();
      state = line.take("}") ? State::Entries : State::Rank;
    } else if (key == "map") {
      std::vector<int> &map = parts.maps.emplace_back();
      while (line.atDigit())
        map.push_back(line.number(parts.ranks, "rank"));
      if (int(map.size()) != parts.stages)
        line.fail("the map has " + std::to_string(map.size()) +
                  " entries for " + std::to_string(parts.stages) + " stages");
      if (parts.maps.size() > 2)
        line.fail("there are more than two maps");
    } else if (key == "forward_only") {
      parts.forwardOnly = true;
    } else if (key == "connect" || key == "graph") {
      if (key == "connect")
        for (int stage = 0; stage + 1 < parts.stages; ++stage)
          parts.edges.push_back({stage, stage + 1});
      do {
        int from = line.number(parts.stages, "stage");
        line.expect("->");
        parts.edges.push_back({from, line.number(parts.stages, "stage")});
      } while (line.take(","));
    } else if (key == "tie") {
      parts.ties.push_back(stageList(line));
    } else if (key == "order") {
      readOrder(line);
    } else if (key == "stream") {
      parts.streamNames.push_back(line.name());
      parts.streamOfStage.resize(std::size_t(parts.stages));
      for (int stage : stageList(line))
        parts.streamOfStage[std::size_t(stage)] = int(parts.streamNames.size());
    } else if (key == "fsdp") {
      std::size_t at = line.rest.find("reduce ");
      if (at == line.rest.npos)
        return;
      line.rest.remove_prefix(at + 7);
      if (!line.take("all")) {
        line.take("none");
        parts.reduced = stageList(line);
      }
    } else if (key != "param" && key != "layout" && key != "cost" &&
               key != "memory" && key != "expect" && key != "section" &&
               key != "layers" && key != "body") {
      whole.fail("`" + std::string(whole.rest.substr(0, 20)) +
                 "` is not an entry of a schedule");
    }
  }

  /// A phase, a step, an overlap or a batch.
  void readSteps(ListCursor &line) {
    ListCursor label = line;
    (void)label.name();
    if (label.take(":") && label.atEnd())
      return;
    std::vector<Step> &list = parts.lists.back();
    char separator = line.take("overlap ") ? '&'
                     : line.take("batch ") ? ','
                                           : 0;
    if (!separator) {
      readStep(line, list);
    } else {
      do
        readStep(line, list).joined = true;
      while (line.take(std::string_view(&separator, 1)));
      list.back().joined = false;
    }
    if (!line.take("@") && !line.atEnd())
      line.fail("`" + std::string(line.rest.substr(0, 20)) +
                "` is not expected here");
  }

  Step &readStep(ListCursor &line, std::vector<Step> &list) {
    std::string_view name = line.word();
    std::optional<StepKind> kind = kindNamed(name);
    if (name == "bubble")
      return unused = Step();
    if (!kind)
      line.fail("`" + std::string(name) + "` is not a step");
    Step step{*kind, 0, 0, number};
    bool isTied = *kind == StepKind::ReduceTied;
    line.expect(isTied ? "t" : "s");
    step.stage = isTied ? line.number(maxListSize, "group")
                        : line.number(parts.stages, "stage");
    if (isTied && step.stage >= int(parts.ties.size()))
      line.fail("group " + std::to_string(step.stage) + " has no `tie`");
    if (hasMicrobatch(*kind)) {
      line.expect("m");
      step.unit = line.number(parts.microbatches, "micro-batch");
      if (parts.slices > 1) {
        line.expect(".");
        step.unit =
            step.unit * parts.slices + line.number(parts.slices, "slice");
      }
    }
    if (line.take("->") || line.take("<-")) {
      if (line.take("s"))
        step.other = line.number(parts.stages, "stage");
      else
        line.expect("r"), line.number(parts.ranks, "rank");
    }
    return list.emplace_back(step);
  }

  std::string_view text;
  ListParts &parts;
  State state = State::Version;
  int number = 0;
  /// Where a bubble is put, which an executor does not run.
  Step unused;
};

/// Reads a CSV (docs/Csv.md), whose sizes follow from its steps.
class CsvListText {
public:
  CsvListText(std::string_view text, ListParts &parts)
      : text(text), parts(parts) {}

  void read() {
    while (!text.empty()) {
      std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view row = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!row.empty() || !text.empty())
        readRow(row);
    }
    parts.ranks = int(parts.lists.size());
    parts.stages = int(ranks.size());
    for (int stage = 0; stage != parts.stages; ++stage)
      if (ranks[std::size_t(stage)] < 0)
        ListCursor("", parts.source)
            .fail("no rank has a step of stage " + std::to_string(stage));
    parts.maps = {ranks};
    parts.forwardOnly = forwardOnly;
    findEdges();
    findTies();
  }

private:
  void readRow(std::string_view row) {
    std::vector<Step> &list = parts.lists.emplace_back();
    int rank = int(parts.lists.size()) - 1;
    int column = 0;
    while (!row.empty()) {
      std::size_t end = std::min(row.find(','), row.size());
      ListCursor cell(row.substr(0, end),
                      parts.source + ":" + std::to_string(rank + 1) +
                          ", cell " + std::to_string(++column));
      row.remove_prefix(std::min(end + 1, row.size()));
      cell.skipBlanks();
      if (cell.rest.empty())
        continue;
      if (!cell.take("(")) {
        readStep(cell, rank, list);
        finish(cell);
        continue;
      }
      readStep(cell, rank, list).joined = true;
      cell.expect(";");
      readStep(cell, rank, list);
      cell.expect(")");
      if (!cell.take("OVERLAP_F_B"))
        cell.expect("OVERLAP_B_F");
      finish(cell);
    }
  }
  static void finish(ListCursor &cell) {
    cell.skipBlanks();
    if (!cell.rest.empty())
      cell.fail("`" + std::string(cell.rest) + "` is not part of a step");
  }

  Step &readStep(ListCursor &cell, int rank, std::vector<Step> &list) {
    Step step{StepKind::Forward, 0, 0, rank + 1};
    bool isTied = cell.take("t");
    step.stage = cell.number(1 << 16, isTied ? "group" : "stage");
    if (cell.take(">") || cell.take("<"))
      step.other = cell.number(1 << 16, "stage");
    std::string_view name = cell.letters();
    std::optional<StepKind> kind = kindNamed(name);
    if (!kind || isTied != (*kind == StepKind::ReduceTied))
      cell.fail("`" + std::string(name) + "` is not a step");
    step.kind = *kind;
    if (hasMicrobatch(*kind)) {
      step.unit = cell.number(maxListSize, "micro-batch");
      parts.microbatches = std::max(parts.microbatches, step.unit + 1);
    }
    if (isTied)
      groups = std::max(groups, step.stage + 1);
    else
      place(cell, step.stage, rank);
    forwardOnly &= *kind != StepKind::Backward &&
                   *kind != StepKind::BackwardInput &&
                   *kind != StepKind::BackwardWeight;
    return list.emplace_back(step);
  }
  void place(const ListCursor &cell, int stage, int rank) {
    if (stage >= int(ranks.size()))
      ranks.resize(std::size_t(stage) + 1, -1);
    int &known = ranks[std::size_t(stage)];
    if (known >= 0 && known != rank)
      cell.fail("stage " + std::to_string(stage) + " is also on rank " +
                std::to_string(known));
    known = rank;
  }

  /// Only transfers that name a stage say that the stages form a graph.
  void findEdges() {
    std::set<std::pair<int, int>> found;
    bool isGraph = false;
    for (const std::vector<Step> &list : parts.lists)
      for (const Step &step : list)
        if (isTransfer(step.kind)) {
          int other =
              step.other >= 0 ? step.other : neighbourOf(step.kind, step.stage);
          isGraph |= step.other >= 0;
          found.insert(std::minmax(step.stage, other));
        }
    if (!isGraph)
      return;
    for (int stage = 0; stage + 1 < parts.stages; ++stage)
      if (ranks[std::size_t(stage)] == ranks[std::size_t(stage) + 1])
        found.insert({stage, stage + 1});
    for (auto [from, to] : found)
      if (from >= 0 && to < parts.stages)
        parts.edges.push_back({from, to});
  }

  /// A group has all stages of its ranks whose weight gradients come before
  /// its sum.
  void findTies() {
    std::vector<std::set<int>> stages(static_cast<std::size_t>(groups));
    for (const std::vector<Step> &list : parts.lists)
      for (std::size_t i = 0; i != list.size(); ++i)
        if (list[i].kind == StepKind::ReduceTied)
          for (std::size_t j = 0; j != list.size(); ++j)
            if (list[j].kind == StepKind::Backward ||
                list[j].kind == StepKind::BackwardWeight) {
              std::set<int> &group = stages[std::size_t(list[i].stage)];
              if (j < i)
                group.insert(list[j].stage);
              else
                group.erase(list[j].stage);
            }
    for (const std::set<int> &group : stages)
      parts.ties.emplace_back(group.begin(), group.end());
  }

  std::string_view text;
  ListParts &parts;
  /// By stage, -1 for stages without a step.
  std::vector<int> ranks;
  int groups = 0;
  bool forwardOnly = true;
};

} // namespace pipec::runtime::detail

#endif // PIPEC_RUNTIME_LISTTEXT_H
