#!/usr/bin/env python3
"""Uses pages of --emit=html in a headless Chromium, as a reader would.

    browse.py CASE PAGE...   [--shots FOLDER]

Every page must load without a message on the browser's console. Cases are the
functions below. --shots keeps pictures of what was seen.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import pathlib
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin


class Page:
    def __init__(self, path, shots, profile):
        options = Options()
        # Without a sandbox: tests run as root in containers. The pages are ours.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--hide-scrollbars", "--window-size=1280,760", f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(120)
        self.driver.set_script_timeout(120)
        self.shots = shots
        self.open(path)

    def open(self, path):
        self.driver.get(pathlib.Path(path).resolve().as_uri())
        self.canvas = self.driver.find_element(By.ID, "view")
        self.settle()
        check(self.driver.get_log("browser") == [], "messages on the console")

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));")

    def shot(self, name):
        if self.shots:
            self.settle()
            self.driver.save_screenshot(str(pathlib.Path(self.shots) / f"{name}.png"))

    def place(self, row, index):
        """The middle of a step, in pixels of the canvas."""
        return self.js("""
            const [r, i] = arguments, row = pipec.scene.rows[r], view = pipec.scene.view;
            const width = document.getElementById("view").clientWidth;
            const middle = (row.lane.left[i] + row.lane.right[i]) / 2;
            const x = pipec.nameWidth + (middle - view.from) / (view.to - view.from) * (width - pipec.nameWidth - 8);
            return [x, pipec.axisHeight + row.y - view.top + 12];""", row, index)

    def mouse(self, x, y):
        size = self.canvas.size
        return ActionChains(self.driver, duration=0).move_to_element_with_offset(
            self.canvas, round(x - size["width"] / 2), round(y - size["height"] / 2))

    def hover(self, row, index):
        self.mouse(*self.place(row, index)).perform()
        self.settle()
        return self.driver.find_element(By.ID, "tip").text

    def wheel(self, x, y, delta):
        size = self.canvas.size
        origin = ScrollOrigin.from_element(self.canvas, round(x - size["width"] / 2), round(y - size["height"] / 2))
        ActionChains(self.driver, duration=0).scroll_from_origin(origin, 0, delta).perform()
        self.settle()

    def view(self):
        return self.js("const {from, to} = pipec.scene.view; return [from, to];")

    def pixel(self, x, y):
        """The colour at a point of the canvas, as #rrggbb."""
        return self.js("""
            const canvas = document.getElementById("view"), ratio = canvas.width / canvas.clientWidth;
            const one = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
            one.drawImage(canvas, arguments[0] * ratio, arguments[1] * ratio, 1, 1, 0, 0, 1, 1);
            const rgb = one.getImageData(0, 0, 1, 1).data;
            return "#" + [...rgb.slice(0, 3)].map((c) => c.toString(16).padStart(2, "0")).join("");""", x, y)

    def color(self, row, index):
        x, y = self.place(row, index)
        # Beside the number in the middle and the line below the pointer.
        return self.pixel(x - 5, y - 8)

    def press(self, key):
        ActionChains(self.driver).send_keys(key).perform()
        self.settle()

    def close(self):
        messages = self.driver.get_log("browser")
        self.driver.quit()
        check(messages == [], f"messages on the console: {messages}")


def check(holds, what):
    if not holds:
        sys.exit(f"browse.py: {what}")


def look(page, _):
    """1F1B, p = 4, m = 8, F = 1, B = 2 and transfers: hover, zoom, move, follow."""
    check("one_f_one_b" in page.driver.find_element(By.ID, "heads").text, "no name in the head")
    check(page.js("return pipec.scene.rows.length") == 4, "not a row per rank")
    page.shot("look")

    # Every step of two ranks answers with its own name and times.
    for row in (0, 3):
        lane = page.js("const {kind, stage, microbatch, start, end} = pipec.scene.rows[arguments[0]].lane;"
                       "return {kind, stage, microbatch, start: [...start], end: [...end]};", row)
        for index in (0, 1, 5, 15):
            tip = page.hover(row, index)
            name = f"rank {row}: {lane['kind'][index]} s{lane['stage'][index]} m{lane['microbatch'][index]}"
            times = f"{lane['start'][index]:g} to {lane['end'][index]:g}"
            check(name in tip and times in tip, f"{name} ({times}) is not in: {tip}")
            check("one_f_one_b.pipe:" in tip and "repeat" in tip, f"no source line in: {tip}")
    page.shot("hover")
    # Where the rank waits, too.
    last = page.js("const lane = pipec.scene.rows[0].lane; let i = 1;"
                   "while (lane.left[i] - lane.right[i - 1] < 1) ++i; return i;")
    x, y = page.place(0, last)
    step = page.js("const lane = pipec.scene.rows[0].lane, i = arguments[0]; return lane.right[i] - lane.left[i];", last)
    width = page.canvas.size["width"]
    start, end = page.view()
    page.mouse(x - (step / 2 + 0.3) / (end - start) * (width - 84), y).perform()
    check("rank 0: idle" in page.driver.find_element(By.ID, "tip").text, "no word about idle time")

    # The wheel zooms about the pointer, dragging moves, 0 shows all again.
    whole = page.view()
    x, y = page.place(1, 4)
    at = page.js("return pipec.timeAt(arguments[0])", x)
    page.wheel(x, y, -600)
    near = page.view()
    check(near[1] - near[0] < 0.6 * (whole[1] - whole[0]), f"no zoom: {whole} -> {near}")
    check(abs(page.js("return pipec.timeAt(arguments[0])", x) - at) < 0.1, "the zoom moved what is under the pointer")
    check("B s1" in page.hover(1, 4) or "F s1" in page.hover(1, 4), "no step under the pointer after the zoom")
    page.shot("zoom")
    page.mouse(500, 60).click_and_hold().move_by_offset(-100, 0).release().perform()
    page.settle()
    moved = page.view()
    check(moved[0] > near[0] and abs((moved[1] - moved[0]) - (near[1] - near[0])) < 1e-9, f"no move: {near} -> {moved}")
    page.press("0")
    check(page.view() == whole, "0 does not show all")
    page.driver.find_element(By.ID, "in").click()
    check(page.view() != whole, "the button does not zoom")
    page.driver.find_element(By.ID, "fit").click()
    page.settle()

    # A click follows a micro-batch: its steps keep their colour, others fade.
    mine, other = page.color(0, 2), page.color(0, 3)
    check(mine == other, "two forwards of one stage differ in colour")
    page.mouse(*page.place(0, 2)).click().perform()
    page.settle()
    check(page.js("return pipec.scene.microbatch") == 2, "a click follows no micro-batch")
    check("micro-batch 2: 8 steps" in page.driver.find_element(By.ID, "status").text, "no word about the micro-batch")
    check(page.color(0, 2) == mine and page.color(0, 3) != other, "the others do not fade")
    page.mouse(5, 5).perform()
    page.shot("follow")
    page.press(Keys.ESCAPE)
    check(page.color(0, 3) == other, "Escape does not end it")

    # Toggles.
    check(page.js("return pipec.scene.transfers"), "transfers are not drawn from the start")
    page.press("t")
    check(not page.js("return pipec.scene.transfers"), "t does not hide the transfers")
    page.press("t")
    page.press("c")
    critical = page.js("return pipec.scene.criticalPaths[0].map(([r, i]) => {"
                       "const lane = pipec.scene.rows[r].lane; return [lane.start[i], lane.end[i]]; })")
    check(critical[0][0] == 0 and critical[-1][1] == whole[1], f"the critical path is not whole: {critical}")
    check(all(a[1] <= b[0] + 1e-9 for a, b in zip(critical, critical[1:])), "the critical path goes back in time")
    page.shot("critical")
    page.press("c")


def dark(page, _):
    """Steps and idle time have the colours of the scheme, also when it changes."""
    for scheme in "light", "dark", "light":
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        page.settle()
        page.shot(f"scheme-{scheme}")
        colors = page.js("return pipec.scene.schedules[0].colors[arguments[0]]", scheme)
        for index, kind in (0, "F"), (4, "B"):
            check(page.js("return pipec.scene.rows[0].lane.kind[arguments[0]]", index) == kind, "another step")
            check(page.color(0, index) == colors[kind][0], f"{kind} is {page.color(0, index)} when it is {scheme}")
        legend = page.js("return document.querySelector('#legend span').style.getPropertyValue('--swatch')")
        check(legend == colors["F"][0], f"the legend is {legend} when it is {scheme}")


def frames(page, _):
    """dualpipev: one frame round both members of an overlap, its border drawn over both."""
    ink = page.js("return painter.colors.ink")
    row, first = page.js("""
        for (const [r, row] of pipec.scene.rows.entries())
          for (let i = 0; i < row.lane.n; ++i)
            if (row.lane.stop[i] - row.lane.first[i] > 1) return [r, i];""")
    for zoomed in (False, True):
        if zoomed:
            page.js("const lane = pipec.scene.rows[arguments[0]].lane, i = arguments[1];"
                    "pipec.setView(lane.start[i] - 1, lane.end[i] + 1, 0);", row, first)
            page.settle()
        for member in (first, first + 1):
            x, y = page.place(row, member)
            top = page.js("return pipec.axisHeight + pipec.scene.rows[arguments[0]].y - pipec.scene.view.top", row)
            # The line is wider than a pixel and lies between two of them.
            near = [page.pixel(x, top + dy) for dy in (-1, 0)]
            check(ink in near, f"no frame over member {member - first}: {near}, not {ink}")
    page.shot("frames")


def arrows(page, _):
    """More transfers than a frame draws: every edge has some of each kind, and the page says so."""
    note = page.driver.find_element(By.ID, "sparse")
    total = page.js("return pipec.scene.schedules[0].transfers.n")
    page.js("""
        window.drawn = new Set();
        const whole = Painter.prototype.arrow;
        Painter.prototype.arrow = function (x0, y0, x1, y1, color) {
          drawn.add([y0, y1, color].join());
          whole.call(this, x0, y0, x1, y1, color);
        };
        pipec.fit();""")
    page.settle()
    kinds = page.js("const t = pipec.scene.schedules[0].transfers;"
                    "return new Set(t.rank.map((rank, i) => [rank, t.peer[i], t.kind[i]].join())).size")
    check(page.js("return drawn.size") == kinds, "edges without an arrow of a kind")
    check(note.is_displayed() and f"of {total} transfers in view are drawn" in note.text, f"no word on it: {note.text}")
    page.shot("arrows")
    page.js("const {from, to} = pipec.scene.schedules[0]; pipec.setView(from, from + (to - from) / 8, 0);")
    page.settle()
    check(not note.is_displayed(), "the word stays where all are drawn")


def waits(page, _):
    """Marks of waits, named by the legend and under the pointer."""
    legend = page.driver.find_element(By.ID, "legend").text
    check("wait for a send" in legend and "wait for a reduction" in legend, f"not in the legend: {legend}")
    x, y = page.js("""
        const row = pipec.scene.rows[1], {from, to} = pipec.scene.view;
        const width = document.getElementById("view").clientWidth;
        return [pipec.nameWidth + (row.lane.waits.time[1] - from) / (to - from) * (width - pipec.nameWidth - 8),
                pipec.axisHeight + row.y - pipec.scene.view.top + laneHeight];""")
    check(page.pixel(x, y - 2) == page.js("return painter.colors.grad"), "no mark")
    page.mouse(x, y - 10).perform()
    page.settle()
    tip = page.driver.find_element(By.ID, "tip").text
    check("WAIT_SEND_B s1 m1" in tip, f"the wait is not named: {tip}")
    page.shot("waits")


def resize(page, _):
    """A canvas that changes its size is painted in the same frame."""
    blank = page.driver.execute_async_script("""
        const done = arguments[0], canvas = document.getElementById("view");
        const seen = [];
        const isBlank = () => {
          const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
          copy.drawImage(canvas, 0, 0);
          const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
          return !data.some((value) => value !== 0);
        };
        // Called after the page's own observer, before the frame is shown.
        const observer = new ResizeObserver(() => {
          seen.push(isBlank());
          if (seen.length === 4) { observer.disconnect(); done(seen); return; }
          requestAnimationFrame(() => { document.body.style.width = 900 - 50 * seen.length + "px"; });
        });
        observer.observe(canvas);""")
    check(blank == [False] * 4, f"empty in some frames: {blank}")


def compare(page, pages):
    """Two schedules on one page, and a page that is opened onto another."""
    def both():
        page.settle()
        names = page.js("return pipec.scene.schedules.map((schedule) => schedule.name)")
        check(names == ["one_f_one_b", "zb1p"], f"not the two schedules: {names}")
        head = page.driver.find_element(By.ID, "heads").text
        check("makespan 33" in head and "makespan 27 (-18.2 %)" in head, f"no difference in: {head}")
    both()
    rows = "return pipec.scene.rows.map((row) => row.letter + row.lane.rank)"
    check(page.js(rows) == ["A0", "A1", "A2", "A3", "B0", "B1", "B2", "B3"], "not one below the other")
    page.shot("compare")
    # One axis for both: equal times are at equal places.
    xs = [page.place(row, 0)[0] for row in (0, 4)]
    check(abs(xs[0] - xs[1]) < 1e-6, f"the axes differ: {xs}")
    page.press("l")
    check(page.js(rows) == ["A0", "B0", "A1", "B1", "A2", "B2", "A3", "B3"], "not rank by rank")
    check("B, rank 1" in page.hover(3, 0), "the second schedule does not answer")
    page.js("pipec.follow(3)")
    page.shot("compare-ranks")
    check("A: micro-batch 3" in page.driver.find_element(By.ID, "status").text, "no path in both")

    # A page of one schedule, and the file of another one opened on it.
    page.open(pages[1])
    check(page.js("return pipec.scene.schedules.length") == 1, "not one schedule")
    page.driver.find_element(By.ID, "open").send_keys(str(pathlib.Path(pages[2]).resolve()))
    for _ in range(100):
        page.settle()
        if page.js("return pipec.scene.schedules.length") == 2:
            break
    both()
    page.driver.find_element(By.ID, "open").send_keys(str(pathlib.Path(__file__).resolve()))
    for _ in range(100):
        page.settle()
        if "is not a page of pipec" in page.driver.find_element(By.ID, "status").text:
            break
    else:
        check(False, "no word about a file that is not a page")


def large(page, _):
    """100 000 steps: shown whole, found, and drawn in a time that can be used."""
    count = page.js("return pipec.scene.schedules[0].count")
    check(90000 <= count <= 100000, f"{count} steps")
    page.shot("large")
    n = page.js("return pipec.scene.rows[5].lane.n")
    for index in (0, n // 2, n - 1):
        page.js("const lane = pipec.scene.rows[5].lane, i = arguments[0];"
                "pipec.setView(lane.left[i] - 20, lane.right[i] + 20, 0);", index)
        page.settle()
        name = page.js("const {kind, stage, microbatch} = pipec.scene.rows[5].lane, i = arguments[0];"
                       "return `${kind[i]} s${stage[i]} m${microbatch[i]}`;", index)
        check(name in page.hover(5, index), f"{name} is not found")
    page.shot("large-near")
    page.js("pipec.fit()")
    times = page.driver.execute_async_script("""
        const done = arguments[0], times = [];
        const frame = () => {
          const before = performance.now();
          pipec.zoom(times.length % 2 ? 0.8 : 1.25);
          requestAnimationFrame(() => {
            times.push(performance.now() - before);
            if (times.length < 12) setTimeout(frame); else done(times);
          });
        };
        frame();""")
    middle = sorted(times)[len(times) // 2]
    print(f"{count} steps: a frame takes {middle:.0f} ms")
    # A hundred times what a desktop needs: only a wrong order of growth fails.
    check(middle < 3000, f"a frame takes {middle:.0f} ms")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=["look", "dark", "frames", "arrows", "waits", "resize", "compare", "large"])
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--shots")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        page = Page(options.pages[0], options.shots, profile)
        try:
            globals()[options.case](page, options.pages)
        finally:
            page.close()


main()
