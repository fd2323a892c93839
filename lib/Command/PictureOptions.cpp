//===- PictureOptions.cpp - Options about pictures ------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/PictureOptions.h"

#include "Driver/Io.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

namespace pipec {

LogicalResult readPictureOptions(const Arguments &args, EmitOptions &emit,
                                 DiagEngine &diags) {
  emit.width = args.number(Opt::Width).value_or(0);
  emit.timelineDown = args.text(Opt::Timeline) == "down";
  emit.memoryView = StringSwitch<MemoryView>(args.text(Opt::MemoryView))
                        .Case("heat", MemoryView::Heat)
                        .Case("none", MemoryView::None)
                        .Default(MemoryView::Panel);
  if (args.has(Opt::Title))
    emit.title = args.text(Opt::Title).str();
  if (args.has(Opt::Scale)) {
    StringRef text = args.text(Opt::Scale);
    std::optional<Rational> scale = Rational::parse(text);
    if (!scale || *scale < *Rational::make(1, 10) || *scale > Rational(10))
      return diags.report(DiagLoc(), diag::OptionValue, shortened(text),
                          "--scale", "a number from 0.1 to 10");
    emit.scale = *scale;
  }
  if (!args.has(Opt::Window))
    return success();
  StringRef window = args.text(Opt::Window);
  auto [first, second] = window.split(':');
  std::optional<Rational> from = Rational::parse(first);
  std::optional<Rational> to = Rational::parse(second);
  if (!from || !to || from->isNegative() || *to <= *from)
    return diags.report(DiagLoc(), diag::OptionValue, shortened(window),
                        "--window", "FROM:TO with FROM < TO");
  emit.window = TimeWindow{*from, *to, window.str()};
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
