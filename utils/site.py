#!/usr/bin/env python3
"""Builds the documentation as a static site with full-text search.

    site.py [--bin FOLDER] [--root ROOT] OUT

Copies the pages of ROOT to OUT/site-pages, adds those that the compiler makes (messages,
gallery, listings of the folders that pages link to), and runs MkDocs on them, whose
environment must be that of this Python. The site is OUT/site; browsers search it only
where a server provides it, such as `python3 -m http.server`.
Every link between pages must lead somewhere, or the build fails. The first page is
README.md with the pictures of the gallery in place of its own, and each leads to a page of
its schedule. The tables of docs/Results.md have plots. The navigation is that of
docs/README.md, with the gallery and the index of messages.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

# The folders of tests and templates have no pages for readers.
FOLDERS = ["benchmarks", "docs", "editors", "examples", "python"]
FENCE = re.compile(r"^( *)(```+).*?^\1\2$", re.S | re.M)
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")

MKDOCS = {
    "site_name": "pipec",
    "site_description": "A compiler for pipeline-parallel training schedules",
    "theme": {
        "name": "material",
        # No requests to other sites.
        "font": False,
        "features": ["navigation.indexes", "navigation.prune", "navigation.tabs", "navigation.top", "search.highlight",
                     "search.suggest", "content.code.copy"],
        # That of the reader's system, until the reader chooses one.
        "palette": [
            {"media": "(prefers-color-scheme)", "toggle": {"icon": "material/brightness-auto", "name": "Light"}},
            {"media": "(prefers-color-scheme: light)", "scheme": "default",
             "toggle": {"icon": "material/weather-night", "name": "Dark"}},
            {"media": "(prefers-color-scheme: dark)", "scheme": "slate",
             "toggle": {"icon": "material/weather-sunny", "name": "As the system"}},
        ],
    },
    "plugins": ["material/search"],
    "use_directory_urls": False,
    "extra_css": ["site.css"],
    # Headings have the anchors that GitHub gives them, as utils/check-links.py expects.
    "markdown_extensions": [
        "tables", "admonition", "attr_list", "md_in_html", "pymdownx.superfences",
        {"pymdownx.highlight": {"anchor_linenums": False}},
        {"toc": {"permalink": True, "slugify": "!!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}"}},
    ],
    "validation": {"omitted_files": "ignore", "absolute_links": "warn", "unrecognized_links": "warn",
                   "links": {"anchors": "warn"}},
    "strict": True,
}

# Pictures have the page's scheme, light or dark; wide ones scroll on narrow screens. The columns of tables are as narrow
# as their words, so that most tables fit the page.
CSS = """\
.md-typeset .cards img { display: block; width: 100%; }
.md-typeset .cards p { margin: .4em 0; }
.md-typeset .wide { overflow-x: auto; }
.md-typeset .wide img { min-width: 32rem; }
.md-typeset table:not([class]) th { min-width: 0; }
.md-typeset table:not([class]) :is(th, td) { padding: .8em 1em; }
.md-typeset table:not([class]) code { word-break: normal; }
[data-md-color-scheme="default"] img { color-scheme: light; }
[data-md-color-scheme="slate"] img { color-scheme: dark; }
"""

README_PICTURE = re.compile(r"^!\[[^\]]*\]\(docs/gallery/[^)]*\)$", re.M)


def links(page):
    """The files and folders that a page links to, relative to its folder."""
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    return {match[1] for match in LINK.finditer(text) if not re.match(r"\w+:", match[1])}


def listing(folder, title):
    """A page with the text of each program of a folder."""
    lines = [f"# {title}\n"]
    for path in sorted(folder.glob("*.pipe")):
        lines.append(f"## {path.name}\n\n```pipe\n{path.read_text(encoding='utf-8').rstrip()}\n```\n")
    return "\n".join(lines)


def copy_pages(root, pages):
    """Copies all pages and the files that they link to; a folder becomes a listing."""
    found = [path for path in root.glob("*.md")]
    for folder in FOLDERS:
        found += [path for path in (root / folder).rglob("*.md") if "node_modules" not in path.parts]
    for path in sorted(found):
        target = pages / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        for link in sorted(links(path)):
            other = (path.parent / link).resolve()
            if other.is_dir():
                text = text.replace(f"]({link})", f"]({link.rstrip('/')}/README.md)")
                page = pages / other.relative_to(root) / "README.md"
                if not (other / "README.md").exists() and not page.exists():
                    page.parent.mkdir(parents=True, exist_ok=True)
                    page.write_text(listing(other, str(other.relative_to(root))), encoding="utf-8")
            elif other.is_file() and other.suffix != ".md":
                copy = pages / other.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(other, copy)
        # A name after the language of a block is for utils/check-snippets.py.
        target.write_text(re.sub(r"^( *```[\w-]*) .*$", r"\1", text, flags=re.M), encoding="utf-8")


def front_page(page, cards):
    """Shows the gallery on the first page."""
    text, count = README_PICTURE.subn(lambda _: f'<div class="grid cards" markdown>\n\n{cards}\n</div>',
                                      page.read_text(encoding="utf-8"))
    if count != 1:
        sys.exit(f"site.py: {page} has {count} pictures of docs/gallery, not one")
    page.write_text(f"---\nhide: [navigation, toc]\n---\n{text}", encoding="utf-8")


def navigation(index):
    """The navigation: the sections of an index page, each with the pages that it links to."""
    gallery = sorted(page.stem for page in (index.parent / "gallery").glob("*.md"))
    nav = [{"pipec": "README.md"}, {"Gallery": [f"docs/gallery/{name}.md" for name in gallery]}]
    section = nav
    for line in index.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = []
            nav.append({line[3:]: section})
        for text, link in re.findall(r"\[([^\]]+)\]\(([^)#]+\.md)\)", line):
            path = pathlib.PurePosixPath("docs", link)
            parts = []
            for part in path.parts:
                parts = parts[:-1] if part == ".." else [*parts, part]
            section.append({text[0].upper() + text[1:]: "/".join(parts)})
        if line == "## Reference":
            section.append({"Diagnostics": "docs/Diagnostics.md"})
    return nav


def run(*command):
    result = subprocess.run([sys.executable, *map(str, command)], check=False, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, env=dict(os.environ, NO_MKDOCS_2_WARNING="1"))
    if result.returncode:
        sys.exit(f"{result.stdout}\nsite.py: {command[0]} failed")


def main():
    parser = argparse.ArgumentParser(description="Builds the documentation as a static site.")
    parser.add_argument("--bin", type=pathlib.Path, help="the folder of pipec and pipec-opt")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("out", type=pathlib.Path, help="the folder of site-pages/ and site/")
    options = parser.parse_args()
    root, out = options.root.resolve(), options.out.resolve()
    programs = (options.bin or root / "build/release/bin").resolve()
    pages = out / "site-pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    copy_pages(root, pages)
    utils = root / "utils"
    run(utils / "diagnostics-page.py", "--bin", programs, "--out", pages / "docs", root)
    run(utils / "gallery.py", "--bin", programs, "--out", pages / "docs", root)
    cards = pages / "docs/gallery/cards.txt"
    front_page(pages / "README.md", cards.read_text(encoding="utf-8"))
    cards.unlink()
    run(utils / "plots.py", pages / "docs/Results.md", pages / "docs/Results.md")
    (pages / "site.css").write_text(CSS, encoding="utf-8")
    config = dict(MKDOCS, docs_dir=str(pages), site_dir=str(out / "site"), hooks=[str(utils / "site-hooks.py")],
                  nav=navigation(pages / "docs/README.md"))
    # JSON is YAML, but for the one value that names a function.
    text = re.sub(r'"(!!python/[^"]*)"', r"\1", json.dumps(config, indent=2))
    config_file = out / "site-pages.yml"
    config_file.write_text(text, encoding="utf-8")
    run("-m", "mkdocs", "build", "--clean", "--config-file", config_file)
    # Its links are from the root of a host, where the site need not be.
    (out / "site/404.html").unlink(missing_ok=True)
    print(f"{sum(1 for _ in (out / 'site').rglob('*.html'))} pages in {out / 'site'}")


if __name__ == "__main__":
    main()
