//===- SlicesCommand.cpp - The slices command -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Under causal attention, a token costs more the later it is: at position x of
// T, 1 - a + 2 a x / T, where a is the share of attention in the time of a
// whole sequence. The tokens up to x then cost (1 - a) x + a x^2 / T, and T in
// all, so the k-th of N boundaries with equal costs solves
//
//   (1 - a) x + a x^2 / T = T k / N.
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/TextTable.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;

namespace pipec {

namespace {

/// One run of the command.
class SlicesRun : CommandRun {
public:
  explicit SlicesRun(const CommandRun &run) : CommandRun(run) {}
  LogicalResult run();

private:
  LogicalResult readOptions();
  LogicalResult findBoundaries();
  /// The cost of a slice, where 1 is that of all slices divided by their
  /// number, in millionths.
  Rational factor(unsigned slice) const;

  uint64_t tokens = 0, slices = 0, multiple = 1;
  double attention = 0;
  /// `slices + 1` positions, from 0 to `tokens`.
  std::vector<uint64_t> boundaries;
};

} // namespace

LogicalResult SlicesRun::readOptions() {
  if (failed(checkInputCount(args, args.words(), diags)))
    return failure();
  for (auto [option, example] : {std::pair(Opt::Tokens, "--tokens=T"),
                                 {Opt::Slices, "--slices=N"},
                                 {Opt::Attention, "--attention=A"}})
    if (!args.has(option))
      return diags.report(DiagLoc(), diag::OptionNeeds, "pipec slices",
                          example);
  tokens = *args.number(Opt::Tokens);
  slices = *args.number(Opt::Slices);
  multiple = args.number(Opt::Multiple).value_or(1);
  uint64_t millionths = *parseShare(args.text(Opt::Attention));
  if (millionths > 1'000'000)
    return diags.report(DiagLoc(), diag::OptionValue, args.text(Opt::Attention),
                        "--attention", "a share of at most 1");
  attention = double(millionths) / 1e6;
  return success();
}

LogicalResult SlicesRun::findBoundaries() {
  boundaries.push_back(0);
  for (uint64_t k = 1; k != slices; ++k) {
    double share = double(k) / double(slices), rest = 1 - attention;
    double position = double(tokens) * 2 * share /
                      (rest + std::sqrt(rest * rest + 4 * attention * share));
    uint64_t place = uint64_t(std::llround(position / double(multiple)));
    boundaries.push_back(place * multiple);
  }
  boundaries.push_back(tokens);
  for (uint64_t k = 0; k != slices; ++k)
    if (boundaries[k] >= boundaries[k + 1])
      return diags.report(DiagLoc(), diag::SliceEmpty, k,
                          countText(tokens, "token"), multiple);
  return success();
}

Rational SlicesRun::factor(unsigned slice) const {
  auto upTo = [&](double x) {
    return (1 - attention) * x + attention * x * x / double(tokens);
  };
  double cost =
      (upTo(double(boundaries[slice + 1])) - upTo(double(boundaries[slice]))) *
      double(slices) / double(tokens);
  return *Rational::make(std::llround(cost * 1e6), 1'000'000);
}

LogicalResult SlicesRun::run() {
  if (failed(readOptions()) || failed(findBoundaries()))
    return failure();
  return write(
      [&](raw_ostream &os) {
        TextTable table("slice|from|to|tokens|factor");
        for (unsigned k = 0; k != slices; ++k)
          table.row({utostr(k), utostr(boundaries[k]),
                     utostr(boundaries[k + 1]),
                     utostr(boundaries[k + 1] - boundaries[k]),
                     decimalText(factor(k))});
        table.print(os);
      },
      [&](json::OStream &json) {
        json.attributeArray("boundaries", [&] {
          for (uint64_t boundary : boundaries)
            json.value(boundary);
        });
        json.attributeObject("profile", [&] {
          json.attributeObject("slices", [&] {
            for (unsigned k = 0; k != slices; ++k)
              json.attributeObject(utostr(k), [&] {
                json.attributeBegin("factor");
                json.rawValue(decimalText(factor(k)));
                json.attributeEnd();
              });
          });
        });
      });
}

LogicalResult runSlices(const CommandRun &run) { return SlicesRun(run).run(); }

} // namespace pipec
