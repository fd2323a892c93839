#!/usr/bin/env python3
"""Attacks a page of --emit=html in a headless Chromium.

    attack.py PAGE

Sends schedules with markup in every member, as a site that has the page in a
frame and as a file to compare with. No script may run, and whatever is not a
schedule is refused.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import functools
import http.server
import json
import pathlib
import re
import sys
import tempfile
import threading
from xml.etree import ElementTree

from selenium.webdriver.common.by import By

from browse import Page, check

MARKUP = """<img src=x onerror="document.body.dataset.pwned=1;parent.postMessage('ran','*')">"""
TEXT = f"""red;}}</style>{MARKUP}'"/>{MARKUP}<script>document.body.dataset.pwned=1</script>"""
# The members that are shown as texts, cut to what fits; all others are refused.
SHOWN = {"name", "sizes", "costs", "bubble", "shown", "phases", "sources"}

# Compares with files one after the other. Returns what the status says about each, and what is wrong.
COMPARE = """
    const [texts, done] = arguments;
    (async () => {
      const said = [];
      for (const text of texts) {
        document.getElementById("status").textContent = "";
        await pipec.compareWith(new File([text], "other.html"));
        const status = document.getElementById("status").textContent;
        const { lane } = pipec.scene.rows.at(-1);
        pipec.select({ lane, index: 0, gap: false });
        await new Promise((done) => requestAnimationFrame(done));
        const bad = document.querySelectorAll("img, script:not(.pipec-schedule):not(:last-of-type), style ~ style").length;
        said.push([status, bad, document.body.dataset.pwned ?? "", pipec.pictureSvg(),
          pipec.scene.schedules.length]);
        pipec.select(null);
      }
      return said;
    })().then(done, (error) => done(String(error)));
"""


def leaves(value, path=()):
    """The paths of all members, of arrays the first and the last one."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    elif isinstance(value, list):
        for index in sorted({0, len(value) - 1}) if value else []:
            yield from leaves(value[index], (*path, index))
    yield path


def replaced(value, path, new):
    """A copy with another member at `path`."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def page_text(block):
    return '<script type="application/json" class="pipec-schedule">\n' + json.dumps(block).replace("</", "<\\/") + "</script>"


def compare(page, block):
    """Files with markup, or another type, in place of each member, and as the name of one."""
    wicked = [(path, replaced(block, path, text)) for path in leaves(block) if path for text in (TEXT, [{}])]
    wicked = [(path, one) for path, one in wicked if path != ("params",)] + [(("params",), {**block, "params": {TEXT: 1, "__proto__": 2}})]
    said = page.driver.execute_async_script(COMPARE, [page_text(one) for _, one in wicked])
    check(isinstance(said, list), f"{said}")
    refused = 0
    for (path, one), (status, bad, pwned, svg, shown) in zip(wicked, said):
        check(not bad and not pwned, f"{path}: markup in the page: {status}")
        names = {node.tag.split("}")[1] for node in ElementTree.fromstring(svg).iter()}
        check(names <= {"svg", "title", "rect", "path", "text", "g", "clipPath"}, f"{path}: {names}")
        for node in ElementTree.fromstring(svg).iter():
            check(not any(key.startswith("on") for key in node.attrib), f"{path}: {node.attrib}")
        at = functools.partial(functools.reduce, lambda value, key: value[key], path)
        if path == ("params",) or (path[0] in SHOWN and isinstance(at(block), str) and isinstance(at(one), str)):
            check(shown == 2 and "not a page" not in status, f"{path}: {status}")
        else:
            refused += 1
            check(status.startswith("other.html is not a page of pipec: ") and "is not as pipec writes it" in status, f"{path}: {status}")
    return refused, len(wicked)


class Site(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Site, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def frame(page, path, block, folder):
    """Sites that have the page in a frame and send it schedules: another one, and its own."""
    (folder / "victim.html").write_bytes(path.read_bytes())
    good, other = serve(folder), serve(folder)
    text = page_text({**block, "bubble": MARKUP, "name": "sent"})
    sent = json.dumps(text).replace("<", "\\u003c")
    for site in other, good:
        (folder / "attacker.html").write_text(
            f'<pre id=heard></pre><iframe id=f src="{good}/victim.html"></iframe><script>onmessage = (event) => heard.textContent '
            f'+= JSON.stringify(event.data); f.onload = () => f.contentWindow.postMessage({{ id: 1, text: {sent} }}, "*");</script>')
        page.driver.get(f"{site}/attacker.html")
        page.driver.switch_to.frame(page.driver.find_element(By.ID, "f"))
        page.js("pipec.zoom(0.5)")
        page.driver.execute_async_script("setTimeout(arguments[0], 600)")
        names = page.js("return pipec.scene.schedules.map(({ name }) => name)")
        pwned = page.js("return document.body.dataset.pwned ?? ''")
        page.driver.switch_to.default_content()
        heard = page.driver.find_element(By.ID, "heard").text
        check(names == [block["name"]] and not pwned and not heard, f"{site}: {names}, {heard}")


def main():
    path = pathlib.Path(sys.argv[1])
    block = json.loads(re.search(r'class="pipec-schedule">\n(.*?)</script>', path.read_text(), re.S)[1])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Page(path, None, f"{folder}/profile")
        try:
            print("{} of {} files are refused".format(*compare(page, block)))
            frame(page, path, block, pathlib.Path(folder))
        finally:
            page.driver.quit()


main()
