//===- LayoutText.cpp - The text of a layout ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/LayoutText.h"

#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// A character of the text, which may have several bytes.
struct Piece {
  StringRef bytes;

  bool is(char c) const { return bytes.size() == 1 && bytes.front() == c; }
  bool isDigit() const { return bytes.size() == 1 && llvm::isDigit(bytes[0]); }
};

using Pieces = std::vector<Piece>;

/// The rewriting of one text.
class Rewriter {
public:
  Rewriter(StringRef text, DiagEngine &diags) : text(text), diags(diags) {}

  FailureOr<Pieces> run();

private:
  Pieces split() const;
  LogicalResult repeatGroups();
  LogicalResult repeatCharacters();
  size_t endOfCount(size_t at) const;
  LogicalResult repeat(ArrayRef<Piece> what, size_t star, size_t end,
                       Pieces &to);

  StringRef text;
  DiagEngine &diags;
  Pieces pieces;
};

} // namespace

/// The characters of the text without commas. A continuation byte of UTF-8
/// belongs to the character before it.
Pieces Rewriter::split() const {
  Pieces all;
  for (size_t at = 0; at != text.size(); ++at) {
    if (isContinuationByte(text[at]) && !all.empty() &&
        uint8_t(all.back().bytes[0]) >= 0xC0 &&
        all.back().bytes.end() == text.data() + at)
      all.back().bytes =
          StringRef(all.back().bytes.data(), all.back().bytes.size() + 1);
    else if (text[at] != ',')
      all.push_back({text.substr(at, 1)});
  }
  return all;
}

/// The end of `*N` at `at`; `at` if there is none.
size_t Rewriter::endOfCount(size_t at) const {
  if (at >= pieces.size() || !pieces[at].is('*'))
    return at;
  size_t end = at + 1;
  while (end != pieces.size() && pieces[end].isDigit())
    ++end;
  return end == at + 1 ? at : end;
}

/// Appends copies of `what`, as many as the number after `star` says.
LogicalResult Rewriter::repeat(ArrayRef<Piece> what, size_t star, size_t end,
                               Pieces &to) {
  size_t number = 0;
  for (size_t at = star + 1; at != end; ++at) {
    number = number * 10 + (pieces[at].bytes[0] - '0');
    if (number * what.size() + to.size() > 4 * maxLayoutSize)
      return diags.report(rangeOf(pieces[star].bytes), diag::LayoutTooLarge,
                          maxLayoutSize);
  }
  for (; number != 0; --number)
    to.insert(to.end(), what.begin(), what.end());
  return success();
}

LogicalResult Rewriter::repeatGroups() {
  // The next closing parenthesis of each place.
  std::vector<size_t> closing(pieces.size() + 1, pieces.size());
  for (size_t at = pieces.size(); at-- != 0;)
    closing[at] = pieces[at].is(')') ? at : closing[at + 1];
  Pieces result;
  for (size_t at = 0; at != pieces.size();) {
    size_t close = closing[at];
    size_t end = endOfCount(close + 1);
    bool isGroup = pieces[at].is('(') && close > at + 1 &&
                   close != pieces.size() && end != close + 1;
    if (!isGroup) {
      result.push_back(pieces[at++]);
      continue;
    }
    if (failed(repeat(ArrayRef(pieces).slice(at + 1, close - at - 1), close + 1,
                      end, result)))
      return failure();
    at = end;
  }
  pieces = std::move(result);
  return success();
}

LogicalResult Rewriter::repeatCharacters() {
  Pieces result;
  for (size_t at = 0; at != pieces.size();) {
    size_t end = endOfCount(at + 1);
    if (end == at + 1 || pieces[at].is('\n')) {
      result.push_back(pieces[at++]);
      continue;
    }
    if (failed(repeat(pieces[at], at + 1, end, result)))
      return failure();
    at = end;
  }
  pieces = std::move(result);
  return success();
}

FailureOr<Pieces> Rewriter::run() {
  pieces = split();
  if (failed(repeatGroups()) || failed(repeatCharacters()))
    return failure();
  if (pieces.size() > maxLayoutSize)
    return diags.report(rangeOf(text), diag::LayoutTooLarge, maxLayoutSize);
  for (Piece piece : pieces) {
    if (piece.is('|') || (piece.bytes.size() == 1 && layerOf(piece.bytes[0])))
      continue;
    SMRange range = rangeOf(piece.bytes);
    if (piece.is('(') || piece.is(')'))
      return diags.report(range, diag::LayoutGroup, piece.bytes);
    if (piece.is('*'))
      return diags.report(range, diag::LayoutCount);
    if (piece.isDigit()) {
      StringRef rest = text.substr(piece.bytes.data() - text.data());
      StringRef number = rest.take_while([](char c) { return isDigit(c); });
      std::string meant(1, letterOf(LayerKind::Decoder));
      return diags.report(rangeOf(number), diag::LayoutNumber, number)
          .note(rangeOf(number), diag::NoteDidYouMean,
                meant + "*" + number.str());
    }
    return diags.report(range, diag::LayoutLetter, piece.bytes)
        .note(range, diag::NoteLayerLetters, layerLetters());
  }
  return std::move(pieces);
}

FailureOr<LayerLayout> parseLayout(StringRef text, DiagEngine &diags) {
  FailureOr<Pieces> pieces = Rewriter(text, diags).run();
  if (failed(pieces))
    return failure();
  StageLayers stages(1);
  LayerPlaces places;
  for (Piece piece : *pieces) {
    places.push_back(rangeOf(piece.bytes));
    if (piece.is('|'))
      stages.emplace_back();
    else
      stages.back() += piece.bytes[0];
  }
  return LayerLayout(std::move(stages), std::move(places));
}

FailureOr<std::string> parseLayers(StringRef text, DiagEngine &diags) {
  std::string layers;
  if (!text.empty() && all_of(text, isDigit)) {
    size_t number = 0;
    if (text.getAsInteger(10, number) || number > maxLayoutSize)
      return diags.report(rangeOf(text), diag::LayoutTooLarge, maxLayoutSize);
    layers.assign(number, letterOf(LayerKind::Decoder));
  } else {
    FailureOr<Pieces> pieces = Rewriter(text, diags).run();
    if (failed(pieces))
      return failure();
    for (Piece piece : *pieces) {
      if (piece.is('|'))
        return diags.report(rangeOf(piece.bytes), diag::LayoutSeparator);
      layers += piece.bytes[0];
    }
  }
  if (layers.empty())
    return diags.report(rangeOf(text), diag::LayoutEmpty);
  return layers;
}

} // namespace pipec
