//===- TorchConfig.cpp - --emit=torch-config: how to use a CSV ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's CSV does not contain the numbers of ranks, stages and
// micro-batches; this JSON file accompanies it. docs/Csv.md lists the keys.
//
// torchtitan (torchtitan/distributed/pipeline_parallel.py) and NeMo AutoModel
// (components/distributed/pipelining/functional.py) load a `compute_only` CSV,
// but place the stages by the name of a schedule in their configuration:
//
//   name               placement                       stages per rank
//   1F1B               loop: stage s on rank s % p     1
//   Interleaved1F1B    loop                            2 and more
//   ZBVZeroBubble      V: stage s on rank s, then
//                      2p-1-s                          2
//
// Other placements have no settings: a warning says so, and the settings are
// null.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"
#include "Frameworks/ModuleNames.h"
#include "Frameworks/TargetCheck.h"
#include "IR/RegularPlacements.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Json.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class ConfigWriter {
public:
  ConfigWriter(const Schedule &schedule, StringRef csv, json::OStream &json,
               DiagEngine &diags)
      : schedule(schedule), csv(json::fixUTF8(csv)), json(json), diags(diags),
        map(schedule.placement.map(0)) {
    for (const StepList &list : schedule.ranks)
      for (Step step : list) {
        transfers |= !isCompute(step.kind()) && step.kind() != StepKind::Bubble;
        waitable |= isSend(step.kind()) || step.kind() == StepKind::ReduceGrad;
        waits |= isWait(step.kind());
        halves |= step.kind() == StepKind::I;
        overlaps |= step.joined() && isCompute(step.kind());
      }
    if (ownTransfers())
      safe = endsUnder(schedule, Transfers(schedule));
  }

  void write() {
    json.attributeObject("params", [&] {
      for (const auto &[name, value] : schedule.params)
        json.attribute(json::fixUTF8(name), value);
    });
    json.attribute("split_backward", halves);
    json.attribute("overlap", overlaps);
    writeSafe();
    writeTorch();
    StringRef name = placementName();
    if (!name.empty())
      checkModuleNames(schedule, diags);
    writeTorchtitan(name);
    writeAutoModel(name);
    writeNotes(commonNotes());
  }

private:
  /// The communication models under which the lists finish; null without
  /// transfers, which PyTorch then adds.
  void writeSafe() {
    if (!ownTransfers()) {
      json.attribute("safe", nullptr);
      return;
    }
    json.attributeObject("safe", [&] {
      for (WaitModel model : mainWaitModels())
        json.attribute(waitModelName(model), safe[model]);
    });
  }

  bool ownTransfers() const {
    return schedule.hasP2P() || schedule.numRanks == 1;
  }

  /// The settings of PyTorch's runtime. Since 2.15 lists may have waits for
  /// sends and reductions, which earlier versions cannot read.
  void writeTorch() {
    bool before = !waits, since = waits || !waitable;
    bool needsEdge = since && ownTransfers() && !safe[WaitModel::Stream] &&
                     safe[WaitModel::Edge];
    json.attributeObject("torch", [&] {
      json.attribute("version", before && since ? ">=2.6"
                                : before        ? ">=2.6,<2.15"
                                                : ">=2.15");
      json.attribute("class", "_PipelineScheduleRuntime");
      json.attribute("format", transfers ? "compute_comms" : "compute_only");
      json.attribute("n_microbatches", schedule.numUnits);
      json.attributeObject("environment", [&] {
        if (needsEdge)
          json.attribute("TORCH_DISTRIBUTED_PIPELINE_PER_EDGE_P2P", "1");
      });
      std::vector<std::string> notes;
      if (needsEdge)
        notes.push_back("the lists end under the models edge and buffered "
                        "only: PyTorch 2.15 gives each directed edge a "
                        "communicator of its own where "
                        "TORCH_DISTRIBUTED_PIPELINE_PER_EDGE_P2P is 1");
      writeNotes(notes);
    });
  }

  /// The name for which the frameworks place the stages as in the schedule;
  /// empty if there is none. Reports the first stage with another placement.
  StringRef placementName() {
    unsigned ranks = schedule.numRanks;
    bool even = map.size() % ranks == 0;
    unsigned off = firstStageOff(map, ranks, rankInLoop);
    if (even && off == map.size())
      return map.size() == ranks ? "1F1B" : "Interleaved1F1B";
    if (isV(map, ranks))
      return "ZBVZeroBubble";
    auto warning =
        diags.report(schedule.source, diag::StagesElsewhere, schedule.name);
    if (!even)
      warning.note(DiagLoc(), diag::NoteStagesUneven, map.size(), ranks);
    else
      warning.note(DiagLoc(), diag::NoteStageElsewhere, off, map[off],
                   rankInLoop(off, ranks));
    return {};
  }

  unsigned stagesOfRank() const { return map.size() / schedule.numRanks; }

  /// The settings of a framework by their full names.
  using Settings = std::vector<std::pair<StringRef, json::Value>>;

  /// The settings of a framework that places stages by the name of a schedule,
  /// with notes on them.
  void writeFramework(
      StringRef key, StringRef name, const Settings &settings,
      std::vector<std::string> notes, function_ref<void()> writeMore = [] {}) {
    json.attributeObject(key, [&] {
      json.attribute("format", "compute_only");
      if (name.empty()) {
        json.attribute("settings", nullptr);
        writeNotes({std::string(
            "stages are placed by the name of a schedule, and no name gives "
            "this placement; load the CSV with _PipelineScheduleRuntime and "
            "stages of your own")});
        return;
      }
      json.attributeObject("settings", [&] {
        for (const auto &[setting, value] : settings)
          json.attribute(setting, value);
      });
      writeMore();
      addFrameworkNotes(notes);
      writeNotes(notes);
    });
  }

  void writeTorchtitan(StringRef name) {
    constexpr StringLiteral partsKey = "parallelism.module_fqns_per_model_part";
    Settings settings = {
        {"parallelism.pipeline_parallel_degree", schedule.numRanks},
        {"parallelism.pipeline_parallel_schedule", name},
        {"parallelism.pipeline_parallel_schedule_csv", csv},
        {"parallelism.pipeline_parallel_microbatch_size", 1},
        {"training.local_batch_size", schedule.numUnits},
        {"training.disable_cuda_graphs", true}};
    bool named = addModules(settings, partsKey, titanNames);
    std::vector<std::string> notes = {
        "training.local_batch_size is the number of micro-batches times "
        "parallelism.pipeline_parallel_microbatch_size; versions without "
        "these take parallelism.num_pp_microbatches = " +
            utostr(schedule.numUnits),
        "torchtitan 0.3 refuses pipeline parallelism with CUDA graphs, so "
        "training.disable_cuda_graphs is set; versions without this setting "
        "need nothing in its place"};
    if (!named)
      addLayersNotes(notes, "parallelism.pipeline_parallel_layers_per_stage",
                     "torchtitan", partsKey);
    writeFramework("torchtitan", name, settings, std::move(notes), [&] {
      // Selective checkpointing, the default of some models, does not work with
      // split backwards. It is chosen by the last word of the command line.
      std::vector<std::string> arguments;
      if (halves)
        arguments.push_back("activation_checkpoint:none");
      if (halves)
        writeTexts(json, "arguments", arguments);
      std::vector<std::string> flags = flagsOf(settings);
      append_range(flags, arguments);
      writeTexts(json, "flags", flags);
    });
  }

  /// Settings as words of torchtitan's command line.
  static std::vector<std::string> flagsOf(const Settings &settings) {
    std::vector<std::string> flags;
    for (const auto &[setting, value] : settings) {
      flags.push_back(("--" + setting).str());
      if (const json::Array *stages = value.getAsArray())
        for (const json::Value &stage : *stages)
          flags.push_back(join(map_range(*stage.getAsArray(),
                                         [](const json::Value &name) {
                                           return *name.getAsString();
                                         }),
                               ","));
      else if (auto text = value.getAsString())
        flags.push_back(text->str());
      else if (auto number = value.getAsInteger())
        flags.push_back(itostr(*number));
    }
    return flags;
  }

  /// Adds the modules of each stage; false if they are not known.
  bool addModules(Settings &settings, StringRef key, const LayerNames &known) {
    json::Array parts;
    for (std::vector<std::string> &names : moduleNames(schedule.layers, known))
      parts.push_back(json::Array(names));
    if (parts.empty())
      return false;
    settings.emplace_back(key, std::move(parts));
    return true;
  }

  void writeAutoModel(StringRef name) {
    constexpr StringLiteral partsKey =
        "distributed.pipeline.module_fqns_per_model_part";
    Settings settings = {
        {"distributed.pp_size", schedule.numRanks},
        {"distributed.pipeline.pp_schedule", name},
        {"distributed.pipeline.pp_schedule_csv", csv},
        {"distributed.pipeline.pp_microbatch_size", 1},
        {"distributed.pipeline.pp_batch_size", schedule.numUnits},
        {"step_scheduler.local_batch_size", schedule.numUnits}};
    bool named = addModules(settings, partsKey, huggingFaceNames);
    std::vector<std::string> notes = {
        "recipes take step_scheduler.local_batch_size in place of "
        "pp_batch_size; both are the number of micro-batches times "
        "pp_microbatch_size"};
    if (named)
      notes.push_back((partsKey + " has the names of a causal model of Hugging "
                                  "Face; other models need their own")
                          .str());
    else
      addLayersNotes(notes, "layers_per_stage", "NeMo AutoModel", partsKey);
    constexpr char decoder = letterOf(LayerKind::Decoder);
    if (named && any_of(schedule.layers, [&](StringRef letters) {
          return !letters.contains(decoder);
        }))
      notes.push_back("recipes refuse a stage without decoder layers");
    if (schedule.numUnits < schedule.numRanks)
      notes.push_back("recipes refuse fewer micro-batches than ranks");
    writeFramework("nemo_automodel", name, settings, std::move(notes));
  }

  /// Says how to set the number of stages, or their layers if `framework` has
  /// no names for them.
  void addLayersNotes(std::vector<std::string> &notes, StringRef setting,
                      StringRef framework, StringRef partsKey) const {
    if (!schedule.layers.empty())
      notes.push_back(
          (framework + " has no names for these layers: set " + partsKey)
              .str());
    else if (stagesOfRank() > 2)
      notes.push_back(("set " + setting + " so that the model has ").str() +
                      utostr(map.size()) + " stages; without it there are " +
                      utostr(2 * schedule.numRanks));
  }

  void addFrameworkNotes(std::vector<std::string> &notes) const {
    if (transfers)
      notes.push_back("write the CSV with --target=torch-compute: PyTorch adds "
                      "the transfers and the FSDP actions itself");
    if (schedule.numRanks == 1)
      notes.push_back("with one rank pipeline parallelism is off");
  }

  /// Notes on the schedule that apply to all uses of PyTorch.
  std::vector<std::string> commonNotes() const {
    if (!halves)
      return {};
    return {"split backwards bypass the hooks of DistributedDataParallel, do "
            "not work with torch.compile or selective activation "
            "checkpointing, and can leave a parameter without a gradient, "
            "which pipec.torch.check_gradients finds; "
            "the pass merge-backward{which=all}, before the passes of the "
            "target, makes whole ones"};
  }

  void writeNotes(ArrayRef<std::string> notes) {
    writeTexts(json, "notes", notes);
  }

  const Schedule &schedule;
  std::string csv;
  json::OStream &json;
  DiagEngine &diags;
  ArrayRef<uint32_t> map;
  /// By model; meaningless without transfers.
  WaitOutcomes safe;
  bool transfers = false;
  /// Whether there is a step that needs a wait in PyTorch 2.15, and whether
  /// there is a wait.
  bool waitable = false;
  bool waits = false;
  bool halves = false;
  bool overlaps = false;
};

} // namespace

LogicalResult emitTorchConfig(const Schedule &schedule, StringRef csv,
                              raw_ostream &os, DiagEngine &diags) {
  return emitJsonFile(schedule, Output::TorchConfig, "", os, diags,
                      [&](json::OStream &json) {
                        ConfigWriter(schedule, csv, json, diags).write();
                      });
}

} // namespace pipec
