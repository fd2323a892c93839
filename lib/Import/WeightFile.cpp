//===- WeightFile.cpp - The weights of a batch from a file ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Import/WeightFile.h"

#include "Import/CostText.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class WeightReader {
public:
  WeightReader(JsonReader &json, DiagEngine &diags)
      : json(json), diags(diags) {}

  FailureOr<BatchWeights> read() {
    if (json.at('{'))
      readObject();
    else
      readWeights();
    if (!good)
      return failure();
    return std::move(batch);
  }

private:
  template <typename... Args> void report(StringRef part, Args &&...args) {
    good = false;
    (void)diags.report(rangeOf(part), std::forward<Args>(args)...);
  }
  /// The position of the next value.
  DiagLoc next() {
    (void)json.atEnd();
    return SMLoc::getFromPointer(json.here());
  }

  void readObject() {
    static constexpr StringRef keys[] = {"weights", "sizes", "limit"};
    DiagLoc object = next();
    SmallVector<StringRef, 3> seen;
    json.object([&](StringRef key) {
      if (is_contained(seen, key))
        report(key, diag::ProfileKeyTwice, key);
      seen.push_back(key);
      if (key == "weights")
        return readWeights();
      if (key == "sizes") {
        BatchWeights::Row &row = batch.sizes.emplace();
        return readRow(row);
      }
      if (key == "limit") {
        batch.limitLoc = next();
        batch.limit = readNumber(json.value());
        return;
      }
      good = false;
      InFlightDiagnostic error = diags.report(
          rangeOf(key), diag::WeightUnknownKey, key.take_front(40));
      if (StringRef meant = nearestWord(key.take_front(40), keys);
          !meant.empty())
        error.suggest(rangeOf(key), meant);
      else
        error.note(rangeOf(key), diag::NoteChoices,
                   join(ArrayRef(keys), "`, `"));
      (void)json.value();
    });
    if (good && batch.weights.empty()) {
      good = false;
      (void)diags.report(object, diag::WeightsMissing);
    }
  }

  void readWeights() {
    batch.loc = next();
    batch.weights.clear();
    if (!json.at('['))
      return report(json.value(), diag::WeightNotList);
    // The first element says whether these are weights or rows.
    bool any = false;
    BatchWeights::Row single;
    single.loc = batch.loc;
    json.list([&] {
      if (!any)
        batch.perStage = json.at('[');
      any = true;
      if (batch.perStage)
        return readRow(batch.weights.emplace_back());
      addNumber(single);
    });
    if (!batch.perStage)
      batch.weights.push_back(std::move(single));
  }

  void readRow(BatchWeights::Row &row) {
    row.loc = next();
    if (!json.at('['))
      return report(json.value(), diag::WeightNotList);
    json.list([&] { addNumber(row); });
  }

  void addNumber(BatchWeights::Row &row) {
    row.values.push_back(readNumber(json.value()).value_or(0));
  }

  std::optional<Rational> readNumber(StringRef value) {
    std::optional<Rational> parsed = value.starts_with("\"")
                                         ? Rational::parse(value.trim('"'))
                                         : parseCostNumber(value);
    if (!parsed)
      report(value, diag::ProfileNotNumber, value.take_front(40));
    else if (parsed->isNegative())
      report(value, diag::WeightNegative, value.take_front(40));
    return parsed;
  }

  JsonReader &json;
  DiagEngine &diags;
  BatchWeights batch;
  bool good = true;
};

} // namespace

FailureOr<BatchWeights> readWeights(JsonReader &json, DiagEngine &diags) {
  return WeightReader(json, diags).read();
}

FailureOr<BatchWeights> readWeightFile(StringRef text, DiagEngine &diags) {
  JsonReader syntax(text);
  (void)syntax.value();
  syntax.finish();
  const JsonReader::Fault &fault = syntax.fault();
  SMLoc at = SMLoc::getFromPointer(fault.at);
  if (fault.isTooDeep)
    return diags.report(at, diag::ProfileTooDeep, maxJsonDepth);
  if (syntax.hasFault())
    return diags.report(at, diag::WeightSyntax, fault.text);
  JsonReader json(text);
  return readWeights(json, diags);
}

} // namespace pipec
