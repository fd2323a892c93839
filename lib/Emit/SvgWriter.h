//===- SvgWriter.h - Writing the SVG timeline -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Emit/SvgLayout.h"

namespace pipec {

/// A coordinate in tenths of a pixel, printed in pixels.
struct Px {
  int64_t tenths;
};
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Px px);

/// Prints text with XML characters escaped and invalid characters replaced.
struct Xml {
  llvm::StringRef text;
};
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Xml xml);

/// Writes a picture from top to bottom.
class SvgWriter : SvgLayout {
public:
  /// `maxWidth` is in tenths of a pixel before scaling; 0 means no limit.
  SvgWriter(const Picture &picture, const EmitOptions &options,
            int64_t maxWidth, llvm::raw_ostream &os)
      : SvgLayout(picture, options, maxWidth), scale(options.scale), os(os) {}

  void write();

private:
  void writeHead();
  void writeStyle();
  void writeColors(Scheme scheme);
  void writeTitle();
  void writeLegend();
  void writeSymbol(const LegendItem &item);
  void writePhases();
  void writeAxis();

  // SvgLanes.cpp
  void writeLanes();
  template <class Visit> void forEachBox(unsigned rank, Visit visit) const;
  void writeLane(unsigned rank);
  void writeFsdp(unsigned rank);
  void writeMark(llvm::StringRef colorClass, int64_t x, int64_t y);
  void writeWaits(unsigned rank);
  void writeArrows();

  // SvgMemory.cpp
  void writeHeat(unsigned rank);
  void writeMemory();

  Rational scale;
  llvm::raw_ostream &os;
};

} // namespace pipec
