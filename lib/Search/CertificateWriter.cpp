//===- CertificateWriter.cpp - The text of a proof ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Writers.h"

using namespace llvm;

namespace pipec::search {

static void writeProof(ArrayRef<ProofPart> parts, StringRef kinds,
                       raw_ostream &os) {
  // The cases whose second one is still to come.
  unsigned open = 0;
  for (const ProofPart &part : parts) {
    const auto &[rounds, machine] = part.narrowing;
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
     << problem.microbatches << " backward "
     << (problem.split ? "split" : "whole") << "\nmap";
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
  writeProof(proof.parts, kinds, os);
}

} // namespace pipec::search
