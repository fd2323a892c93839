//===- PipeFuzzer.cpp - Programs from hostile text ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes are either refused with an error at a position in the text, or are
// a program. Its canonical form parses to the same tree, except for positions,
// and is its own canonical form. Every schedule of the program is either
// refused by a later phase with an error, or lowered to step IR, which is
// verified.
//
//===----------------------------------------------------------------------===//

#include "FuzzSession.h"

#include "AST/TreePrinter.h"
#include "Format/Formatter.h"
#include "IRGen/IRGen.h"
#include "Parse/Parser.h"
#include "Sema/Sema.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/StringExtras.h"
using namespace llvm;
using namespace pipec;

namespace {

/// Sufficient for a schedule, but small enough to lower it in less than a
/// second.
constexpr uint64_t maxSteps = 20000;

/// One run on a text, with its tree.
struct PipeSession : FuzzSession {
  FailureOr<ast::Module *> read(StringRef text) {
    auto module =
        parsePipe("input.pipe", add(text, "input.pipe"), context, diags);
    PIPEC_CHECK(agrees(module));
    return module;
  }

  ast::Context context;
};

std::string canonical(const ast::Module &module) {
  std::string text;
  raw_string_ostream os(text);
  ast::printCanonical(module, os);
  return text;
}

/// The tree without positions, which formatting changes, and without comments,
/// which it may move.
std::string shape(const ast::Module &module, const SourceFiles &files) {
  std::string text;
  raw_string_ostream os(text);
  ast::printTree(module, files, os);
  std::string result;
  for (StringRef line : split(text, '\n')) {
    if (line.starts_with("  comment "))
      continue;
    auto [node, position] = line.rsplit(' ');
    bool isPosition = !position.empty() && all_of(position, [](char c) {
      return isDigit(c) || c == ':';
    }) && position.contains(':');
    result += (isPosition ? node : line).str() + "\n";
  }
  return result;
}

void checkForm(const ast::Module &module, const SourceFiles &files) {
  std::string once = canonical(module);
  PipeSession second;
  FailureOr<ast::Module *> again = second.read(once);
  PIPEC_CHECK(succeeded(again));
  PIPEC_CHECK((*again)->comments.size() == module.comments.size());
  PIPEC_CHECK(shape(**again, second.files) == shape(module, files));
  PIPEC_CHECK(canonical(**again) == once);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  PipeSession session;
  FailureOr<ast::Module *> module = session.read(text);
  if (failed(module))
    return 0;
  checkForm(**module, session.files);

  auto program = checkProgram(**module, session.context, session.diags);
  PIPEC_CHECK(session.agrees(program));
  if (failed(program))
    return 0;
  for (const CheckedSchedule &checked : program->schedules) {
    LowerOptions options;
    options.maxSteps = maxSteps;
    FailureOr<Schedule> schedule =
        lower(*program, checked, options, session.diags);
    PIPEC_CHECK(session.agrees(schedule));
    if (succeeded(schedule))
      (void)session.agrees(verify(*schedule, session.diags));
  }
  return 0;
}
