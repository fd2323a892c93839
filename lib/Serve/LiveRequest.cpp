//===- LiveRequest.cpp - A run that the live page asks for ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/LiveApi.h"

#include "Driver/Options.h"
#include "Support/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

static constexpr size_t maxTraces = 4096;
static constexpr size_t maxTabBytes = 64;

static Error wrong(const Twine &what) {
  return createStringError(inconvertibleErrorCode(), what);
}

/// Reads a text without zero bytes, which cannot be part of an argument.
static Error readText(StringRef what, const json::Value &from, size_t most,
                      std::string &into) {
  std::optional<StringRef> text = from.getAsString();
  if (!text || text->contains('\0'))
    return wrong("`" + what + "` is not a text");
  if (text->size() > most)
    return wrong("`" + what + "` has " + Twine(text->size()) +
                 " bytes, and the page takes " + Twine(most));
  into = text->str();
  return Error::success();
}

/// The option of a page with this name; null if a page may not send it.
static const OptionInfo *liveOption(StringRef name) {
  const OptionInfo *it = find_if(allOptions(), [&](const OptionInfo &info) {
    return info.name == name && info.live != LiveUse::None;
  });
  return it == allOptions().end() ? nullptr : it;
}

/// The spelling of an option, up to its value.
static std::string prefixOf(const OptionInfo &info) {
  std::string spelling = info.spelling();
  return spelling + (StringRef(spelling).starts_with("--") ? "=" : "");
}

using Library = std::map<std::string, std::string>;

static Error addOption(StringRef name, const json::Value &value,
                       const Library &library, LiveRequest &request) {
  const OptionInfo *info = liveOption(name);
  if (!info || info->live == LiveUse::Contents)
    return wrong("`" + name + "` is not an option of the page");
  if (const json::Array *list = value.getAsArray()) {
    for (const json::Value &element : *list)
      if (Error error = addOption(name, element, library, request))
        return error;
    return Error::success();
  }
  std::string text;
  if (std::optional<int64_t> number = value.getAsInteger())
    text = itostr(*number);
  else if (Error error = readText(name, value, maxProgramBytes, text))
    return error;
  if (info->live == LiveUse::Schedule) {
    auto it = library.find(text);
    if (it == library.end())
      return wrong("`" + name + "` is not a schedule of the library");
    text = it->second;
  }
  request.arguments.push_back(prefixOf(*info) + text);
  return Error::success();
}

static Error addFile(StringRef name, const json::Value &value,
                     LiveRequest &request) {
  const OptionInfo *info = liveOption(name);
  if (!info || info->live == LiveUse::Value)
    return wrong("`" + name + "` is not an option with a file");
  LiveRequest::File file{prefixOf(*info), name.str(), "", ""};
  if (Error error = readText(name, value, size_t(1) << 20, file.text))
    return error;
  request.files.push_back(std::move(file));
  return Error::success();
}

static Error addTraces(const json::Array &sizes, StringRef contents,
                       LiveRequest &request) {
  if (sizes.size() > maxTraces)
    return wrong("there are more than " + Twine(maxTraces) + " traces");
  for (const auto &[i, value] : enumerate(sizes)) {
    std::optional<int64_t> size = value.getAsInteger();
    if (!size || *size < 0 || uint64_t(*size) > contents.size())
      return wrong("the size of trace " + Twine(i) +
                   " is not that of its contents");
    request.files.push_back(
        {"", "trace" + itostr(i) + ".json", "", contents.take_front(*size)});
    contents = contents.drop_front(*size);
  }
  if (!contents.empty())
    return wrong("there are " + Twine(contents.size()) +
                 " bytes after the traces");
  return Error::success();
}

/// Calls `add` with each member of the object `key`, in alphabetical order.
static Error
forMembers(const json::Object &from, StringRef key,
           function_ref<Error(StringRef name, const json::Value &value)> add) {
  const json::Value *value = from.get(key);
  if (!value)
    return Error::success();
  const json::Object *object = value->getAsObject();
  if (!object)
    return wrong("`" + key + "` is not an object");
  std::vector<StringRef> names;
  for (const auto &[name, member] : *object)
    names.push_back(name);
  llvm::sort(names);
  for (StringRef name : names)
    if (Error error = add(name, *object->get(name)))
      return error;
  return Error::success();
}

Expected<LiveRequest> LiveRequest::read(StringRef body,
                                        const Library &library) {
  auto [line, contents] = body.split('\n');
  Expected<json::Value> value = parseJson(line, maxRequestDepth);
  if (!value)
    return value.takeError();
  const json::Object *head = value->getAsObject();
  if (!head)
    return wrong("the request is not an object of JSON");
  LiveRequest request;
  for (auto [key, into, most] :
       {std::tuple(StringRef("program"), &request.program, maxProgramBytes),
        std::tuple(StringRef("tab"), &request.tab, maxTabBytes)})
    if (const json::Value *text = head->get(key))
      if (Error error = readText(key, *text, most, *into))
        return error;
  request.serial = head->getInteger("serial").value_or(0);
  if (Error error = forMembers(*head, "options", [&](auto name, auto &value) {
        return addOption(name, value, library, request);
      }))
    return error;
  if (Error error = forMembers(*head, "files", [&](auto name, auto &value) {
        return addFile(name, value, request);
      }))
    return error;
  static const json::Array none;
  const json::Array *traces = head->getArray("traces");
  if (Error error = addTraces(traces ? *traces : none, contents, request))
    return error;
  return request;
}

} // namespace pipec
