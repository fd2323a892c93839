//===- Passes.cpp - The tables of passes and targets ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transforms/Passes.h"

using namespace llvm;

namespace pipec {

StringRef choicesOf(WaitModel) {
#define PIPEC_WAIT_MODEL(Id, Name, Phrase, Queues, Holds, InAll, Implied)      \
  "|" Name
  return StringRef(
#include "Waiting/WaitModels.def"
             )
      .drop_front();
}

FailureOr<CommModel> readModel(const ModelOrFile &value, DiagEngine &diags) {
  if (value.value)
    return openCommunicators(value.value->path, diags);
  return CommModel(value.choice);
}

StringRef choicesOf(Target) {
#define PIPEC_TARGET_RULES(Id, Name, Rules) "|" Name
  return StringRef(
#include "Frameworks/Targets.def"
             )
      .drop_front();
}

// The passes whose results may depend on the costs or memory settings of the
// schedule.
static bool usesCosts(const DeferWeightOptions &) { return true; }
static bool usesCosts(const InjectOffloadOptions &) { return true; }
static bool usesCosts(const InjectRecomputeOptions &) { return true; }
static bool usesCosts(const InsertP2POptions &options) {
  return options.order == P2POrder::Timed || options.order == P2POrder::Search;
}
static bool usesCosts(const SimulateOptions &) { return true; }
template <typename Options> static bool usesCosts(const Options &) {
  return false;
}

namespace {

/// A function that runs a pass, with its options.
template <typename Options,
          LogicalResult (*runPass)(Schedule &, const Options &, DiagEngine &)>
class PassWith : public Pass {
public:
  explicit PassWith(const Options &options) : options(options) {}
  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    return runPass(schedule, options, diags);
  }
  bool usesCosts() const override { return pipec::usesCosts(options); }

private:
  Options options;
};

} // namespace

/// Reads the text of one option if it was given; returns false if it is
/// invalid.
template <typename T>
static bool readOption(T &option, std::optional<StringRef> text) {
  return !text || PassOptionType<T>::parse(*text, option);
}

#define PIPEC_PASS(Class, Name, Summary, Description, Needs, Ensures, Cost)    \
  std::unique_ptr<Pass> make##Class(const Class##Options &options) {           \
    return std::make_unique<PassWith<Class##Options, run##Class>>(options);    \
  }                                                                            \
  static PassInfo::Made makeFrom##Class(const PassOptionTexts &texts) {        \
    Class##Options options;                                                    \
    [[maybe_unused]] unsigned next = 0;
#define PIPEC_OPTION(Class, Type, Field, Name, Default, Help)                  \
  if (!readOption(options.Field, texts[next]))                                 \
    return {nullptr, next};                                                    \
  ++next;
#define PIPEC_PASS_END(Class)                                                  \
  return {make##Class(options), 0};                                            \
  }
#include "Transforms/Passes.def"

static std::vector<PassInfo> makePassTable() {
  std::vector<PassInfo> table;
#define PIPEC_PASS(Class, Name, Summary, Description, Needs, Ensures, Cost)    \
  table.push_back({Name,                                                       \
                   Summary,                                                    \
                   Description,                                                \
                   Needs,                                                      \
                   Ensures,                                                    \
                   Cost,                                                       \
                   makeFrom##Class,                                            \
                   {}});
#define PIPEC_OPTION(Class, Type, Field, Name, Default, Help)                  \
  table.back().options.push_back({Name, PassOptionType<Type>::describe(),      \
                                  PassOptionType<Type>::print(Default),        \
                                  Help});
#include "Transforms/Passes.def"
  return table;
}

static constexpr PipelineInfo targets[] = {
#define PIPEC_TARGET(Name, Summary, Passes, Guarantees)                        \
  {Name, Summary, Passes, Guarantees},
#include "Frameworks/Targets.def"
};

const PassRegistry &allPasses() {
  static const std::vector<PassInfo> passes = makePassTable();
  static const PassRegistry registry = {passes, targets};
  return registry;
}

std::optional<WaitModel> modelOfTarget(StringRef target) {
#define PIPEC_TARGET_MODEL(Name, Model)                                        \
  if (target == Name)                                                          \
    return WaitModel::Model;
#include "Frameworks/Targets.def"
  return std::nullopt;
}

std::optional<std::string> passesFor(StringRef target,
                                     const CommunicatorForm &form) {
  for (const PipelineInfo &info : targets) {
    auto [before, after] = StringRef(info.passes).split("order=search,");
    if (info.name != target || after.empty())
      continue;
    StringRef model = waitModelName(form.model);
    auto [rest, check] = after.split("detect-deadlock{model=stream}");
    return (before + "order=search,model=" + model + "," + rest +
            "detect-deadlock{model=" + model + ",require=" + model + "}" +
            check)
        .str();
  }
  return std::nullopt;
}

static void printOption(raw_ostream &os, const PassOptionInfo &option) {
  os << "- `" << option.name << "=" << option.values << "`: " << option.help;
  if (!option.defaultValue.empty())
    os << " (default `" << option.defaultValue << "`)";
  os << '\n';
}

void printPassPage(raw_ostream &os) {
  os << R"(# Passes

<!-- Made by `pipec-opt --doc-passes` from the tables of passes and targets. -->

A pass transforms a schedule, or checks it. `--passes` runs passes in the order
in which they are given, each with its options in braces:

```
pipec-opt --passes='strip-bubbles,insert-p2p{order=simulate}' in.steps -o out.steps
```

A pass that fails reports why and leaves the schedule unchanged. *Needs* and
*Ensures* refer to the levels of the verifier ([StepIR.md](StepIR.md#well-formed-schedules)).
A step that a pass creates keeps the source location of the step that it is
derived from. Start times are removed unless the description of the pass says
otherwise, since another order has other times.

`--print-after-all` prints the schedule after every pass, `--verify-each` runs
the verifier after every pass (the default in debug builds), and
`--time-passes` prints how long each pass took.

)";
  const PassRegistry &registry = allPasses();
  for (const PassInfo &pass : registry.passes)
    os << "- [`" << pass.name << "`](#" << pass.name << "): " << pass.summary
       << '\n';
  for (const PassInfo &pass : registry.passes) {
    os << "\n## " << pass.name << "\n\n" << pass.description << "\n\n";
    for (const PassOptionInfo &option : pass.options)
      printOption(os, option);
    if (!pass.options.empty())
      os << '\n';
    os << "**Needs** " << pass.needs << ".\n\n";
    os << "**Ensures** " << pass.ensures << ".\n\n";
    os << "**Cost** " << pass.cost << ".\n";
  }
  os << R"(
# Targets

A target is a named list of passes. `--target=NAME` runs it, and `--passes`
accepts its name like that of a pass: `--passes=merge-backward,torch`.

)";
  for (const PipelineInfo &target : registry.pipelines) {
    os << "## " << target.name << "\n\nFor " << target.summary << ".";
    const PipelineInfo *same =
        find_if(registry.pipelines, [&](const PipelineInfo &other) {
          return other.passes == target.passes;
        });
    if (same != &target)
      os << " The passes, and what they guarantee, are those of `" << same->name
         << "`.\n\n";
    else
      os << " Passes: `" << target.passes << "`\n\n**Guarantees** "
         << target.guarantees << ".\n\n";
  }
  printRulePage(os);
}

} // namespace pipec
