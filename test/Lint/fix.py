# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--fix: what is corrected, what stays, and which files are not touched."""

import json
import os
import re
import stat
import subprocess

GOOD = """\
// A comment.
schedule a(ranks p = 2, microbatches m = 4) {
  placement loop;
  let w = min(m, p - 1 - rank);  // warm
  warmup   { repeat w { F } }
  steady   { repeat m - w { F B } }
  cooldown { repeat w { B } }
}
"""


def lint(*arguments, status):
    run = subprocess.run(["pipec", "lint", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.returncode == status, (arguments, run.returncode, run.stdout, run.stderr)
    return run


def write(path, text):
    with open(path, "w", newline="") as file:
        file.write(text)


def read(path):
    with open(path, newline="") as file:
        return file.read()


def fix(text, *options, status=0):
    """The text after --fix with all edits, and what was printed. A second run changes nothing."""
    write("a.pipe", text)
    run = lint("a.pipe", "--fix", "--unsafe-fixes", *options, status=status)
    fixed = read("a.pipe")
    again = lint("a.pipe", "--fix", "--unsafe-fixes", *options, status=status)
    assert read("a.pipe") == fixed and "corrected" not in again.stderr, again.stderr
    return fixed, run


# One mistake of each kind that has a correction, and all of them together.
MISTAKES = [
    ("loop;", "lop;"), ("loop;", "loop"), ("repeat w { F", "repeat ww { F"), ("steady ", "stedy "),
    ("  warmup", "  let unused = 3;  // with a comment\n  warmup"),
    ("  warmup", "  fn unused(a) {\n    a + 1\n  }\n  warmup"),
    ("  warmup", "  pattern unused() { F }\n  warmup"),
]
for right, wrong in MISTAKES:
    assert right in GOOD
    fixed, run = fix(GOOD.replace(right, wrong, 1))
    assert fixed == GOOD, (right, wrong, fixed)
    assert run.stderr == "pipec: note: corrected 1 finding in `a.pipe`\n", run.stderr
    assert run.stdout.startswith("safe under:"), run.stdout
text = GOOD.replace("loop;", "loop").replace("repeat w { F", "repeat ww { F").replace("  warmup", "  let x = 1;\n  warmup") \
    .replace("- rank", "- raank")
fixed, run = fix(text)
assert fixed == GOOD and "corrected 4 findings" in run.stderr, (fixed, run.stderr)
# Words that are only similar stay without --unsafe-fixes.
write("a.pipe", GOOD.replace("placement loop;", "placement lop").replace("  warmup", "  let x = 1;\n  warmup"))
run = lint("a.pipe", "--fix", status=1)
assert read("a.pipe") == GOOD.replace("loop;", "lop;").replace("  warmup", "  let x = 1;\n  warmup"), read("a.pipe")
assert "corrected 1 finding in" in run.stderr, run.stderr
assert "1 finding in `a.pipe` can be corrected with --unsafe-fixes\n" in run.stderr, run.stderr
run = lint("a.pipe", "--format=json", status=1)
found, = json.loads(run.stdout)["findings"]
assert found["fixes"] == [] and [fix["applicability"] for fix in found["notes"][0]["fixes"]] == ["unsafe"], found
assert "`--unsafe-fixes` has no effect without --fix" in lint("a.pipe", "--unsafe-fixes", status=2).stderr
# A definition that is only used by one that is removed, and two in one line.
assert fix(GOOD.replace("  warmup", "  let x = 1;\n  let y = x;\n  warmup", 1))[0] == GOOD
assert fix(GOOD.replace("  warmup", "  let x = 1; let y = 2;\n  warmup", 1))[0] == GOOD
for clause, wanted in (("idle >= 0", "idle(rank) >= 0"), ("makespan(rank) >= 0", "makespan >= 0"),
                       ("makspan >= 0", "makespan >= 0"), ("peek >= 0", "peak(rank) >= 0"),
                       ("paek(rank) >= 0", "peak(rank) >= 0"), ("makspan(rank) >= 0", "makespan >= 0")):
    def with_clause(text):
        return GOOD.replace("}\n}", "}\n  expect " + text + ";\n}")
    assert fix(with_clause(clause))[0] == with_clause(wanted), clause

# The roles of parameters, one of which is a reserved word.
assert fix(GOOD.replace("ranks p", "rank p"))[0] == GOOD
assert fix(GOOD.replace("microbatches m", "microbatch m"))[0] == GOOD
assert fix(GOOD.replace("ranks p", "rnaks p").replace("microbatches m", "microbatch m"))[0] == GOOD

# A label is taken for the role that it is most like, and for no other.
fixed, _ = fix(GOOD.replace("a(ranks p = 2, microbatches m = 4)", "aranks p = 2, microbatches m = 4, chuanks v = 1)"), status=1)
assert "chuanks v" in fixed and "ranks v" not in fixed.replace("chuanks", ""), fixed

# What cannot be corrected stays and is reported; the rest is corrected.
broken = GOOD.replace("{ repeat w { B }", "{ repeat w { I }")
fixed, run = fix(broken, status=1)
assert fixed == broken and "corrected" not in run.stderr
fixed, run = fix(broken.replace("loop;", "lop;"), status=1)
assert fixed == broken and "corrected 1 finding in" in run.stderr
# The edit after a wrong place would not help.
for text in (GOOD.replace("loop;", "loop );"), GOOD.replace("let w", "let"), GOOD + "}", "schedule", "", "\0", "\ufeff" + GOOD):
    write("a.pipe", text)
    modified = os.stat("a.pipe").st_mtime_ns
    run = subprocess.run(["pipec", "lint", "--fix", "a.pipe"], capture_output=True)
    assert run.returncode in (0, 1) and os.stat("a.pipe").st_mtime_ns == modified and read("a.pipe") == text, text

# Warnings that are switched off are not corrected, nor are sizes those of another size.
text = GOOD.replace("  warmup", "  let x = 1;\n  warmup", 1)
assert fix(text, "-Wno-unused-let")[0] == text
assert fix(text, "-Werror=unused-let", "ranks=3")[0] == GOOD
# Line ends and the mode of the file stay.
write("a.pipe", text.replace("\n", "\r\n"))
os.chmod("a.pipe", 0o640)
lint("a.pipe", "--fix", status=0)
assert read("a.pipe") == GOOD.replace("\n", "\r\n") and stat.S_IMODE(os.stat("a.pipe").st_mode) == 0o640

# Several files, each with its own result, and other formats.
write("b.pipe", GOOD.replace("loop;", "lop;"))
write("c.pipe", GOOD)
write("d.csv", "0F0,0B0\n")
run = lint("b.pipe", "c.pipe", "d.csv", "absent.pipe", "--fix", "--unsafe-fixes", "--format=sarif", status=1)
results = json.loads(run.stdout)["runs"][0]["results"]
assert [result["ruleId"] for result in results] == ["InputNotFound"], results
assert read("b.pipe") == GOOD and read("d.csv") == "0F0,0B0\n"
write("b.pipe", GOOD.replace("loop;", "lop;"))
run = lint("b.pipe", "--fix", "--unsafe-fixes", "--format=json", status=0)
assert json.loads(run.stdout)["findings"] == [] and run.stderr == ""
# An imported file is not changed.
write("lib.pipe", "fn f(a) { aa }\n")
write("a.pipe", 'import "lib.pipe";\n' + GOOD.replace("repeat w", "repeat f(w)"))
lint("a.pipe", "--fix", status=1)
assert read("lib.pipe") == "fn f(a) { aa }\n"

# A rule of lint: idle slots in a list with transfers, in step IR, where each has a line.
STEPS = """\
pipec-steps 1
schedule @s { ranks 2 stages 2 microbatches 1
  map 0 1
  rank 0 {
    F s0 m0
    SEND_F s0 m0 -> r1
    RECV_B s0 m0 <- r1
    B s0 m0
    REDUCE_GRAD s0
  }
  rank 1 {
    RECV_F s1 m0 <- r0
    F s1 m0
    B s1 m0
    SEND_B s1 m0 -> r0
    REDUCE_GRAD s1
  }
}
"""
write("a.steps", STEPS.replace("    F s1", "    bubble // first\n    bubble\n    F s1").replace("    RECV_B", "    bubble\n    RECV_B"))
assert "corrected 1 finding" in lint("a.steps", "--fix", status=0).stderr and read("a.steps") == STEPS
write("a.csv", "0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD\n,1RECV_F0,1F0,1B0,1SEND_B0,1REDUCE_GRAD\n")
text = read("a.csv")
assert "idle slot" in lint("a.csv", "--fix", status=0).stdout and read("a.csv") == text

# Only files given by their path, that can be written.
assert "`zb1p` is not one" in lint("zb1p", "--fix", status=2).stderr
assert "`<stdin>` is not one" in lint("-", "--fix", status=2).stderr
found, = json.loads(lint("zb1p", "--fix", "--format=json", status=2).stdout)["findings"]
assert found["kind"] == "UnusableOption"
if os.geteuid() != 0:
    write("b.pipe", text)
    os.chmod("b.pipe", 0o440)
    assert "cannot write `b.pipe`: permission denied" in lint("b.pipe", "--fix", status=1).stderr and read("b.pipe") == text

# Without --fix, SARIF and JSON have the edits.
write("b.pipe", GOOD.replace("loop;", "lop;"))
result, = json.loads(lint("b.pipe", "--format=sarif", status=1).stdout)["runs"][0]["results"]
change, = result["fixes"][0]["artifactChanges"]
assert change == {"artifactLocation": {"uri": "b.pipe"}, "replacements": [{
    "deletedRegion": {"startLine": 3, "startColumn": 13, "endLine": 3, "endColumn": 16},
    "insertedContent": {"text": "loop"}}]}, change
assert read("b.pipe") == GOOD.replace("loop;", "lop;")
assert re.search(r"--fix", subprocess.run(["pipec", "lint", "--help"], capture_output=True, text=True).stdout)

# A correction that does not help is not made along with one that does.
fixed, _ = fix("fn f(x) = x + 1;\n" + GOOD.replace("rank);  // warm", "rank)"), status=1)
assert fixed.startswith("fn f(x) = x + 1;\n") and "rank);" in fixed, fixed

# Definitions outside of schedules stay: other files import them.
LIBRARY = "fn shared(x) { x }\npattern third() { F }\n" + GOOD
write("lib.pipe", LIBRARY)
write("use.pipe", 'import "lib.pipe";\n' + GOOD.replace("repeat w { F }", "repeat shared(w) { F }"))
run = lint("--fix", "lib.pipe", "use.pipe", status=0)
assert read("lib.pipe") == LIBRARY and run.stderr == "", run.stderr
assert run.stdout.count("is never used") == 2, run.stdout
found = json.loads(lint("lib.pipe", "--format=json", status=0).stdout)["findings"]
assert len(found) == 2 and not any(finding["fixes"] for finding in found), found
