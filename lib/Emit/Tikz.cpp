//===- Tikz.cpp - --emit=tikz: a picture of a schedule for LaTeX ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A document with a page of the size of the picture. All definitions are in its
// body, so that a document with the package `standalone` can \input it. It
// needs the packages fix-cm, geometry and tikz.
//
//===----------------------------------------------------------------------===//

#include "Emit/Drawing.h"
#include "Support/Diagnostics/EmitDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <iterator>
#include <map>

using namespace llvm;

namespace pipec {

namespace {

constexpr char styles[] =
#include "Emit/tikz.tex.inc"
    ;

/// Prints text in which no character has a meaning for TeX.
struct Tex {
  StringRef text;
};

raw_ostream &operator<<(raw_ostream &os, Tex tex) {
  static constexpr std::pair<char, StringLiteral> commands[] = {
      {'\\', "\\textbackslash{}"},  {'~', "\\textasciitilde{}"},
      {'^', "\\textasciicircum{}"}, {'<', "\\textless{}"},
      {'>', "\\textgreater{}"},     {'$', "\\char36{}"},
      {'|', "\\textbar{}"}};
  constexpr StringLiteral replacement = "\xEF\xBF\xBD";
  std::string text = markupText(tex.text);
  for (StringRef rest = text; !rest.empty();) {
    if (rest.consume_front(replacement)) {
      os << '?';
      continue;
    }
    char c = rest.front();
    rest = rest.drop_front();
    auto command =
        std::ranges::find(commands, c, &std::pair<char, StringLiteral>::first);
    if (isSpace(c))
      os << ' ';
    else if (command != std::end(commands))
      os << command->second;
    else if (StringRef("{}&#_%").contains(c))
      os << '\\' << c;
    else
      os << c;
  }
  return os;
}

class TikzCanvas : public Canvas {
public:
  using Canvas::Canvas;

  /// A length in big points (1/72 inch): a pixel is 0.75 of them.
  Rational points(int64_t tenths) const {
    constexpr int64_t parts = 100000;
    return *Rational::make(int64_t(__int128(tenths) * 75 * (parts / 1000) *
                                   scale.numerator() / scale.denominator()),
                           parts);
  }
  /// Whether the lengths are within what TeX can compute and PDF can show.
  bool fits() const {
    int64_t longer = std::max(layout.width, layout.height);
    return longer < 163800 && points(longer) <= Rational(14400);
  }

  void writeHead();
  void writeFoot();
  void open(StringRef style, int64_t down) override;
  void close() override;
  void endLine() override {
    if (!inBoxes && collected.empty())
      os << '\n';
  }
  void rect(StringRef style, int64_t x, int64_t y, int64_t width,
            int64_t height) override;
  void path(StringRef style, ArrayRef<Point> points, bool closed) override;
  void text(StringRef style, int64_t x, int64_t y, StringRef text,
            StringRef more) override;

private:
  struct At {
    int64_t x, y;
    friend raw_ostream &operator<<(raw_ostream &os, At at) {
      return os << '(' << Px{at.x} << ',' << Px{at.y} << ')';
    }
  };
  void writeColors();
  void writeStyles();
  /// Writes the names of styles as TikZ has them.
  void writeNames(StringRef style) {
    if (style.empty())
      return;
    os << '[';
    interleave(split(style, ' '), os, ",");
    os << ']';
  }

  bool inBoxes = false;
  /// Shapes of one style, written as one shape to save memory of TeX: boxes of
  /// a group, and numbers at the height `numbersY`.
  struct Shapes {
    std::string text;
    unsigned count = 0;
  };
  std::map<std::string, Shapes> collected;
  int64_t numbersY = 0;
  void flush();
  void flush(StringRef style, Shapes &shapes);
};

} // namespace

void TikzCanvas::flush(StringRef style, Shapes &shapes) {
  if (shapes.text.empty())
    return;
  os << (inBoxes ? "\\path" : "\\node");
  writeNames(style);
  if (inBoxes)
    os << shapes.text << ";\n";
  else
    os << "at" << At{0, numbersY} << '{' << shapes.text << "};\n";
  shapes = {};
}

void TikzCanvas::flush() {
  for (auto &[style, shapes] : collected)
    flush(style, shapes);
  collected.clear();
}

void TikzCanvas::open(StringRef style, int64_t down) {
  flush();
  os << "\\begin{scope}[" << style;
  if (down)
    os << (style.empty() ? "" : ",") << "shift={" << At{0, down} << '}';
  os << "]\n";
  inBoxes = style == "box";
}

void TikzCanvas::close() {
  flush();
  inBoxes = false;
  os << "\\end{scope}\n";
}

/// Longer paths exceed the memory of TeX.
static constexpr unsigned mostCollected = 100;

void TikzCanvas::rect(StringRef style, int64_t x, int64_t y, int64_t width,
                      int64_t height) {
  if (!inBoxes) {
    flush();
    os << "\\path";
    writeNames(style);
    os << At{x, y} << "rectangle" << At{x + width, y + height} << ';';
    return;
  }
  Shapes &shapes = collected[style.str()];
  raw_string_ostream(shapes.text) << (shapes.count ? "\n" : "") << At{x, y}
                                  << "rectangle" << At{x + width, y + height};
  if (++shapes.count == mostCollected)
    flush(style, shapes);
}

void TikzCanvas::path(StringRef style, ArrayRef<Point> points, bool closed) {
  flush();
  os << "\\path";
  writeNames(style);
  for (auto [i, point] : enumerate(points))
    os << (i == 0 || point.moves ? "" : "--") << At{point.x, point.y};
  os << (closed ? "--cycle;" : ";");
}

void TikzCanvas::text(StringRef style, int64_t x, int64_t y, StringRef text,
                      StringRef) {
  if (style.starts_with("num ")) {
    if (y != numbersY)
      flush();
    numbersY = y;
    Shapes &shapes = collected[style.str()];
    raw_string_ostream(shapes.text)
        << "\\pipecnum{" << Px{x} << "}{" << Tex{text} << '}';
    if (++shapes.count == mostCollected)
      flush(style, shapes);
    return;
  }
  flush();
  os << "\\node";
  writeNames(style);
  os << (style.empty() ? " at" : "at") << At{x, y} << '{' << Tex{text} << "};";
}

/// Writes the colors by name, without `#` and in capitals, as xcolor reads
/// them.
void TikzCanvas::writeColors() {
  auto define = [&](const Twine &name, StringRef color) {
    os << "\\definecolor{" << name << "}{HTML}{" << color.drop_front().upper()
       << "}\n";
  };
  // The colors of templates/svg.css on light pages.
  for (auto [name, color] : {std::pair("ink", "#1f2937"),
                             {"soft", "#4b5563"},
                             {"line", "#9ca3af"},
                             {"edge", "#475569"},
                             {"dark", "#334155"},
                             {"memory", "#94a3b8"},
                             {"alert", "#b91c1c"},
                             {"activation", "#1d4e89"},
                             {"gradient", "#b45309"}})
    define(name, color);
  layout.forEachColor(Scheme::Light, [&](const Twine &style,
                                         DrawingLayout::ColorUse, Color color) {
    std::string text;
    raw_string_ostream(text) << color;
    define(style, text);
  });
}

/// Writes the styles of shapes, as options of the picture.
void TikzCanvas::writeStyles() {
  using Use = DrawingLayout::ColorUse;
  os << "  x=\\pipecpx, y=-\\pipecpx,\n" << styles;
  layout.forEachColor(Scheme::Light, [&](const Twine &style, Use use, Color) {
    StringRef key = use == Use::Fill   ? "fill"
                    : use == Use::Line ? "draw"
                                       : "text";
    os << "  " << style << "/.append style={" << key << '=' << style << "},\n";
  });
  // Lines around boxes must leave most of the color.
  os << "  box/.style={";
  if (layout.boxWidth >= 20)
    os << "every path/.style={draw=edge, line width="
       << (layout.boxWidth < 60 ? ".4" : ".8") << "\\pipecpx}";
  os << "},\n";
  if (layout.memoryView == MemoryView::Heat)
    for (unsigned level = 1; level <= layout.heatLevels; ++level)
      os << "  h" << level
         << "/.style={draw opacity=" << Px{10 * level / layout.heatLevels}
         << "},\n";
  else
    os << "  host/.append style={line width=1.4\\pipecpx},\n";
}

void TikzCanvas::writeHead() {
  auto length = [&](int64_t tenths) { return roundedText(points(tenths)); };
  os << "% " << Tex{layout.name} << ", a pipeline schedule.\n"
     << "% A document of its own; with \\usepackage{tikz,standalone}, others "
        "can \\input it.\n"
     << "\\documentclass{article}\n\\usepackage{fix-cm}\n"
     << "\\usepackage[papersize={" << length(layout.width) << "bp,"
     << length(layout.height) << "bp},margin=0pt]{geometry}\n"
     << "\\usepackage{tikz}\n"
     << "\\pagestyle{empty}\\topskip=0pt\\parindent=0pt\n"
     << "\\begin{document}%\n\\begingroup\n"
     << "\\makeatletter % Letters that the fonts lack.\n"
     << "\\def\\UTFviii@undefined@err#1{?}\\def\\TextSymbolUnavailable#1{?}\n"
     << "\\makeatother\n"
     << "\\ifdefined\\pipecpx\\else\\newdimen\\pipecpx\\fi\n"
     << "\\pipecpx=" << length(10) << "bp\n"
     << "\\def\\pipecfont#1{\\fontsize{#1\\pipecpx}{#1\\pipecpx}\\normalfont"
        "\\sffamily}\n"
     << "\\def\\pipecnum#1#2{\\rlap{\\kern#1\\pipecpx\\hbox to "
        "0pt{\\hss#2\\hss}}}\n"
     << "\\def\\pipecdigits{" << (layout.digitWidth < 60 ? 8 : 10) << "}\n";
  writeColors();
  os << "\\begin{tikzpicture}[\n";
  writeStyles();
  os << "]\n\\useasboundingbox" << At{0, 0} << "rectangle"
     << At{layout.width, layout.height} << ";\n";
}

void TikzCanvas::writeFoot() {
  flush();
  os << "\\end{tikzpicture}%\n\\endgroup\n\\end{document}\n";
}

LogicalResult emitTikz(const Schedule &schedule, const EmitOptions &options,
                       raw_ostream &os, DiagEngine &diags) {
  FailureOr<int64_t> maxWidth = DrawingLayout::maxWidthOf(options, diags);
  if (failed(maxWidth))
    return failure();
  FailureOr<Picture> picture =
      Picture::make(schedule, options, DrawingLayout::limits, diags);
  if (failed(picture))
    return failure();
  DrawingLayout layout(*picture, options, *maxWidth);
  TikzCanvas canvas(layout, options.scale, os);
  if (!canvas.fits())
    return diags.report(schedule.source, diag::PictureSize, schedule.name,
                        layout.width / 10, layout.height / 10,
                        roundedText(canvas.points(10)));
  canvas.writeHead();
  Drawing(layout, canvas).draw();
  canvas.writeFoot();
  return success();
}

} // namespace pipec
