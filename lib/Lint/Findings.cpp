//===- Findings.cpp - The findings of lint --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lint/Findings.h"

#include "Driver/Information.h"
#include "Support/DiagPrinter.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

void FoldedFindings::add(const Diagnostic &finding) {
  auto [it, isNew] = numbers.try_emplace(
      {finding.id, finding.severity, finding.range.Start.getPointer(),
       finding.range.End.getPointer(),
       finding.place && finding.range.isValid() ? "" : finding.message},
      all.size());
  if (isNew)
    all.push_back({finding, 0, {}});
  Folded &folded = all[it->second];
  ++folded.count;
  if (finding.place)
    folded.ranks.insert(finding.place->rank);
}

/// `rank 2`, `ranks 0 to 3` or `ranks 0, 2`.
static std::string ranksText(ArrayRef<unsigned> ranks) {
  if (ranks.size() == 1)
    return "rank " + std::to_string(ranks.front());
  bool isRange = ranks.back() - ranks.front() + 1 == ranks.size();
  return "ranks " + (isRange ? std::to_string(ranks.front()) + " to " +
                                   std::to_string(ranks.back())
                             : listText(ranks));
}

std::vector<Diagnostic> FoldedFindings::take() {
  std::vector<Diagnostic> findings;
  for (Folded &folded : all) {
    Diagnostic &finding = folded.first;
    if (folded.count > 1 && !folded.ranks.empty()) {
      finding.ranks.assign(folded.ranks.begin(), folded.ranks.end());
      std::string ranks = ranksText(finding.ranks);
      finding.message +=
          folded.count == folded.ranks.size()
              ? " (" + ranks + ")"
              : " (" + countText(folded.count, "step") + " of " + ranks + ")";
    }
    findings.push_back(std::move(finding));
  }
  all.clear();
  numbers.clear();
  return findings;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {

/// The place of a diagnostic. Columns count characters from 1, as in all of
/// these formats, not bytes; the end is the column after the last one.
struct Region {
  std::string file;
  unsigned line, column, endLine, endColumn;
};

} // namespace

/// The column of `loc` in characters. In the long lines of CSVs, characters of
/// several bytes are only counted at the beginning.
static unsigned characterColumn(SMLoc loc, unsigned byteColumn) {
  constexpr size_t counted = 1 << 12;
  StringRef before(loc.getPointer() - (byteColumn - 1), byteColumn - 1);
  return byteColumn -
         unsigned(count_if(before.take_front(counted), isContinuationByte));
}

static std::optional<Region> regionOf(SMRange range, const SourceFiles &files) {
  if (!range.isValid())
    return std::nullopt;
  LineColumn begin = files.lineColumn(range.Start);
  LineColumn end = files.lineColumn(range.End);
  return Region{begin.file.str(), begin.line,
                characterColumn(range.Start, begin.column), end.line,
                characterColumn(range.End, end.column)};
}

//===----------------------------------------------------------------------===//
// SARIF
//===----------------------------------------------------------------------===//

static void writeTextObject(json::OStream &json, StringRef key,
                            StringRef text) {
  json.attributeObject(key,
                       [&] { json.attribute("text", json::fixUTF8(text)); });
}

static void writeRegion(json::OStream &json, StringRef key,
                        const Region &region) {
  json.attributeObject(key, [&] {
    json.attribute("startLine", region.line);
    json.attribute("startColumn", region.column);
    json.attribute("endLine", region.endLine);
    json.attribute("endColumn", region.endColumn);
  });
}

/// Writes the place of a finding: a region, or else the whole of `path`.
static void writePlace(json::OStream &json, const Diagnostic &finding,
                       StringRef path, const SourceFiles &files) {
  std::optional<Region> region = regionOf(finding.range, files);
  json.attributeObject("physicalLocation", [&] {
    json.attributeObject("artifactLocation", [&] {
      json.attribute("uri", uriOfPath(region ? StringRef(region->file) : path));
    });
    if (region)
      writeRegion(json, "region", *region);
  });
}

static void writeChange(json::OStream &json, const FixIt &edit,
                        const SourceFiles &files) {
  Region region = *regionOf(edit.range, files);
  json.attributeObject("artifactLocation",
                       [&] { json.attribute("uri", uriOfPath(region.file)); });
  json.attributeArray("replacements", [&] {
    json.object([&] {
      writeRegion(json, "deletedRegion", region);
      writeTextObject(json, "insertedContent", edit.text);
    });
  });
}

/// Writes the edits of a finding, or else the edits of its notes, as one fix
/// each.
static void writeFixes(json::OStream &json, const Diagnostic &finding,
                       const SourceFiles &files) {
  SmallVector<ArrayRef<FixIt>> fixes = {finding.fixIts};
  for (const Diagnostic &note : finding.notes)
    fixes.push_back(note.fixIts);
  llvm::erase_if(fixes, [](ArrayRef<FixIt> edits) { return edits.empty(); });
  if (fixes.empty())
    return;
  writeObjects(json, "fixes", fixes, [&](ArrayRef<FixIt> edits) {
    writeObjects(json, "artifactChanges", edits,
                 [&](const FixIt &edit) { writeChange(json, edit, files); });
    json.attributeObject("properties", [&] {
      json.attribute("applicability", edits.front().applicability());
    });
  });
}

static void writeResult(json::OStream &json, const Diagnostic &finding,
                        StringRef path, unsigned rule,
                        const SourceFiles &files) {
  json.object([&] {
    json.attribute("ruleId", diagInfo(finding.id).name);
    json.attribute("ruleIndex", rule);
    json.attribute("level", severityName(finding.severity));
    writeTextObject(json, "message", finding.message);
    json.attributeArray("locations", [&] {
      json.object([&] { writePlace(json, finding, path, files); });
    });
    writeFixes(json, finding, files);
    if (finding.notes.empty())
      return;
    json.attributeArray("relatedLocations", [&] {
      for (auto [id, note] : enumerate(finding.notes))
        json.object([&, id = id, &note = note] {
          json.attribute("id", int64_t(id));
          writeTextObject(json, "message", note.message);
          writePlace(json, note, path, files);
        });
    });
  });
}

static void writeRule(json::OStream &json, const DiagInfo &info) {
  std::string explanation = explanationOf(info);
  StringRef prose = StringRef(explanation).split("\n\n```").first.rtrim();
  std::string summary = textOf(info);
  std::string help = "pipec --explain " + info.name.str();
  if (!info.flag.empty())
    help += "; -Wno-" + info.flag.str() + " switches it off";
  json.attribute("id", info.name);
  writeTextObject(json, "shortDescription", summary);
  writeTextObject(json, "fullDescription",
                  prose.empty() ? StringRef(summary) : prose);
  json.attributeObject("help", [&] {
    json.attribute("text", json::fixUTF8(help));
    if (!explanation.empty())
      json.attribute("markdown",
                     json::fixUTF8(explanation + "\n\n`" + help + "`"));
  });
}

void writeSarif(raw_ostream &os, StringRef version,
                ArrayRef<FileFindings> inputs, const SourceFiles &files) {
  // The kinds of the findings, in the order in which they occur.
  MapVector<diag::Id, unsigned> rules;
  for (const FileFindings &input : inputs)
    for (const Diagnostic &finding : input.findings)
      rules.insert({finding.id, unsigned(rules.size())});

  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json.attribute("version", "2.1.0");
    json.attributeBegin("runs");
    json.arrayBegin();
    json.objectBegin();
    json.attributeObject("tool", [&] {
      json.attributeObject("driver", [&] {
        json.attribute("name", "pipec");
        json.attribute("version", version);
        json.attributeArray("rules", [&] {
          for (auto [id, index] : rules)
            json.object([&, id = id] { writeRule(json, diagInfo(id)); });
        });
      });
    });
    json.attribute("columnKind", "unicodeCodePoints");
    json.attributeArray("results", [&] {
      for (const FileFindings &input : inputs)
        for (const Diagnostic &finding : input.findings)
          writeResult(json, finding, input.path, rules.lookup(finding.id),
                      files);
    });
    json.objectEnd();
    json.arrayEnd();
    json.attributeEnd();
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// GitHub Actions
//===----------------------------------------------------------------------===//

/// The text of a workflow command; in a property, `:` and `,` are special too.
static std::string escaped(StringRef text, bool isProperty) {
  std::string result;
  StringRef special = isProperty ? "%\r\n:," : "%\r\n";
  for (char c : text)
    if (special.contains(c))
      result += "%" + toHex(StringRef(&c, 1));
    else
      result += c;
  return result;
}

/// `a.csv:1:5: message`
static std::string placedText(const Diagnostic &finding,
                              const SourceFiles &files) {
  std::string text;
  if (std::optional<Region> region = regionOf(finding.range, files))
    text = region->file + ":" + std::to_string(region->line) + ":" +
           std::to_string(region->column) + ": ";
  return text + severityName(finding.severity).str() + ": " + finding.message +
         flagText(finding);
}

void writeGithubCommands(raw_ostream &os, ArrayRef<FileFindings> inputs,
                         const SourceFiles &files) {
  for (const FileFindings &input : inputs)
    for (const Diagnostic &finding : input.findings) {
      std::optional<Region> region = regionOf(finding.range, files);
      bool isNote = finding.severity == Severity::Note;
      os << "::" << (isNote ? "notice" : severityName(finding.severity))
         << " file=" << escaped(region ? region->file : input.path, true);
      if (region) {
        os << ",line=" << region->line << ",endLine=" << region->endLine;
        // Columns are for single lines; the end is the last character.
        if (region->line == region->endLine)
          os << ",col=" << region->column << ",endColumn="
             << std::max(region->column, region->endColumn - 1);
      }
      std::string text = finding.message + flagText(finding);
      for (const Diagnostic &note : finding.notes)
        text += "\n" + placedText(note, files);
      os << ",title=" << diagInfo(finding.id).name
         << "::" << escaped(text, false) << '\n';
    }
}

//===----------------------------------------------------------------------===//
// JUnit
//===----------------------------------------------------------------------===//

/// Text of XML, which has no control characters.
static void writeXml(raw_ostream &os, StringRef text) {
  std::string clean = json::fixUTF8(text);
  for (char &c : clean)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t')
      c = '?';
  printHTMLEscaped(clean, os);
}

void writeJunit(raw_ostream &os, ArrayRef<FileFindings> inputs,
                const SourceFiles &files) {
  auto isError = [](const Diagnostic &finding) {
    return finding.severity == Severity::Error;
  };
  auto writeAll = [&](ArrayRef<Diagnostic> findings, bool errors) {
    for (const Diagnostic &finding : findings) {
      if (isError(finding) != errors)
        continue;
      writeXml(os, placedText(finding, files) + "\n");
      for (const Diagnostic &note : finding.notes)
        writeXml(os, placedText(note, files) + "\n");
    }
  };
  size_t failures = count_if(inputs, [&](const FileFindings &input) {
    return any_of(input.findings, isError);
  });
  os << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
     << "  <testsuite name=\"pipec lint\" tests=\"" << inputs.size()
     << "\" failures=\"" << failures << "\" errors=\"0\">\n";
  for (const FileFindings &input : inputs) {
    os << "    <testcase classname=\"pipec.lint\" name=\"";
    writeXml(os, input.path);
    os << "\">\n";
    auto error = find_if(input.findings, isError);
    if (error != input.findings.end()) {
      os << "      <failure type=\"" << diagInfo(error->id).name
         << "\" message=\"";
      writeXml(os, error->message);
      os << "\">";
      writeAll(input.findings, /*errors=*/true);
      os << "</failure>\n";
    }
    if (!all_of(input.findings, isError)) {
      os << "      <system-out>";
      writeAll(input.findings, /*errors=*/false);
      os << "</system-out>\n";
    }
    os << "    </testcase>\n";
  }
  os << "  </testsuite>\n</testsuites>\n";
}

} // namespace pipec
