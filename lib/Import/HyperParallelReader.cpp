//===- HyperParallelReader.cpp - Step IR from MetaSteps -------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forms of an order are those of Python's `repr` and of JSON, which one
// reader accepts in any mixture:
//
//   lists   {0: [...], 1: [...]}   {"0": [...]}   [[...], [...]]   [...] [...]
//           {"exec_order": any of these but the last, "ranks": 2, ...}
//   step    MetaStep(type=MetaStepType.FWD, micro_index=0, stage_index=1)
//           MetaStep(type=MetaStepType.OVERLAP_F_B, ..., sub_steps=[..., ...])
//           the same in quotation marks
//           {"type": "FWD", "micro_index": 0, "stage_index": 1}
//           ["FWD", 0, 1]   ["OVERLAP_F_B", ["FWD", 7, 0], ["BWD", 2, 3]]
//           None   null
//
// An error skips to the end of its step. The text is read in place, once.
//
//===----------------------------------------------------------------------===//

#include "Import/HyperParallelReader.h"

#include "Import/JsonWalk.h"
#include "Import/OrderCursor.h"
#include "Import/OrderLists.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace llvm;

namespace pipec {

namespace {

/// A type of MetaStep.
struct MetaType {
  StringLiteral name;
  /// The kind of the step, or of the first member of an overlap.
  StepKind kind;
  bool isOverlap;
};

constexpr MetaType metaTypes[] = {
#define PIPEC_META_STEP(Kind, Type) {Type, StepKind::Kind, false},
#define PIPEC_META_OVERLAP(Kind, Type) {Type, StepKind::Kind, true},
#include "IR/MetaSteps.def"
};

/// The parts of a step, as far as its text has them.
struct MetaFields {
  const MetaType *type = nullptr;
  std::optional<unsigned> microbatch;
  std::optional<unsigned> stage;
  SmallVector<Step, 2> members;
};

class HyperParallelReader {
public:
  HyperParallelReader(StringRef text, const ListOptions &options,
                      DiagEngine &diags)
      : text(text), cursor(text, diags), lists(options, diags), diags(diags) {}

  FailureOr<Schedule> read();

private:
  bool readTop();
  bool readMembers();
  StringRef otherFile(StringRef key);
  bool readHead(StringRef key);
  bool readMap();
  bool readLists();
  bool readList(std::optional<unsigned> rank);
  bool readStep(SmallVectorImpl<Step> &steps);
  bool readArray(MetaFields &fields);
  bool readFields(MetaFields &fields, char separator, char close);
  bool readField(StringRef key, MetaFields &fields);
  bool readType(const MetaType *&type);
  bool readSubSteps(MetaFields &fields, char close);
  bool make(const char *begin, const MetaFields &fields,
            SmallVectorImpl<Step> &steps);
  bool takeNone() {
    return cursor.consumeWord("None") || cursor.consumeWord("null");
  }
  bool startsStep();
  /// The number of bytes to release in one system call.
  static constexpr size_t releasedAtOnce = size_t(64) << 20;

  StringRef text;
  OrderCursor cursor;
  /// True while the members of an overlap are read.
  bool inSubSteps = false;
  /// True after a key has shown that the file is of another format.
  bool isOther = false;
  OrderLists lists;
  DiagEngine &diags;
  const char *released = text.begin();
};

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool HyperParallelReader::readType(const MetaType *&type) {
  // `<MetaStepType.FWD: 1>` is the repr of the enumeration itself.
  bool isRepr = cursor.consume('<');
  StringRef name;
  if (cursor.atQuote()) {
    if (!cursor.string(name))
      return false;
  } else {
    name = cursor.word();
  }
  if (name.empty()) {
    cursor.expected("a type of MetaStep");
    return false;
  }
  if (isRepr) {
    unsigned value;
    if (!cursor.expect(':') || !cursor.number(~0u, "number", value) ||
        !cursor.expect('>'))
      return false;
  }
  StringRef plain = name;
  plain.consume_front("MetaStepType.");
  const auto *it = find_if(
      metaTypes, [&](const MetaType &known) { return known.name == plain; });
  if (it == std::end(metaTypes)) {
    (void)diags.report(rangeOf(name), diag::OrderUnknownType, shortened(name));
    return false;
  }
  type = it;
  return true;
}

bool HyperParallelReader::readSubSteps(MetaFields &fields, char close) {
  // Members of overlaps are single steps, which bounds the recursion.
  if (inSubSteps) {
    (void)diags.report(
        rangeOf(cursor.since(cursor.here())), diag::OrderOverlapMembers,
        fields.type ? fields.type->name : "overlap", "single steps");
    return false;
  }
  llvm::SaveAndRestore inside(inSubSteps, true);
  return cursor.readElements(close, [&] { return readStep(fields.members); });
}

bool HyperParallelReader::readField(StringRef key, MetaFields &fields) {
  if (key == "type")
    return readType(fields.type);
  if (key == "micro_index")
    return takeNone() || cursor.number(maxMicrobatches, "micro-batch",
                                       fields.microbatch.emplace());
  if (key == "stage_index")
    return takeNone() ||
           cursor.number(maxStages, "stage", fields.stage.emplace());
  if (key == "sub_steps") {
    if (takeNone())
      return true;
    char close = cursor.at('(') ? ')' : ']';
    return cursor.expect(close == ')' ? '(' : '[') &&
           readSubSteps(fields, close);
  }
  cursor.skipValue();
  return true;
}

bool HyperParallelReader::readFields(MetaFields &fields, char separator,
                                     char close) {
  return cursor.readElements(close, [&] {
    StringRef key;
    if (cursor.atQuote()) {
      if (!cursor.string(key))
        return false;
    } else if (key = cursor.word(); key.empty()) {
      cursor.expected("the name of a field");
      return false;
    }
    return cursor.expect(separator) && readField(key, fields);
  });
}

/// Reads the rest of `["FWD", 7, 0]`.
bool HyperParallelReader::readArray(MetaFields &fields) {
  if (!readType(fields.type))
    return false;
  if (fields.type->isOverlap)
    return (cursor.at(']') || cursor.expect(',')) && readSubSteps(fields, ']');
  return cursor.expect(',') && readField("micro_index", fields) &&
         cursor.expect(',') && readField("stage_index", fields) &&
         cursor.expect(']');
}

/// Adds the steps of a MetaStep that begins at `begin`.
bool HyperParallelReader::make(const char *begin, const MetaFields &fields,
                               SmallVectorImpl<Step> &steps) {
  StringRef written = cursor.since(begin);
  if (!fields.type) {
    (void)diags.report(rangeOf(written), diag::OrderIndexMissing,
                       shortened(written), "type");
    return false;
  }
  StepKind kind = fields.type->kind;
  if (fields.type->isOverlap) {
    bool forwardFirst = kind == StepKind::F;
    ArrayRef<Step> members = fields.members;
    bool isPair = members.size() == 2 && !members[0].joined() &&
                  isCompute(members[0].kind()) && isCompute(members[1].kind());
    if (isPair && !forwardFirst)
      isPair = makesInputGradient(members[0].kind()) &&
               members[1].kind() == StepKind::F;
    else if (isPair)
      isPair = members[0].kind() == StepKind::F &&
               makesInputGradient(members[1].kind());
    if (!isPair) {
      (void)diags.report(rangeOf(written), diag::OrderOverlapMembers,
                         fields.type->name,
                         forwardFirst ? "a forward and a backward"
                                      : "a backward and a forward");
      return false;
    }
    llvm::append_range(steps, members);
    steps[steps.size() - 2].setJoined(true);
    return true;
  }
  bool lacksMicrobatch = hasMicrobatch(kind) && !fields.microbatch;
  if (lacksMicrobatch || !fields.stage) {
    (void)diags.report(rangeOf(written), diag::OrderIndexMissing,
                       shortened(written),
                       lacksMicrobatch ? "micro-batch" : "stage");
    return false;
  }
  steps.push_back(Step(kind, *fields.stage,
                       hasMicrobatch(kind) ? *fields.microbatch : 0, 0,
                       cursor.locOf(begin)));
  return true;
}

bool HyperParallelReader::readStep(SmallVectorImpl<Step> &steps) {
  (void)cursor.atEnd(); // skips blanks
  const char *begin = cursor.here();
  if (!inSubSteps && takeNone()) {
    steps.push_back(Step(StepKind::Bubble, 0, 0, 0, cursor.locOf(begin)));
    return true;
  }
  MetaFields fields;
  auto isSingle = [&] {
    if (!inSubSteps || !fields.type || !fields.type->isOverlap)
      return true;
    (void)diags.report(rangeOf(cursor.since(begin)), diag::OrderOverlapMembers,
                       fields.type->name, "single steps");
    return false;
  };
  if (cursor.consume('['))
    return readArray(fields) && isSingle() && make(begin, fields, steps);
  if (cursor.consume('{'))
    return readFields(fields, ':', '}') && isSingle() &&
           make(begin, fields, steps);
  char quote = cursor.atQuote() ? *cursor.here() : 0;
  if (quote)
    cursor.consume(quote);
  const char *call = cursor.here();
  if (!cursor.consumeWord("MetaStep")) {
    cursor.rewind(begin);
    cursor.expected("a step");
    return false;
  }
  return cursor.expect('(') && readFields(fields, '=', ')') && isSingle() &&
         make(call, fields, steps) && (!quote || cursor.expect(quote));
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// Reads one list, of `rank` or of the next one.
bool HyperParallelReader::readList(std::optional<unsigned> rank) {
  (void)cursor.atEnd(); // skips blanks
  StepList *list = lists.begin(rank, cursor.locOf(cursor.here()));
  if (!list || !cursor.expect('['))
    return false;
  SmallVector<Step, 2> steps;
  return cursor.readElements(']', [&] {
    steps.clear();
    if (!readStep(steps))
      return false;
    for (Step step : steps)
      lists.add(*list, step);
    if (size_t(cursor.here() - released) >= releasedAtOnce) {
      released = cursor.here();
      diags.sourceFiles().releaseBefore(SMLoc::getFromPointer(released));
    }
    return true;
  });
}

/// True if an element of a list is a step, not a list of steps.
bool HyperParallelReader::startsStep() {
  if (!cursor.at('['))
    return cursor.at('{') || cursor.atQuote() || cursor.atWord("None") ||
           cursor.atWord("null") || cursor.atWord("MetaStep");
  const char *begin = cursor.here();
  cursor.consume('[');
  bool isArray = cursor.atQuote();
  if (isArray) {
    cursor.consume(*cursor.here());
    isArray = !cursor.atWord("MetaStep");
  }
  cursor.rewind(begin);
  return isArray;
}

bool HyperParallelReader::readLists() {
  if (cursor.consume('{'))
    return readMembers();
  return cursor.expect('[') &&
         cursor.readElements(']', [&] { return readList(std::nullopt); });
}

bool HyperParallelReader::readMap() {
  std::vector<uint32_t> map;
  (void)cursor.atEnd(); // skips blanks
  SourceLoc place = cursor.locOf(cursor.here());
  if (!cursor.expect('[') || !cursor.readElements(']', [&] {
        unsigned rank = 0;
        if (!cursor.number(maxRanks, "rank", rank))
          return false;
        if (map.size() <= maxStages)
          map.push_back(rank);
        return true;
      }))
    return false;
  lists.setMap(std::move(map), place);
  return true;
}

/// What the file is if it has `key`, whose value is next, and is of another
/// format; empty if it may be an order.
StringRef HyperParallelReader::otherFile(StringRef key) {
  StringRef format;
  if (key == "format" && cursor.atQuote() && !cursor.string(format))
    return "";
  if (key == "nodes" || format.starts_with("pipec-primus"))
    return "a table of Primus, which pipec does not read";
  if (format.starts_with("pipec-te-order"))
    return "an order for Transformer Engine";
  if (key == "order")
    return "an order for Transformer Engine without its `format` at the "
           "beginning";
  return "";
}

/// Reads the value of `key`, which is not the number of a rank.
bool HyperParallelReader::readHead(StringRef key) {
  if (key == "exec_order")
    return readLists();
  if (key == "stage_to_rank")
    return readMap();
  if (key == "layout" && cursor.atQuote()) {
    StringRef layout;
    return cursor.string(layout) && succeeded(lists.readLayout(layout));
  }
  if (key == "schedule" && cursor.at('"')) {
    const char *begin = cursor.here();
    StringRef name;
    if (!cursor.string(name))
      return false;
    Expected<json::Value> parsed = json::parse(cursor.since(begin));
    if (!parsed)
      consumeError(parsed.takeError());
    else
      lists.setName(*parsed->getAsString());
    return true;
  }
  if (isOther) {
    cursor.skipValue();
    return true;
  }
  if (StringRef other = otherFile(key); !other.empty()) {
    (void)diags.report(rangeOf(key), diag::OrderOther, other);
    isOther = true;
    return false;
  }
  for (OrderLists::Size &size : lists.sizes())
    if (key == size.key) {
      (void)cursor.atEnd(); // skips blanks
      size.place = cursor.locOf(cursor.here());
      return cursor.number(size.limit + 1, "number of " + size.key.str(),
                           size.declared.emplace());
    }
  (void)diags.report(rangeOf(key), diag::OrderExpected,
                     "a rank or a key of an order", "`" + shortened(key) + "`");
  return false;
}

/// Reads the rest of an object: lists by rank, or what `--emit=hyperparallel`
/// writes.
bool HyperParallelReader::readMembers() {
  StringSet<> known;
  return cursor.readElements('}', [&] {
    (void)cursor.atEnd(); // skips blanks
    const char *begin = cursor.here();
    StringRef key;
    if (cursor.atQuote()) {
      if (!cursor.string(key))
        return false;
    } else if (key = cursor.word(); key.empty()) {
      cursor.expected("a rank or a key");
      return false;
    }
    if (!known.insert(key).second) {
      (void)diags.report(rangeOf(cursor.since(begin)), diag::OrderKeyTwice,
                         shortened(key));
      return false;
    }
    if (!cursor.expect(':'))
      return false;
    if (key.empty() || !all_of(key, isDigit))
      return readHead(key);
    unsigned rank;
    if (key.getAsInteger(10, rank) || rank >= maxRanks) {
      (void)diags.report(rangeOf(key), diag::OrderNumberTooLarge, "rank",
                         shortened(key), maxRanks - 1);
      return false;
    }
    return readList(rank);
  });
}

bool HyperParallelReader::readTop() {
  if (cursor.consume('{'))
    return readMembers();
  // Lists after each other, or one list of lists.
  while (!cursor.atEnd()) {
    const char *begin = cursor.here();
    if (!cursor.expect('['))
      return false;
    bool isList = startsStep() || cursor.at(']');
    cursor.rewind(begin);
    if (!(isList ? readList(std::nullopt) : readLists()))
      return false;
    cursor.consume(',');
  }
  return true;
}

FailureOr<Schedule> HyperParallelReader::read() {
  unsigned errors = diags.numErrors();
  bool good = readTop();
  if (good && !cursor.atEnd())
    cursor.expected("the end of the file");
  if (!good || diags.numErrors() != errors)
    return failure();
  return lists.finish(cursor.start());
}

} // namespace

/// The length of a step; up to the end of the line of a longer value.
static size_t stepLength(StringRef rest) {
  return OrderCursor::valueLength(
      rest.take_until([](char c) { return c == '\n'; }));
}

FailureOr<Schedule> importHyperParallel(StringRef text,
                                        const ListOptions &options,
                                        DiagEngine &diags) {
  diags.sourceFiles().setItems(text, stepLength);
  return HyperParallelReader(text, options, diags).read();
}

bool looksLikeHyperParallel(StringRef text) {
  text = text.ltrim();
  return text.starts_with("{") || text.starts_with("[");
}

} // namespace pipec
