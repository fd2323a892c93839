//===- Svg.cpp - --emit=svg: a picture of a schedule in time --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   title, sizes and parameters, figures
//   legend
//           |warmup||steady|       phases of rank 0
//   rank 0  [0][1][2]     [0][3]   one lane per rank, and thin ones for steps
//                                  that it posts
//                \  /              arrows if the schedule has transfers
//   rank 1     [0][1][0]
//           0    2    4    6       time
//   rank 0  __/----\___            the memory of the rank over time
//
// The width of a box is the duration of its step; its number is the
// micro-batch. The members of an overlap are adjacent in one frame. All
// coordinates are whole tenths of a pixel, computed from ticks without
// intermediate rounding, so the same schedule results in the same bytes on all
// systems. The text is written in one pass, in time linear in the steps.
//
//===----------------------------------------------------------------------===//

#include "Emit/SvgLayout.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

constexpr char style[] =
#include "Emit/svg.css.inc"
    ;

/// Viewers cannot handle larger pictures.
constexpr Picture::Limits svgLimits = {/*steps=*/20000, /*ranks=*/256};

} // namespace

raw_ostream &operator<<(raw_ostream &os, Px px) {
  os << px.tenths / 10;
  if (px.tenths % 10)
    os << '.' << px.tenths % 10;
  return os;
}

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

void SvgWriter::write() {
  writeHead();
  writeTitle();
  writeLegend();
  writePhases();
  writeLanes();
  writeAxis();
  if (memoryView == MemoryView::Panel)
    writeMemory();
  if (!arrows.empty())
    writeArrows();
  os << "</svg>\n";
}

//===----------------------------------------------------------------------===//
// Around the lanes
//===----------------------------------------------------------------------===//

void SvgWriter::writeStyle() {
  os << "<style>\n" << style;
  if (digitWidth < 60)
    os << ".num { font-size: 8px; }\n";
  // Lines around boxes must leave most of the color.
  if (boxWidth < 60)
    os << ".box rect { stroke" << (boxWidth < 20 ? ": none" : "-width: .4")
       << "; }\n";
  if (facts.hasHost() && memoryView == MemoryView::Panel)
    os << ".host { stroke-width: 1.4; fill: none; }\n";
  if (any_of(sides,
             [](SideLane lane) { return lane != SideLane::collectives(); }))
    os << ".side-name { font-size: 8px; text-anchor: end; }\n";
  if (memoryView == MemoryView::Heat)
    for (unsigned level = 1; level <= heatLevels; ++level)
      os << ".h" << level
         << " { stroke-opacity: " << Px{10 * level / heatLevels} << "; }\n";
  writeColors(Scheme::Light);
  os << "@media (prefers-color-scheme: dark) {\n";
  writeColors(Scheme::Dark);
  os << "}\n</style>\n";
}

/// Writes the colors of lanes, boxes and their numbers.
void SvgWriter::writeColors(Scheme scheme) {
  os << ".lane { fill: " << idleColor(scheme) << "; }\n";
  if (facts.hasHost() && memoryView != MemoryView::None)
    os << ".host { stroke: " << fillColor(scheme, StepKind::Reload) << "; }\n";
  for (unsigned kind = 0; kind != unsigned(StepKind::Bubble); ++kind) {
    bool marked = isWait(StepKind(kind)) && !isSendWait(StepKind(kind)) &&
                  waitKinds >> kind & 1;
    if (!facts.of(StepKind(kind)).count && !marked)
      continue;
    if (!isCompute(StepKind(kind))) {
      os << ".k" << kind << " { fill: " << fillColor(scheme, StepKind(kind))
         << "; }\n";
      continue;
    }
    os << ".t" << kind << " { fill: " << textColor(scheme, StepKind(kind))
       << "; }\n";
    for (unsigned shade = 0; shade != shades; ++shade)
      os << ".k" << kind << 's' << shade
         << " { fill: " << fillColor(scheme, StepKind(kind), shade, shades)
         << "; }\n";
  }
}

void SvgWriter::writeHead() {
  auto scaled = [&](int64_t tenths) {
    return Px{
        int64_t(__int128(tenths) * scale.numerator() / scale.denominator())};
  };
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << scaled(width)
     << "\" height=\"" << scaled(height) << "\" viewBox=\"0 0 " << Px{width}
     << ' ' << Px{height}
     << "\" role=\"img\" aria-labelledby=\"pipec-title pipec-desc\">\n";
  os << "<title id=\"pipec-title\">" << Xml{name}
     << ", a pipeline schedule</title>\n<desc id=\"pipec-desc\">"
     << Xml{description} << ". Each lane is a rank, time goes to the right; "
     << "numbers are micro-batches.</desc>\n";
  writeStyle();
  if (!arrows.empty()) {
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

void SvgWriter::writeTitle() {
  auto write = [&](const std::vector<std::string> &lines, StringRef name,
                   int64_t y, int64_t pitch) {
    for (const std::string &line : lines) {
      text(os, name, edge, y, Xml{line}) << '\n';
      y += pitch;
    }
  };
  write(title, "title", 260, 180);
  write(about, "sub", aboutTop, 150);
  write(note, "note", noteTop, 160);
}

/// Writes the symbol of an item of the legend.
void SvgWriter::writeSymbol(const LegendItem &item) {
  auto box = [&](const Twine &name, int64_t at, int64_t boxWidth) {
    os << "<rect class=\"" << name << "\" x=\"" << Px{item.x + at} << "\" y=\""
       << Px{item.y} << "\" width=\"" << Px{boxWidth} << "\" height=\"12\"/>";
  };
  switch (item.symbol) {
  case LegendItem::Box:
    return box(item.symbolClass, 0, item.room);
  case LegendItem::Shades:
    for (unsigned shade = 0; shade != shades; ++shade)
      box(item.symbolClass + 's' + Twine(shade), shade * item.room / shades,
          (shade + 1) * item.room / shades - shade * item.room / shades);
    return;
  case LegendItem::Chunks: {
    StepKind kind = StepKind::F;
    while (!facts.of(kind).count && kind != StepKind::W)
      kind = StepKind(unsigned(kind) + 1);
    for (unsigned shade = 0; shade != shades; ++shade) {
      int64_t each = item.room / shades;
      box("k" + Twine(unsigned(kind)) + "s" + Twine(shade), shade * each, each);
      if (picture.chunks().most() > maxShades)
        continue;
      std::string chunk;
      raw_string_ostream chunkOs(chunk);
      picture.chunks().print(shade, chunkOs);
      text(os, "num t" + std::to_string(unsigned(kind)),
           item.x + shade * each + each / 2, item.y + 95, chunk);
    }
    return;
  }
  case LegendItem::Pair: {
    unsigned at = 0;
    for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
      if (facts.of(kind).count && at != 2)
        box("k" + Twine(unsigned(kind)) + "s0", at++ * item.room / 2,
            item.room / 2);
    return box("pair", 0, item.room);
  }
  case LegendItem::Heat:
    for (unsigned level = 1; level <= heatLevels; ++level)
      os << "<path class=\"heat h" << level << "\" d=\"M"
         << Px{item.x + (level - 1) * item.room / heatLevels} << ' '
         << Px{item.y + 60} << 'h' << Px{item.room / heatLevels} << "\"/>";
    return;
  case LegendItem::Arrow:
    os << "<path class=\"" << item.symbolClass << "\" d=\"M" << Px{item.x}
       << ' ' << Px{item.y + 60} << "h16\"/>";
    return;
  case LegendItem::Mark:
    return writeMark(item.symbolClass, item.x + 80, item.y + 35);
  }
}

void SvgWriter::writeLegend() {
  for (const LegendItem &item : legend) {
    writeSymbol(item);
    text(os, "", item.x + item.room + 50, item.y + 95, Xml{item.text}) << '\n';
  }
}

/// Writes a brace for each phase of the first rank that is wide enough.
void SvgWriter::writePhases() {
  if (phases.empty())
    return;
  int64_t top = lanesTop - 90;
  os << "<g class=\"phases\">\n";
  text(os, "rank", leftMargin - 80, top, "phases") << '\n';
  for (const PhaseRun &run : phases) {
    int64_t left = x(run.start) + 5, right = x(run.finish) - 5;
    if (right - left < 20)
      continue;
    os << "<path d=\"M" << Px{left} << ' ' << Px{top + 60} << "v-4H"
       << Px{right} << "v4\"/>";
    const std::string &name = schedule.phases[run.phase];
    if (right - left >= phaseLetterWidth * int64_t(name.size()))
      text(os, "", (left + right) / 2, top - 10, Xml{name});
    os << '\n';
  }
  os << "</g>\n";
}

void SvgWriter::writeAxis() {
  int64_t shown = picture.to() - picture.from();
  // Labels are at least 42 pixels apart.
  int64_t least = int64_t(__int128(shown) * 420 / plotWidth) + 1;
  AxisTicks ticks(picture.costs(), picture.from(), least);
  os << "<path class=\"axis\" d=\"M" << Px{leftMargin} << ' ' << Px{axisTop}
     << 'h' << Px{plotWidth} << "\"/>\n<path class=\"grid\" d=\"";
  for (int64_t at = ticks.first; at <= picture.to(); at += ticks.step)
    os << 'M' << Px{x(at)} << ' ' << Px{lanesTop} << 'V' << Px{axisTop + 40};
  os << "\"/>\n";
  for (int64_t at = ticks.first; at <= picture.to(); at += ticks.step)
    text(os, "tick", x(at), axisTop + 150, picture.time(at)) << '\n';
  text(os, "rank", leftMargin - 80, axisTop + 150, "time") << '\n';
}

LogicalResult emitSvg(const Schedule &schedule, const EmitOptions &options,
                      raw_ostream &os, DiagEngine &diags) {
  // The width before scaling, in tenths of a pixel.
  int64_t maxWidth = 0;
  if (options.width) {
    const Rational &scale = options.scale;
    maxWidth = int64_t(__int128(options.width) * 10 * scale.denominator() /
                       scale.numerator());
    if (maxWidth < SvgLayout::leastWidth) {
      __int128 tenths = __int128(SvgLayout::leastWidth) * scale.numerator();
      __int128 unit = __int128(10) * scale.denominator();
      auto least = int64_t((tenths + unit - 1) / unit);
      return diags.report(
          DiagLoc(), diag::OptionValue, std::to_string(options.width),
          "--width",
          ("at least " + Twine(least) + ", the smallest width of a picture")
              .str());
    }
  }
  FailureOr<Picture> picture =
      Picture::make(schedule, options, svgLimits, diags);
  if (failed(picture))
    return failure();
  SvgWriter(*picture, options, maxWidth, os).write();
  return success();
}

} // namespace pipec
