//===- Svg.cpp - --emit=svg: a picture of a schedule in time --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/Drawing.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

constexpr char style[] =
#include "Emit/svg.css.inc"
    ;

/// Prints text with XML characters escaped and invalid characters replaced.
struct Xml {
  StringRef text;
};

raw_ostream &operator<<(raw_ostream &os, Xml xml) {
  for (char c : markupText(xml.text))
    if (c == '<')
      os << "&lt;";
    else if (c == '>') // `]]>` is special in text.
      os << "&gt;";
    else if (c == '&')
      os << "&amp;";
    else
      os << c;
  return os;
}

class SvgCanvas : public Canvas {
public:
  using Canvas::Canvas;

  void writeHead();
  void open(StringRef style, int64_t down) override;
  void close() override { os << "</g>\n"; }
  void rect(StringRef style, int64_t x, int64_t y, int64_t width,
            int64_t height) override;
  void path(StringRef style, ArrayRef<Point> points, bool closed) override;
  void text(StringRef style, int64_t x, int64_t y, StringRef text,
            StringRef more) override;

private:
  void writeStyle();
  void writeColors(Scheme scheme);
  void writeClass(StringRef style) {
    if (!style.empty())
      os << " class=\"" << style << '"';
  }
};

} // namespace

void SvgCanvas::open(StringRef style, int64_t down) {
  os << "<g";
  writeClass(style);
  if (down)
    os << " transform=\"translate(0," << Px{down} << ")\"";
  os << ">\n";
}

void SvgCanvas::rect(StringRef style, int64_t x, int64_t y, int64_t width,
                     int64_t height) {
  os << "<rect";
  writeClass(style);
  os << " x=\"" << Px{x};
  if (y)
    os << "\" y=\"" << Px{y};
  os << "\" width=\"" << Px{width} << "\" height=\"" << Px{height} << "\"/>";
}

void SvgCanvas::path(StringRef style, ArrayRef<Point> points, bool closed) {
  os << "<path";
  writeClass(style);
  os << " d=\"";
  // Triangles and arrows have their corners, curves in steps are shorter.
  bool corners = points.size() <= 3;
  char last = 'M';
  for (auto [i, point] : enumerate(points)) {
    bool starts = i == 0 || point.moves;
    bool level = !starts && point.y == points[i - 1].y;
    bool upright = !starts && point.x == points[i - 1].x;
    last = starts                                                       ? 'M'
           : level && !(corners && closed) && !(upright && last == 'H') ? 'H'
           : upright && !corners                                        ? 'V'
                                                                        : 'L';
    os << last;
    if (last != 'V')
      os << Px{point.x};
    if (last == 'M' || last == 'L')
      os << ' ';
    if (last != 'H')
      os << Px{point.y};
  }
  os << (closed ? "Z\"/>" : "\"/>");
}

void SvgCanvas::text(StringRef style, int64_t x, int64_t y, StringRef text,
                     StringRef more) {
  os << "<text";
  writeClass(style);
  os << " x=\"" << Px{x} << "\" y=\"" << Px{y} << "\">" << Xml{text};
  if (!more.empty())
    os << "<title>" << Xml{more} << "</title>";
  os << "</text>";
}

void SvgCanvas::writeStyle() {
  os << "<style>\n" << style;
  if (layout.digitWidth < 60)
    os << ".num { font-size: 8px; }\n";
  // Lines around boxes must leave most of the color.
  if (layout.boxWidth < 60)
    os << ".box rect { stroke"
       << (layout.boxWidth < 20 ? ": none" : "-width: .4") << "; }\n";
  if (layout.facts.hasHost() && layout.memoryView == MemoryView::Panel)
    os << ".host { stroke-width: 1.4; fill: none; }\n";
  if (any_of(layout.sides,
             [](SideLane lane) { return lane != SideLane::collectives(); }))
    os << ".side-name { font-size: 8px; text-anchor: end; }\n";
  if (layout.memoryView == MemoryView::Heat)
    for (unsigned level = 1; level <= layout.heatLevels; ++level)
      os << ".h" << level
         << " { stroke-opacity: " << Px{10 * level / layout.heatLevels}
         << "; }\n";
  writeColors(Scheme::Light);
  os << "@media (prefers-color-scheme: dark) {\n";
  writeColors(Scheme::Dark);
  os << "}\n</style>\n";
}

/// Writes the colors of lanes, boxes and their numbers.
void SvgCanvas::writeColors(Scheme scheme) {
  using Use = DrawingLayout::ColorUse;
  layout.forEachColor(scheme, [&](const Twine &style, Use use, Color color) {
    os << '.' << style << (use == Use::Line ? " { stroke: " : " { fill: ")
       << color << "; }\n";
  });
}

void SvgCanvas::writeHead() {
  auto scaled = [&](int64_t tenths) {
    return Px{
        int64_t(__int128(tenths) * scale.numerator() / scale.denominator())};
  };
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
     << scaled(layout.width) << "\" height=\"" << scaled(layout.height)
     << "\" viewBox=\"0 0 " << Px{layout.width} << ' ' << Px{layout.height}
     << "\" role=\"img\" aria-labelledby=\"pipec-title pipec-desc\">\n";
  os << "<title id=\"pipec-title\">" << Xml{layout.name}
     << ", a pipeline schedule</title>\n<desc id=\"pipec-desc\">"
     << Xml{layout.description}
     << ". Each lane is a rank, time goes to the right; "
     << "numbers are micro-batches.</desc>\n";
  writeStyle();
  if (!layout.arrows.empty()) {
    os << "<defs>\n";
    for (StringRef name : {"act", "grad"})
      os << "<marker id=\"pipec-" << name
         << "\" viewBox=\"0 0 6 6\" refX=\"5.4\" refY=\"3\" markerWidth=\"5\" "
            "markerHeight=\"5\" orient=\"auto\"><path class=\"head-"
         << name << "\" d=\"M0 0L6 3L0 6Z\"/></marker>\n";
    os << "</defs>\n";
  }
  os << "<rect class=\"card\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n";
}

LogicalResult emitSvg(const Schedule &schedule, const EmitOptions &options,
                      raw_ostream &os, DiagEngine &diags) {
  FailureOr<int64_t> maxWidth = DrawingLayout::maxWidthOf(options, diags);
  if (failed(maxWidth))
    return failure();
  FailureOr<Picture> picture =
      Picture::make(schedule, options, DrawingLayout::limits, diags);
  if (failed(picture))
    return failure();
  DrawingLayout layout(*picture, options, *maxWidth);
  SvgCanvas canvas(layout, options.scale, os);
  canvas.writeHead();
  Drawing(layout, canvas).draw();
  os << "</svg>\n";
  return success();
}

} // namespace pipec
