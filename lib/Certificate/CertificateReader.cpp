//===- CertificateReader.cpp - The text of a certificate ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lines of words, each with its first word fixed; `//` begins a comment.
//
//===----------------------------------------------------------------------===//

#include "Certificate/Certificate.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class Reader {
public:
  Reader(StringRef text, DiagEngine &diags) : rest(text), diags(diags) {}

  FailureOr<Certificate> read() {
    if (!readAll())
      return failure();
    return std::move(made);
  }

private:
  bool readAll();
  bool readModel();
  bool readWords();
  bool readProof();

  /// Takes the next line that is not empty, which must begin with `first`.
  bool line(StringRef first) {
    words.clear();
    while (words.empty() && !rest.empty()) {
      auto [text, next] = rest.split('\n');
      rest = next;
      text = text.split("//").first;
      SplitString(text, words, " \t\r");
      current = text.trim(" \t\r");
    }
    at = 0;
    if (words.empty())
      current = rest;
    if (!words.empty() && words[0] == first) {
      at = 1;
      return true;
    }
    return wrong("a line `" + first + "`");
  }
  bool end() { return at == words.size() || wrong("the end of the line"); }
  bool word(StringRef text) {
    if (at != words.size() && words[at] == text) {
      ++at;
      return true;
    }
    return wrong("`" + text + "`");
  }
  bool number(int64_t &into, int64_t most = int64_t(1) << 40) {
    if (at != words.size() && !words[at].getAsInteger(10, into) && into >= 0 &&
        into <= most) {
      ++at;
      return true;
    }
    return wrong("a number from 0 to " + Twine(most));
  }
  bool number(unsigned &into, unsigned most) {
    int64_t value = 0;
    if (!number(value, int64_t(most)))
      return false;
    into = unsigned(value);
    return true;
  }
  bool rational(Rational &into, bool zero = false) {
    std::optional<Rational> value =
        at != words.size() ? Rational::parse(words[at]) : std::nullopt;
    if (!value || value->isNegative() || (value->isZero() && !zero))
      return wrong(zero ? "a number" : "a positive number");
    ++at;
    into = *value;
    return true;
  }
  SMRange place() const {
    return {SMLoc::getFromPointer(current.begin()),
            SMLoc::getFromPointer(current.end())};
  }
  bool wrong(const Twine &expected) {
    StringRef found = at < words.size() ? words[at] : current.take_back(0);
    SMRange range = {SMLoc::getFromPointer(found.begin()),
                     SMLoc::getFromPointer(found.end())};
    (void)diags.report(range, diag::CertificateSyntax, expected.str());
    return false;
  }

  StringRef rest;
  StringRef current;
  SmallVector<StringRef> words;
  size_t at = 0;
  Certificate made;
  DiagEngine &diags;
};

} // namespace

bool Reader::readModel() {
  if (!line("tick") || !rational(made.tick) || !end() || !line("unit") ||
      !rational(made.unit) || !end() || !line("ranks"))
    return false;
  made.sizesPlace = place();
  if (!number(made.ranks, maxRanks) || !word("stages") ||
      !number(made.stages, maxStages - 1) || !word("microbatches") ||
      !number(made.microbatches, maxMicrobatches - 1) || !word("backward"))
    return false;
  if (!made.ranks || !made.stages || !made.microbatches ||
      uint64_t(made.stages) * made.microbatches > 1u << 22)
    return wrong("sizes that are not 0, and at most 2^22 pairs of stage and "
                 "micro-batch");
  made.split = at != words.size() && words[at] == "split";
  if (!word(made.split ? "split" : "whole") || !end() || !line("map"))
    return false;
  made.mapPlace = place();
  made.map.resize(made.stages);
  for (unsigned &rank : made.map)
    if (!number(rank, made.ranks - 1))
      return false;
  if (!end())
    return false;
  for (unsigned stage = 0; stage != made.stages; ++stage) {
    Certificate::Stage &own = made.model.emplace_back();
    unsigned which = 0;
    if (!line("stage") || !number(which, maxStages))
      return false;
    own.place = place();
    if (which != stage)
      return --at, wrong("stage " + Twine(stage));
    if (!word("F") || !number(own.times[0]) || !word(made.split ? "I" : "B") ||
        !number(own.times[1]) ||
        (made.split && (!word("W") || !number(own.times[2]))) ||
        !word("gives") || !number(own.given[0]) || !number(own.given[1]) ||
        !word("hops") || !number(own.hops[0]) || !number(own.hops[1]) || !end())
      return false;
  }
  // Sums of times and of sizes fit 64 bits.
  __int128 sum = 0;
  for (const Certificate::Stage &own : made.model)
    for (int64_t figure :
         {own.times[0], own.times[1], own.times[2], own.given[0], own.given[1],
          own.hops[0], own.hops[1]})
      sum += __int128(figure) * made.microbatches;
  if (sum > int64_t(1) << 60)
    return at = 0, wrong("figures of all stages and micro-batches that add up "
                         "to at most 2^60");
  if (!line("caps"))
    return false;
  made.capsPlace = place();
  made.caps.resize(made.ranks);
  for (int64_t &cap : made.caps)
    if (!number(cap))
      return false;
  return end();
}

bool Reader::readWords() {
  for (unsigned rank = 0; rank != made.ranks; ++rank) {
    unsigned which = 0;
    if (!line("rank") || !number(which, made.ranks - 1))
      return false;
    if (which != rank)
      return --at, wrong("rank " + Twine(rank));
    made.wordPlaces.push_back(place());
    auto &list = made.words.emplace_back();
    for (; at != words.size(); ++at) {
      // `F3*4`: four times the F of stage 3.
      auto [letter, times] = words[at].split('*');
      unsigned kind = letter.starts_with("F")                      ? 0
                      : letter.starts_with(made.split ? "I" : "B") ? 1
                      : made.split && letter.starts_with("W")      ? 2
                                                                   : 3;
      unsigned stage = 0, count = 1;
      if (kind == 3 || letter.drop_front().getAsInteger(10, stage) ||
          stage >= made.stages || made.map[stage] != rank ||
          (!times.empty() && times.getAsInteger(10, count)) ||
          count > made.microbatches ||
          list.size() + count > size_t(3) * made.stages * made.microbatches)
        return wrong("a kind and a stage of rank " + Twine(rank) +
                     ", such as F0 or F0*4");
      list.insert(list.end(), count, {kind, stage});
    }
  }
  return true;
}

bool Reader::readProof() {
  if (!line("makespan") || !rational(made.makespan, /*zero=*/true) || !end())
    return false;
  made.makespanPlace = place();
  if (!line("refuted") || !number(made.refuted) || !end())
    return false;
  made.refutedPlace = place();
  if (!line("by"))
    return false;
  made.byPlace = place();
  if (at != words.size() && words[at] == "paths") {
    ++at;
    return end();
  }
  if (at != words.size() && words[at] == "windows")
    for (++at; at != words.size() && words[at] != "machine";) {
      unsigned rank = 0;
      if (!number(rank, made.ranks - 1))
        return false;
      made.rounds.push_back(rank);
    }
  else if (at == words.size() || words[at] != "machine")
    return wrong("`paths`, `windows` or `machine`");
  if (at != words.size()) {
    unsigned rank = 0;
    if (!word("machine") || !number(rank, made.ranks - 1))
      return false;
    made.machine = rank;
  }
  return end();
}

bool Reader::readAll() {
  if (!line("pipec-certificate") || !word("1") || !end() || !readModel() ||
      !readWords() || !readProof())
    return false;
  words.clear();
  StringRef text = rest.trim();
  if (text.empty())
    return true;
  current = text.split('\n').first;
  words.push_back(current);
  at = 0;
  return wrong("the end of the certificate");
}

FailureOr<Certificate> readCertificate(StringRef text, DiagEngine &diags) {
  return Reader(text, diags).read();
}

} // namespace pipec
