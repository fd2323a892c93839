# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings of several files as text, JSON, SARIF, commands of GitHub and JUnit."""

import json
import re
import subprocess
import urllib.parse
import xml.etree.ElementTree

GOOD = ("0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD\n"
        "1RECV_F0,1F0,1B0,1SEND_B0,1REDUCE_GRAD\n")
# Nothing takes what rank 0 sends, and there is no REDUCE_GRAD.
BAD = "0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0\n"
FILES = {"good.csv": GOOD, "bad, worse.csv": BAD, "warns.csv": GOOD.replace(",0REDUCE_GRAD", "").replace(",1REDUCE_GRAD", ""),
         "é.pipe": "schedule a(ranks p = 2) {\n  é\n}\n"}
for name, text in FILES.items():
    with open(name, "w") as file:
        file.write(text)
INPUTS = [*FILES, "absent.csv"]


def lint(*arguments, status=1):
    run = subprocess.run(["pipec", "lint", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.returncode == status, (arguments, run.returncode, run.stderr)
    assert status == 2 or not run.stderr, run.stderr
    return run.stdout if status != 2 else run.stderr


# JSON: of one file its object, of several a list of them.
every = json.loads(lint(*INPUTS, "--format=json"))
assert list(every) == ["files"] and [one["file"] for one in every["files"]] == INPUTS
for one in every["files"]:
    alone = json.loads(lint(one["file"], "--format=json", status=int(one["file"] not in ("good.csv", "warns.csv"))))
    assert {"file": one["file"], **alone} == one, one["file"]
assert [one["safe"]["edge"] for one in every["files"]] == [True, False, True, False, False]
findings = [(one["file"], finding) for one in every["files"] for finding in one["findings"]]
assert findings

# Text: each file under its name, what cannot be read included.
text = lint(*INPUTS)
assert re.findall(r"^(.*):$", text, re.M) == INPUTS, text
assert text.count("\nsafe under:") == 3 and "error: no file" in text.split("absent.csv:\n")[1], text
assert lint("good.csv", "good.csv", status=0).count("safe under: stream pair edge buffered\n") == 2

# SARIF 2.1.0: what the format requires of the parts that are there.
log = json.loads(lint(*INPUTS, "--format=sarif"))
assert log["version"] == "2.1.0" and set(log) == {"$schema", "version", "runs"}
run, = log["runs"]
assert set(run) == {"tool", "columnKind", "results"} and run["columnKind"] == "unicodeCodePoints"
driver = run["tool"]["driver"]
assert driver["name"] == "pipec" and re.match(r"\d+\.\d+", driver["version"])
rules = [rule["id"] for rule in driver["rules"]]
assert len(set(rules)) == len(rules) and all(rule["help"]["text"].startswith(f"pipec --explain {rule['id']}") for rule in driver["rules"])
for rule in driver["rules"]:
    assert set(rule) == {"id", "shortDescription", "fullDescription", "help"}, rule
    assert rule["shortDescription"]["text"] and len(rule["fullDescription"]["text"]) > 20 and "{" not in rule["shortDescription"]["text"], rule
    assert rule["help"]["markdown"].startswith(rule["fullDescription"]["text"]), rule
assert any(rule["help"]["text"].endswith("-Wno-no-reduce-grad switches it off") for rule in driver["rules"])


def check_place(place, finding, file):
    assert set(place) <= {"artifactLocation", "region"}
    uri = place["artifactLocation"]["uri"]
    assert re.fullmatch(r"(file://)?[A-Za-z0-9/._~%-]+", uri), uri
    assert urllib.parse.unquote(uri) == (finding["file"] or file)
    assert ("region" in place) == (finding["line"] is not None)
    if "region" in place:
        region = place["region"]
        assert set(region) == {"startLine", "startColumn", "endLine", "endColumn"}
        assert all(isinstance(number, int) and number >= 1 for number in region.values())
        assert (region["startLine"], region["startColumn"]) == (finding["line"], finding["column"])


assert len(run["results"]) == len(findings)
for result, (file, finding) in zip(run["results"], findings):
    assert set(result) <= {"ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations", "fixes"}
    assert rules[result["ruleIndex"]] == result["ruleId"] == finding["kind"]
    assert result["level"] == finding["severity"] and result["level"] in ("error", "warning", "note")
    assert result["message"] == {"text": finding["message"]}
    location, = result["locations"]
    check_place(location["physicalLocation"], finding, file)
    related = result.get("relatedLocations", [])
    assert [note["id"] for note in related] == list(range(len(finding["notes"])))
    for note, of in zip(related, finding["notes"]):
        assert note["message"] == {"text": of["message"]}
        check_place(note["physicalLocation"], of, file)
# Columns count characters, not bytes.
region, = [result["locations"][0]["physicalLocation"]["region"] for result, (file, _) in zip(run["results"], findings)
           if file == "é.pipe"]
assert region == {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 4}, region

# Workflow commands.
lines = lint(*INPUTS, "--format=github").splitlines()
assert len(lines) == len(findings)
for line, (file, finding) in zip(lines, findings):
    command, properties, message = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line).groups()
    assert command == finding["severity"].replace("note", "notice")
    properties = dict(part.split("=") for part in properties.split(","))
    assert urllib.parse.unquote(properties["file"]) == (finding["file"] or file) and properties["title"] == finding["kind"]
    assert properties.get("line") == (str(finding["line"]) if finding["line"] else None)
    text = finding["message"] + (f" [-W{finding['flag']}]" if finding["flag"] else "")
    assert urllib.parse.unquote(message).split("\n")[0] in (text, text.replace("[-W", "[-Werror="))
    assert message.count("%0A") >= len(finding["notes"])
assert any("bad%2C worse.csv" in line for line in lines)

# JUnit: a case per file, which fails if it has an error.
suites = xml.etree.ElementTree.fromstring(lint(*INPUTS, "--format=junit"))
suite, = suites
assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "3", "0")
assert [case.get("name") for case in suite] == INPUTS
for case in suite:
    own = [finding for file, finding in findings if file == case.get("name")]
    errors = [finding for finding in own if finding["severity"] == "error"]
    failure = case.find("failure")
    assert (failure is not None) == bool(errors)
    if errors:
        assert (failure.get("type"), failure.get("message")) == (errors[0]["kind"], errors[0]["message"])
        assert all(error["message"] in failure.text for error in errors)
    others = [finding for finding in own if finding not in errors]
    assert all(finding["message"] in case.find("system-out").text for finding in others)

# The name of the output file chooses the form, or contradicts it.
lint("bad, worse.csv", "-o", "out.sarif")
assert json.load(open("out.sarif"))["version"] == "2.1.0"
lint("bad, worse.csv", "-o", "out.xml")
assert xml.etree.ElementTree.parse("out.xml").getroot().tag == "testsuites"
assert "whose name is that of sarif" in lint("good.csv", "--format=junit", "-o", "out.sarif", status=2)
assert "unknown format `tap`" in lint("good.csv", "--format=tap", status=2)
assert "no input" in lint("--format=sarif", status=2)
# A file without findings has results, none.
clean = json.loads(lint("good.csv", "--pytorch=2.13", "--format=sarif", status=0))["runs"][0]
assert clean["results"] == [] and clean["tool"]["driver"]["rules"] == []

# In a program, a statement has one finding of a kind, with the ranks; a step has
# its real end.
with open("order.pipe", "w") as file:
    file.write("""schedule slices(ranks p = 4, microbatches n = 8) {
  placement loop;
  let w = min(n, p - rank);
  warmup   { repeat w { F } }
  steady   { for i in 0..n - w { F B[0, i + 1 - i % 2 * 2] } }
  cooldown { for i in n - w..n { B[0, i + 1 - i % 2 * 2] } }
}
""")
line, = lint("order.pipe", "--format=github", "--ranks=4", "-Wmicrobatch-order", status=0).splitlines()
assert line.startswith("::warning file=order.pipe,line=5,endLine=5,col=36,endColumn=58,title=MicrobatchOrder::rank 0 step "), line
assert re.search(r" of the same stage \(ranks 0 to \d\) \[-Wmicrobatch-order\]", line), line
result, = json.loads(lint("order.pipe", "--format=sarif", status=0))["runs"][0]["results"]
region = result["locations"][0]["physicalLocation"]["region"]
assert (region["startColumn"], region["endColumn"]) == (36, 59), region
finding, = json.loads(lint("order.pipe", "--format=json", status=0))["findings"]
assert finding["ranks"] == list(range(len(finding["ranks"]))) and len(finding["ranks"]) > 1, finding["ranks"]
text = lint("order.pipe", "-Werror=MicrobatchOrder")
assert text.count("error:") == 1 and "[-Werror=microbatch-order]" in text, text
assert lint("order.pipe", "-Wno-MicrobatchOrder", status=0).startswith("safe under"), text
