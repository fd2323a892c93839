//===- InputFormat.cpp - The input formats --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/InputFormat.h"

#include "Import/Lists.h"
#include "Import/Readers.h"
#include "Parse/Parser.h"
#include "StepText/StepParser.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// The text from its first word outside comments on.
static StringRef firstWords(StringRef text) {
  text.consume_front(byteOrderMark);
  text = text.ltrim();
  while (text.consume_front("//"))
    text = text.drop_until([](char c) { return c == '\n'; }).ltrim();
  return text;
}

static bool sniffSteps(StringRef text) {
  return firstWords(text).starts_with("pipec-steps");
}

/// Cells begin with a stage, a bracket or a quote, empty ones with a comma.
/// Programs do not begin with any of these.
static bool sniffCsv(StringRef text) {
  text = firstWords(text);
  return !text.empty() &&
         (isDigit(text[0]) || StringRef(",(\"").contains(text[0]));
}

/// Orders begin with a list or an object, programs with a word.
static bool sniffHyperParallel(StringRef text) {
  return looksLikeHyperParallel(firstWords(text));
}

static bool sniffTeOrder(StringRef text) {
  return looksLikeTeOrder(firstWords(text));
}

static bool sniffAny(StringRef) { return true; }

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static FailureOr<Schedule> readSteps(StringRef, StringRef text,
                                     const InputOptions &, DiagEngine &diags) {
  return parseSteps(text, diags);
}

/// The name of a schedule from `path`: the file name with `_` in place of all
/// characters that names may not contain; `otherwise` for standard input.
static std::string scheduleName(StringRef path, StringRef otherwise) {
  std::string name = sys::path::stem(path).str();
  for (char &c : name)
    if (!isAlnum(c))
      c = '_';
  if (name.empty() || path == "-")
    return otherwise.str();
  return isDigit(name[0]) ? "_" + name : name;
}

/// The options of a reader, for a schedule of this name.
static ListOptions listOptions(StringRef name, const InputOptions &options) {
  ListOptions list;
  list.name = name;
  // The reader can point at the place that differs.
  auto only = [](const std::optional<WantedSize> &size) {
    std::optional<unsigned> number;
    if (size && size->numbers.size() == 1 && isUInt<32>(size->numbers[0]))
      number = size->numbers[0];
    return number;
  };
  list.ranks = only(options.ranks);
  list.stages = only(options.stages);
  list.microbatches = only(options.microbatches);
  list.present = options.present;
  list.graph = options.graph;
  list.slices = options.slices.value_or(1);
  if (options.dialect == "torch-2.5")
    list.dialect = CsvDialect::Torch25;
  return list;
}

/// Reads the groups of `--tie`, such as `0+4,1+3`, or `none`.
static LogicalResult readTies(StringRef value,
                              std::vector<std::vector<int64_t>> &groups,
                              DiagEngine &diags) {
  SmallVector<StringRef> parts;
  if (value != "none")
    value.split(parts, ',');
  for (StringRef part : parts) {
    SmallVector<StringRef> members;
    part.split(members, '+');
    std::vector<int64_t> &group = groups.emplace_back();
    for (StringRef member : members) {
      unsigned stage = 0;
      if (member.trim().getAsInteger(10, stage))
        return diags.report(DiagLoc(), diag::OptionValue, shortened(part),
                            shortened(("--tie=" + value).str()),
                            "a group of stages, such as 0+3");
      group.push_back(stage);
    }
  }
  return success();
}

static FailureOr<Schedule> readCsv(StringRef path, StringRef text,
                                   const InputOptions &options,
                                   DiagEngine &diags) {
  std::string name = scheduleName(path, "csv");
  ListOptions list = listOptions(name, options);
  if (options.ties &&
      failed(readTies(*options.ties, list.ties.emplace(), diags)))
    return failure();
  return importCsv(text, list, diags);
}

/// Reads an order, which has no stage graph.
static FailureOr<Schedule> readOrder(decltype(importTeOrder) *import,
                                     StringRef text, const std::string &name,
                                     const InputOptions &options,
                                     DiagEngine &diags) {
  ListOptions list = listOptions(name, options);
  FailureOr<Schedule> schedule = import(text, list, diags);
  if (failed(schedule) || failed(ListGraph().apply(*schedule, list, diags)))
    return failure();
  return schedule;
}

static FailureOr<Schedule> readHyperParallel(StringRef path, StringRef text,
                                             const InputOptions &options,
                                             DiagEngine &diags) {
  return readOrder(importHyperParallel, text,
                   scheduleName(path, "hyperparallel"), options, diags);
}

static FailureOr<Schedule> readTeOrder(StringRef path, StringRef text,
                                       const InputOptions &options,
                                       DiagEngine &diags) {
  if (!options.present.empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, "--ranks-present",
                        "on an order for Transformer Engine, which has a list "
                        "of every rank");
  return readOrder(importTeOrder, text, scheduleName(path, "te_order"), options,
                   diags);
}

static constexpr InputFormat formats[] = {
#define PIPEC_INPUT_FORMAT(Kind, Name, Extension, Sniff, Read, Summary)        \
  {InputKind::Kind, Name, Extension, Sniff, Read, Summary},
#include "Driver/InputFormats.def"
};

ArrayRef<InputFormat> allInputFormats() { return formats; }

const InputFormat &inputFormat(InputKind kind) { return formats[size_t(kind)]; }

InputKind inputKind(StringRef path, StringRef text, const Arguments &args) {
  auto kindBy = [](auto fits) {
    const InputFormat *it = find_if(formats, fits);
    return it == std::end(formats) ? nullptr : it;
  };
  StringRef name = args.text(Opt::Input);
  const InputFormat *format =
      kindBy([&](const InputFormat &format) { return format.name == name; });
  auto hasExtension = [&](const InputFormat &format) {
    return sys::path::extension(path).equals_insensitive(format.extension);
  };
  if (!format)
    format = kindBy([&](const InputFormat &format) {
      return hasExtension(format) && format.sniff(text);
    });
  if (!format)
    format = kindBy(hasExtension);
  if (!format)
    format =
        kindBy([&](const InputFormat &format) { return format.sniff(text); });
  return format->kind;
}

uint64_t maxInputBytes(InputKind kind) {
  return kind == InputKind::Program ? maxSourceBytes : noByteLimit;
}

static LogicalResult checkSizes(const InputOptions &options,
                                const Schedule &schedule, DiagEngine &diags) {
  for (auto [wanted, number, noun, plural] :
       {std::tuple(&options.ranks, schedule.numRanks, "rank", "ranks"),
        {&options.stages, schedule.numStages, "stage", "stages"},
        {&options.microbatches,
         options.slices ? schedule.numUnits : schedule.numMicrobatches(),
         "micro-batch", "micro-batches"}}) {
    if (!*wanted || is_contained((*wanted)->numbers, int64_t(number)))
      continue;
    std::string numbers;
    for (int64_t one : (*wanted)->numbers)
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(one);
    return diags.report(schedule.source, diag::SizeDiffers, schedule.name,
                        number, number == 1 ? noun : plural, (*wanted)->written,
                        shortened(numbers));
  }
  return success();
}

/// Sets the stages that the header of a CSV reduces, by `value` of `--reduce`,
/// and the stages that it shards, by their UNSHARDs.
static LogicalResult setReduced(StringRef value, Schedule &schedule,
                                DiagEngine &diags) {
  std::string written = ("--reduce=" + value).str();
  if (!schedule.hasFsdp())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, written,
                        "on a CSV without FSDP steps");
  SmallVector<StringRef> parts;
  if (value != "none")
    value.split(parts, ',');
  std::vector<bool> reduced(schedule.numStages), sharded(schedule.numStages);
  for (StringRef part : parts) {
    unsigned stage = 0;
    if (part.trim().getAsInteger(10, stage) || stage >= schedule.numStages)
      return diags.report(DiagLoc(), diag::OptionValue, shortened(part),
                          shortened(written), "a stage of the schedule");
    reduced[stage] = true;
  }
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (step.kind() == StepKind::Unshard)
        sharded[step.stage()] = true;
  auto numbers = [](const std::vector<bool> &chosen) {
    std::vector<unsigned> stages;
    for (auto [stage, isChosen] : enumerate(chosen))
      if (isChosen)
        stages.push_back(stage);
    return stages;
  };
  FsdpSettings &fsdp = schedule.fsdp.emplace();
  fsdp.reduced = numbers(reduced);
  if (is_contained(sharded, false))
    fsdp.stages = numbers(sharded);
  return success();
}

FailureOr<Schedule> readStepInput(InputKind kind, StringRef path,
                                  StringRef text, const InputOptions &options,
                                  DiagEngine &diags) {
  auto useless = [&](const Twine &option, StringRef where) {
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, option.str(),
                        where);
  };
  StringRef notCsv = "on an input that is not a CSV";
  if (!options.dialect.empty() && kind != InputKind::Csv)
    return useless("--dialect=" + options.dialect, notCsv);
  if (options.reduced && kind != InputKind::Csv)
    return useless("--reduce=" + *options.reduced, notCsv);
  if (options.ties && kind != InputKind::Csv)
    return useless("--tie=" + *options.ties, notCsv);
  if (options.slices && kind != InputKind::Csv)
    return useless("--slices=" + Twine(*options.slices),
                   kind == InputKind::Steps
                       ? "on step IR, whose header has the slices"
                       : notCsv);
  if (!options.present.empty() && kind == InputKind::Steps)
    return useless("--ranks-present",
                   "on step IR, which has a list of every rank");
  if (!options.graph.empty() && kind == InputKind::Steps)
    return useless(options.graph.replaces() ? "--graph" : "--connect",
                   "on step IR, whose header has the stage graph");
  text.consume_front(byteOrderMark);
  FailureOr<Schedule> schedule =
      inputFormat(kind).read(path, text, options, diags);
  if (failed(schedule) || failed(checkSizes(options, *schedule, diags)) ||
      (options.reduced &&
       failed(setReduced(*options.reduced, *schedule, diags))))
    return failure();
  return schedule;
}

} // namespace pipec
