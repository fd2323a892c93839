//===- TorchConfig.cpp - --emit=torch-config: how to use a CSV ------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
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
#include "IR/RegularPlacements.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Target/TargetCheck.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// The modules of each stage by their names in torchtitan's models, for its
/// `module_fqns_per_model_part`; nothing if it has no names for the layers. The
/// ends of a model of decoder layers alone are added.
static std::vector<std::vector<std::string>> moduleNames(StageLayers stages) {
  if (onlyDecoders(stages)) {
    stages.front().insert(0, "E");
    stages.back() += 'L';
  }
  std::vector<std::vector<std::string>> parts;
  unsigned decoder = 0;
  for (StringRef letters : stages) {
    std::vector<std::string> &names = parts.emplace_back();
    for (char letter : letters)
      switch (*layerOf(letter)) {
      case LayerKind::Embedding:
        names.push_back("tok_embeddings");
        break;
      case LayerKind::Decoder:
        names.push_back("layers." + utostr(decoder++));
        break;
      case LayerKind::Loss:
        append_values(names, "norm", "lm_head");
        break;
      case LayerKind::Mtp:
        return {};
      }
    if (names.empty())
      return {};
  }
  return parts;
}

namespace {

class ConfigWriter {
public:
  ConfigWriter(const Schedule &schedule, raw_ostream &os, DiagEngine &diags)
      : schedule(schedule), json(os, /*IndentSize=*/2), diags(diags),
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
    json.object([&] {
      writeScheduleHead(json, schedule);
      json.attributeObject("params", [&] {
        for (const auto &[name, value] : schedule.params)
          json.attribute(json::fixUTF8(name), value);
      });
      json.attribute("split_backward", halves);
      json.attribute("overlap", overlaps);
      writeSafe();
      writeTorch();
      StringRef name = placementName();
      writeTorchtitan(name);
      writeAutoModel(name);
      writeNotes(commonNotes());
    });
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
      json.attribute("n_microbatches", schedule.numMicrobatches);
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

  std::string csvName() const { return schedule.name + ".csv"; }
  unsigned stagesOfRank() const { return map.size() / schedule.numRanks; }

  /// The settings of a framework that places stages by the name of a schedule,
  /// with notes on them, and what comes after them on its command line.
  void writeFramework(StringRef key, StringRef name,
                      function_ref<void()> writeSettings,
                      std::vector<std::string> notes,
                      ArrayRef<StringRef> arguments = {}) {
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
      json.attributeObject("settings", writeSettings);
      if (!arguments.empty())
        json.attributeArray("arguments", [&] {
          for (StringRef argument : arguments)
            json.value(argument);
        });
      addFrameworkNotes(notes);
      writeNotes(notes);
    });
  }

  void writeTorchtitan(StringRef name) {
    std::vector<std::vector<std::string>> parts = moduleNames(schedule.layers);
    auto writeSettings = [&] {
      json.attribute("parallelism.pipeline_parallel_degree", schedule.numRanks);
      json.attribute("parallelism.pipeline_parallel_schedule", name);
      json.attribute("parallelism.pipeline_parallel_schedule_csv",
                     json::fixUTF8(csvName()));
      json.attribute("parallelism.pipeline_parallel_microbatch_size", 1);
      json.attribute("training.local_batch_size", schedule.numMicrobatches);
      json.attribute("training.disable_cuda_graphs", true);
      if (!parts.empty())
        json.attributeArray("parallelism.module_fqns_per_model_part", [&] {
          for (const std::vector<std::string> &names : parts)
            json.value(json::Array(names));
        });
    };
    std::vector<std::string> notes = {
        "training.local_batch_size is the number of micro-batches times "
        "parallelism.pipeline_parallel_microbatch_size; versions without "
        "these take parallelism.num_pp_microbatches = " +
            utostr(schedule.numMicrobatches),
        "torchtitan 0.3 refuses pipeline parallelism with CUDA graphs, so "
        "training.disable_cuda_graphs is set; versions without this setting "
        "need nothing in its place"};
    if (parts.empty())
      addLayersNote(notes, "parallelism.pipeline_parallel_layers_per_stage");
    if (parts.empty() && !schedule.layers.empty())
      notes.push_back("torchtitan has no names for these layers: set "
                      "parallelism.module_fqns_per_model_part");
    // Selective checkpointing, the default of some models, does not work with
    // split backwards. It is chosen by the last word of the command line.
    std::vector<StringRef> arguments;
    if (halves)
      arguments.push_back("activation_checkpoint:none");
    writeFramework("torchtitan", name, writeSettings, std::move(notes),
                   arguments);
  }

  void writeAutoModel(StringRef name) {
    auto writeSettings = [&] {
      json.attribute("distributed.pp_size", schedule.numRanks);
      json.attribute("distributed.pipeline.pp_schedule", name);
      json.attribute("distributed.pipeline.pp_schedule_csv",
                     json::fixUTF8(csvName()));
      json.attribute("distributed.pipeline.pp_microbatch_size", 1);
      json.attribute("distributed.pipeline.pp_batch_size",
                     schedule.numMicrobatches);
      json.attribute("step_scheduler.local_batch_size",
                     schedule.numMicrobatches);
    };
    std::vector<std::string> notes = {
        "recipes take step_scheduler.local_batch_size in place of "
        "pp_batch_size; both are the number of micro-batches times "
        "pp_microbatch_size"};
    addLayersNote(notes, "layers_per_stage");
    if (schedule.numMicrobatches < schedule.numRanks)
      notes.push_back("recipes refuse fewer micro-batches than ranks");
    writeFramework("nemo_automodel", name, writeSettings, std::move(notes));
  }

  void addLayersNote(std::vector<std::string> &notes, StringRef setting) const {
    if (stagesOfRank() > 2)
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
    json.attributeArray("notes", [&] {
      for (const std::string &note : notes)
        json.value(json::fixUTF8(note));
    });
  }

  const Schedule &schedule;
  json::OStream json;
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

LogicalResult emitTorchConfig(const Schedule &schedule, raw_ostream &os,
                              DiagEngine &diags) {
  if (failed(checkOutput(schedule, Output::TorchConfig, diags)))
    return failure();
  ConfigWriter(schedule, os, diags).write();
  os << '\n';
  return success();
}

} // namespace pipec
