//===- PlanFolder.cpp - The files of a plan -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Plan/PlanFolder.h"

#include "Driver/Io.h"
#include "Driver/Program.h"
#include "Plan/PlanRequest.h"
#include "Plan/PlanRow.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static constexpr PlanConsumer consumers[] = {
#define PIPEC_PLAN_CONSUMER(Key, Framework, RunsAs, AnyOrder, BuiltIn, Places, \
                            PlacesByTime, Doc)                                 \
  {Key, Framework, RunsAs, AnyOrder, BuiltIn, Places, PlacesByTime},
#include "Driver/PlanConsumers.def"
};
const ArrayRef<PlanConsumer> planConsumers(consumers);

/// The files of a framework.
static std::vector<PlanFile> planFiles(const PlanConsumer &consumer,
                                       bool byTime) {
  std::vector<PlanFile> files;
  std::string passes = ("--passes=" + consumer.passes(byTime)).str();
  auto add = [&](StringRef name, CommandWords words) {
    files.push_back({name.str(), std::move(words)});
  };
  if (consumer.key == "torchtitan") {
    add("schedule.csv", {"--target=torch-compute", "--emit=csv"});
    add("schedule.json", {"--emit=torch-config"});
  } else if (consumer.key == "megatron") {
    add("schedule.json", {"--emit=megatron-config"});
  } else if (consumer.runsAs == "json") {
    add("schedule.json", {("--emit=" + consumer.key).str()});
  } else if (consumer.key == "d9d" || consumer.key == "pytorch") {
    add("schedule.csv", {passes, "--emit=csv"});
  } else {
    add("schedule.py", {passes, "--emit=python"});
  }
  add("page.html", {"--emit=html"});
  return files;
}

std::string pathIn(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

static FailureOr<json::Object> readObject(StringRef path, DiagEngine &diags) {
  FailureOr<StringRef> text = openInput(path, diags, uint64_t(64) << 20);
  if (failed(text))
    return failure();
  if (std::optional<json::Object> object = parseJsonObject(*text))
    return std::move(*object);
  return diags.report(DiagLoc(), diag::PlanNotJson, path);
}

/// The flags of a framework in its settings, as words of a shell.
static std::string flagsOf(const json::Array *flags, StringRef folder) {
  std::string text;
  for (const json::Value &flag : flags ? *flags : json::Array()) {
    StringRef word = flag.getAsString().value_or("");
    // The settings name the CSV after the schedule.
    text += " " + (word.ends_with(".csv")
                       ? shellWord(pathIn(folder, "schedule.csv"))
                       : shellWord(word));
  }
  return text;
}

/// The command line that writes a file of a schedule into a folder.
static CommandWords wordsOf(StringRef schedule, const PlanFile &file,
                            StringRef folder) {
  CommandWords words = {schedule.str()};
  llvm::append_range(words, file.words);
  llvm::append_values(words, std::string("-o"), pathIn(folder, file.name));
  return words;
}

bool canWriteFramework(InnerRuns &inner, const PlanRequest &request,
                       StringRef schedule) {
  std::vector<PlanFile> files =
      planFiles(*request.consumer, request.isPlaced());
  return succeeded(
      inner.tryToWrite(wordsOf(schedule, files.front(), request.folder)));
}

/// The launch line of a framework, and the lines for a script.
static FailureOr<std::string> launchText(const PlanRequest &request,
                                         DiagEngine &diags) {
  const PlanConsumer &consumer = *request.consumer;
  std::string ranks = std::to_string(request.ranks);
  std::string torchrun = "torchrun --nproc-per-node=" + ranks + " ";
  auto withCode = [&](const Twine &code) {
    return torchrun + "train.py\n\n# in train.py\n" + code.str() + "\n";
  };
  std::string m = std::to_string(request.microbatches);
  if (consumer.key == "torchtitan" || consumer.key == "megatron") {
    auto settings = readObject(request.inFolder("schedule.json"), diags);
    if (failed(settings))
      return failure();
    if (consumer.key == "megatron")
      return torchrun + "pretrain_gpt.py" +
             flagsOf(settings->getArray("arguments"), request.folder) + "\n";
    const json::Object *torchtitan = settings->getObject("torchtitan");
    return torchrun + "-m torchtitan.train" +
           flagsOf(torchtitan ? torchtitan->getArray("flags") : nullptr,
                   request.folder) +
           "\n";
  }
  std::string csv = request.inFolder("schedule.csv");
  std::string json = request.inFolder("schedule.json");
  if (consumer.key == "deepspeed")
    return "deepspeed --num_gpus=" + ranks +
           " train.py\n\n# in train.py, before deepspeed.initialize\n"
           "pipec.deepspeed.use(\"" +
           json + "\")\n";
  if (consumer.key == "jaxpp")
    return "python3 train.py\n\n# in train.py, for jaxpp.treduce\n"
           "schedule = pipec.jax.schedule(\"" +
           json + "\")\n";
  if (consumer.key == "hyperparallel")
    return "msrun --worker_num=" + ranks + " --local_worker_num=" + ranks +
           " train.py\n\n# in train.py, with the class of "
           "docs/HyperParallel.md\nschedule = ScheduleFromFile(\"" +
           json + "\", stages, " + m + ")\n";
  if (consumer.key == "primus")
    return withCode("pipec.primus.use(\"" + json + "\")");
  if (consumer.key == "d9d")
    return withCode("pipec.d9d.register(MyScheduleConfig, \"" + csv + "\")");
  if (consumer.key == "pytorch")
    return withCode("schedule = pipec.torch.load_schedule(\"" + csv +
                    "\", stages, loss_fn, n_microbatches=" + m + ")");
  return withCode("schedule = pipec.torch.executor(\"" +
                  request.inFolder("schedule.py") + "\", stages, loss_fn, " +
                  m + ")");
}

FailureOr<std::vector<std::string>> writePlanFiles(InnerRuns &inner,
                                                   const PlanRequest &request,
                                                   raw_ostream &out,
                                                   DiagEngine &diags) {
  std::vector<std::string> names = {planSchedule.str()};
  std::string schedule = request.inFolder(planSchedule);
  for (const PlanFile &file :
       planFiles(*request.consumer, request.isPlaced())) {
    if (failed(inner.write(wordsOf(schedule, file, request.folder))))
      return failure();
    names.push_back(file.name);
  }
  FailureOr<std::string> launch = launchText(request, diags);
  if (failed(launch) ||
      failed(writeFile(request.inFolder("launch.txt"), out, diags,
                       [&](raw_ostream &os) { os << *launch; })))
    return failure();
  names.push_back("launch.txt");
  return names;
}

/// The attribute of plan.json, and the name of the plan in it.
static constexpr StringLiteral digestsKey = "digests", planName = "plan.json";

json::Object planDigests(StringRef folder, const json::Object &plan) {
  auto digest = [](StringRef text) {
    auto hash = SHA256::hash(arrayRefFromStringRef(text));
    return toHex(ArrayRef(hash).take_front(8), /*LowerCase=*/true);
  };
  json::Object digests;
  for (StringRef name : {"costs.json", "launch.txt"}) {
    if (auto there = MemoryBuffer::getFile(pathIn(folder, name)))
      digests[name] = digest((*there)->getBuffer());
  }
  json::Object rest = plan;
  rest.erase(digestsKey);
  // (This prints the keys of objects in order.)
  json::Value value(std::move(rest));
  digests[planName] = digest(formatv("{0}", value).str());
  return digests;
}

std::vector<std::string> filesOfPlan(StringRef folder) {
  std::vector<std::string> names;
  auto there = MemoryBuffer::getFile(pathIn(folder, planName));
  if (!there)
    return names;
  std::optional<json::Object> plan = parseJsonObject((*there)->getBuffer());
  const json::Array *files = plan ? plan->getArray("files") : nullptr;
  for (const json::Value &file : files ? *files : json::Array())
    names.push_back(file.getAsString().value_or("").str());
  return names;
}

void removeEarlierFiles(StringRef folder, ArrayRef<std::string> before,
                        ArrayRef<std::string> files) {
  for (const PlanConsumer &consumer : consumers)
    for (const PlanFile &file : planFiles(consumer, /*byTime=*/false))
      if (is_contained(before, file.name) && !is_contained(files, file.name))
        sys::fs::remove(pathIn(folder, file.name));
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

/// True if two objects have the same figure.
static bool isSame(const json::Object &a, const json::Object &b,
                   StringRef key) {
  json::Object left, right;
  copyFigure(a, key, left, key);
  copyFigure(b, key, right, key);
  return left == right;
}

FailureOr<std::string> checkPlan(InnerRuns &inner, StringRef folder,
                                 DiagEngine &diags) {
  std::string path = pathIn(folder, "plan.json");
  FailureOr<json::Object> plan = readObject(path, diags);
  if (failed(plan))
    return failure();
  const json::Object *best = plan->getObject("best");
  std::optional<StringRef> key = plan->getString("for");
  auto consumer = find_if(planConsumers, [&](const PlanConsumer &one) {
    return key && one.key == *key;
  });
  if (!best || consumer == planConsumers.end())
    return diags.report(DiagLoc(), diag::PlanNotJson, path);
  bool byTime = plan->getBoolean("transfers").value_or(false);
  std::string schedule = pathIn(folder, planSchedule);
  FailureOr<json::Object> report = inner.ask({schedule, "--emit=report"});
  if (failed(report))
    return failure();
  auto figure = [](const json::Object &object, StringRef key) {
    const json::Value *value = object.get((key + "_exact").str());
    if (!value)
      value = object.get(key);
    return value ? formatv("{0}", *value).str() : std::string("none");
  };
  LogicalResult result = success();
  json::Object row;
  readReport(*report, row);
  row["layout"] = report->get("layout") ? *report->get("layout") : nullptr;
  for (StringRef key : {"makespan", "peak", "memory", "layout"})
    if (!isSame(*best, row, key))
      result = diags.report(DiagLoc(), diag::PlanFigure, schedule, key,
                            figure(row, key), figure(*best, key));
  for (const auto &[key, in] :
       {std::pair<StringRef, StringRef>("ranks", "num_ranks"),
        {"microbatches", "num_microbatches"}})
    if (plan->getInteger(key) != report->getInteger(in))
      result = diags.report(DiagLoc(), diag::PlanFigure, schedule, key,
                            figure(*report, in), figure(*plan, key));
  // The files that are not made from the schedule are those that were written.
  json::Object digests = planDigests(folder, *plan);
  const json::Object *written = plan->getObject(digestsKey);
  for (StringRef name : {"costs.json", "launch.txt", "plan.json"}) {
    std::string path = pathIn(folder, name);
    const json::Value *digest = digests.get(name);
    const json::Value *before = written ? written->get(name) : nullptr;
    if (!digest)
      result = diags.report(DiagLoc(), diag::PlanFileMissing, path);
    else if (!before || *before != *digest)
      result = diags.report(DiagLoc(), diag::PlanFileChanged, path);
  }
  // Each file equals the output of its command.
  SmallString<128> again;
  if (std::error_code error =
          sys::fs::createUniqueDirectory("pipec-plan", again))
    return reportUnwritable(diags, again, error);
  auto remove = make_scope_exit([&] { sys::fs::remove_directories(again); });
  for (const PlanFile &file : planFiles(*consumer, byTime)) {
    std::string name = pathIn(folder, file.name);
    auto there = MemoryBuffer::getFile(name);
    if (!there) {
      result = diags.report(DiagLoc(), diag::PlanFileMissing, name);
      continue;
    }
    if (failed(inner.write(wordsOf(schedule, file, again))))
      return failure();
    auto written = MemoryBuffer::getFile(pathIn(again, file.name));
    if (!written || (*there)->getBuffer() != (*written)->getBuffer())
      result = diags.report(DiagLoc(), diag::PlanFileDiffers, name);
  }
  std::string certificate = pathIn(folder, planCertificate);
  bool isProven = is_contained(filesOfPlan(folder), planCertificate.str());
  if (isProven && !sys::fs::exists(certificate))
    result = diags.report(DiagLoc(), diag::PlanFileMissing, certificate);
  else if (isProven)
    result = succeeded(inner.write(
                 {"check", schedule, "--certificate=" + certificate}))
                 ? result
                 : failure();
  if (failed(result))
    return failure();
  return roundedText(figureOf(*report, "makespan"));
}

} // namespace pipec
