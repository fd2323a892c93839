//===- Drawing.h - A timeline drawn as shapes -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Emit/DrawingLayout.h"

namespace pipec {

/// A file in a format of shapes, for drawing a timeline. Coordinates are
/// tenths of a pixel, down from the top. A shape has styles, names separated by
/// blanks, which the format defines: `k0s1` is the color of the shade 1 of the
/// kind 0, `t0` the color of text on it, `h3` the level 3 of strips of memory;
/// templates/svg.css and templates/tikz.tex have the others.
class Canvas {
public:
  struct Point {
    int64_t x, y;
    /// Starts a new line.
    bool moves = false;
  };

  /// `scale` pixels of the file are one of the layout.
  Canvas(const DrawingLayout &layout, Rational scale, llvm::raw_ostream &os)
      : os(os), layout(layout), scale(scale) {}
  virtual ~Canvas() = default;

  /// Begins a group of shapes, `down` below its place.
  virtual void open(llvm::StringRef style, int64_t down) = 0;
  virtual void close() = 0;
  virtual void rect(llvm::StringRef style, int64_t x, int64_t y, int64_t width,
                    int64_t height) = 0;
  virtual void path(llvm::StringRef style, llvm::ArrayRef<Point> points,
                    bool closed = false) = 0;
  /// Text at the baseline `y`. The style decides on which side of `x`. `more`
  /// is shown to those who point at it, if the format can.
  virtual void text(llvm::StringRef style, int64_t x, int64_t y,
                    llvm::StringRef text, llvm::StringRef more = "") = 0;
  /// Ends a line of the file.
  virtual void endLine() { os << '\n'; }

protected:
  llvm::raw_ostream &os;
  const DrawingLayout &layout;
  Rational scale;
};

/// A length in tenths of a pixel, printed in pixels.
struct Px {
  int64_t tenths;
};
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Px px);

/// Draws a picture from top to bottom.
class Drawing : DrawingLayout {
public:
  Drawing(const DrawingLayout &layout, Canvas &canvas)
      : DrawingLayout(layout), canvas(canvas) {}

  void draw();

private:
  void text(llvm::StringRef style, int64_t x, int64_t y,
            const llvm::Twine &content) {
    canvas.text(style, x, y, content.str());
  }
  void drawTitle();
  void drawLegend();
  void drawSymbol(const LegendItem &item);
  void drawPhases();
  void drawAxis();

  // DrawingLanes.cpp
  void drawLanes();
  template <class Visit>
  void forEachBox(const Picture::Group &group, Visit visit) const;
  template <class Visit> void forEachBox(unsigned rank, Visit visit) const;
  void drawBox(unsigned rank, Step step, int64_t left, int64_t right,
               int64_t top, int64_t boxHeight);
  void drawLane(unsigned rank);
  void drawPeak(unsigned rank, int64_t y);
  void addStripes(unsigned shade, int64_t left, int64_t right, int64_t top,
                  std::vector<Canvas::Point> &lines) const;
  void addKindBar(StepKind kind, int64_t left, int64_t right, int64_t bottom,
                  std::vector<Canvas::Point> &lines) const;
  void drawSide(unsigned rank, size_t n, llvm::ArrayRef<Picture::Group> groups);
  void drawMark(llvm::StringRef style, int64_t x, int64_t y);
  void drawWaits(unsigned rank);
  void drawArrows();

  void drawHeat(unsigned rank, MemoryPlace place);
  void drawMemory();
  void drawHostCurve(unsigned rank, int64_t base, int64_t highest);

  Canvas &canvas;
};

} // namespace pipec
