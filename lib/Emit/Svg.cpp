//===- Svg.cpp - --emit=svg: a picture of a schedule in time --------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   title, sizes and parameters, figures
//   legend
//   rank 0  [0][1][2]     [0][3]   one lane per rank, and a thin one for FSDP
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

using namespace llvm;

namespace pipec {

namespace {

constexpr char style[] =
#include "Emit/svg.css.inc"
    ;

/// Viewers cannot handle larger pictures.
constexpr Picture::Limits svgLimits = {/*steps=*/20000, /*ranks=*/256};

/// A coordinate in tenths of a pixel, printed in pixels.
struct Px {
  int64_t tenths;
};

raw_ostream &operator<<(raw_ostream &os, Px px) {
  os << px.tenths / 10;
  if (px.tenths % 10)
    os << '.' << px.tenths % 10;
  return os;
}

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

class SvgWriter : SvgLayout {
public:
  SvgWriter(const Picture &picture, raw_ostream &os)
      : SvgLayout(picture), os(os) {}

  void write() {
    writeHead();
    writeTitle();
    writeLegend();
    writeLanes();
    writeAxis();
    writeMemory();
    if (!arrows.empty())
      writeArrows();
    os << "</svg>\n";
  }

private:
  void writeHead();
  void writeStyle();
  void writeColors(Scheme scheme);
  void writeTitle();
  void writeLegend();
  void writeLanes();
  void writeLane(unsigned rank);
  void writeFsdp(unsigned rank);
  void writeMark(StringRef colorClass, int64_t x, int64_t y);
  void writeWaits(unsigned rank);
  void writeAxis();
  int64_t memoryLimit(const MemoryModel &memory, unsigned rank) const;
  void writeMemory();
  void writeArrows();

  raw_ostream &os;
};

} // namespace

//===----------------------------------------------------------------------===//
// Around the lanes
//===----------------------------------------------------------------------===//

void SvgWriter::writeStyle() {
  os << "<style>\n" << style;
  writeColors(Scheme::Light);
  os << "@media (prefers-color-scheme: dark) {\n";
  writeColors(Scheme::Dark);
  os << "}\n</style>\n";
}

/// Writes the colors of lanes, boxes and their numbers.
void SvgWriter::writeColors(Scheme scheme) {
  os << ".lane { fill: " << idleColor(scheme) << "; }\n";
  for (unsigned kind = 0; kind != unsigned(StepKind::Bubble); ++kind) {
    bool marked =
        StepKind(kind) == StepKind::WaitReduceGrad && hasReductionWaits;
    if (!kinds[kind].count && !marked)
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
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << Px{width}
     << "\" height=\"" << Px{height} << "\" viewBox=\"0 0 " << Px{width} << ' '
     << Px{height}
     << "\" role=\"img\" aria-labelledby=\"pipec-title pipec-desc\">\n";
  os << "<title id=\"pipec-title\">" << Xml{title} << ", a pipeline schedule"
     << "</title>\n<desc id=\"pipec-desc\">" << Xml{sizes} << ". " << Xml{facts}
     << ". Each lane is a rank, time goes to the right; "
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
  os << "<text class=\"title\" x=\"" << Px{edge} << "\" y=\"26\">" << Xml{title}
     << "</text>\n";
  os << "<text class=\"sub\" x=\"" << Px{edge} << "\" y=\"43\">" << Xml{sizes}
     << "; " << Xml{facts} << "</text>\n";
  if (!note.empty())
    os << "<text class=\"note\" x=\"" << Px{edge}
       << "\" y=\"59\">Shown: " << Xml{note} << "</text>\n";
}

void SvgWriter::writeLegend() {
  for (const LegendItem &item : legend) {
    switch (item.symbol) {
    case LegendItem::Arrow:
      os << "<path class=\"" << item.symbolClass << "\" d=\"M" << Px{item.x}
         << ' ' << Px{item.y + 60} << "h16\"/>";
      break;
    case LegendItem::Box:
      os << "<rect class=\"" << item.symbolClass << "\" x=\"" << Px{item.x}
         << "\" y=\"" << Px{item.y} << "\" width=\"16\" height=\"12\"/>";
      break;
    case LegendItem::Mark:
      writeMark(item.symbolClass, item.x + 80, item.y + 35);
      break;
    }
    os << "<text x=\"" << Px{item.x + 210} << "\" y=\"" << Px{item.y + 95}
       << "\">" << Xml{item.text} << "</text>\n";
  }
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
    os << "<text class=\"tick\" x=\"" << Px{x(at)} << "\" y=\""
       << Px{axisTop + 150} << "\">" << picture.time(at) << "</text>\n";
  os << "<text class=\"rank\" x=\"" << Px{leftMargin - 80} << "\" y=\""
     << Px{axisTop + 150} << "\">time</text>\n";
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

void SvgWriter::writeLanes() {
  const Simulation &run = picture.simulation();
  os << "<text class=\"side\" x=\"" << Px{leftMargin + plotWidth + 80}
     << "\" y=\"" << Px{lanesTop - 50} << "\">idle</text>\n";
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    int64_t top = laneTop(rank);
    os << "<g transform=\"translate(0," << Px{top} << ")\">\n";
    os << "<text class=\"rank\" x=\"" << Px{leftMargin - 80}
       << "\" y=\"15\">rank " << rank << "</text>\n";
    if (run.makespan() != 0)
      if (auto busy = Rational::make(run.ranks()[rank].work, run.makespan()))
        if (auto idle = Rational::sub(Rational(1), *busy))
          os << "<text class=\"side\" x=\"" << Px{leftMargin + plotWidth + 80}
             << "\" y=\"15\">" << percentText(*idle) << "</text>\n";
    os << "<rect class=\"lane\" x=\"" << Px{leftMargin} << "\" width=\""
       << Px{plotWidth} << "\" height=\"" << Px{laneHeight} << "\"/>\n";
    writeLane(rank);
    if (hasFsdp)
      writeFsdp(rank);
    writeWaits(rank);
    os << "</g>\n";
  }
}

void SvgWriter::writeLane(unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  // First the boxes, then the text and frames on them.
  std::string above;
  raw_string_ostream aboveOs(above);
  os << "<g class=\"box\">\n";
  picture.forEachGroup(rank, [&](const Picture::Group &group) {
    if (!isCompute(list[group.begin].kind()))
      return;
    int64_t left = x(group.start), right = x(group.finish);
    __int128 whole = 0, done = 0;
    for (size_t i = group.begin; i != group.end; ++i)
      whole += picture.alone(rank, i);
    int64_t at = left;
    size_t size = group.end - group.begin;
    for (size_t i = group.begin; i != group.end; ++i) {
      Step step = list[i];
      done += picture.alone(rank, i);
      int64_t next =
          left + int64_t(whole ? __int128(right - left) * done / whole
                               : (right - left) * int64_t(i + 1 - group.begin) /
                                     int64_t(size));
      os << "<rect class=\"k" << unsigned(step.kind()) << 's' << shade(step)
         << "\" x=\"" << Px{at} << "\" width=\""
         << Px{std::max(next - at, int64_t(5))} << "\" height=\"22\"/>\n";
      std::string text = number(step);
      if (next - at >= digitWidth * int64_t(text.size()) + 10)
        aboveOs << "<text class=\"num t" << unsigned(step.kind()) << "\" x=\""
                << Px{(at + next) / 2} << "\" y=\"14.5\">" << text
                << "</text>\n";
      at = next;
    }
    if (size > 1)
      // The frame is drawn around the boxes, so that it is visible next to dark
      // ones.
      aboveOs << "<rect class=\"pair\" x=\"" << Px{left}
              << "\" y=\"-0.7\" width=\"" << Px{right - left}
              << "\" height=\"23.4\"/>\n";
  });
  os << "</g>\n" << above;
}

void SvgWriter::writeFsdp(unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  os << "<rect class=\"lane\" x=\"" << Px{leftMargin} << "\" y=\""
     << Px{laneHeight + 20} << "\" width=\"" << Px{plotWidth} << "\" height=\""
     << Px{fsdpHeight} << "\"/>\n<g>\n";
  picture.forEachGroup(rank, [&](const Picture::Group &group) {
    StepKind kind = list[group.begin].kind();
    if (!isCollective(kind))
      return;
    int64_t mark = 25;
    int64_t left = std::min(x(group.start), leftMargin + plotWidth - mark);
    os << "<rect class=\"k" << unsigned(kind) << "\" x=\"" << Px{left}
       << "\" y=\"" << Px{laneHeight + 20} << "\" width=\""
       << Px{std::max(x(group.finish) - left, mark)} << "\" height=\""
       << Px{fsdpHeight} << "\"/>\n";
  });
  os << "</g>\n";
}

/// A triangle that points up to `x` and `y`.
void SvgWriter::writeMark(StringRef colorClass, int64_t x, int64_t y) {
  os << "<path class=\"" << colorClass << "\" d=\"M" << Px{x} << ' ' << Px{y}
     << 'L' << Px{x + 30} << ' ' << Px{y + 55} << 'L' << Px{x - 30} << ' '
     << Px{y + 55} << "Z\"/>\n";
}

/// Marks the end of each wait below the lane; waits take no time.
void SvgWriter::writeWaits(unsigned rank) {
  picture.forEachWait(rank, [&](Step step, int64_t time) {
    StringRef colorClass = step.kind() == StepKind::WaitSendF   ? "head-act"
                           : step.kind() == StepKind::WaitSendB ? "head-grad"
                                                                : "";
    writeMark(colorClass.empty() ? "k" + std::to_string(unsigned(step.kind()))
                                 : colorClass.str(),
              x(time), laneDepth() + 10);
  });
}

/// The memory limit of a rank, as an integer of the model, rounded down; 0 if
/// there is none.
int64_t SvgWriter::memoryLimit(const MemoryModel &memory, unsigned rank) const {
  std::optional<Rational> limit = schedule.memory.limit(rank);
  if (!limit)
    return 0;
  std::optional<Rational> units =
      Rational::mul(*limit, Rational(memory.perUnit()));
  if (!units || *units < Rational(0))
    return 0;
  return units->numerator() / units->denominator();
}

void SvgWriter::writeMemory() {
  const MemoryModel &memory = picture.memory();
  std::vector<int64_t> peaks;
  int64_t highest = 1;
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    int64_t peak = 0;
    picture.forEachLevel(
        rank, [&](int64_t, int64_t level) { peak = std::max(peak, level); });
    peaks.push_back(peak);
    highest = std::max(highest, peak);
  }
  // A limit far above all peaks would flatten the curves.
  std::vector<int64_t> limits;
  bool anyLimit = false;
  int64_t highestPeak = highest;
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    int64_t limit = memoryLimit(memory, rank);
    limits.push_back(limit / 2 > highestPeak ? 0 : limit);
    highest = std::max(highest, limits.back());
    anyLimit |= limits.back() != 0;
  }
  os << "<text class=\"sub\" x=\"" << Px{leftMargin} << "\" y=\""
     << Px{memoryTop - 70} << "\">Memory in time, with the peak"
     << (anyLimit ? " and the limit" : "") << "</text>\n";
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    int64_t base = memoryTop + rank * memoryPitch + memoryHeight;
    auto y = [&](int64_t level) {
      return Px{base - int64_t(__int128(std::max<int64_t>(level, 0)) *
                               memoryHeight / highest)};
    };
    os << "<text class=\"rank\" x=\"" << Px{leftMargin - 80} << "\" y=\""
       << Px{base - 50} << "\">rank " << rank
       << "</text><path class=\"mem\" d=\"M" << Px{leftMargin} << ' '
       << Px{base};
    picture.forEachLevel(rank, [&](int64_t time, int64_t level) {
      os << 'H' << Px{x(time)} << 'V' << y(level);
    });
    os << 'H' << Px{leftMargin + plotWidth} << 'V' << Px{base}
       << "Z\"/><text class=\"side\" x=\"" << Px{leftMargin + plotWidth + 80}
       << "\" y=\"" << Px{base - 50} << "\">"
       << roundedText(memory.size(peaks[rank])) << "</text>\n";
    if (int64_t limit = limits[rank])
      os << "<path class=\"limit\" d=\"M" << Px{leftMargin} << ' ' << y(limit)
         << 'H' << Px{leftMargin + plotWidth} << "\"/>\n";
  }
}

void SvgWriter::writeArrows() {
  for (const Arrow &arrow : arrows) {
    bool down = arrow.toRank > arrow.fromRank;
    int64_t fromY = laneTop(arrow.fromRank) + (down ? laneHeight : 0);
    int64_t toY = laneTop(arrow.toRank) + (down ? 0 : laneHeight);
    os << "<path class=\"" << (arrow.gradient ? "grad" : "act") << "\" d=\"M"
       << Px{x(arrow.start)} << ' ' << Px{fromY} << 'L' << Px{x(arrow.finish)}
       << ' ' << Px{toY} << "\"/>\n";
  }
}

LogicalResult emitSvg(const Schedule &schedule, const EmitOptions &options,
                      raw_ostream &os, DiagEngine &diags) {
  FailureOr<Picture> picture =
      Picture::make(schedule, options, svgLimits, diags);
  if (failed(picture))
    return failure();
  SvgWriter(*picture, os).write();
  return success();
}

} // namespace pipec
