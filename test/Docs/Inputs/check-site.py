"""check-site.py SITE GALLERY: the index of a web site of gallery.py links a page and shows
a picture for each of the gallery, and nothing else."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import html.parser
import pathlib
import sys

site, gallery = map(pathlib.Path, sys.argv[1:])


class Links(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.found, self.headings = [], 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.found += [value for name, value in attributes if name in ("href", "src")]
        self.headings += tag == "h1"


names = sorted(path.stem for path in gallery.glob("*.md"))
assert sorted(path.name for path in site.iterdir()) == sorted(
    ["index.html", *(f"{name}.{kind}" for name in names for kind in ("html", "svg"))])
index = Links(site / "index.html")
assert sorted(index.found) == sorted(f"{name}.{kind}" for name in names for kind in ("html", "svg")), index.found
for name in names:
    page = Links(site / f"{name}.html")
    assert not page.found and page.headings == 1, (name, page.found)
    assert (site / f"{name}.html").stat().st_size < 150_000, name
print(f"{len(names)} pages are linked")
