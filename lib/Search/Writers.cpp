//===- Writers.cpp - Results as programs and certificates -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Writers.h"

#include "Cost/SettingsText.h"
#include "IR/RegularPlacements.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <deque>

using namespace llvm;

namespace pipec::search {

namespace {

/// A step and its number of repetitions.
struct Run {
  /// The number of its text.
  unsigned step;
  uint32_t count;
  friend bool operator==(const Run &, const Run &) = default;
};

/// Writes the text of one program.
class Writer {
public:
  explicit Writer(raw_ostream &os) : os(os) {}

  void head(const ScheduleHeader &header, const EveryProgram *every = nullptr);
  void tail(unsigned ranks, ArrayRef<std::string> clauses);

  void settings(FigureBlock block, const FigureSet &figures,
                ArrayRef<CostSettings::Overlap> overlaps = {},
                ArrayRef<std::string> layers = {},
                ArrayRef<CostSettings::Share> shares = {});
  /// The pattern of a rank, in which the steps of [begin, end), if that is not
  /// empty, are so many equal blocks, whose number is written as `times`.
  void pattern(unsigned rank, ArrayRef<std::string> steps, size_t begin = 0,
               size_t end = 0, size_t blocks = 1, StringRef times = "");

private:
  static constexpr size_t lineWidth = 100;
  static constexpr size_t longestBlock = 48;

  void steps(ArrayRef<std::string> texts);
  void add(const Twine &statement);
  void endLine();

  raw_ostream &os;
  std::string line;
};

/// The texts of the steps of one rank. A step names its unit only where that is
/// not the one that a program counts.
class StepTexts {
public:
  StepTexts(const Schedule &schedule, unsigned rank) : schedule(schedule) {
    for (unsigned stage = 0; stage != schedule.numStages; ++stage)
      if (schedule.placement.rankOf(stage, 0) == rank) {
        chunkOf[stage] = chunks.size();
        chunks.emplace_back();
      }
  }

  std::string text(Step step);

private:
  struct Chunk {
    unsigned forwards = 0, backwards = 0, lastForward = 0;
    std::deque<unsigned> owed, leaving;
  };

  unsigned counted(Step step, const Chunk &chunk) const;
  static void count(Step step, Chunk &chunk);

  const Schedule &schedule;
  DenseMap<unsigned, unsigned> chunkOf;
  std::vector<Chunk> chunks;
};

} // namespace

/// The unit of a step that names none.
unsigned StepTexts::counted(Step step, const Chunk &chunk) const {
  auto front = [](const std::deque<unsigned> &units) {
    return units.empty() ? maxUnits : units.front();
  };
  switch (step.kind()) {
  case StepKind::F:
    return chunk.forwards;
  case StepKind::W:
    return front(chunk.owed);
  case StepKind::Offload:
    return chunk.lastForward;
  case StepKind::WaitOffload:
    return front(chunk.leaving);
  default:
    return backwardOrder(chunk.backwards, schedule.numSlices);
  }
}

void StepTexts::count(Step step, Chunk &chunk) {
  switch (step.kind()) {
  case StepKind::F:
    ++chunk.forwards;
    chunk.lastForward = step.unit();
    return;
  case StepKind::I:
    chunk.owed.push_back(step.unit());
    [[fallthrough]];
  case StepKind::B:
    ++chunk.backwards;
    return;
  case StepKind::W:
    chunk.owed.erase(find(chunk.owed, step.unit()));
    return;
  case StepKind::Offload:
    return chunk.leaving.push_back(step.unit());
  case StepKind::WaitOffload:
    chunk.leaving.erase(find(chunk.leaving, step.unit()));
    return;
  default:
    return;
  }
}

std::string StepTexts::text(Step step) {
  unsigned number = chunkOf.lookup(step.stage());
  Chunk &chunk = chunks[number];
  std::string text = stepKindName(step.kind()).str();
  bool named = counted(step, chunk) != step.unit();
  if (named || chunks.size() > 1)
    text += "[" + std::to_string(number);
  if (named)
    text += ", " + std::to_string(step.unit() / schedule.numSlices);
  if (named && schedule.numSlices > 1)
    text += ", " + std::to_string(step.unit() % schedule.numSlices);
  if (named || chunks.size() > 1)
    text += "]";
  count(step, chunk);
  return text;
}

/// `cost { layout "Et|tL"; F = 10; stage 3 { F = 12 } }`, one place per line.
void Writer::settings(FigureBlock block, const FigureSet &figures,
                      ArrayRef<CostSettings::Overlap> overlaps,
                      ArrayRef<std::string> layers,
                      ArrayRef<CostSettings::Share> shares) {
  if (figures.empty() && overlaps.empty() && layers.empty() && shares.empty())
    return;
  os << "  " << blockName(block) << " {\n";
  if (!layers.empty())
    os << "    layout \"" << layoutText(layers) << "\";\n";
  for (const auto &[place, row] : figures.places()) {
    const ScopeInfo &scope = infoOf(place.scope);
    os << "    ";
    bool inStage = place.scope == FigureScope::StageMicrobatch;
    if (inStage)
      os << infoOf(FigureScope::Stage).word << ' ' << place.number << " { ";
    if (scope.numbers)
      os << scope.word << ' ' << (inStage ? place.to : place.number);
    if (scope.numbers == 2 && !inStage)
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
    os << (inStage ? " } };\n" : scope.numbers ? " };\n" : ";\n");
  }
  for (const CostSettings::Overlap &overlap : overlaps) {
    os << "    " << overlapText(overlap.members)
       << (overlap.isFactor ? " { factor = " : " = ") << overlap.cost
       << (overlap.isFactor ? " };\n" : ";\n");
  }
  for (const CostSettings::Share &share : shares) {
    os << "    share " << share.ranks << " {";
    for (Stream stream : share.streams)
      os << ' ' << sharedStreamName(stream) << ';';
    os << " };\n";
  }
  os << "  }\n";
}

/// The text of a letter.
static std::string textOf(const Model &model, unsigned rank, uint8_t letter) {
  // Mixed words have a fourth letter (Search/Mixed.h).
  static constexpr char split[] = "FIWB", whole[] = "FB";
  const Problem &problem = model.problem;
  unsigned kind = letter / problem.chunks;
  std::string name(1, problem.split ? split[kind] : whole[kind]);
  unsigned idle = 0;
  while (model.isIdle(problem.stageOf(rank, idle)))
    ++idle;
  if (problem.chunks > 1)
    name += "[" + std::to_string(letter % problem.chunks - idle) + "]";
  return name;
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
void Writer::steps(ArrayRef<std::string> texts) {
  StringMap<unsigned> numbers;
  std::vector<StringRef> names;
  std::vector<Run> runs;
  for (StringRef text : texts) {
    auto [known, isNew] = numbers.try_emplace(text, names.size());
    if (isNew)
      names.push_back(known->first());
    if (!runs.empty() && runs.back().step == known->second)
      ++runs.back().count;
    else
      runs.push_back({known->second, 1});
  }
  auto addRun = [&](Run run) {
    StringRef name = names[run.step];
    if (run.count == 1)
      add(name);
    else if (run.count == 2)
      add(name + " " + name);
    else
      add("repeat " + Twine(run.count) + " { " + name + " }");
  };
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
      addRun(runs[at++]);
      continue;
    }
    add("repeat " + Twine(bestTimes) + " {");
    for (size_t i = 0; i != best; ++i)
      addRun(runs[at + i]);
    line += " }";
    at += best * bestTimes;
  }
}

void Writer::pattern(unsigned rank, ArrayRef<std::string> texts, size_t begin,
                     size_t end, size_t blocks, StringRef times) {
  os << "  pattern r" << rank << "() {\n";
  steps(texts.take_front(begin));
  endLine();
  if (begin != end) {
    add("repeat " + times + " {");
    steps(texts.slice(begin, (end - begin) / blocks));
    line += " }";
    endLine();
  }
  steps(texts.drop_front(end));
  endLine();
  os << "  }\n";
}

void Writer::head(const ScheduleHeader &header, const EveryProgram *every) {
  unsigned ranks = header.numRanks, slices = header.numSlices;
  unsigned microbatches = header.numMicrobatches();
  os << "// Found by `pipec search` for these " << (every ? "ranks" : "sizes")
     << ", costs and memory.\n";
  if (every)
    os << "// " << every->comment << '\n';
  os << "schedule found(ranks p = " << ranks
     << ", microbatches m = " << microbatches;
  if (slices > 1)
    os << ", slices s = " << slices;
  os << ") {\n";
  ArrayRef<uint32_t> map = header.placement.map(0);
  if (isLoop(map, ranks) || hasLegs(map, ranks)) {
    os << "  placement " << (isLoop(map, ranks) ? "loop" : "v");
    if (header.numStages > ranks)
      os << '(' << header.numStages / ranks << ')';
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
  os << "  require p == " << ranks;
  if (every) {
    os << " && m >= " << every->least;
    if (every->step != 1)
      os << " && (m - " << every->least << ") % " << every->step << " == 0";
    os << ", \"found for ranks = " << ranks
       << ", microbatches = " << every->least << " + ";
    if (every->step != 1)
      os << every->step << ' ';
    os << "n\";\n";
  } else {
    os << " && m == " << microbatches;
    if (slices > 1)
      os << " && s == " << slices;
    os << ", \"found for ranks = " << ranks
       << ", microbatches = " << microbatches;
    if (slices > 1)
      os << ", slices = " << slices;
    os << "\";\n";
  }
  settings(FigureBlock::Cost, header.costs, header.costs.overlaps,
           header.layers, header.costs.shares);
  settings(FigureBlock::Memory, header.memory);
}

void Writer::tail(unsigned ranks, ArrayRef<std::string> clauses) {
  os << "  steady {\n";
  for (unsigned rank = 0; rank != ranks; ++rank)
    os << "    if rank == " << rank << " { r" << rank << "() }\n";
  os << "  }\n";
  for (const std::string &clause : clauses)
    os << "  expect " << clause << ";\n";
  os << "}\n";
}

/// The clauses of one size.
static std::vector<std::string> clausesOf(Rational makespan,
                                          ArrayRef<Rational> peaks) {
  std::string most;
  raw_string_ostream(most) << *std::max_element(peaks.begin(), peaks.end());
  std::string time;
  raw_string_ostream(time) << makespan;
  return {"makespan == " + time, "peak(rank) <= " + most};
}

/// The place of the blocks of a rank, with the equal ones around them.
static std::pair<size_t, size_t> blocksOf(const Problem &problem,
                                          const Periodic &blocks,
                                          ArrayRef<uint8_t> word,
                                          unsigned rank) {
  size_t size = blocks.batch * problem.numLetters();
  size_t begin = blocks.begins[rank], end = begin + size * blocks.copies;
  ArrayRef<uint8_t> block = word.slice(begin, size);
  while (begin >= size && word.slice(begin - size, size) == block)
    begin -= size;
  while (word.size() - end >= size && word.slice(end, size) == block)
    end += size;
  return {begin, end};
}

uint32_t leastOf(const Problem &problem, const Words &words,
                 const Periodic &blocks) {
  // With one block on the rank that repeats it least.
  size_t size = blocks.batch * problem.numLetters(), fewest = SIZE_MAX;
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    auto [begin, end] = blocksOf(problem, blocks, words[rank], rank);
    fewest = std::min(fewest, (end - begin) / size);
  }
  return problem.microbatches - uint32_t(fewest - 1) * blocks.batch;
}

static void writeProgram(const Model &model, const Words &words,
                         const std::optional<Periodic> &blocks,
                         const EveryProgram *every,
                         ArrayRef<std::string> clauses, raw_ostream &os) {
  const Problem &problem = model.problem;
  Writer writer(os);
  writer.head(model.header, every);
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    const Word &word = words[rank];
    // Idle stages have no steps.
    auto texts = [&](size_t begin, size_t end) {
      std::vector<std::string> texts;
      for (uint8_t letter : ArrayRef(word).slice(begin, end - begin))
        if (!model.isIdle(problem.stageOf(rank, letter % problem.chunks)))
          texts.push_back(textOf(model, rank, letter));
      return texts;
    };
    if (!blocks) {
      writer.pattern(rank, texts(0, word.size()));
      continue;
    }
    auto [begin, end] = blocksOf(problem, *blocks, word, rank);
    size_t count = (end - begin) / (blocks->batch * problem.numLetters());
    std::string times = std::to_string(count);
    if (every) {
      // The micro-batches of the ramps of this rank.
      uint64_t others = problem.microbatches - count * blocks->batch;
      times = others ? "m - " + std::to_string(others) : "m";
      if (blocks->batch != 1)
        times = (others ? "(" + times + ")" : times) + " / " +
                std::to_string(blocks->batch);
    }
    writer.pattern(rank, texts(0, word.size()), texts(0, begin).size(),
                   texts(0, end).size(), count, times);
  }
  writer.tail(problem.ranks, clauses);
}

void writeProgram(const Model &model, const Words &words,
                  const std::optional<Periodic> &blocks, Rational makespan,
                  ArrayRef<Rational> peaks, raw_ostream &os) {
  writeProgram(model, words, blocks, /*every=*/nullptr,
               clausesOf(makespan, peaks), os);
}

void writeEveryProgram(const Model &model, const Words &words,
                       const Periodic &blocks, const EveryProgram &every,
                       raw_ostream &os) {
  writeProgram(model, words, blocks, &every, every.clauses, os);
}

void writeLists(const Schedule &schedule, Rational makespan,
                ArrayRef<Rational> peaks, raw_ostream &os) {
  Writer writer(os);
  writer.head(schedule);
  for (auto [rank, list] : enumerate(schedule.ranks)) {
    StepTexts names(schedule, rank);
    std::vector<std::string> texts;
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      std::string &text = texts.emplace_back();
      for (Step step : ArrayRef(list).slice(begin, end - begin))
        text += (text.empty() ? "" : " & ") + names.text(step);
    }
    writer.pattern(rank, texts);
  }
  writer.tail(schedule.numRanks, clausesOf(makespan, peaks));
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

static StringRef kindsOf(const Problem &problem) {
  return problem.split ? "FIW" : "FB";
}

/// The lines of a problem.
static void writeProblem(const Model &model, raw_ostream &os) {
  const Problem &problem = model.problem;
  StringRef kinds = kindsOf(problem);
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
}

void writeCertificate(const Model &model, StringRef layout, const Words &words,
                      Rational makespan, const Refutation &proof,
                      raw_ostream &os) {
  const Problem &problem = model.problem;
  StringRef kinds = kindsOf(problem);
  os << "pipec-certificate 1\n";
  if (!layout.empty())
    os << "layout " << layout << '\n';
  writeProblem(model, os);
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

static void writeVariant(StringRef word, const CertifiedVariant &variant,
                         raw_ostream &os) {
  os << word << variant.name << '\n';
  if (variant.model)
    writeProblem(*variant.model, os);
  if (variant.proof) {
    const Problem &problem = variant.model->problem;
    os << "refuted " << variant.proof->refuted << '\n';
    writeProof(variant.proof->parts, problem, kindsOf(problem), os);
  }
  for (const CertifiedVariant &layout : variant.layouts)
    writeVariant("layout ", layout, os);
}

void writeVariants(Rational bound, ArrayRef<CertifiedVariant> variants,
                   raw_ostream &os) {
  os << "bound_all " << bound << '\n';
  for (const CertifiedVariant &variant : variants)
    writeVariant("variant ", variant, os);
}

} // namespace pipec::search
