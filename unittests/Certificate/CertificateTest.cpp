//===- CertificateTest.cpp - Certificates of random problems --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Certificate/Certificate.h"
#include "Search/Random.h"
#include "Search/Search.h"
#include "Search/Writers.h"

#include "gtest/gtest.h"

using namespace pipec;
using search::Random;

/// A graph in which every stage has a way to the last one.
static StageGraph randomGraph(Random &random, unsigned stages) {
  std::vector<StageGraph::Edge> edges;
  for (unsigned from = 0; from + 1 < stages; ++from) {
    unsigned sure = from + 1 + random.below(stages - from - 1);
    for (unsigned to = from + 1; to != stages; ++to)
      if (to == sure || random.chance(30))
        edges.push_back({from, to});
  }
  return StageGraph(std::move(edges));
}

/// With `moreTakers`, I takes memory for its W, and steps need some as they
/// run.
static ScheduleHeader randomHeader(Random &random, bool moreTakers = false) {
  ScheduleHeader header;
  header.numRanks = 1 + random.below(3);
  unsigned chunks = 1 + random.below(2);
  header.numStages = header.numRanks * chunks;
  header.numUnits = 1 + random.below(5);
  header.placement = Placement(
      {search::placementMap(random.chance(50), header.numRanks, chunks)});
  if (random.chance(50))
    header.graph = randomGraph(random, header.numStages);
  header.costs.set(Figure::P2P, *Rational::make(random.below(5), 2));
  for (unsigned stage = 0; stage != header.numStages; ++stage)
    for (Figure figure : {Figure::F, Figure::I, Figure::W})
      header.costs.set(figure, *Rational::make(1 + random.below(9), 3),
                       {FigureScope::Stage, stage});
  if (random.chance(50))
    header.memory.set(Figure::LiveI, *Rational::make(-1, 2));
  if (random.chance(70))
    header.memory.set(Figure::Limit,
                      Rational(chunks + random.below(3) + 3 * moreTakers));
  for (unsigned stage = 0; moreTakers && stage != header.numStages; ++stage) {
    Place place{FigureScope::Stage, stage};
    if (random.chance(50))
      header.memory.set(Figure::LiveI, *Rational::make(random.below(3), 2),
                        place);
    for (Figure figure :
         {Figure::DuringF, Figure::DuringB, Figure::DuringI, Figure::DuringW})
      header.memory.set(figure, *Rational::make(random.below(3), 2), place);
  }
  return header;
}

/// Both checks of a certificate.
static bool accepts(const Certificate &certificate, const Schedule &schedule,
                    DiagEngine &diags) {
  return succeeded(checkSame(certificate, schedule, diags)) &&
         succeeded(checkProof(certificate, diags));
}

TEST(Certificate, ProofsOfASearchAreAcceptedAndOthersRefused) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  Random random(21);
  for (unsigned round = 0; round != 300; ++round) {
    auto model = search::makeModel(randomHeader(random, round >= 150),
                                   random.chance(80), diags);
    ASSERT_TRUE(succeeded(model));
    search::SearchOptions options;
    options.work = search::workPerEffort / 100;
    search::SearchResult result = search::search(model->problem, {}, options);
    search::Budget budget(search::workPerEffort);
    search::Refutation proof =
        result.proof ? *result.proof
                     : search::prove(model->problem, result.bound, budget);
    ASSERT_EQ(proof.refuted + 1, result.bound) << round;
    Rational makespan = model->time(result.best.makespan);
    std::string text;
    llvm::raw_string_ostream os(text);
    search::writeCertificate(*model, "", result.best.words, makespan, proof,
                             os);
    auto certificate = readCertificate(text, diags);
    ASSERT_TRUE(succeeded(certificate)) << text;
    Schedule schedule = search::makeSchedule(*model, result.best.words);
    ASSERT_TRUE(accepts(*certificate, schedule, diags)) << text;

    // A makespan that a schedule has is never refuted, by whatever rounds.
    Certificate wrong = *certificate;
    wrong.refuted = result.best.makespan;
    wrong.proof.assign(1, {});
    for (unsigned i = 0; i != 4; ++i)
      for (unsigned rank = 0; rank != wrong.ranks; ++rank)
        wrong.proof[0].rounds.push_back({rank, random.chance(50)});
    wrong.proof[0].machine = random.below(wrong.ranks);
    ASSERT_FALSE(accepts(wrong, schedule, diags)) << text;
    // Nor is a certificate of other costs accepted for the schedule.
    wrong = *certificate;
    ++wrong.model[random.below(wrong.stages)].times[random.below(2)];
    ASSERT_FALSE(accepts(wrong, schedule, diags)) << text;
  }
}

TEST(Certificate, ProofsByCasesAreAcceptedAndOthersRefused) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  Random random(22);
  unsigned proofs = 0;
  for (unsigned round = 0; round != 400 && proofs != 4; ++round) {
    auto model = search::makeModel(randomHeader(random), true, diags);
    ASSERT_TRUE(succeeded(model));
    search::SearchOptions options;
    options.work = search::workPerEffort / 50;
    options.prove = true;
    search::SearchResult result = search::search(model->problem, {}, options);
    if (!result.proof)
      continue;
    ++proofs;
    ASSERT_EQ(result.proof->refuted + 1, result.bound) << round;
    std::string text;
    llvm::raw_string_ostream os(text);
    search::writeCertificate(*model, "", result.best.words,
                             model->time(result.best.makespan), *result.proof,
                             os);
    auto certificate = readCertificate(text, diags);
    ASSERT_TRUE(succeeded(certificate)) << text;
    Schedule schedule = search::makeSchedule(*model, result.best.words);
    ASSERT_TRUE(accepts(*certificate, schedule, diags)) << text;

    // A makespan that a schedule has is not refuted by cases at other times.
    Certificate wrong = *certificate;
    wrong.refuted = result.best.makespan;
    for (Certificate::Part &part : wrong.proof)
      if (part.split)
        part.split->time = random.below(wrong.refuted);
    ASSERT_FALSE(accepts(wrong, schedule, diags)) << text;
  }
  EXPECT_EQ(proofs, 4u);
}

TEST(Certificate, ProofsByChargesAreAcceptedAndOthersRefused) {
  SourceFiles files;
  DiagEngine diags(files, [](const Diagnostic &) {});
  Random random(23);
  unsigned proofs = 0, refused = 0;
  for (unsigned round = 0; round != 300; ++round) {
    auto model = search::makeModel(randomHeader(random, round >= 150),
                                   random.chance(80), diags);
    ASSERT_TRUE(succeeded(model));
    search::SearchOptions options;
    options.work = search::workPerEffort / 200;
    search::SearchResult result = search::search(model->problem, {}, options);
    search::Budget budget(search::workPerEffort / 50);
    auto found =
        search::boundByCharges(model->problem, 0, result.best.makespan, budget);
    if (!found)
      continue;
    ++proofs;
    std::string text;
    llvm::raw_string_ostream os(text);
    search::writeCertificate(*model, "", result.best.words,
                             model->time(result.best.makespan),
                             search::proofOf(*found), os);
    auto certificate = readCertificate(text, diags);
    ASSERT_TRUE(succeeded(certificate)) << text;
    Schedule schedule = search::makeSchedule(*model, result.best.words);
    ASSERT_TRUE(accepts(*certificate, schedule, diags)) << text;

    // A makespan that a schedule has is refuted by no charges, whether they are
    // the same, larger, or others.
    Certificate wrong = *certificate;
    wrong.refuted = result.best.makespan;
    ASSERT_FALSE(accepts(wrong, schedule, diags)) << text;
    Certificate::Charges &charges = *wrong.proof[0].charges;
    charges.weightOfW += charges.withW ? 0 : random.below(charges.unit / 4);
    for (auto &charge : charges.charges)
      charge.weight += random.below(charges.unit / 4);
    ASSERT_FALSE(accepts(wrong, schedule, diags)) << text;
    for (auto &charge : charges.charges)
      charge.weight = random.below(charges.unit / 2);
    ASSERT_FALSE(accepts(wrong, schedule, diags)) << text;
    // Charges that add up to more than 1 prove nothing.
    wrong = *certificate;
    for (auto &charge : wrong.proof[0].charges->charges)
      charge.weight *= 2;
    refused += !accepts(wrong, schedule, diags);
  }
  EXPECT_GE(proofs, 150u);
  EXPECT_GE(refused * 3, proofs);
}
