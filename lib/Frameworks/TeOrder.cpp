//===- TeOrder.cpp - --emit=te-order: Transformer Engine's order ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A JSON object with one list per rank, the `_order` of Transformer Engine's
// `make_graphed_callables`. Chunks count from 1; there are no micro-batches.
//
//   step      entry
//   F         c
//   B         -c, or -c and then -c - 0.5 if other backwards are split
//   I         -c
//   W         -c - 0.5
//
// Other steps are not part of the order. docs/Megatron.md describes the file.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class OrderWriter {
public:
  explicit OrderWriter(const Schedule &schedule) : chunkOf(schedule.numStages) {
    ArrayRef<uint32_t> map = schedule.placement.map(0);
    std::vector<unsigned> held(schedule.numRanks);
    for (unsigned stage = 0; stage != schedule.numStages; ++stage)
      chunkOf[stage] = ++held[map[stage]];
    for (const StepList &list : schedule.ranks)
      isSplit |= any_of(list, [](Step step) {
        return step.kind() == StepKind::I || step.kind() == StepKind::W;
      });
  }

  void writeList(raw_ostream &os, ArrayRef<Step> list) const {
    ListSeparator comma(",");
    os << '[';
    for (Step step : list) {
      unsigned chunk = chunkOf[step.stage()];
      switch (step.kind()) {
      case StepKind::F:
        os << comma << chunk;
        break;
      case StepKind::B:
      case StepKind::I:
        os << comma << '-' << chunk;
        if (step.kind() == StepKind::I || !isSplit)
          break;
        [[fallthrough]];
      case StepKind::W:
        os << comma << '-' << chunk << ".5";
        break;
      default:
        break;
      }
    }
    os << ']';
  }

private:
  /// The number of each stage on its rank, from 1.
  std::vector<unsigned> chunkOf;
  bool isSplit = false;
};

} // namespace

LogicalResult emitTeOrder(const Schedule &schedule, raw_ostream &os,
                          DiagEngine &diags) {
  return emitJsonFile(
      schedule, Output::TeOrder, "pipec-te-order 1", os, diags,
      [&](json::OStream &json) {
        json.attribute("chunks", schedule.numStages / schedule.numRanks);
        OrderWriter writer(schedule);
        writeRankLines(json, "order", schedule,
                       [&](unsigned rank, raw_ostream &out) {
                         writer.writeList(out, schedule.ranks[rank]);
                       });
      });
}

} // namespace pipec
