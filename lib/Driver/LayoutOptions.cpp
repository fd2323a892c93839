//===- LayoutOptions.cpp - The options about layers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/LayoutOptions.h"

#include "Cost/LayoutText.h"
#include "Driver/Io.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace pipec {

/// Adds the value of an option to the files of the run, so that messages can
/// point into it.
static FailureOr<StringRef> addText(Opt option, StringRef value,
                                    DiagEngine &diags) {
  std::string name = optionInfo(option).spelling();
  Expected<StringRef> text =
      diags.sourceFiles().add(MemoryBuffer::getMemBufferCopy(value, name));
  if (text)
    return *text;
  return diags.report(DiagLoc(), diag::FileUnreadable, name,
                      toString(text.takeError()));
}

/// The numbers of layers of `--split`; their sum is limited.
static FailureOr<SmallVector<size_t>> readNumbers(StringRef list,
                                                  DiagEngine &diags) {
  SmallVector<size_t> numbers;
  SmallVector<StringRef> parts;
  list.split(parts, ',');
  size_t sum = 0;
  for (StringRef part : parts) {
    size_t number = 0;
    if (part.trim().getAsInteger(10, number) || number > maxLayoutSize ||
        (sum += number) > maxLayoutSize)
      return diags.report(DiagLoc(), diag::OptionValue, shortened(part),
                          "--split",
                          "a number of layers, of at most " +
                              std::to_string(maxLayoutSize) + " in all");
    numbers.push_back(number);
  }
  return numbers;
}

static FailureOr<LayerLayout>
readSplit(StringRef list, const std::optional<std::string> &layers,
          DiagEngine &diags) {
  FailureOr<SmallVector<size_t>> numbers = readNumbers(list, diags);
  if (failed(numbers))
    return failure();
  size_t sum = 0;
  for (size_t number : *numbers)
    sum += number;
  constexpr char decoder = layerTable[size_t(LayerKind::Decoder)].letter;
  std::string all = layers ? *layers : std::string(sum, decoder);
  if (sum != all.size())
    return reportUsageError(diags,
                            "--split=" + shortened(list) + " adds up to " +
                                countText(sum, "layer") +
                                ", and --layers gives " + Twine(all.size()));
  StageLayers stages;
  StringRef rest = all;
  for (size_t number : *numbers) {
    stages.push_back(rest.take_front(number).str());
    rest = rest.drop_front(number);
  }
  return LayerLayout(std::move(stages));
}

/// Reports a layout whose stages cannot be shared among the ranks evenly.
static LogicalResult checkRanks(const LayerLayout &layout, unsigned ranks,
                                DiagLoc loc, DiagEngine &diags) {
  if (layout.isEven() || *layout.numStages() % ranks == 0)
    return success();
  return diags.report(loc, diag::LayoutRanks,
                      countText(*layout.numStages(), "stage"),
                      countText(ranks, "rank"));
}

FailureOr<std::vector<LayerLayout>>
readLayouts(const Arguments &args, const std::optional<LayerLayout> &ofProfile,
            unsigned ranks, DiagEngine &diags) {
  std::vector<LayerLayout> layouts;
  std::optional<std::string> layers;
  if (args.has(Opt::Layers)) {
    auto text = addText(Opt::Layers, args.text(Opt::Layers), diags);
    if (failed(text))
      return failure();
    FailureOr<std::string> read = parseLayers(*text, diags);
    if (failed(read))
      return failure();
    layers = std::move(*read);
    if (!args.has(Opt::Split))
      layouts.push_back(LayerLayout::even(*layers));
  }
  for (auto [option, value] : args.lists({Opt::Split, Opt::Layout})) {
    auto text = addText(option, value, diags);
    if (failed(text))
      return failure();
    auto layout = option == Opt::Split ? readSplit(*text, layers, diags)
                                       : parseLayout(*text, diags);
    if (failed(layout))
      return failure();
    SMRange place(SMLoc::getFromPointer(text->begin()),
                  SMLoc::getFromPointer(text->end()));
    if (failed(checkRanks(*layout, ranks, place, diags)))
      return failure();
    layouts.push_back(std::move(*layout));
  }
  if (!layouts.empty() || !ofProfile)
    return layouts;
  DiagLoc place;
  if (!ofProfile->places().empty())
    place = ofProfile->places().front();
  if (failed(checkRanks(*ofProfile, ranks, place, diags)))
    return failure();
  layouts.push_back(*ofProfile);
  return layouts;
}

FailureOr<std::optional<LayerLayout>>
readLayout(const Arguments &args, const std::optional<LayerLayout> &ofProfile,
           DiagEngine &diags) {
  FailureOr<std::vector<LayerLayout>> layouts =
      readLayouts(args, ofProfile, /*ranks=*/1, diags);
  if (failed(layouts))
    return failure();
  if (layouts->size() > 1)
    return diags.report(DiagLoc(), diag::GivenCount,
                        countText(layouts->size(), "layout"), "one is",
                        shortened(layouts->back().text()));
  std::optional<LayerLayout> only;
  if (!layouts->empty())
    only = std::move(layouts->front());
  return only;
}

} // namespace pipec
