//===- CertificateReader.cpp - The text of a certificate ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Certificate/Certificate.h"
#include "Certificate/CertificateLines.h"
#include "Cost/LayoutText.h"

using namespace llvm;

namespace pipec {

namespace {

class Reader : CertificateLines {
public:
  Reader(StringRef text, DiagEngine &diags) : CertificateLines(text, diags) {}

  FailureOr<Certificate> read() {
    if (!readAll())
      return failure();
    return std::move(made);
  }

private:
  bool readAll();
  bool readLayout();
  bool readModel();
  bool readEdges();
  bool readWords();
  bool readProof();
  bool readParts();
  bool readPart();
  bool readRounds(Certificate::Part &part);
  bool readRank(unsigned &rank, bool &withW);
  bool readLetter(StringRef text, unsigned rank, unsigned kinds,
                  Certificate::Letter &into);
  bool readName(StringRef prefix, unsigned &into, unsigned most,
                const Twine &expected);
  bool readCharges(Certificate::Charges &charges);
  bool readCase(Certificate::Part &part);
  bool readVariants();
  bool readVariant(bool isFirst);
  bool readProblem(bool hasProof, std::shared_ptr<const Certificate> &into);
  bool readLayoutOf(Certificate::Variant &variant, bool isFirst);

  static constexpr unsigned maxOpenCases = 64;

  Certificate made;
};

} // namespace

/// The layout, if the search had several to choose from.
bool Reader::readLayout() {
  if (!rest.ltrim().starts_with("layout "))
    return true;
  if (!line("layout"))
    return false;
  if (at == words.size())
    return wrong("a layout");
  made.layout = peek().str();
  FailureOr<LayerLayout> layout = parseLayout(peek(), diags);
  if (failed(layout))
    return false;
  made.layers = join(*layout->cut(*layout->numStages()), "");
  return ++at, end();
}

bool Reader::readModel() {
  if (!line("tick") || !rational(made.tick) || !end() || !line("unit") ||
      !rational(made.unit) || !end() || !line("ranks"))
    return false;
  made.sizesPlace = place();
  if (!number(made.ranks, maxRanks) || !word("stages") ||
      !number(made.stages, maxStages - 1) || !word("microbatches") ||
      !number(made.microbatches, maxUnits - 1) ||
      (accept("slices") && !number(made.slices, made.stages)) ||
      (accept("idle") && !number(made.idle, made.stages - 1)) ||
      !word("backward"))
    return false;
  if (!made.ranks || !made.stages || !made.microbatches || !made.slices ||
      uint64_t(made.stages) * made.microbatches > 1u << 22)
    return wrong("sizes that are not 0, and at most 2^22 pairs of stage and "
                 "micro-batch");
  made.split = accept("split");
  if ((!made.split && !word("whole")) || !end() || !line("map"))
    return false;
  made.mapPlace = place();
  made.map.resize(made.stages);
  for (unsigned &rank : made.map)
    if (!number(rank, made.ranks - 1))
      return false;
  if (!end())
    return false;
  bool isChain = true;
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
        !word("gives") || !signedNumber(own.given[0]) || !number(own.given[1]))
      return false;
    if (own.taken() < 0)
      return --at, wrong("sizes whose sum is what F takes");
    if (accept("during"))
      for (unsigned kind = 0; kind != made.kinds(); ++kind)
        if (!number(own.during[kind]))
          return false;
    if (stage == 0)
      isChain = at != words.size();
    // The hops of a chain: from the previous stage, and from the next stage.
    int64_t hops[2] = {};
    if (isChain && (!word("hops") || !number(hops[0]) || !number(hops[1])))
      return false;
    if (stage < made.idle &&
        (any_of(
             own.times, [](int64_t time) { return time != 0; }) ||
         own.given[0] || own.given[1] ||
         any_of(own.during, [](int64_t size) { return size != 0; })))
      return at = 1, wrong("an idle stage, without times and sizes");
    if (!end())
      return false;
    bool isLast = stage + 1 == made.stages;
    if ((stage == 0 && hops[0] != 0) || (isLast && hops[1] != 0))
      return wrong("the hop 0 where there is no edge");
    if (isChain && stage != 0) {
      made.edges.back().hops[0] = hops[0];
      made.edges.back().places[0] = place();
    }
    if (isChain && !isLast)
      made.edges.push_back({stage, stage + 1, {0, hops[1]}, {{}, place()}});
  }
  if (!isChain && !readEdges())
    return false;
  for (const Certificate::Edge &edge : made.edges)
    if (edge.from < made.idle && (edge.hops[0] || edge.hops[1]))
      return at = 0, wrong("the hop 0 at idle stages");
  // Sums of times and of sizes fit 64 bits.
  __int128 sum = 0;
  for (const Certificate::Stage &own : made.model)
    for (int64_t figure :
         {own.times[0], own.times[1], own.times[2], own.takenBy(0),
          std::abs(own.given[0]), own.given[1], own.during[1], own.during[2]})
      sum += __int128(figure) * made.microbatches;
  for (const Certificate::Edge &edge : made.edges)
    sum += __int128(edge.hops[0] + edge.hops[1]) * made.microbatches;
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

/// `edges 2`, then a line per edge: `edge 0 2 hops 1 1`.
bool Reader::readEdges() {
  unsigned count = 0;
  if (!line("edges") || !number(count, 1u << 22) || !end())
    return false;
  for (; count != 0; --count) {
    Certificate::Edge edge;
    if (!line("edge") || !number(edge.from, made.stages - 1) ||
        !number(edge.to, made.stages - 1) || !word("hops") ||
        !number(edge.hops[0]) || !number(edge.hops[1]) || !end())
      return false;
    edge.places[0] = edge.places[1] = place();
    if (edge.from >= edge.to ||
        (!made.edges.empty() &&
         std::pair(edge.from, edge.to) <=
             std::pair(made.edges.back().from, made.edges.back().to)))
      return at = 1, wrong("edges to later stages, in ascending order");
    // The first stage that was left out.
    unsigned next = made.edges.empty() ? 0 : made.edges.back().from + 1;
    if (edge.from > next)
      return at = 1, wrong("an edge from stage " + Twine(next));
    made.edges.push_back(edge);
  }
  unsigned next = made.edges.empty() ? 0 : made.edges.back().from + 1;
  if (next + 1 != made.stages)
    return at = 0, wrong("an edge from stage " + Twine(next));
  return true;
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
  return readParts();
}

/// `0:FI` or `0`
bool Reader::readRank(unsigned &rank, bool &withW) {
  withW = at == words.size() || !made.split || !words[at].consume_back(":FI");
  return number(rank, made.ranks - 1);
}

/// `windows 0 1:FI 2`, after the first word, until another argument or the end.
bool Reader::readRounds(Certificate::Part &part) {
  while (at != words.size() && peek() != "machine" && peek() != "charges") {
    Certificate::Part::Round round = {};
    if (!readRank(round.rank, round.withW))
      return false;
    part.rounds.push_back(round);
  }
  return true;
}

/// `F3`, one of the first `kinds` kinds of a stage of `rank`.
bool Reader::readLetter(StringRef text, unsigned rank, unsigned kinds,
                        Certificate::Letter &into) {
  StringRef names = made.split ? "FIW" : "FB";
  size_t kind = names.take_front(kinds).find(text.take_front());
  if (text.empty() || kind == StringRef::npos ||
      text.drop_front().getAsInteger(10, into.stage) ||
      into.stage >= made.stages || made.map[into.stage] != rank)
    return wrong("a kind and a stage of rank " + Twine(rank) +
                 ", such as F0, and two as F0-F1");
  into.kind = unsigned(kind);
  return true;
}

/// `3:FI of 1000 F3-F4 10 before F3 m0 20 after I3 m7 30 W 40`, after the first
/// word.
bool Reader::readCharges(Certificate::Charges &charges) {
  using Charge = Certificate::Charges::Charge;
  bool withW = false;
  if (!readRank(charges.rank, withW) || !word("of") || !number(charges.unit))
    return false;
  // Whole backwards have no W.
  charges.withW = withW && made.split;
  unsigned kinds = charges.withW ? 3 : 2;
  while (at != words.size()) {
    if (made.split && !charges.withW && accept("W")) {
      if (!number(charges.weightOfW))
        return false;
      continue;
    }
    Charge charge = {};
    charge.kind = accept("before")  ? Charge::Before
                  : accept("after") ? Charge::After
                                    : Charge::Between;
    auto [letter, to] = peek().split('-');
    if (charge.kind != Charge::Between)
      letter = peek();
    if (!readLetter(letter, charges.rank, kinds, charge.letter) ||
        (charge.kind == Charge::Between &&
         !readLetter(to, charges.rank, kinds, charge.to)))
      return false;
    ++at;
    if ((charge.kind != Charge::Between &&
         !readName("m", charge.microbatch, made.microbatches - 1,
                   "a micro-batch, such as m0")) ||
        !number(charge.weight))
      return false;
    charges.charges.push_back(charge);
  }
  return true;
}

bool Reader::readName(StringRef prefix, unsigned &into, unsigned most,
                      const Twine &expected) {
  if (!peek().starts_with(prefix) ||
      peek().drop_front().getAsInteger(10, into) || into > most)
    return wrong(expected);
  return bool(++at);
}

/// `I s3 m4 <= 517`
bool Reader::readCase(Certificate::Part &part) {
  Certificate::Case &split = part.split.emplace();
  StringRef kinds = made.split ? "FIW" : "FB";
  size_t kind = peek().size() == 1 ? kinds.find(peek()) : StringRef::npos;
  if (kind == StringRef::npos)
    return wrong("a kind of step");
  split.letter.kind = unsigned(kind);
  ++at;
  if (!readName("s", split.letter.stage, made.stages - 1,
                "a stage, such as s0") ||
      !readName("m", split.microbatch, made.microbatches - 1,
                "a micro-batch, such as m0"))
    return false;
  split.isLater = accept(">");
  return (split.isLater || word("<=")) && number(split.time) && end();
}

/// A part: windows and cases, or windows and the end of the proof of a case.
bool Reader::readPart() {
  Certificate::Part &part = made.proof.emplace_back();
  if (!line())
    return false;
  if (words[0] == "windows") {
    if (!readRounds(part) || !end() || !line())
      return false;
    if (words[0] != "case")
      return --at, wrong("a line `case`");
  }
  part.place = place();
  if (words[0] == "case")
    return readCase(part);
  if (words[0] != "by")
    return --at, wrong("a line `by`, `windows` or `case`");
  if (accept("paths"))
    return end();
  if (!accept("windows") && peek() != "machine" && peek() != "charges")
    return wrong("`paths`, `windows`, `machine` or `charges`");
  if (!readRounds(part))
    return false;
  if (at == words.size())
    return true;
  if (accept("charges"))
    return readCharges(part.charges.emplace());
  return word("machine") && number(part.machine.emplace(), made.ranks - 1) &&
         end();
}

bool Reader::readParts() {
  // The cases whose opposite is still to come.
  for (unsigned open = 0;;) {
    if (!readPart())
      return false;
    if (made.proof.back().split) {
      if (++open > maxOpenCases)
        return wrong("at most " + Twine(maxOpenCases) + " cases in cases");
      continue;
    }
    if (open == 0)
      return true;
    --open;
    if (!line("else") || !end())
      return false;
  }
}

bool Reader::readAll() {
  if (!line("pipec-certificate") || !word("1") || !end() || !readLayout() ||
      !readModel() || !readWords() || !readProof() || !readVariants())
    return false;
  return endOfText();
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

/// `bound_all 334`, and the variants.
bool Reader::readVariants() {
  if (!rest.ltrim().starts_with("bound_all "))
    return true;
  if (!line("bound_all") || !rational(made.boundOfAll.emplace()) || !end())
    return false;
  made.boundPlace = place();
  for (bool isFirst = true; isFirst || !rest.trim().empty(); isFirst = false)
    if (!readVariant(isFirst))
      return false;
  return true;
}

/// `variant loop chunks 2 backward split`, then `best`, `covered` or `excluded`
/// and the reason, and `layouts Et*61mL kinds EtmL`; and the lines of the
/// problem and of its proof.
bool Reader::readVariant(bool isFirst) {
  Certificate::Variant own;
  if (!line("variant"))
    return false;
  own.place = place();
  if (peek() != "loop" && peek() != "v" && peek() != "explicit")
    return wrong("`loop`, `v` or `explicit`");
  own.placement = words[at++].str();
  if (!word("chunks") || !number(own.chunks, maxStages) || !word("backward"))
    return false;
  own.split = accept("split");
  if ((!own.split && !word("whole")))
    return false;
  if (isFirst != accept("best"))
    return wrong(isFirst ? "`best`" : "the end of the line");
  if (!isFirst && accept("excluded")) {
    own.state = Certificate::Variant::Excluded;
    own.reason = current.split(" excluded ").second.str();
    made.variants.push_back(std::move(own));
    return true;
  }
  if (accept("covered"))
    own.state = Certificate::Variant::Covered;
  bool isOfLayouts = accept("layouts");
  if (isOfLayouts) {
    if (peek().empty())
      return wrong("layers");
    FailureOr<std::string> layers = parseLayers(peek(), diags);
    if (failed(layers))
      return false;
    own.layers = std::move(*layers);
    ++at;
    if (!word("kinds"))
      return false;
    own.kinds = peek().str();
    if (own.kinds.empty() ||
        StringRef(own.layers).find_first_not_of(own.kinds) != StringRef::npos)
      return wrong("the kinds of these layers");
    ++at;
  }
  if (!end())
    return false;
  bool isProven = !isOfLayouts && own.state == Certificate::Variant::Proven;
  if ((!isFirst || isOfLayouts) && !readProblem(isProven, own.problem))
    return false;
  while (isOfLayouts && rest.ltrim().starts_with("layout "))
    if (!readLayoutOf(own, isFirst))
      return false;
  made.variants.push_back(std::move(own));
  return true;
}

/// The lines of a problem of a variant, and of its proof.
bool Reader::readProblem(bool hasProof,
                         std::shared_ptr<const Certificate> &into) {
  Certificate all = std::exchange(made, Certificate());
  bool good = readModel();
  if (good && hasProof) {
    good = line("refuted") && number(made.refuted) && end();
    made.refutedPlace = place();
    good = good && readParts();
  }
  into = std::make_shared<Certificate>(std::move(made));
  made = std::move(all);
  return good;
}

/// `layout Et*4|tL`, and the lines of its problem, or `best`.
bool Reader::readLayoutOf(Certificate::Variant &variant, bool isFirst) {
  Certificate::Variant::Layout &own = variant.layouts.emplace_back();
  if (!line("layout"))
    return false;
  own.place = place();
  StringRef text = peek();
  if (text.empty())
    return wrong("a layout");
  FailureOr<LayerLayout> layout = parseLayout(text, diags);
  if (failed(layout))
    return false;
  own.stages = *layout->cut(*layout->numStages());
  ++at;
  if (isFirst && accept("best"))
    return end() &&
           (text == made.layout || (--at, wrong("the end of the line")));
  return end() && readProblem(/*hasProof=*/true, own.problem);
}

FailureOr<Certificate> readCertificate(StringRef text, DiagEngine &diags) {
  return Reader(text, diags).read();
}

} // namespace pipec
