//===- StepPrinter.cpp - Step IR as text ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of tens of millions of lines are normal, so each step is formatted in
// place in a buffer.
//
//===----------------------------------------------------------------------===//

#include "StepText/StepPrinter.h"
#include "Cost/UnitColumns.h"
#include "IR/DataFlow.h"
#include "Support/TextBuffer.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>

using namespace llvm;

namespace pipec {

namespace {

/// The name of a kind at a fixed size, which is copied without a call.
struct PaddedName {
  char text[16];
  uint8_t size;
};
constexpr std::array<PaddedName, numStepKinds> paddedNames = [] {
  std::array<PaddedName, numStepKinds> names = {};
  for (unsigned kind = 0; kind != numStepKinds; ++kind) {
    StringRef name = stepKindName(StepKind(kind));
    assert(name.size() <= sizeof(names[kind].text) && "a name is too long");
    std::copy_n(name.data(), name.size(), names[kind].text);
    names[kind].size = name.size();
  }
  return names;
}();

class Printer {
public:
  Printer(const Schedule &schedule, raw_ostream &os)
      : schedule(schedule), flow(schedule), out(os) {}

  void print() {
    bool sliced = schedule.numSlices > 1;
    bool isNew =
        sliced || !schedule.streams.empty() || !schedule.sections.empty() ||
        schedule.costs.has(FigureScope::Slice) ||
        schedule.memory.has(FigureScope::Slice) ||
        hasMicrobatchFigures(schedule) || schedule.has(step_facts::extras);
    put("pipec-steps ", isNew ? 2 : 1, "\nschedule @", Name{schedule.name},
        " { ranks ", schedule.numRanks, " stages ", schedule.numStages,
        " microbatches ", schedule.numMicrobatches());
    if (sliced)
      put(" slices ", schedule.numSlices);
    put("\n");
    printHeader();
    for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank)
      printRank(rank);
    put("}\n");
  }

private:
  /// A name that is in quotes unless it is a plain word.
  struct Name {
    StringRef text;
  };

  template <typename... Parts> void put(const Parts &...parts) {
    (putOne(parts), ...);
  }
  LLVM_ATTRIBUTE_ALWAYS_INLINE void putOne(StringRef text) { out.text(text); }
  template <std::integral Int> void putOne(Int number) { out.number(number); }
  void putOne(Rational value) {
    put(value.numerator());
    if (!value.isInteger())
      put("/", value.denominator());
  }
  void putOne(Name given) {
    StringRef name = given.text;
    bool plain =
        !name.empty() && !isDigit(name.front()) && all_of(name, isWordByte);
    if (plain)
      return put(name);
    put("\"");
    for (char c : name) {
      if (c == '"' || c == '\\') {
        put("\\", StringRef(&c, 1));
      } else if (isPrint(c)) {
        put(StringRef(&c, 1));
      } else {
        char escape[] = {'\\', hexdigit((c >> 4) & 15), hexdigit(c & 15)};
        put(StringRef(escape, 3));
      }
    }
    put("\"");
  }

  /// Prints ` 1 2 3`.
  template <typename Numbers> void putNumbers(const Numbers &numbers) {
    for (unsigned number : numbers)
      put(" ", number);
  }

  void printHeader() {
    if (schedule.forwardOnly)
      put("  forward_only\n");
    StringRef before = "  param ";
    for (const auto &[name, value] : schedule.params)
      put(std::exchange(before, ", "), Name{name}, " = ", value);
    if (!schedule.params.empty())
      put("\n");
    for (unsigned d = 0; d != schedule.placement.numDirections(); ++d) {
      put("  map");
      putNumbers(schedule.placement.map(d));
      put("\n");
    }
    printGraph();
    for (const std::vector<unsigned> &group : schedule.ties) {
      put("  tie");
      putNumbers(group);
      put("\n");
    }
    if (!schedule.order.empty()) {
      put("  order");
      putNumbers(schedule.order);
      put("\n");
    }
    for (auto [i, name] : enumerate(schedule.streams.names)) {
      put("  stream ", Name{name});
      for (unsigned stage = 0; stage != schedule.numStages; ++stage)
        if (schedule.streams.of(stage) == i + 1)
          put(" ", stage);
      put("\n");
    }
    if (!schedule.sections.empty())
      printSections(schedule.sections);
    if (!schedule.layers.empty())
      put("  layout \"", layoutText(schedule.layers), "\"\n");
    printFigures(FigureBlock::Cost, schedule.costs);
    for (const CostSettings::Overlap &overlap : schedule.costs.overlaps)
      printOverlap(overlap);
    for (const CostSettings::Share &share : schedule.costs.shares) {
      put("  cost share ", share.ranks);
      for (Stream stream : share.streams)
        put(" ", sharedStreamName(stream));
      put("\n");
    }
    if (schedule.memoryInBytes)
      put("  memory bytes\n");
    printFigures(FigureBlock::Memory, schedule.memory);
    if (schedule.fsdp)
      printFsdp(*schedule.fsdp);
    for (const Expectation &expect : schedule.expectations) {
      put("  expect ", metricName(expect.metric));
      if (expect.rank)
        put("(", *expect.rank, ")");
      put(" ", relationName(expect.relation), " ", expect.value, "\n");
    }
  }

  void printSections(const Sections &sections) {
    constexpr StringLiteral kinds[] = {"F", "B", "W"};
    for (const Sections::Section &section : sections.list) {
      put("  section ", Name{section.name});
      if (section.stream)
        put(" on ", Name{sections.streams[section.stream - 1]});
      for (auto [kind, cost] : zip_equal(kinds, section.costs))
        if (cost)
          put(" ", kind, " = ", *cost);
      put("\n");
    }
    put("  layers");
    putNumbers(sections.layers);
    put("\n");
    if (sections.body.empty())
      return;
    put("  body");
    for (const Sections::BodyStep &step : sections.body)
      put(step.last ? " last " : " ", stepKindName(step.kind), ".",
          Name{sections.list[step.section].name});
    put("\n");
  }

  /// Prints the edges that a chain does not have or, if the graph lacks one of
  /// a chain, all of them: `connect 0 -> 3`, `graph 0 -> 2, 1 -> 2`.
  void printGraph() {
    if (schedule.graph.isChain())
      return;
    bool onChain = schedule.graph.containsChain(schedule.numStages);
    StringRef before = onChain ? "  connect " : "  graph ";
    schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
      if (!onChain || !edge.ofChain())
        put(std::exchange(before, ", "), edge.from, " -> ", edge.to);
    });
    put("\n");
  }

  /// Prints a line per place: `cost edge 0 -> 1 p2p = 1/10`.
  void printFigures(FigureBlock block, const FigureSet &figures) {
    for (const auto &[place, row] : figures.places()) {
      const ScopeInfo &scope = infoOf(place.scope);
      put("  ", blockName(block));
      bool inStage = place.scope == FigureScope::StageMicrobatch;
      if (inStage)
        put(" ", infoOf(FigureScope::Stage).word, " ", place.number);
      if (scope.numbers)
        put(" ", scope.word, " ", inStage ? place.to : place.number);
      if (scope.numbers == 2 && !inStage)
        put(" -> ", place.to);
      for (auto [figure, value] : row)
        put(" ", infoOf(figure).name, " = ", value);
      put("\n");
    }
  }

  void printOverlap(const CostSettings::Overlap &overlap) {
    StringRef before = "  cost ";
    for (StepKind member : overlap.members)
      put(std::exchange(before, " & "), stepKindName(member));
    put(overlap.isFactor ? " factor = " : " = ", overlap.cost, "\n");
  }

  void printFsdp(const FsdpSettings &fsdp) {
    put("  fsdp stages");
    printStages(fsdp.stages);
    if (fsdp.maxActive)
      put(" max_active ", *fsdp.maxActive);
    if (fsdp.prefetch)
      put(" prefetch ", *fsdp.prefetch);
    if (fsdp.reduced) {
      put(" reduce");
      printStages(fsdp.reduced);
    }
    put("\n");
  }

  void printStages(const std::optional<std::vector<unsigned>> &stages) {
    if (!stages || stages->empty())
      return put(stages ? " none" : " all");
    putNumbers(*stages);
  }

  void printRank(unsigned rank) {
    put("  rank ", rank, " {\n");
    const StepList &list = schedule.ranks[rank];
    bool labels = !schedule.phases.empty();
    unsigned phase = maxPhases;
    for (size_t i = 0; i < list.size();) {
      if (labels && list[i].phase() != phase) {
        phase = list[i].phase();
        put("    ",
            Name{phase < schedule.phases.size() ? schedule.phases[phase] : ""},
            ":\n");
      }
      put(labels ? "      " : "    ");
      // A list must not end in a joined step, but such a list is printed too.
      size_t end = i;
      while (list[end].joined() && end + 1 != list.size())
        ++end;
      bool p2p = isP2P(list[i].kind());
      if (end != i)
        put(p2p ? "batch " : "overlap ");
      for (size_t k = i; k <= end; ++k) {
        if (k != i)
          put(p2p ? ", " : " & ");
        printOne(list[k]);
      }
      if (rank < schedule.times.size() && i < schedule.times[rank].size() &&
          schedule.times[rank][i])
        put(" @", *schedule.times[rank][i]);
      put("\n");
      i = end + 1;
    }
    put("  }\n");
  }

  void printOne(const Step &step) {
    // The longest step is a transfer with four numbers.
    constexpr size_t longest = 64;
    char *q = out.reserve(longest);
    // With sizes that the compiler knows, no text is copied by a call.
    auto add = [&]<size_t size>(const char(&text)[size]) {
      std::memcpy(q, text, size - 1);
      q += size - 1;
    };
    auto addNumber = [&](unsigned value) {
      q = std::to_chars(q, q + 10, value).ptr;
    };
    const PaddedName &name = paddedNames[unsigned(step.kind())];
    std::memcpy(q, name.text, sizeof(name.text));
    q += name.size;
    if (hasStage(step.kind())) {
      add(" s");
      addNumber(step.stage());
    } else if (step.stream() == Stream::Tied) {
      add(" t");
      addNumber(step.stage());
    }
    if (hasUnit(step.kind())) {
      add(" m");
      if (unsigned slices = schedule.numSlices; slices != 1) {
        addNumber(step.unit() / slices);
        add(".");
        addNumber(step.unit() % slices);
      } else {
        addNumber(step.unit());
      }
    }
    if (!isP2P(step.kind()) && (flow.isChain() || !isSendWait(step.kind()))) {
      out.commit(q);
      return;
    }
    if (const DataFlow::Port *port = flow.transfer(step)) {
      bool ofChain = DataFlow::isOfChain(step.stage(), *port);
      if (!ofChain || isP2P(step.kind())) {
        add(isRecv(step.kind()) ? " <- " : " -> ");
        add(ofChain ? "r" : "s");
        addNumber(ofChain ? port->rank : port->stage);
      }
    }
    out.commit(q);
  }

  const Schedule &schedule;
  DataFlow flow;
  TextBuffer out;
};

} // namespace

void printSteps(const Schedule &schedule, raw_ostream &os) {
  Printer(schedule, os).print();
}

} // namespace pipec
