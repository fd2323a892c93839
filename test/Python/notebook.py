# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""What notebooks show of a schedule."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import html.parser
import xml.dom.minidom

import pipec

schedule = pipec.compile("one_f_one_b", ranks=2, microbatches=3)
picture = schedule.svg()
assert picture == schedule.emit("svg") == schedule._repr_svg_() == picture._repr_svg_()
assert xml.dom.minidom.parseString(picture).documentElement.tagName == "svg"
assert repr(picture) == f"<pipec.Svg: {len(picture)} characters>"
assert schedule.svg("--window=0:2") != picture
page = schedule.html()
assert page == schedule.emit("html") and page._repr_html_() == schedule._repr_html_()


class Frames(html.parser.HTMLParser):
    """The elements of what a notebook includes, which must be one frame."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


# The page is whole, in a frame of its own whose scripts have no origin.
(tag, attributes), = Frames(page._repr_html_()).found
assert tag == "iframe" and attributes["srcdoc"] == page
assert set(attributes["sandbox"].split()) == {"allow-scripts", "allow-downloads"}, attributes["sandbox"]

# A name of a schedule cannot leave the frame.
wicked = pipec.Schedule.from_steps([["F0", "B0"]], name='"></iframe><script>alert(1)</script>')
assert len(Frames(wicked._repr_html_()).found) == 1 and "<script>alert" not in wicked._repr_html_()
assert "<script>" not in wicked._repr_svg_()
assert "<script>" not in pipec.compare(wicked, ranks=1, microbatches=1, library=False)._repr_html_()

# What is too large for the file of a notebook, and what cannot run, is text.
assert pipec.compile("gpipe", ranks=4, microbatches=600)._repr_svg_()
large = pipec.compile("gpipe", ranks=4, microbatches=700)
assert large._repr_svg_() is None and large._repr_html_() is None and repr(large) and large.svg().startswith("<svg")
late = pipec.Schedule.from_steps(schedule.ir.replace("F s1 m0", "B s1 m9", 1).replace("B s1 m0", "F s1 m0", 1).replace(
    "B s1 m9", "B s1 m0"), args=["--verify=none"])
assert late._repr_svg_() is None and late._repr_html_() is None
try:
    late.svg()
    raise AssertionError("a picture of what cannot run")
except pipec.CompileError:
    pass
