"""check-front-page.py SITE RESULTS: the first page of a site of utils/site.py shows pictures,
each of which leads to a page with the whole picture, figures, parameters, commands, the
highlighted program and an interactive page without requests; the page of results has plots
with the numbers of its tables."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import html.parser
import pathlib
import re
import sys

site, results = map(pathlib.Path, sys.argv[1:])


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.pictures, self.text, self.spans = set(), [], "", set()
        self.feed(path.read_text(encoding="utf-8"))
        self.links = {(path.parent / link).resolve() for link in self.links if not re.match(r"\w+:|#", link)}
        self.pictures = [(path.parent / picture.split("#")[0]).resolve() for picture in self.pictures]

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "a" and values.get("href"):
            self.links.add(values["href"].split("#")[0])
        elif tag == "img":
            assert values.get("alt"), values
            self.pictures.append(values["src"])
        elif tag == "span":
            self.spans.add(values.get("class"))

    def handle_data(self, data):
        self.text += data


gallery = (site / "docs/gallery").resolve()
front = Page(site / "index.html")
shown = [picture for picture in front.pictures if picture.parent == gallery]
assert shown and len(set(shown)) == len(shown)
for picture in shown:
    assert picture.exists(), picture
    name = picture.name.removesuffix("-small.svg")
    assert gallery / f"{name}.html" in front.links, name
    page = Page(gallery / f"{name}.html")
    assert gallery / f"{name}.svg" in page.pictures and gallery / f"{name}.page.html" in page.links, name
    for text in ("makespan", "bubble", "peak of a rank", "ranks", f"-o {name}.svg", "schedule "):
        assert text in page.text, (name, text)
    # Words that declare, and numbers, in the classes of Pygments.
    assert {"kd", "mi"} <= page.spans or {"kd", "m"} <= page.spans, (name, page.spans)
    interactive = (gallery / f"{name}.page.html").read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=[\"']?http", interactive), name
assert {path.name.removesuffix(".page.html") for path in gallery.glob("*.page.html")} == {
    picture.name.removesuffix("-small.svg") for picture in shown}

plots = [picture for picture in Page(site / "docs/Results.html").pictures if picture.parent.name == "plots"]
assert sorted(path.stem for path in plots) == sorted(path.stem for path in (site / "docs/plots").glob("*.svg"))
# The labels of bars are the values of the table.
bars = re.findall(r"^\| (?:gpt|encoder) \| .*?\| (\d+) \| (\d+) \|", results.read_text(encoding="utf-8"), re.M)
assert len(bars) == 12, bars
for theme in "light", "dark":
    drawn = "".join((site / f"docs/plots/plans-{ranks}-{theme}.svg").read_text(encoding="utf-8") for ranks in (8, 2))
    missing = [value for row in bars for value in row if f">{value}</text>" not in drawn]
    assert not missing, missing
print(f"{len(shown)} schedules, {len(plots) // 2} plots")
