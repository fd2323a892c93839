//===- StepPrinter.cpp - Step IR as text ----------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists of tens of millions of lines are normal, so each step is formatted in
// place in a buffer.
//
//===----------------------------------------------------------------------===//

#include "StepText/StepPrinter.h"
#include "IR/DataFlow.h"
#include "Support/TextBuffer.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class Printer {
public:
  Printer(const Schedule &schedule, raw_ostream &os)
      : schedule(schedule), flow(schedule), out(os) {}

  void print() {
    out.text("pipec-steps 1\nschedule @");
    printName(schedule.name);
    out.text(" { ranks ");
    out.number(schedule.numRanks);
    out.text(" stages ");
    out.number(schedule.numStages);
    out.text(" microbatches ");
    out.number(schedule.numMicrobatches);
    out.text("\n");
    printHeader();
    for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank)
      printRank(rank);
    out.text("}\n");
  }

private:
  /// Prints a plain word directly, and other names in quotes.
  void printName(StringRef name) {
    bool plain =
        !name.empty() && !isDigit(name.front()) && all_of(name, isWordByte);
    if (plain) {
      out.text(name);
      return;
    }
    out.text("\"");
    for (char c : name) {
      if (c == '"' || c == '\\') {
        out.text("\\");
        out.text(StringRef(&c, 1));
      } else if (isPrint(c)) {
        out.text(StringRef(&c, 1));
      } else {
        char escape[] = {'\\', hexdigit((c >> 4) & 15), hexdigit(c & 15)};
        out.text(StringRef(escape, 3));
      }
    }
    out.text("\"");
  }

  void printRational(Rational value) {
    out.number(value.numerator());
    if (!value.isInteger()) {
      out.text("/");
      out.number(value.denominator());
    }
  }

  void printItem(StringRef name, const std::optional<Rational> &value) {
    if (!value)
      return;
    out.text(" ");
    out.text(name);
    out.text(" = ");
    printRational(*value);
  }

  void printHeader() {
    if (schedule.forwardOnly)
      out.text("  forward_only\n");
    for (size_t i = 0; i != schedule.params.size(); ++i) {
      out.text(i ? ", " : "  param ");
      printName(schedule.params[i].first);
      out.text(" = ");
      out.number(schedule.params[i].second);
    }
    if (!schedule.params.empty())
      out.text("\n");
    for (unsigned d = 0; d != schedule.placement.numDirections(); ++d) {
      out.text("  map");
      for (uint32_t rank : schedule.placement.map(d)) {
        out.text(" ");
        out.number(rank);
      }
      out.text("\n");
    }
    printGraph();
    for (const std::vector<unsigned> &group : schedule.ties) {
      out.text("  tie");
      for (unsigned stage : group) {
        out.text(" ");
        out.number(stage);
      }
      out.text("\n");
    }
    if (!schedule.layers.empty()) {
      out.text("  layout \"");
      out.text(layoutText(schedule.layers));
      out.text("\"\n");
    }
    printFigures(FigureBlock::Cost, schedule.costs);
    for (const CostSettings::Overlap &overlap : schedule.costs.overlaps)
      printOverlap(overlap);
    printFigures(FigureBlock::Memory, schedule.memory);
    if (schedule.fsdp)
      printFsdp(*schedule.fsdp);
    for (const Expectation &expect : schedule.expectations) {
      out.text("  expect ");
      out.text(metricName(expect.metric));
      if (expect.rank) {
        out.text("(");
        out.number(*expect.rank);
        out.text(")");
      }
      out.text(" ");
      out.text(relationName(expect.relation));
      out.text(" ");
      printRational(expect.value);
      out.text("\n");
    }
  }

  /// Prints the edges that a chain does not have or, if the graph lacks one of
  /// a chain, all of them: `connect 0 -> 3`, `graph 0 -> 2, 1 -> 2`.
  void printGraph() {
    if (schedule.graph.isChain())
      return;
    bool onChain = schedule.graph.containsChain(schedule.numStages);
    StringRef before = onChain ? "  connect " : "  graph ";
    schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
      if (onChain && edge.ofChain())
        return;
      out.text(std::exchange(before, ", "));
      out.number(edge.from);
      out.text(" -> ");
      out.number(edge.to);
    });
    out.text("\n");
  }

  /// Prints a line per place: `cost edge 0 -> 1 p2p = 1/10`.
  void printFigures(FigureBlock block, const FigureSet &figures) {
    for (const auto &[place, row] : figures.places()) {
      const ScopeInfo &scope = infoOf(place.scope);
      out.text("  ");
      out.text(blockName(block));
      if (scope.numbers) {
        out.text(" ");
        out.text(scope.word);
        out.text(" ");
        out.number(place.number);
      }
      if (scope.numbers == 2) {
        out.text(" -> ");
        out.number(place.to);
      }
      for (auto [figure, value] : row)
        printItem(infoOf(figure).name, value);
      out.text("\n");
    }
  }

  void printOverlap(const CostSettings::Overlap &overlap) {
    out.text("  cost");
    for (size_t i = 0; i != overlap.members.size(); ++i) {
      out.text(i ? " & " : " ");
      out.text(stepKindName(overlap.members[i]));
    }
    out.text(overlap.isFactor ? " factor = " : " = ");
    printRational(overlap.cost);
    out.text("\n");
  }

  void printFsdp(const FsdpSettings &fsdp) {
    out.text("  fsdp stages");
    printStages(fsdp.stages);
    if (fsdp.maxActive) {
      out.text(" max_active ");
      out.number(*fsdp.maxActive);
    }
    if (fsdp.prefetch) {
      out.text(" prefetch ");
      out.number(*fsdp.prefetch);
    }
    if (fsdp.reduced) {
      out.text(" reduce");
      printStages(fsdp.reduced);
    }
    out.text("\n");
  }

  void printStages(const std::optional<std::vector<unsigned>> &stages) {
    if (!stages)
      return out.text(" all");
    if (stages->empty())
      return out.text(" none");
    for (unsigned stage : *stages) {
      out.text(" ");
      out.number(stage);
    }
  }

  void printRank(unsigned rank) {
    out.text("  rank ");
    out.number(rank);
    out.text(" {\n");
    const StepList &list = schedule.ranks[rank];
    bool labels = !schedule.phases.empty();
    unsigned phase = maxPhases;
    for (size_t i = 0; i < list.size();) {
      if (labels && list[i].phase() != phase) {
        phase = list[i].phase();
        out.text("    ");
        printName(phase < schedule.phases.size() ? schedule.phases[phase] : "");
        out.text(":\n");
      }
      out.text(labels ? "      " : "    ");
      // A list must not end in a joined step, but such a list is printed too.
      size_t end = i;
      while (list[end].joined() && end + 1 != list.size())
        ++end;
      bool p2p = isP2P(list[i].kind());
      if (end != i)
        out.text(p2p ? "batch " : "overlap ");
      for (size_t k = i; k <= end; ++k) {
        if (k != i)
          out.text(p2p ? ", " : " & ");
        printOne(list[k]);
      }
      if (rank < schedule.times.size() && i < schedule.times[rank].size() &&
          schedule.times[rank][i]) {
        out.text(" @");
        printRational(*schedule.times[rank][i]);
      }
      out.text("\n");
      i = end + 1;
    }
    out.text("  }\n");
  }

  void printOne(const Step &step) {
    // The longest step is a transfer with three numbers.
    constexpr size_t longest = 64;
    char *q = out.reserve(longest);
    auto put = [&](StringRef text) {
      std::memcpy(q, text.data(), text.size());
      q += text.size();
    };
    auto putNumber = [&](unsigned value) {
      q = std::to_chars(q, q + 10, value).ptr;
    };
    put(names[unsigned(step.kind())]);
    if (hasStage(step.kind())) {
      put(" s");
      putNumber(step.stage());
    } else if (isTied(step.kind())) {
      put(" t");
      putNumber(step.stage());
    }
    if (hasMicrobatch(step.kind())) {
      put(" m");
      putNumber(step.microbatch());
    }
    if (!isP2P(step.kind()) && (flow.isChain() || !isSendWait(step.kind()))) {
      out.commit(q);
      return;
    }
    if (const DataFlow::Port *port = flow.transfer(step)) {
      bool ofChain = DataFlow::isOfChain(step.stage(), *port);
      if (!ofChain || isP2P(step.kind())) {
        put(isRecv(step.kind()) ? " <- " : " -> ");
        put(ofChain ? "r" : "s");
        putNumber(ofChain ? port->rank : port->stage);
      }
    }
    out.commit(q);
  }

  static constexpr StringLiteral names[] = {
#define PIPEC_STEP(Id, Text) Text,
#include "Support/Steps.def"
  };

  const Schedule &schedule;
  DataFlow flow;
  TextBuffer out;
};

} // namespace

void printSteps(const Schedule &schedule, raw_ostream &os) {
  Printer(schedule, os).print();
}

} // namespace pipec
