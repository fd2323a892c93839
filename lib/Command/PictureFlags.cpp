//===- PictureFlags.cpp - Options about pictures --------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/PictureFlags.h"

#include "Driver/Io.h"

#include "llvm/ADT/StringRef.h"

#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

namespace pipec {

PictureFlags::PictureFlags(cl::OptionCategory &category)
    : window("window",
             cl::desc("The part of time that a picture shows, in the unit of "
                      "the costs"),
             cl::value_desc("FROM:TO"), cl::cat(category)),
      width("width",
            cl::desc("Columns that --emit=timeline takes; without it those of "
                     "the terminal, and any number into a file"),
            cl::value_desc("N"), cl::cat(category)),
      with("with",
           cl::desc("With --emit=html: a second schedule to compare with, a "
                    "file or a name, made with the same options"),
           cl::value_desc("FILE"), cl::cat(category)) {}

LogicalResult PictureFlags::read(EmitOptions &emit, DiagEngine &diags) const {
  emit.width = width;
  if (!window.getNumOccurrences())
    return success();
  auto [first, second] = StringRef(window).split(':');
  std::optional<Rational> from = Rational::parse(first);
  std::optional<Rational> to = Rational::parse(second);
  if (!from || !to || from->isNegative() || *to <= *from)
    return unusable(diags, "`--window=" + window +
                               "`, which is not FROM:TO with times that rise");
  emit.window = TimeWindow{*from, *to, window};
  return success();
}

unsigned terminalWidth() {
  if (const char *columns = std::getenv("COLUMNS")) {
    unsigned width = 0;
    if (!StringRef(columns).getAsInteger(10, width) && width > 0)
      return width;
  }
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

} // namespace pipec
