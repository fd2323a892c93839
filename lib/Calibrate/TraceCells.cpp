//===- TraceCells.cpp - The texts of steps in traces ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/RankTrace.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// Reads `0F1`, `0UNSHARD` or `0>3SEND_F2`.
static std::optional<Step> parseCell(StringRef text,
                                     std::optional<unsigned> &peer) {
  auto takeNumber = [&](unsigned limit) -> std::optional<unsigned> {
    StringRef digits = text.take_while(isDigit);
    text = text.drop_front(digits.size());
    unsigned number = 0;
    if (digits.getAsInteger(10, number) || number >= limit)
      return std::nullopt;
    return number;
  };
  std::optional<unsigned> stage = takeNumber(maxStages);
  char arrow = text.empty() ? 0 : text.front();
  if (arrow == '>' || arrow == '<') {
    text = text.drop_front();
    peer = takeNumber(maxStages);
    if (!peer)
      return std::nullopt;
  }
  StringRef letters =
      text.take_while([](char c) { return isAlpha(c) || c == '_'; });
  text = text.drop_front(letters.size());
  std::optional<StepKind> kind = parseStepKind(letters);
  if (!stage || !kind || !hasStage(*kind) ||
      (peer &&
       (arrow == '<' ? !isRecv(*kind) : !isSend(*kind) && !isSendWait(*kind))))
    return std::nullopt;
  std::optional<unsigned> microbatch = 0;
  if (hasUnit(*kind))
    microbatch = takeNumber(maxUnits);
  if (!microbatch || !text.empty())
    return std::nullopt;
  return Step(*kind, *stage, *microbatch);
}

std::string cellText(ArrayRef<Step> members, std::optional<unsigned> peer) {
  if (members.size() == 1) {
    Step step = members[0];
    std::string text = utostr(step.stage());
    if (peer)
      text += (isRecv(step.kind()) ? "<" : ">") + utostr(*peer);
    text += stepKindName(step.kind());
    return hasUnit(step.kind()) ? text + utostr(step.unit()) : text;
  }
  std::string text = "(";
  for (Step step : members)
    text += (text.size() > 1 ? ";" : "") + cellText(step);
  return text + ")OVERLAP_F_B";
}

uint32_t TraceCells::find(StringRef text) {
  if (auto it = numbers.find(text); it != numbers.end())
    return it->second;
  StringRef inside = text;
  Cell cell;
  if (inside.consume_front("(")) {
    SmallVector<StringRef, 2> parts;
    inside.split(')').first.split(parts, ';');
    for (StringRef part : parts) {
      std::optional<Step> step = parseCell(part, cell.peer);
      if (!step || !isCompute(step->kind()))
        return none;
      cell.members.push_back(*step);
    }
    if (cell.members.size() < 2 || inside.split(')').second != "OVERLAP_F_B")
      return none;
  } else if (std::optional<Step> step = parseCell(text, cell.peer)) {
    cell.members.push_back(*step);
  } else {
    return none;
  }
  uint32_t number = all.size();
  numbers[text] = number;
  all.push_back(std::move(cell));
  return number;
}

uint32_t TraceCells::find(ArrayRef<Step> members,
                          std::optional<unsigned> peer) {
  return find(cellText(members, peer));
}

} // namespace pipec
