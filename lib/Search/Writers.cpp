//===- Writers.cpp - Results as programs and certificates -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Writers.h"

#include "Cost/SettingsText.h"
#include "IR/RegularPlacements.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace llvm;

namespace pipec::search {

namespace {

/// A letter and its number of repetitions.
struct Run {
  uint8_t letter;
  uint32_t count;
  friend bool operator==(const Run &, const Run &) = default;
};

class Writer {
public:
  Writer(const Model &model, raw_ostream &os)
      : model(model), problem(model.problem), os(os) {}

  void settings(FigureBlock block, const FigureSet &figures,
                ArrayRef<CostSettings::Overlap> overlaps = {},
                ArrayRef<std::string> layers = {});
  void pattern(unsigned rank, const Word &word,
               const std::optional<Periodic> &blocks);

private:
  static constexpr size_t lineWidth = 100;
  static constexpr size_t longestBlock = 48;

  std::string text(unsigned rank, Run run) const;
  void letters(unsigned rank, ArrayRef<uint8_t> letters);
  void add(const Twine &statement);
  void endLine();

  const Model &model;
  const Problem &problem;
  raw_ostream &os;
  std::string line;
};

} // namespace

/// `cost { layout "Et|tL"; F = 10; stage 3 { F = 12 } }`, one place per line.
void Writer::settings(FigureBlock block, const FigureSet &figures,
                      ArrayRef<CostSettings::Overlap> overlaps,
                      ArrayRef<std::string> layers) {
  if (figures.empty() && overlaps.empty() && layers.empty())
    return;
  os << "  " << blockName(block) << " {\n";
  if (!layers.empty())
    os << "    layout \"" << layoutText(layers) << "\";\n";
  for (const auto &[place, row] : figures.places()) {
    const ScopeInfo &scope = infoOf(place.scope);
    os << "    ";
    if (scope.numbers)
      os << scope.word << ' ' << place.number;
    if (scope.numbers == 2)
      os << " -> " << place.to;
    if (scope.numbers)
      os << " { ";
    bool first = true;
    for (auto [figure, value] : row) {
      StringRef inner = infoOf(figure).inner();
      os << (first ? "" : "; ") << infoOf(figure).word()
         << (inner.empty() ? "" : " { ") << inner << " = " << value
         << (inner.empty() ? "" : " }");
      first = false;
    }
    os << (scope.numbers ? " };\n" : ";\n");
  }
  for (const CostSettings::Overlap &overlap : overlaps) {
    os << "    " << overlapText(overlap.members)
       << (overlap.isFactor ? " { factor = " : " = ") << overlap.cost
       << (overlap.isFactor ? " };\n" : ";\n");
  }
  os << "  }\n";
}

std::string Writer::text(unsigned rank, Run run) const {
  // Mixed words have a fourth letter (Search/Mixed.h).
  static constexpr char split[] = "FIWB", whole[] = "FB";
  unsigned kind = run.letter / problem.chunks;
  std::string name(1, problem.split ? split[kind] : whole[kind]);
  unsigned idle = 0;
  while (model.isIdle(problem.stageOf(rank, idle)))
    ++idle;
  if (problem.chunks > 1)
    name += "[" + std::to_string(run.letter % problem.chunks - idle) + "]";
  if (run.count == 1)
    return name;
  if (run.count == 2)
    return name + " " + name;
  return "repeat " + std::to_string(run.count) + " { " + name + " }";
}

void Writer::add(const Twine &statement) {
  std::string next = statement.str();
  if (!line.empty() && line.size() + 1 + next.size() > lineWidth)
    endLine();
  line += line.empty() ? "    " : " ";
  line += next;
}

void Writer::endLine() {
  if (!line.empty())
    os << line << '\n';
  line.clear();
}

/// Writes repeated blocks of runs from left to right, each time the block that
/// saves most.
void Writer::letters(unsigned rank, ArrayRef<uint8_t> letters) {
  std::vector<Run> runs;
  for (uint8_t letter : letters) {
    if (model.isIdle(problem.stageOf(rank, letter % problem.chunks)))
      continue;
    if (!runs.empty() && runs.back().letter == letter)
      ++runs.back().count;
    else
      runs.push_back({letter, 1});
  }
  for (size_t at = 0; at != runs.size();) {
    size_t best = 0, bestTimes = 0, saved = 1;
    for (size_t size = 1; size <= longestBlock && at + 2 * size <= runs.size();
         ++size) {
      size_t times = 1;
      while (at + (times + 1) * size <= runs.size() &&
             std::equal(runs.begin() + at, runs.begin() + at + size,
                        runs.begin() + at + times * size))
        ++times;
      if ((times - 1) * size > saved) {
        saved = (times - 1) * size;
        best = size;
        bestTimes = times;
      }
    }
    if (!best) {
      add(text(rank, runs[at++]));
      continue;
    }
    add("repeat " + Twine(bestTimes) + " {");
    for (size_t i = 0; i != best; ++i)
      add(text(rank, runs[at + i]));
    line += " }";
    at += best * bestTimes;
  }
}

void Writer::pattern(unsigned rank, const Word &word,
                     const std::optional<Periodic> &blocks) {
  os << "  pattern r" << rank << "() {\n";
  if (!blocks) {
    letters(rank, word);
  } else {
    ArrayRef<uint8_t> all = word;
    size_t size = blocks->batch * problem.numLetters();
    size_t begin = blocks->begins[rank], end = begin + size * blocks->copies;
    ArrayRef<uint8_t> block = all.slice(begin, size);
    while (begin >= size && all.slice(begin - size, size) == block)
      begin -= size;
    while (all.size() - end >= size && all.slice(end, size) == block)
      end += size;
    letters(rank, all.take_front(begin));
    endLine();
    add("repeat " + Twine((end - begin) / size) + " {");
    letters(rank, block);
    line += " }";
    endLine();
    letters(rank, all.drop_front(end));
  }
  endLine();
  os << "  }\n";
}

void writeProgram(const Model &model, const Words &words,
                  const std::optional<Periodic> &blocks, Rational makespan,
                  ArrayRef<Rational> peaks, raw_ostream &os) {
  const Problem &problem = model.problem;
  os << "// Found by `pipec search` for these sizes, costs and memory.\n"
     << "schedule found(ranks p = " << problem.ranks
     << ", microbatches m = " << problem.microbatches << ") {\n";
  const ScheduleHeader &header = model.header;
  ArrayRef<uint32_t> map = header.placement.map(0);
  if (isLoop(map, problem.ranks) || hasLegs(map, problem.ranks)) {
    os << "  placement " << (isLoop(map, problem.ranks) ? "loop" : "v");
    if (problem.chunks > 1)
      os << '(' << problem.chunks << ')';
    os << ";\n";
  } else {
    os << "  placement { stages " << header.numStages << "; stage s on";
    for (unsigned stage = 0; stage + 1 != header.numStages; ++stage)
      os << " s == " << stage << " ? " << map[stage] << " :";
    os << ' ' << map.back() << "; }\n";
  }
  for (const auto &group : header.ties) {
    os << "  tie ";
    llvm::interleaveComma(group, os);
    os << ";\n";
  }
  const StageGraph &graph = header.graph;
  bool onChain = graph.containsChain(header.numStages);
  os << (onChain ? "" : "  graph {");
  graph.forEachEdge(header.numStages, [&](StageGraph::Edge edge) {
    if (!onChain)
      os << ' ' << edge.from << " -> " << edge.to << ';';
    else if (!edge.ofChain())
      os << "  connect " << edge.from << " -> " << edge.to << ";\n";
  });
  os << (onChain ? "" : " }\n");
  os << "  require p == " << problem.ranks
     << " && m == " << problem.microbatches
     << ", \"found for ranks = " << problem.ranks
     << ", microbatches = " << problem.microbatches << "\";\n";
  Writer writer(model, os);
  writer.settings(FigureBlock::Cost, model.header.costs,
                  model.header.costs.overlaps, model.header.layers);
  writer.settings(FigureBlock::Memory, model.header.memory);
  for (unsigned rank = 0; rank != problem.ranks; ++rank)
    writer.pattern(rank, words[rank], blocks);
  os << "  steady {\n";
  for (unsigned rank = 0; rank != problem.ranks; ++rank)
    os << "    if rank == " << rank << " { r" << rank << "() }\n";
  os << "  }\n  expect makespan == " << makespan << ";\n  expect peak(rank) <= "
     << *std::max_element(peaks.begin(), peaks.end()) << ";\n}\n";
}

//===----------------------------------------------------------------------===//
// Certificates
//===----------------------------------------------------------------------===//

static void writeCharges(const Charges &charges, const Problem &problem,
                         StringRef kinds, raw_ostream &os) {
  using Charge = Charges::Charge;
  auto name = [&](unsigned number) {
    const Letter &letter = problem.info(charges.rank, number);
    return kinds[letter.kind] + std::to_string(letter.stage);
  };
  os << " charges " << charges.rank
     << (charges.withW || !problem.split ? "" : ":FI") << " of "
     << Charges::unit;
  for (const Charge &charge : charges.charges) {
    if (charge.kind == Charge::Between)
      os << ' ' << name(charge.letter) << '-' << name(charge.to);
    else
      os << (charge.kind == Charge::Before ? " before " : " after ")
         << name(charge.letter) << " m" << charge.microbatch;
    os << ' ' << charge.weight;
  }
  if (charges.weightOfW)
    os << " W " << charges.weightOfW;
}

static void writeProof(ArrayRef<ProofPart> parts, const Problem &problem,
                       StringRef kinds, raw_ostream &os) {
  // The cases whose second one is still to come.
  unsigned open = 0;
  for (const ProofPart &part : parts) {
    const auto &[rounds, machine, charges] = part.narrowing;
    if (!part.split)
      os << "by";
    if (!rounds.empty())
      os << (part.split ? "windows" : " windows");
    for (Narrowing::Round round : rounds)
      os << ' ' << round.rank << (round.withW || kinds == "FB" ? "" : ":FI");
    if (const auto &split = part.split) {
      os << (rounds.empty() ? "" : "\n") << "case " << kinds[split->kind]
         << " s" << split->stage << " m" << split->microbatch
         << (split->isLater ? " > " : " <= ") << split->time << '\n';
      ++open;
      continue;
    }
    if (machine)
      os << " machine " << *machine;
    else if (charges)
      writeCharges(*charges, problem, kinds, os);
    else if (rounds.empty())
      os << " paths";
    os << '\n';
    if (open) {
      --open;
      os << "else\n";
    }
  }
}

void writeCertificate(const Model &model, StringRef layout, const Words &words,
                      Rational makespan, const Refutation &proof,
                      raw_ostream &os) {
  const Problem &problem = model.problem;
  StringRef kinds = problem.split ? "FIW" : "FB";
  os << "pipec-certificate 1\n";
  if (!layout.empty())
    os << "layout " << layout << '\n';
  os << "tick " << model.time(1) << "\nunit " << model.size(1) << "\nranks "
     << problem.ranks << " stages " << problem.numStages() << " microbatches "
     << problem.microbatches
     << (model.header.numSlices == 1
             ? ""
             : " slices " + std::to_string(model.header.numSlices))
     << (model.numIdle ? " idle " + std::to_string(model.numIdle) : "")
     << " backward " << (problem.split ? "split" : "whole") << "\nmap";
  for (uint32_t rank : problem.map)
    os << ' ' << rank;
  os << '\n';
  bool isChain = problem.isChain();
  for (unsigned stage = 0; stage != problem.numStages(); ++stage) {
    const StageFigures &own = problem.stages[stage];
    os << "stage " << stage;
    for (unsigned kind = 0; kind != kinds.size(); ++kind)
      os << ' ' << kinds[kind] << ' ' << own.time[kind];
    os << " gives " << own.givenByI << ' ' << own.givenByW;
    if (own.during[0] || own.during[1] || own.during[2]) {
      os << " during";
      for (unsigned kind = 0; kind != kinds.size(); ++kind)
        os << ' ' << own.during[kind];
    }
    if (isChain)
      os << " hops " << (stage ? problem.edges[stage - 1].hopF : 0) << ' '
         << (stage != problem.edges.size() ? problem.edges[stage].hopI : 0);
    os << '\n';
  }
  if (!isChain) {
    os << "edges " << problem.edges.size() << '\n';
    for (const Edge &edge : problem.edges)
      os << "edge " << edge.from << ' ' << edge.to << " hops " << edge.hopF
         << ' ' << edge.hopI << '\n';
  }
  os << "caps";
  for (Ticks cap : problem.caps)
    os << ' ' << cap;
  os << '\n';
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    os << "rank " << rank;
    const Word &word = words[rank];
    for (size_t i = 0, end; i != word.size(); i = end) {
      for (end = i; end != word.size() && word[end] == word[i];)
        ++end;
      const Letter &letter = problem.info(rank, word[i]);
      os << ' ' << kinds[letter.kind] << letter.stage;
      if (end - i > 1)
        os << '*' << end - i;
    }
    os << '\n';
  }
  std::optional<Rational> ticks = Rational::div(makespan, model.time(1));
  os << "makespan " << ticks.value_or(0) << "\nrefuted " << proof.refuted
     << '\n';
  writeProof(proof.parts, problem, kinds, os);
}

} // namespace pipec::search
