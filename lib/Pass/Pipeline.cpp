//===- Pipeline.cpp - A list of passes from text --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Pass/PassRegistry.h"

#include "Pass/PassOptions.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Option types and registry
//===----------------------------------------------------------------------===//

bool PassOptionType<std::vector<unsigned>>::parse(
    StringRef text, std::vector<unsigned> &value) {
  SmallVector<StringRef> parts;
  text.split(parts, '+');
  value.clear();
  for (StringRef part : parts)
    if (part.getAsInteger(10, value.emplace_back()))
      return false;
  return true;
}

std::string PassOptionType<std::vector<unsigned>>::print(
    const std::vector<unsigned> &value) {
  return join(map_range(value, [](unsigned n) { return utostr(n); }), "+");
}

template <typename Info>
static const Info *findIn(ArrayRef<Info> table, StringRef name) {
  const Info *it =
      find_if(table, [&](const Info &info) { return info.name == name; });
  return it == table.end() ? nullptr : it;
}

const PassInfo *PassRegistry::findPass(StringRef name) const {
  return findIn(passes, name);
}

const PipelineInfo *PassRegistry::findPipeline(StringRef name) const {
  return findIn(pipelines, name);
}

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

namespace {

/// Parses one text; the text of a named pipeline has a reader of its own.
class PipelineReader {
public:
  PipelineReader(StringRef text, const PassRegistry &registry,
                 DiagEngine &diags, Pipeline &result)
      : text(text), registry(registry), diags(diags), result(result) {}

  LogicalResult read() {
    if (text.trim().empty())
      return success();
    bool good = true;
    do {
      // Parsing stops at a syntax error, but continues after an error in the
      // meaning of an entry.
      if (failed(readEntry(good)))
        return failure();
      skipSpace();
      if (at == text.size())
        return success(good);
    } while (consume(','));
    return unexpected("`,`");
  }

private:
  struct Given {
    StringRef name;
    StringRef value;
  };

  LogicalResult readEntry(bool &good) {
    skipSpace();
    size_t start = at;
    StringRef name = word();
    if (name.empty())
      return unexpected("the name of a pass");
    SmallVector<Given, 4> given;
    if (consume('{') && failed(readOptions(given)))
      return failure();
    StringRef entry = text.slice(start, at).rtrim();
    if (const PassInfo *info = registry.findPass(name))
      good &= succeeded(addPass(*info, entry, given));
    else if (const PipelineInfo *info = registry.findPipeline(name))
      good &= succeeded(addPipeline(*info, given));
    else
      good &= succeeded(unknownPass(name));
    return success();
  }

  LogicalResult readOptions(SmallVectorImpl<Given> &given) {
    skipSpace();
    if (consume('}'))
      return success();
    do {
      skipSpace();
      StringRef name = word();
      if (name.empty())
        return unexpected("the name of an option");
      StringRef value;
      if (consume('=')) {
        size_t start = at;
        at = std::min(text.find_first_of(",{}", at), text.size());
        value = text.slice(start, at).trim();
        if (value.empty())
          return unexpected("a value");
      }
      given.push_back({name, value});
      skipSpace();
    } while (consume(','));
    return consume('}') ? success() : unexpected("`,` or `}`");
  }

  LogicalResult addPass(const PassInfo &info, StringRef entry,
                        ArrayRef<Given> given) {
    PassOptionTexts texts(info.options.size());
    for (const Given &option : given) {
      auto it =
          std::ranges::find(info.options, option.name, &PassOptionInfo::name);
      if (it == info.options.end())
        return unknownOption(info, option.name);
      auto &slot = texts[it - info.options.begin()];
      if (slot)
        return diags.report(DiagLoc(), diag::PassOptionTwice, option.name,
                            info.name);
      slot = option.value;
    }
    PassInfo::Made made = info.make(texts);
    if (!made.pass) {
      const PassOptionInfo &option = info.options[made.badOption];
      return diags.report(DiagLoc(), diag::PassOptionValue,
                          *texts[made.badOption], option.name, info.name,
                          option.values);
    }
    result.push_back({&info, entry.str(), std::move(made.pass)});
    return success();
  }

  LogicalResult addPipeline(const PipelineInfo &info, ArrayRef<Given> given) {
    if (!given.empty())
      return diags.report(DiagLoc(), diag::TargetOption, info.name,
                          given.front().name);
    return PipelineReader(info.passes, registry, diags, result).read();
  }

  /// Notes which of `names` is meant by `name`, or otherwise all of them.
  static InFlightDiagnostic withNames(InFlightDiagnostic diagnostic,
                                      StringRef name, ArrayRef<StringRef> names,
                                      auto noteOfAll) {
    if (StringRef near = nearestWord(name, names); !near.empty())
      diagnostic.note(DiagLoc(), diag::NoteDidYouMean, near);
    else if (!names.empty())
      diagnostic.note(DiagLoc(), noteOfAll, join(names, "`, `"));
    return diagnostic;
  }

  LogicalResult unknownPass(StringRef name) {
    SmallVector<StringRef> names;
    for (const PassInfo &info : registry.passes)
      names.push_back(info.name);
    for (const PipelineInfo &info : registry.pipelines)
      names.push_back(info.name);
    return withNames(
        diags.report(DiagLoc(), diag::UnknownPass, shortened(name)), name,
        names, diag::NoteChoices);
  }

  LogicalResult unknownOption(const PassInfo &info, StringRef name) {
    SmallVector<StringRef> names;
    for (const PassOptionInfo &option : info.options)
      names.push_back(option.name);
    return withNames(
        diags.report(DiagLoc(), diag::UnknownPassOption, info.name, name), name,
        names, diag::NotePassOptions);
  }

  LogicalResult unexpected(StringRef what) {
    StringRef rest = text.drop_front(at);
    InFlightDiagnostic error = diags.report(
        DiagLoc(), diag::PipelineSyntax, what,
        rest.empty() ? "at the end of" : "before `" + shortened(rest) + "` in");
    // Options in parentheses, as in other compilers.
    if (size_t close = rest.find(')');
        rest.starts_with("(") && close != StringRef::npos)
      error.note(DiagLoc(), diag::NoteDidYouMean,
                 shortened((text.take_front(at) + "{" + rest.slice(1, close) +
                            "}" + rest.drop_front(close + 1))
                               .str()));
    return error;
  }

  StringRef word() {
    size_t start = at;
    while (at != text.size() &&
           (isAlnum(text[at]) || StringRef("-_.").contains(text[at])))
      ++at;
    StringRef found = text.slice(start, at);
    skipSpace();
    return found;
  }

  bool consume(char c) {
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  void skipSpace() {
    while (at != text.size() && isSpace(text[at]))
      ++at;
  }

  StringRef text;
  size_t at = 0;
  const PassRegistry &registry;
  DiagEngine &diags;
  Pipeline &result;
};

} // namespace

FailureOr<Pipeline> parsePipeline(StringRef text, const PassRegistry &registry,
                                  DiagEngine &diags) {
  Pipeline result;
  if (failed(PipelineReader(text, registry, diags, result).read()))
    return failure();
  return result;
}

} // namespace pipec
