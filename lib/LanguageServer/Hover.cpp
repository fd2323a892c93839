//===- Hover.cpp - Descriptions of places for an editor -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/StepPlaces.h"
#include "LanguageServer/OpenDocument.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pipec::lsp {

namespace {
/// A text in Markdown about a part of a document.
struct HoverText {
  Span span;
  std::string markdown;
};
} // namespace

/// The maximum number of ranks, or of steps of one line, that are described.
static constexpr size_t maxRows = 8;
/// The maximum size in bytes of a statement that is shown as a whole.
static constexpr size_t maxStatement = 400;

std::string figuresOf(const ShownSchedule &schedule) {
  if (!schedule.run)
    return "";
  const Simulation &run = *schedule.run;
  std::string text;
  raw_string_ostream os(text);
  os << "makespan " << run.time(run.makespan());
  if (std::optional<Rational> rate = run.bubbleRate(run.makespan()))
    os << formatv(", bubble {0:f1} %", 100 * rate->toDouble());
  return text;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string commentOf(SMRange statement, StringRef file) {
  size_t begin = statement.Start.getPointer() - file.data();
  size_t end = statement.End.getPointer() - file.data();
  StringRef after =
      file.drop_front(end).take_until([](char c) { return c == '\n'; });
  // Another statement on the line has its own comment.
  after = after.ltrim(" \t;{");
  if (after.consume_front("//"))
    return after.trim().str();
  std::string text;
  StringRef before = file.take_front(begin).rtrim(" \t");
  while (before.consume_back("\n")) {
    auto [rest, line] = before.rsplit('\n');
    bool only = rest.size() == before.size(); // the first line of the file
    StringRef comment = (only ? before : line).trim();
    if (!comment.consume_front("//"))
      break;
    text = comment.trim().str() + (text.empty() ? "" : " ") + text;
    if (only)
      break;
    before = before.drop_back(line.size());
  }
  return text;
}

static std::optional<HoverText> hoverName(const Analysis &analysis,
                                          const Occurrence &place) {
  const Definition &name = analysis.names().definitionOf(place);
  std::string text;
  raw_string_ostream os(text);
  os << kindName(name.kind) << " `" << name.name << '`';
  if (name.kind == Definition::Kind::Builtin) {
    os << ": " << describeWord(name.name);
  } else if (name.statement.isValid()) {
    StringRef statement = ast::sourceText(name.statement).trim();
    if (statement.size() > maxStatement)
      statement = statement.take_until([](char c) { return c == '\n'; });
    StringRef file = analysis.files().textOf(name.statement.Start);
    if (!analysis.isHere(name.statement))
      os << " of `" << analysis.files().lineColumn(name.statement.Start).file
         << '`';
    if (std::string comment = commentOf(name.statement, file);
        !comment.empty() && name.kind != Definition::Kind::Parameter)
      os << ": " << comment;
    os << "\n```pipe\n" << statement << "\n```";
  }
  if (name.kind == Definition::Kind::Schedule)
    for (const ShownSchedule &schedule : analysis.schedules())
      if (schedule.schedule.name == name.name && schedule.run)
        os << "\n\n" << figuresOf(schedule) << " at the default sizes";
  return HoverText{analysis.exactSpan(place.range), std::move(text)};
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// `` `F s0 m3` from 3 to 4 ``
static std::string timedStep(const ShownSchedule &shown, unsigned rank,
                             size_t index) {
  const Schedule &schedule = shown.schedule;
  std::string text;
  raw_string_ostream os(text);
  os << '`' << StepPlaces(schedule).eventText(rank, index) << '`';
  if (shown.run)
    os << " from "
       << shown.run->time(shown.run->start(rank, index) - shown.run->begin())
       << " to "
       << shown.run->time(shown.run->end(rank, index) - shown.run->begin());
  return text;
}

/// ` in phase `warmup``
static std::string phaseText(const Schedule &schedule, Step step) {
  if (step.phase() >= schedule.phases.size())
    return "";
  return " in phase `" + schedule.phases[step.phase()] + "`";
}

/// Describes the steps that the letter at `range` of a program creates.
static void describeSteps(const ShownSchedule &shown, SourceLoc source,
                          raw_ostream &os) {
  const Schedule &schedule = shown.schedule;
  size_t rows = 0, others = 0;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    size_t count = 0, first = 0, last = 0;
    for (size_t i = 0; i != list.size(); ++i)
      if (list[i].source() == source) {
        first = count++ ? first : i;
        last = i;
      }
    if (!count)
      continue;
    if (rows == maxRows) {
      ++others;
      continue;
    }
    if (++rows == 1)
      os << "\n\n" << schedule.name << phaseText(schedule, list[first]) << ":";
    os << "\n- rank " << rank << ": " << countText(count, "step") << ", "
       << timedStep(shown, rank, first);
    if (count > 1)
      os << (count > 2 ? " up to " : " and ") << timedStep(shown, rank, last);
  }
  if (others)
    os << "\n- and " << countText(others, "rank");
}

static std::optional<HoverText> hoverStep(const Analysis &analysis,
                                          const WrittenStep &step) {
  std::string text;
  raw_string_ostream os(text);
  StringRef letter = ast::letterName(step.letter);
  os << '`' << letter << "`: " << describeWord(letter);
  SourceLoc source = analysis.files().compress(step.range.Start);
  for (const ShownSchedule &shown : analysis.schedules())
    describeSteps(shown, source, os);
  return HoverText{analysis.exactSpan(step.range), std::move(text)};
}

/// Describes the steps on the line of step IR that contains `offset`.
static std::optional<HoverText> hoverLine(const Analysis &analysis,
                                          size_t offset) {
  StringRef text = analysis.text();
  size_t begin = text.take_front(offset).rfind('\n') + 1;
  size_t end = std::min(text.find('\n', offset), text.size());
  std::string markdown;
  raw_string_ostream os(markdown);
  size_t rows = 0;
  uint32_t from = analysis.files().compress(analysis.loc(begin)).offset;
  for (const ShownSchedule &shown : analysis.schedules()) {
    StepPlaces places(shown.schedule);
    for (unsigned rank = 0; rank != shown.schedule.numRanks; ++rank) {
      const StepList &list = shown.schedule.ranks[rank];
      for (size_t i = 0; i != list.size() && rows != maxRows; ++i) {
        uint32_t at = list[i].source().offset;
        if (at < from || at >= from + (end - begin))
          continue;
        os << (rows++ ? "\n\n" : "") << "rank " << rank << " step "
           << places.position(rank, i) << phaseText(shown.schedule, list[i])
           << ": " << timedStep(shown, rank, i);
      }
    }
  }
  if (!rows)
    return std::nullopt;
  StringRef line = text.slice(begin, end);
  size_t indent = line.size() - line.ltrim().size();
  return HoverText{{begin + indent, begin + line.rtrim().size()},
                   std::move(markdown)};
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Describes the text at `offset`: the definition of a name, the steps that a
/// letter creates (with rank, phase, time and cost at the default sizes), or a
/// word of the language. Returns nothing for other text. `analysis` must have
/// been run.
static std::optional<HoverText> describe(const Analysis &analysis,
                                         size_t offset) {
  if (analysis.isSteps())
    return hoverLine(analysis, offset);
  SMLoc loc = analysis.loc(offset);
  if (const Occurrence *place = analysis.names().at(loc))
    return hoverName(analysis, *place);
  if (const WrittenStep *step = analysis.names().stepAt(loc))
    return hoverStep(analysis, *step);
  if (analysis.module())
    for (const ast::Comment &comment : analysis.module()->comments)
      if (analysis.exactSpan(comment.range).contains(offset))
        return std::nullopt;
  StringRef text = analysis.text();
  size_t begin = offset, end = offset;
  while (begin != 0 && isWordByte(text[begin - 1]))
    --begin;
  while (end != text.size() && isWordByte(text[end]))
    ++end;
  StringRef word = text.slice(begin, end);
  std::string description = describeWord(word);
  if (word.empty() || description.empty())
    return std::nullopt;
  return HoverText{{begin, end}, "`" + word.str() + "`: " + description};
}

Expected<json::Value> Server::hover(const json::Object &, Target &at) {
  if (!at.analysis)
    return nullptr;
  at.analysis->run();
  std::optional<HoverText> text = describe(*at.analysis, at.offset);
  std::optional<json::Value> range;
  if (text)
    range = at.range(text->span);
  if (!range)
    return nullptr;
  return json::Object{{"contents", markdown(text->markdown)},
                      {"range", std::move(*range)}};
}

/// The end of the clause at `begin`: after its semicolon; in step IR, the end
/// of the line.
static size_t endOfClause(const Analysis &analysis, size_t begin) {
  StringRef rest = analysis.text().drop_front(begin);
  if (!analysis.isSteps())
    return begin + std::min(rest.find(';') + 1, rest.size());
  StringRef line = rest.take_until([](char c) { return c == '\n'; });
  return begin + line.split("//").first.rtrim().size();
}

/// The text beside a clause that holds: its figure unless that is the text of
/// the clause, too.
static std::string labelOf(const HeldClause &clause, StringRef text) {
  std::string label = "holds";
  if (clause.measured) {
    std::string figure;
    raw_string_ostream(figure) << *clause.measured;
    if (!text.trim("; \r\n").ends_with(" " + figure))
      label += ": " + figure;
  }
  return label;
}

Expected<json::Value> Server::inlayHints(const json::Object &, Target &at) {
  json::Array hints;
  if (!at.analysis)
    return hints;
  at.analysis->run();
  for (const ShownSchedule &shown : at.analysis->schedules()) {
    for (const HeldClause &clause : shown.held) {
      SMLoc source = at.analysis->files().expand(clause.source);
      if (!at.analysis->isHere({source, source}))
        continue;
      size_t begin = at.analysis->exactSpan({source, source}).begin;
      size_t end = endOfClause(*at.analysis, begin);
      if (std::optional<json::Value> range = at.range({end, end}))
        hints.push_back(json::Object{
            {"position", *range->getAsObject()->get("end")},
            {"label", labelOf(clause, at.analysis->text().slice(begin, end))},
            {"tooltip", "this clause holds at the default sizes"},
            {"paddingLeft", true}});
    }
    std::string label = figuresOf(shown);
    Span head = at.analysis->exactSpan(shown.head);
    StringRef text = at.analysis->text().slice(head.begin, head.end).rtrim();
    // After the parameters, or after the line of step IR.
    head = {head.begin + text.size(), head.begin + text.size()};
    std::optional<json::Value> range = at.range(head);
    if (label.empty() || !range)
      continue;
    hints.push_back(
        json::Object{{"position", *range->getAsObject()->get("end")},
                     {"label", std::move(label)},
                     {"paddingLeft", true}});
  }
  return hints;
}

} // namespace pipec::lsp
