//===- HyperParallelReader.cpp - Step IR from MetaSteps -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order has the form of Python's `repr` or of JSON, which one
// reader accepts in any mixture:
//
//   lists   {0: [...], 1: [...]}   {"0": [...]}   [[...], [...]]   [...] [...]
//           {"exec_order": any of these but the last, "ranks": 2, ...}
//   step    MetaStep(type=MetaStepType.FWD, micro_index=0, stage_index=1)
//           MetaStep(type=MetaStepType.OVERLAP_F_B, ..., sub_steps=[..., ...])
//           the same in quotation marks
//           {"type": "FWD", "micro_index": 0, "stage_index": 1}
//           ["FWD", 0, 1]   ["OVERLAP_F_B", ["FWD", 7, 0], ["BWD", 2, 3]]
//           ["BATCH_SEND_RECV", ["BWD_RECV", 0, 1], ["FWD_SEND", 1, 1]]
//           None   null
//
// The runtime posts a BATCH_SEND_RECV as one batch per peer, one after the
// other, and so it is read. An error skips to the end of its step. The text is
// read in place, once.
//
//===----------------------------------------------------------------------===//

#include "IR/DataFlow.h"
#include "Import/Lists.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace llvm;

namespace pipec {

namespace {

/// What a type of MetaStep stands for; see IR/MetaSteps.def.
enum class MetaRole : uint8_t { Single, Overlap, Batch, Implied };

/// A type of MetaStep.
struct MetaType {
  StringLiteral name;
  MetaRole role;
  /// The kind of the step, or of the first member of an overlap.
  StepKind kind = StepKind::F;
  bool hasMembers() const {
    return role == MetaRole::Overlap || role == MetaRole::Batch;
  }
};

constexpr MetaType metaTypes[] = {
#define PIPEC_META_STEP(Kind, Type) {Type, MetaRole::Single, StepKind::Kind},
#define PIPEC_META_OVERLAP(Kind, Type)                                         \
  {Type, MetaRole::Overlap, StepKind::Kind},
#define PIPEC_META_BATCH(Type) {Type, MetaRole::Batch},
#define PIPEC_META_IMPLIED(Type) {Type, MetaRole::Implied},
#include "IR/MetaSteps.def"
};

/// The parts of a step that its text contains.
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
      : reader(text, diags), lists(options, diags), diags(diags),
        released(text.begin()) {}

  FailureOr<Schedule> read();

private:
  bool readTop();
  bool readMembers();
  StringRef otherFile(StringRef key);
  bool readHead(StringRef key);
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
    return reader.consumeWord("None") || reader.consumeWord("null");
  }
  bool startsStep();
  /// The number of bytes to release in one system call.
  static constexpr size_t releasedAtOnce = size_t(64) << 20;

  LiteralReader reader;
  /// True while the members of an overlap are read.
  bool inSubSteps = false;
  /// True after a key has shown that the file is of another format.
  bool isOther = false;
  OrderLists lists;
  DiagEngine &diags;
  const char *released;
};

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool HyperParallelReader::readType(const MetaType *&type) {
  // `<MetaStepType.FWD: 1>` is the repr of the enumeration itself.
  bool isRepr = reader.consume('<');
  StringRef name;
  unsigned value;
  if (!reader.name("a type of MetaStep", name) ||
      (isRepr && (!reader.expect(':') || !reader.number(~0u, "number", value) ||
                  !reader.expect('>'))))
    return false;
  StringRef plain = name;
  plain.consume_front("MetaStepType.");
  type = std::ranges::find(metaTypes, plain, &MetaType::name);
  if (type != std::end(metaTypes))
    return true;
  type = nullptr;
  return reader.error(name, diag::OrderUnknownType, shortened(name));
}

bool HyperParallelReader::readSubSteps(MetaFields &fields, char close) {
  // Members are single steps, which bounds the recursion.
  if (inSubSteps)
    return reader.error(reader.since(reader.here()), diag::OrderOverlapMembers,
                        fields.type ? fields.type->name : "overlap",
                        "single steps");
  llvm::SaveAndRestore inside(inSubSteps, true);
  return reader.elements(close, [&] { return readStep(fields.members); });
}

bool HyperParallelReader::readField(StringRef key, MetaFields &fields) {
  if (key == "type")
    return readType(fields.type);
  if (key == "micro_index")
    return takeNone() ||
           reader.number(maxUnits, "micro-batch", fields.microbatch.emplace());
  if (key == "stage_index")
    return takeNone() ||
           reader.number(maxStages, "stage", fields.stage.emplace());
  if (key == "sub_steps") {
    if (takeNone())
      return true;
    char close = reader.at('(') ? ')' : ']';
    return reader.expect(close == ')' ? '(' : '[') &&
           readSubSteps(fields, close);
  }
  reader.skipValue();
  return true;
}

bool HyperParallelReader::readFields(MetaFields &fields, char separator,
                                     char close) {
  return reader.elements(close, [&] {
    StringRef key;
    return reader.name("the name of a field", key) &&
           reader.expect(separator) && readField(key, fields);
  });
}

/// Reads the rest of `["FWD", 7, 0]`.
bool HyperParallelReader::readArray(MetaFields &fields) {
  if (!readType(fields.type))
    return false;
  if (fields.type->hasMembers())
    return (reader.at(']') || reader.expect(',')) && readSubSteps(fields, ']');
  return reader.expect(',') && readField("micro_index", fields) &&
         reader.expect(',') && readField("stage_index", fields) &&
         reader.expect(']');
}

/// True if `members` are a forward and a backward, in this order if
/// `forwardFirst`, else in the other one.
static bool isOverlapPair(ArrayRef<Step> members, bool forwardFirst) {
  return members.size() == 2 && !members[0].joined() &&
         members[!forwardFirst].kind() == StepKind::F &&
         isCompute(members[forwardFirst].kind()) &&
         makesInputGradient(members[forwardFirst].kind());
}

/// Adds the steps of a MetaStep that begins at `begin`.
bool HyperParallelReader::make(const char *begin, const MetaFields &fields,
                               SmallVectorImpl<Step> &steps) {
  StringRef spelled = reader.since(begin);
  auto lacks = [&](StringRef what) {
    return reader.error(spelled, diag::OrderIndexMissing, shortened(spelled),
                        what);
  };
  if (!fields.type)
    return lacks("type");
  StepKind kind = fields.type->kind;
  if (fields.type->role == MetaRole::Batch) {
    if (fields.members.empty() || !all_of(fields.members, [](Step step) {
          return isP2P(step.kind()) && !step.joined();
        }))
      return reader.error(spelled, diag::OrderOverlapMembers, fields.type->name,
                          "transfers");
    llvm::append_range(steps, fields.members);
    for (Step &step : MutableArrayRef(steps).take_back(fields.members.size()))
      step.setJoined(&step != &steps.back());
    return true;
  }
  if (fields.type->role == MetaRole::Overlap) {
    bool forwardFirst = kind == StepKind::F;
    if (!isOverlapPair(fields.members, forwardFirst))
      return reader.error(spelled, diag::OrderOverlapMembers, fields.type->name,
                          forwardFirst ? "a forward and a backward"
                                       : "a backward and a forward");
    llvm::append_range(steps, fields.members);
    steps[steps.size() - 2].setJoined(true);
    return true;
  }
  if (hasUnit(kind) && !fields.microbatch)
    return lacks("micro-batch");
  if (!fields.stage)
    return lacks("stage");
  if (fields.type->role == MetaRole::Implied)
    return true;
  steps.push_back(Step(kind, *fields.stage,
                       hasUnit(kind) ? *fields.microbatch : 0, 0,
                       reader.locOf(begin)));
  return true;
}

bool HyperParallelReader::readStep(SmallVectorImpl<Step> &steps) {
  SourceLoc place = reader.next();
  const char *begin = reader.here();
  if (!inSubSteps && takeNone()) {
    steps.push_back(Step(StepKind::Bubble, 0, 0, 0, place));
    return true;
  }
  MetaFields fields;
  auto finish = [&](const char *first) {
    if (inSubSteps && fields.type && fields.type->role != MetaRole::Single)
      return reader.error(reader.since(begin), diag::OrderOverlapMembers,
                          fields.type->name, "single steps");
    return make(first, fields, steps);
  };
  if (reader.consume('['))
    return readArray(fields) && finish(begin);
  if (reader.consume('{'))
    return readFields(fields, ':', '}') && finish(begin);
  char quote = reader.atQuote() ? *reader.here() : 0;
  if (quote)
    reader.consume(quote);
  const char *call = reader.here();
  if (!reader.consumeWord("MetaStep")) {
    reader.rewind(begin);
    return reader.expected("a step");
  }
  return reader.expect('(') && readFields(fields, '=', ')') && finish(call) &&
         (!quote || reader.expect(quote));
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// Reads one list, of `rank` or of the next one.
bool HyperParallelReader::readList(std::optional<unsigned> rank) {
  StepList *list = lists.begin(rank, reader.next());
  if (!list || !reader.expect('['))
    return false;
  SmallVector<Step, 2> steps;
  return reader.elements(']', [&] {
    steps.clear();
    if (!readStep(steps))
      return false;
    for (Step step : steps)
      lists.add(*list, step);
    if (size_t(reader.here() - released) >= releasedAtOnce) {
      released = reader.here();
      diags.sourceFiles().releaseBefore(SMLoc::getFromPointer(released));
    }
    return true;
  });
}

/// True if an element of a list is a step, not a list of steps.
bool HyperParallelReader::startsStep() {
  if (!reader.at('['))
    return reader.at('{') || reader.atQuote() || reader.atWord("None") ||
           reader.atWord("null") || reader.atWord("MetaStep");
  const char *begin = reader.here();
  reader.consume('[');
  bool isArray = reader.atQuote();
  if (isArray) {
    reader.consume(*reader.here());
    isArray = !reader.atWord("MetaStep");
  }
  reader.rewind(begin);
  return isArray;
}

bool HyperParallelReader::readLists() {
  if (reader.consume('{'))
    return readMembers();
  return reader.expect('[') &&
         reader.elements(']', [&] { return readList(std::nullopt); });
}

/// Returns what the file is if `key`, whose value is next, shows that it is of
/// another format; empty if it may be an order.
StringRef HyperParallelReader::otherFile(StringRef key) {
  StringRef format;
  if (key == "format" && reader.atQuote() && !reader.string(format))
    return "";
  if (key == "nodes" || format.starts_with("pipec-primus"))
    return "a table of Primus, which pipec does not read";
  if (key == "tasks" || format.starts_with("pipec-jaxpp"))
    return "a list of tasks of JaxPP, which pipec does not read";
  if (format.starts_with("pipec-te-order"))
    return "an order for Transformer Engine";
  if (key == "order")
    return "an order for Transformer Engine without its `format` at the "
           "beginning";
  return "";
}

/// Reads the value of `key`, which is not the number of a rank.
bool HyperParallelReader::readHead(StringRef key) {
  if (isOther) {
    reader.skipValue();
    return true;
  }
  if (key == "exec_order")
    return readLists();
  if (key == "schedule" && reader.at('"')) {
    const char *begin = reader.here();
    StringRef name;
    if (!reader.string(name))
      return false;
    Expected<json::Value> parsed = parseJson(reader.since(begin));
    if (parsed)
      lists.setName(*parsed->getAsString());
    else
      consumeError(parsed.takeError());
    return true;
  }
  if (std::optional<bool> good = lists.readShared(reader, key))
    return *good;
  StringRef other = otherFile(key);
  isOther = !other.empty();
  return isOther ? reader.error(key, diag::OrderOther, other)
                 : reader.error(key, diag::OrderExpected,
                                "a rank or a key of an order",
                                "`" + shortened(key) + "`");
}

/// Reads the rest of an object: lists by rank, or the keys that
/// `--emit=hyperparallel` writes.
bool HyperParallelReader::readMembers() {
  return reader.members("a rank or a key", [&](StringRef key) {
    if (key.empty() || !all_of(key, isDigit))
      return readHead(key);
    unsigned rank;
    if (key.getAsInteger(10, rank) || rank >= maxRanks)
      return reader.error(key, diag::OrderNumberTooLarge, "rank",
                          shortened(key), maxRanks - 1);
    return readList(rank);
  });
}

bool HyperParallelReader::readTop() {
  if (reader.consume('{'))
    return readMembers();
  // Lists after each other, or one list of lists.
  while (!reader.atEnd()) {
    const char *begin = reader.here();
    if (!reader.expect('['))
      return false;
    bool isList = startsStep() || reader.at(']');
    reader.rewind(begin);
    if (!(isList ? readList(std::nullopt) : readLists()))
      return false;
    reader.consume(',');
  }
  return true;
}

FailureOr<Schedule> HyperParallelReader::read() {
  if (!readTop() ||
      (!reader.atEnd() && !reader.expected("the end of the file")))
    return failure();
  return lists.finish(reader.start());
}

} // namespace

/// Makes each batch one batch per peer, in the order of their first transfers.
static void splitBatchesByPeer(Schedule &schedule) {
  DataFlow flow(schedule);
  auto peerOf = [&](Step step) {
    const DataFlow::Port *port = flow.transfer(step);
    return port ? port->rank : maxRanks;
  };
  std::vector<Step> rest, other;
  for (StepList &list : schedule.ranks)
    for (size_t begin = 0, end; begin < list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (end == begin + 1 || !isP2P(list[begin].kind()))
        continue;
      rest.assign(list.begin() + begin, list.begin() + end);
      for (size_t at = begin; !rest.empty(); std::swap(rest, other)) {
        other.clear();
        unsigned peer = peerOf(rest.front());
        for (Step step : rest) {
          step.setJoined(true);
          if (peerOf(step) == peer)
            list[at++] = step;
          else
            other.push_back(step);
        }
        list[at - 1].setJoined(false);
      }
    }
}

FailureOr<Schedule> importHyperParallel(StringRef text,
                                        const ListOptions &options,
                                        DiagEngine &diags) {
  diags.sourceFiles().setItems(text, LiteralReader::itemLength);
  FailureOr<Schedule> schedule =
      HyperParallelReader(text, options, diags).read();
  if (succeeded(schedule))
    splitBatchesByPeer(*schedule);
  return schedule;
}

bool looksLikeHyperParallel(StringRef text) {
  text = text.ltrim();
  return text.starts_with("{") || text.starts_with("[");
}

} // namespace pipec
