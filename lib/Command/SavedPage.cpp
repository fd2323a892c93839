//===- SavedPage.cpp - The live page as a file ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/SavedPage.h"

#include "Driver/Io.h"
#include "Frameworks/FrameworkTargets.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Json.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <thread>

using namespace llvm;

namespace pipec {

/// The maximum nesting depth of an answer.
static constexpr unsigned maxAnswerDepth = 64;

/// A schedule of more steps is not compared, which takes minutes.
static constexpr size_t maxComparedSteps = size_t(1) << 16;

/// The answer to a POST, which is an object.
static json::Value ask(LiveApi &api, HttpRequest request) {
  request.method = "POST";
  Expected<json::Value> answer =
      parseJson(api.answer(request).body, maxAnswerDepth);
  if (answer)
    return std::move(*answer);
  return json::Object{{"error", toString(answer.takeError())}};
}

/// Posts a request as a page does, and waits for the end of a job.
static json::Value post(LiveApi &api, StringRef path, json::Object body) {
  HttpRequest request;
  request.path = path.str();
  raw_string_ostream(request.body) << json::Value(std::move(body));
  json::Value answer = ask(api, request);
  std::optional<int64_t> job = answer.getAsObject()->getInteger("job");
  if (!job)
    return answer;
  request = {};
  request.path = "/job";
  request.query.insert({"id", itostr(*job)});
  for (;;) {
    json::Value state = ask(api, request);
    if (state.getAsObject()->getBoolean("done") != false) {
      const json::Value *last = state.getAsObject()->get("answer");
      return last ? *last : std::move(state);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Why an answer of a compilation has no result: its first error.
static std::string reasonOf(const json::Value &answer) {
  const json::Object *object = answer.getAsObject();
  if (std::optional<StringRef> error = object->getString("error"))
    return error->str();
  for (const json::Object *from : {object->getObject("output"), object})
    if (const json::Array *all = from ? from->getArray("diagnostics") : nullptr)
      for (const json::Value &message : *all)
        if (message.getAsObject()->getString("severity") == "error") {
          StringRef text = *message.getAsObject()->getString("message");
          // The limit of a page is fixed.
          (void)text.consume_back("; --max-steps sets the limit");
          return text.str();
        }
  return "the compiler has no result";
}

static bool hasResult(const json::Value &answer) {
  const json::Object *output = answer.getAsObject()->getObject("output");
  return output && output->getObject("result");
}

LogicalResult addAnswers(json::Object &facts, LiveSettings settings,
                         const Schedule &schedule,
                         ArrayRef<std::string> ownSizes, DiagEngine &diags) {
  const json::Object &given = *facts.getObject("given");
  LiveApi api(std::move(settings));
  auto ask = [&](StringRef path, json::Object options) {
    json::Object files;
    for (auto [from, to, into] :
         {std::tuple("cost", "cost", &options),
          std::tuple("profile", "cost-profile", &files)})
      if (StringRef text = *given.getString(from); !text.empty())
        (*into)[to] = text;
    json::Object body;
    body["program"] = *facts.getString("program");
    body["options"] = std::move(options);
    body["files"] = std::move(files);
    return post(api, path, std::move(body));
  };
  json::Array sizes;
  for (const auto &[name, value] : *given.getObject("sizes"))
    sizes.push_back(name.str() + "=" + itostr(*value.getAsInteger()));
  json::Object compiled{{"D", std::move(sizes)}};
  for (StringRef option : {"schedule", "target"})
    if (StringRef text = *given.getString(option); !text.empty())
      compiled[option] = text;
  json::Object linted = compiled, verdicts;
  linted.erase("target");
  json::Object compared{{"ranks", schedule.numRanks},
                        {"microbatches", schedule.numMicrobatches()},
                        {"parts", schedule.numStages},
                        {"D", json::Array(ownSizes)}};
  if (schedule.numStages % schedule.numRanks == 0)
    compared["chunks"] = schedule.numStages / schedule.numRanks;
  size_t numSteps = 0;
  for (const StepList &steps : schedule.ranks)
    numSteps += steps.size();
  json::Object answers;
  for (auto [path, options] : {std::pair(StringRef("/compile"), &compiled),
                               std::pair(StringRef("/compare"), &compared)}) {
    if (path == "/compare" && numSteps > maxComparedSteps)
      continue;
    json::Value answer = ask(path, std::move(*options));
    if (path == "/compile" && !hasResult(answer))
      return diags.report(DiagLoc(), diag::PageNotSaved, reasonOf(answer));
    answers[path] = std::move(answer);
  }
  for (const FrameworkInfo &framework : frameworkTable) {
    linted["for"] = framework.key;
    verdicts[framework.key] = ask("/lint", linted);
  }
  answers["/lint"] = std::move(verdicts);
  HttpRequest picture;
  picture.method = "GET";
  picture.path = "/picture";
  facts["saved"] = json::Object{{"answers", std::move(answers)},
                                {"picture", api.answer(picture).body}};
  return success();
}

LogicalResult writeSavedPage(const CommandRun &run, StringRef page) {
  SmallString<128> path(run.args.text(Opt::Export));
  if (std::error_code error = sys::fs::create_directories(path))
    return reportUnwritable(run.diags, path, error);
  sys::path::append(path, "index.html");
  return writeFile(path, run.standardOutput(), run.diags,
                   [&](raw_ostream &os) { os << page; });
}

} // namespace pipec
