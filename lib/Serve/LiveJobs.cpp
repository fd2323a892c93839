//===- LiveJobs.cpp - What the live page waits for ------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/LiveJobs.h"

#include "Serve/OrderFiles.h"
#include "Serve/RunAnswer.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// A job is ended after this time.
static constexpr auto jobTime = std::chrono::seconds(180);

std::optional<uint64_t> LiveJobs::compare(const ProgramOrder &order) {
  auto files = std::make_shared<OrderFiles>(order, folder);
  std::vector<std::string> arguments{"compare", "-", "--input=pipe",
                                     "--format=json"};
  if (!order.schedule.empty())
    arguments.push_back("--schedule=" + order.schedule);
  llvm::append_range(arguments, order.modelArguments(files->paths()));
  for (const auto &[name, size] : order.sizes)
    if (name != "ranks" && name != "microbatches" && name != "chunks")
      arguments.push_back("-D" + name + "=" + size);
  return jobs.start(
      settings.runProgram(std::move(arguments), order.program, jobTime),
      [files](const ChildResult &result) {
        json::Object answer;
        answer["diagnostics"] = messagesOf(result, jobTime);
        if (auto object = readObject(result.output))
          answer["comparison"] = std::move(*object);
        showNames(answer, files->names());
        return answer;
      });
}

std::optional<uint64_t> LiveJobs::search(const ProgramOrder &order) {
  auto files = std::make_shared<OrderFiles>(order, folder);
  auto found = std::make_shared<TemporaryFile>(folder.file("found", ".steps"));
  std::vector<std::string> arguments{"search", "--progress", "--format=json",
                                     "--effort=" + std::to_string(order.effort),
                                     "--output=" + found->path()};
  if (!order.placement.empty())
    arguments.push_back("--placement=" + order.placement);
  if (!order.backward.empty())
    arguments.push_back("--backward=" + order.backward);
  llvm::append_range(arguments, order.modelArguments(files->paths()));
  return jobs.start(settings.runProgram(std::move(arguments), "", jobTime),
                    [files, found](const ChildResult &result) {
                      json::Object answer;
                      json::Array messages;
                      // The lines of --progress are not messages.
                      for (json::Value &one : messagesOf(result, jobTime))
                        if (one.getAsObject()->get("kind") ||
                            result.end != ChildResult::End::Exited)
                          messages.push_back(std::move(one));
                      answer["diagnostics"] = std::move(messages);
                      if (auto object = readObject(result.output))
                        answer["search"] = std::move(*object);
                      showNames(answer, files->names());
                      if (std::optional<std::string> steps = found->read())
                        answer["steps"] = std::move(*steps);
                      return answer;
                    });
}

std::optional<uint64_t> LiveJobs::calibrate(const TraceUpload &traces) {
  auto profile =
      std::make_shared<TemporaryFile>(folder.file("profile", ".json"));
  auto files = std::make_shared<std::vector<TemporaryFile>>();
  ShownNames names{{profile->path(), "profile"}};
  std::vector<std::string> arguments{"calibrate", "--format=json",
                                     "--diagnostics-format=json",
                                     "--output=" + profile->path()};
  for (const TraceUpload::File &trace : traces.files) {
    // A name that the client has chosen is shown, and never that of a file.
    files->push_back(folder.file("trace", ".json"));
    files->back().write(trace.contents);
    arguments.push_back(files->back().path());
    names.emplace_back(files->back().path(), json::fixUTF8(trace.name));
  }
  return jobs.start(settings.run(std::move(arguments), "", jobTime),
                    [files, profile, names](const ChildResult &result) {
                      json::Object answer;
                      answer["diagnostics"] = messagesOf(result, jobTime);
                      if (auto object = readObject(result.output))
                        answer["calibration"] = std::move(*object);
                      showNames(answer, names);
                      std::optional<std::string> text = profile->read();
                      if (result.succeeded() && text)
                        answer["profile"] = json::fixUTF8(*text);
                      files->clear();
                      return answer;
                    });
}

} // namespace pipec
