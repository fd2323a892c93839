//===- Examples.cpp - Programs to open in the live page -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/Examples.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

// clang-format off
static constexpr std::pair<StringLiteral, StringLiteral> files[] = {
    {"half_eager",
#include "Serve/half_eager.pipe.inc"
    }, {"two_encoders",
#include "Serve/two_encoders.pipe.inc"
    }, {"unet",
#include "Serve/unet.pipe.inc"
    }, {"uneven",
#include "Serve/uneven.pipe.inc"
    }, {"zigzag",
#include "Serve/zigzag.pipe.inc"
    }};
static constexpr std::pair<StringLiteral, StringLiteral> pages[] = {
    {"Overview",
#include "Serve/Overview.md.inc"
    }, {"Tutorial",
#include "Serve/Tutorial.md.inc"
    }, {"Guide to scheduling",
#include "Serve/GuideScheduling.md.inc"
    }};
// clang-format on

/// Adds the programs of a page.
static void addPrograms(StringRef group, StringRef page,
                        std::vector<ExampleProgram> &programs) {
  constexpr StringLiteral fence = "```", begin = "```pipe ";
  StringRef rest = page;
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    if (!line.consume_front(begin))
      continue;
    size_t end = rest.find(fence);
    // Words after the name say that a program has errors.
    if (line.consume_back(".pipe"))
      programs.push_back({group.str(), line.str(), rest.take_front(end).str()});
    rest = rest.substr(end).drop_front(fence.size());
  }
}

std::vector<ExampleProgram> shippedExamples() {
  std::vector<ExampleProgram> programs;
  for (const auto &[name, text] : files)
    programs.push_back({"Examples", name.str(), text.str()});
  for (const auto &[title, page] : pages)
    addPrograms(title, page, programs);
  return programs;
}

} // namespace pipec
