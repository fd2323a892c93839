#!/usr/bin/env python3
"""Uses the page of `pipec serve` in a headless Chromium, as a reader would.

    live.py CASE   [--shots FOLDER]

Cases are the functions below; --shots keeps pictures of what was seen.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import pathlib
import signal
import subprocess
import tempfile
import time

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from browser import PROGRAM, Browser, run
from served import Served, check


def typing(page, _):
    """An error appears in the text, in the margin and in the list, and goes when it is mended."""
    page.shot("first")
    check(page.figures()["makespan"] == ["33"], f"{page.figures()}")
    page.type_at(5, 1, "  nonsense\n")
    page.wait(lambda: page.status() == "errors", "no error")
    mark = page.driver.find_element(By.CSS_SELECTOR, ".CodeMirror .range.error")
    check(mark.text == "nonsense", f"marked: {mark.text}")
    gutter = page.driver.find_element(By.CSS_SELECTOR, ".mark.error")
    check("nonsense" in gutter.get_attribute("title"), "no title in the margin")
    item = page.driver.find_element(By.CSS_SELECTOR, "#messages .error button")
    check(item.text.startswith("5:3: error: "), item.text)
    check("old" in page.id("picture").get_attribute("class"), "the old picture is not marked as old")
    page.shot("error")
    # A click goes to the place.
    page.js("document.querySelector('.CodeMirror').CodeMirror.setCursor(0, 0)")
    item.click()
    cursor = page.js("const {line, ch} = document.querySelector('.CodeMirror').CodeMirror.getCursor(); return [line, ch]")
    check(cursor == [4, 2], f"{cursor}")
    page.change(lambda: page.type_at(5, 11, Keys.BACKSPACE * 10))
    check(not page.driver.find_elements(By.CSS_SELECTOR, ".range, .mark:not(.holds), #messages li"), "the error is still there")
    # Colours: a word, a step and a comment.
    for kind in ("keyword", "atom", "number", "comment"):
        check(page.driver.find_elements(By.CSS_SELECTOR, f".cm-{kind}"), f"no {kind}")
    # Notes, and columns after characters of several bytes.
    page.set_program(PROGRAM.replace("placement loop", '/' '/ äöü𝄞\n  placement lop'))
    page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, "#messages ul li"), "no notes")
    mark = page.driver.find_element(By.CSS_SELECTOR, ".CodeMirror .range.error")
    check(mark.text == "lop", f"marked: {mark.text}")
    page.set_program(PROGRAM.replace("mine(", "ä"))
    page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, "#messages .error"), "no error")
    # A message without a place names the program as one.
    page.set_program("")
    page.wait(lambda: page.id("messages").text == "error: no schedule in the program", page.id("messages").text)
    # Text of a program is never markup.
    page.set_program(PROGRAM.replace("k {", '<img src=x onerror="document.title=1"> {', 1))
    page.wait(lambda: page.status() == "errors", "no error")
    check(not page.driver.find_elements(By.CSS_SELECTOR, "img"), "markup of a program")


def sizes(page, _):
    """The form is made of the schedule's parameters; back and forward go through its changes."""
    # The first of several schedules, until one is chosen.
    second = PROGRAM.replace("mine", "other").replace("m = 4", "m = 6")
    page.change(lambda: page.set_program(PROGRAM + second))
    check(page.figures()["micro-batches"] == ["4"], f"{page.figures()}")
    page.change(lambda: Select(page.id("schedule")).select_by_value("other"))
    check(page.figures()["micro-batches"] == ["6"], f"{page.figures()}")
    page.change(lambda: page.set_program(PROGRAM))
    page.wait(lambda: page.driver.find_elements(By.ID, "size-depth"), "no field for `depth k`")
    labels = [label.text for label in page.driver.find_elements(By.CSS_SELECTOR, "#sizes label")]
    check(labels == ["ranks p", "microbatches m", "depth k"], f"{labels}")
    check(page.id("size-ranks").get_attribute("placeholder") == "2", "no default")
    first = page.figures()["makespan"]
    time.sleep(0.6)  # typing is over
    page.change(lambda: page.fill("size-microbatches", "6"))
    check(page.figures()["micro-batches"] == ["6"], f"{page.figures()}")
    six = page.figures()["makespan"]
    page.change(lambda: page.fill("cost-F", "3"))
    page.change(lambda: page.fill("size-depth", "2"))
    check(page.figures()["makespan"] not in (six, first), "costs change nothing")
    page.shot("sizes")

    page.change(page.driver.back)
    check(page.id("size-depth").get_attribute("value") == "", "back: the depth")
    page.change(page.driver.back)
    check(page.figures()["makespan"] == six and page.id("cost-F").get_attribute("value") == "", "back: the cost")
    page.change(page.driver.back)
    check(page.figures()["makespan"] == first and page.program() == PROGRAM, "back: the size")
    page.change(page.driver.forward)
    check(page.figures()["makespan"] == six and page.id("size-microbatches").get_attribute("value") == "6", "forward")
    # A size that is wrong is a message, and a field that is not a number is not sent.
    page.fill("size-microbatches", "0")
    page.wait(lambda: page.status() == "errors", "no error for 0 micro-batches")
    page.change(lambda: page.fill("size-microbatches", "5"))
    page.id("size-ranks").send_keys("x")
    check(page.js("return !document.getElementById('size-ranks').validity.valid"), "x is a number of ranks")
    page.change(lambda: page.fill("size-ranks", "3"))
    check(page.figures()["ranks"] == ["3"], f"{page.figures()}")

    # The search in the picture says what it finds, and that it finds nothing.
    page.driver.switch_to.frame(page.driver.find_element(By.CSS_SELECTOR, "#picture iframe"))
    page.id("view").click()
    ActionChains(page.driver).key_down(Keys.CONTROL).send_keys("f").key_up(Keys.CONTROL).perform()
    for text, hits in ("F1", "1 of 3"), ("W1", "none"):
        field = page.driver.switch_to.active_element
        field.clear()
        field.send_keys(text, Keys.ENTER)
        page.wait(lambda hits=hits: page.id("hits").text == hits, f"{text}: {page.id('hits').text}")
        check(page.id("hits").is_displayed() and page.id("status").text.startswith(("1 of 3: ", "No step is W1")), page.status())
    page.shot("search-nothing")
    page.driver.switch_to.default_content()

    # A target adds transfers, a second schedule is shown beside the first.
    page.change(lambda: Select(page.id("with")).select_by_value("gpipe"))
    check(len(page.figures()["makespan"]) == 2, f"{page.figures()}")
    page.change(lambda: Select(page.id("target")).select_by_value("torch"))
    frame = page.driver.find_element(By.CSS_SELECTOR, "#picture iframe")
    page.driver.switch_to.frame(frame)
    rows = page.js("return pipec.scene.schedules.length")
    # The picture has no access to the page.
    reached = page.js("try { return parent.document.title } catch { return null }")
    page.driver.switch_to.default_content()
    check(rows == 2 and reached is None, f"{rows} schedules, title {reached}")
    page.shot("with")


def choices(page, _):
    """Every option of every list is taken by the server."""
    program = PROGRAM.replace("warmup", "let w = min(m, p - 1 - rank) + k - 1;\n  warmup").replace("repeat k", "repeat w").replace(
        "m - k", "m - w")
    page.change(lambda: page.set_program(program + program.replace("mine", "other")))
    lists = page.js("return [...document.querySelectorAll('select')].map(({ id, options }) => [id, [...options].map(({ value }) => value)])")
    lists = [one for one in lists if one[0] not in ("examples", "planFor")]
    check({name for name, _ in lists} == {"schedule", "target", "with", "placement", "backward"}, f"{lists}")
    check(dict(lists)["target"][0] == "" and {"torch-2.13-timed", "d9d"} <= set(dict(lists)["target"]), f"{lists}")
    page.tab("search")
    page.fill("effort", "1")
    for name, values in lists:
        first = page.js("return arguments[0].value", page.id(name))
        for value in values:
            if name in ("placement", "backward"):
                Select(page.id(name)).select_by_value(value)
                page.id("search").click()
                page.wait(lambda: page.id("search").is_enabled(), f"{name} {value}: no end")
                said = page.id("progress").text + page.id("searched").text
                check("makespan" in said and "not " not in said, f"{name} {value}: {said}")
            else:
                answered = page.js("return serial")
                page.js("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))", page.id(name), value)
                page.wait(lambda: page.js("return serial") > answered and page.status() != "compiling", f"{name} {value}: no answer")
                # Schedules and targets may have needs that the program does not meet, which the compiler says.
                check(page.status().startswith("compiled") or page.status() == "errors", f"{name} {value}: {page.status()}")
                check("value that is not" not in page.id("messages").text, f"{name} {value}: {page.id('messages').text}")
                if name == "target":
                    check(page.status().startswith("compiled"), f"{value}: {page.id('messages').text}")
        page.js("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))", page.id(name), first)
        page.wait(lambda: page.status().startswith("compiled"), f"{name}: not as before")


def results(page, _):
    """Results are brought into view and kept beside each other; false clauses and assumed costs are said."""
    inside = ("const {top, bottom} = arguments[0].getBoundingClientRect();"
              "return top < innerHeight - 40 && bottom > 40 && document.elementFromPoint(innerWidth - 60, Math.max(top, 0) + 8) !== null")
    page.change(lambda: page.set_program(PROGRAM.replace("depth k = 1) {", "depth k = 1) {\n  expect makespan == 5;")))
    [item] = page.driver.find_elements(By.CSS_SELECTOR, "#messages > .error")
    check(item.text.startswith("2:3: error: makespan is 21, expected == 5\nnote: with p = 2, m = 4, k = 1;"), item.text)
    check(page.driver.find_elements(By.CSS_SELECTOR, ".CodeMirror .range.error"), "not marked")
    for button, result in ("compare", "compared"), ("search", "searched"):
        page.tab(button)
        if button == "search":
            page.fill("effort", "1")
            page.id(button).click()
        page.wait(lambda result=result: page.js("return job === null") and page.id(result).text, "no end")
        check(page.js(inside, page.id(result)), f"{result} is not in view")
        page.shot(result)
    check(page.driver.find_elements(By.ID, "comparison") and page.driver.find_elements(By.ID, "found"), "a result is gone")
    # Too many steps: what the page has is said.
    page.fill("size-microbatches", "1000000")
    page.wait(lambda: page.status() == "errors", "no error")
    check("more than 1048576 steps, loop rounds and calls, which is the limit of this page" in page.id("messages").text
          and "--max-steps" not in page.id("messages").text, page.id("messages").text)
    page.change(lambda: page.fill("size-microbatches", "4"))
    # Costs that were assumed.
    page.tab("picture")
    for assumed, text in (["I", "W"], "assumed: I, W"), ([], ""), (None, ""):
        page.js("known.report.assumed = arguments[0]; showForm();", assumed)
        check(page.id("assumed").text == text, page.id("assumed").text)
    for result in "compared", "searched":
        text = page.js("showResult(arguments[0], [], {assumed: ['I', 'W']}); return document.getElementById(arguments[0]).textContent", result)
        check("assumed: I, W" in text, text)
    # Two schedules of one model, and of other work.
    page.change(lambda: page.set_program(PROGRAM))
    page.change(lambda: Select(page.id("with")).select_by_value("zbv"))
    check(page.figures()["micro-batches"] == ["4", "4"] and page.figures()["work"] == ["24", "24"], f"{page.figures()}")
    page.shot("model")


def links(page, served):
    """A link carries everything but the token, into another tab, browser or server."""
    page.change(lambda: page.set_program(PROGRAM))
    page.change(lambda: page.fill("size-ranks", "4"))
    page.change(lambda: page.fill("cost-B", "5/2"))
    page.change(lambda: Select(page.id("with")).select_by_value("zb1p"))
    page.wait(lambda: "#" in page.driver.current_url, "no link")
    # The view of the picture, too: a part of the time, and a micro-batch.
    before = page.driver.current_url
    page.driver.switch_to.frame(page.driver.find_element(By.CSS_SELECTOR, "#picture iframe"))
    page.driver.execute_script("location.hash = 't=2:9&m=1'; noteState();")
    page.driver.switch_to.default_content()
    page.wait(lambda: page.driver.current_url != before, "no view in the link")
    time.sleep(0.2)
    figures, link = page.figures(), page.driver.current_url.split("#")[1]
    check(served.token not in link, "the token is in the link")
    # Reloading keeps the state.
    page.driver.refresh()
    page.drawn()
    check(page.figures() == figures and page.program() == PROGRAM, "reloaded")
    check(page.view() == "t=2:9&m=1", f"the view after reloading: {page.view()}")
    # Another server, with another program of its own.
    other = Served("serve", "gpipe")
    page.driver.get(f"{other.address}#{link}")
    page.drawn()
    check(page.figures() == figures and page.id("cost-B").get_attribute("value") == "5/2", "in another server")
    check(page.view() == "t=2:9&m=1", f"the view in another server: {page.view()}")
    # Other texts are said not to be links.
    for wrong in ("x", "%00", link[:40]):
        page.driver.get("about:blank")
        page.driver.get(f"{other.address}#{wrong}")
        page.drawn()
        check("schedule gpipe" in page.program(), f"#{wrong}")
    other.end()

    # Two tabs do not see each other.
    page.driver.get(served.address)
    page.drawn()
    one = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.driver.get(served.address)
    page.drawn()
    page.change(lambda: page.fill("size-ranks", "7"))
    two = page.driver.current_window_handle
    page.driver.switch_to.window(one)
    check(page.figures()["ranks"] == ["4"], f"{page.figures()}")
    page.change(lambda: page.fill("size-ranks", "3"))
    page.driver.switch_to.window(two)
    check(page.figures()["ranks"] == ["7"], f"{page.figures()}")


def saving(page, _):
    """Every format that the page saves is what the compiler writes."""
    (page.folder / "mine.pipe").write_text(PROGRAM)
    page.change(lambda: page.set_program(PROGRAM))
    page.change(lambda: page.fill("size-ranks", "3"))
    page.change(lambda: page.fill("cost-F", "2"))
    for kind, emit in (("pipe", None), ("csv", "csv"), ("svg", "svg"), ("steps", "ir"), ("html", "html")):
        page.save_as(kind)
        text = page.saved(f"mine.{kind}")
        if emit is None:
            check(text == PROGRAM, "the program")
            continue
        costs = [] if emit == "csv" else ["--cost=F=2"]
        expected = subprocess.run(["pipec", "-", "ranks=3", *costs, f"--emit={emit}"], input=PROGRAM,
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
        check(text == expected, f"{kind} differs")


def jobs(page, _):
    """Comparing and searching, with progress and an end."""
    page.change(lambda: page.fill("size-microbatches", "12"))
    page.tab("compare")
    page.wait(lambda: page.driver.find_elements(By.ID, "comparison"), "no comparison")
    names = [one.text for one in page.driver.find_elements(By.CSS_SELECTOR, "#comparison button")]
    check("gpipe" in names and "zb1p" in names, f"{names}")
    check({"one_f_one_b (this program)", "one_f_one_b (library)"} < set(names) and "one_f_one_b" not in names, f"{names}")
    page.shot("compare")
    button = page.driver.find_elements(By.CSS_SELECTOR, "#comparison button")[names.index("gpipe")]
    page.change(button.click)
    check(len(page.figures()["makespan"]) == 2, f"{page.figures()}")

    for name, cost in (("F", "10"), ("I", "12"), ("W", "7"), ("p2p", "3")):
        page.change(lambda name=name, cost=cost: page.fill(f"cost-{name}", cost))
    page.fill("memoryLimit", "5")
    page.tab("search")
    Select(page.id("placement")).select_by_value("v")
    page.fill("effort", "60")
    page.id("search").click()
    page.wait(lambda: "makespan" in page.id("progress").text, "no progress")
    check(not page.id("compare").is_enabled(), "two jobs at a time")
    page.id("cancel").click()
    found = page.wait(lambda: page.driver.find_elements(By.ID, "found"), "no schedule found")[0].text
    page.shot("search")
    makespan = found.split(",")[0].removeprefix("makespan ")
    page.change(page.id("show-found").click)
    check(page.figures()["makespan"][1] == makespan, f"{found}: {page.figures()}")


def traces(page, served):
    """Traces become costs, which are shown, saved, linked and removed."""
    recorded = pathlib.Path(__file__).parents[2] / "Calibrate/Inputs/traces"
    paths = sorted(map(str, recorded.glob("rank*.json.gz")))
    for name, text in (("broken.json", "{]"), ("large.json", None)):
        with open(page.folder / name, "w") as file:
            file.write(text) if text else file.truncate((64 << 20) + 1)

    def messages():
        return [item.text for item in page.driver.find_elements(By.CSS_SELECTOR, "#traceMessages li")]

    def send(*files):
        page.id("traces").send_keys("\n".join(files))

    def measured():
        """Whether the costs of a profile are used, as the page says."""
        return page.id("profile").is_displayed()

    page.open_menu("more")
    check(not measured() and not page.id("calibration").is_displayed(), "a profile at the beginning")
    page.change(lambda: page.fill("size-ranks", "4"))
    page.change(lambda: page.fill("size-microbatches", "8"))
    plain = page.figures()

    # What cannot be used is said, and changes nothing.
    send(str(page.folder / "broken.json"))
    page.wait(lambda: messages() and messages()[0].startswith("error: trace is not JSON"), "no message")
    send(*paths[1:])
    page.wait(lambda: messages() == ["error: there are traces of 3 ranks, but none of rank 0"], "no message")
    send(str(page.folder / "large.json"))
    page.wait(lambda: "more than the 64 MiB" in messages()[0], "no message")
    check(page.figures() == plain and not measured(), "a profile of broken traces")
    page.shot("traces-errors")

    page.change(lambda: send(*paths))
    check(messages() == [] and measured(), f"{messages()}")
    check("measured on 4 stages" in page.id("profile").text and page.id("narrow").text
          == "The profile has F, B of stages; p2p of edges, which the fields above do not change.", page.id("narrow").text)
    rows = [row.text for row in page.driver.find_elements(By.CSS_SELECTOR, "#summary tr")]
    check(len(rows) == 16 and rows[1] == "F stage 0 21.49 21.35 21.75 24 spans without waits", f"{rows}")
    check("4 ranks, 4 stages, 8 micro-batches; 3 training steps" in page.id("summary").text, page.id("summary").text)
    check("I, W: not in the traces" in page.id("summary").text, "nothing is left out")
    page.shot("traces")

    # The figures are those of the command line.
    page.id("saveProfile").click()
    profile = page.saved("costs.json")
    words = ["pipec", "one_f_one_b", "ranks=4", "microbatches=8", f"--cost-profile={page.folder}/saved/costs.json"]

    def makespan(*more):
        report = subprocess.run([*words, *more, "--emit=report", "--format=json"], stdout=subprocess.PIPE, check=True).stdout
        return [str(json.loads(report)["makespan"])]

    check(page.figures()["makespan"] == makespan() != plain["makespan"], f"{page.figures()}")
    page.change(lambda: page.fill("cost-p2p", "30"))
    check(page.figures()["makespan"] == makespan("--cost=p2p=30"), f"{page.figures()}")
    page.change(page.driver.back)
    page.save_as("svg")
    svg = subprocess.run([*words, "--emit=svg"], stdout=subprocess.PIPE, text=True, check=True).stdout
    check(page.saved("one_f_one_b.svg") == svg, "the saved picture")
    page.tab("compare")
    page.wait(lambda: page.driver.find_elements(By.ID, "comparison"), "no comparison")
    rows = [row.text for row in page.driver.find_elements(By.CSS_SELECTOR, "#comparison tr")]
    check(any(row.startswith(f"one_f_one_b (this program) {makespan()[0]} ") for row in rows), f"{rows}")
    page.tab("picture")
    page.open_menu("more")

    # A program that does not fit is a message like any other.
    page.fill("size-ranks", "2")
    page.wait(lambda: page.status() == "errors", "2 ranks with the costs of 4 stages")
    text = page.id("messages").text
    check(text.startswith("cost-profile:") and "outside 0..2" in text, text)
    page.change(lambda: page.fill("size-ranks", "4"))

    # Clocks of other machines, one of them not known.
    texts = page.js("return summaryOf({ranks: 3, stages: 1, microbatches: 1, training_steps: 1, step_time: null, figures: [], left_out: [],"
                    "clocks: [{rank: 1, known: true, offset_ns: -5, interval_ns: 10}, {rank: 2, known: false, offset_ns: 0, interval_ns: 0}]"
                    "}).slice(0, 3).map((one) => one.textContent)")
    check(texts == ["3 ranks, 1 stage, 1 micro-batch; 1 training step",
                    "clock of rank 1: -5 ns to that of rank 0, in an interval of 10 ns",
                    "clock of rank 2: unknown, no transfers in both directions"], f"{texts}")
    # A profile that is too large for the page is saved.
    (page.folder / "saved/costs.json").unlink()
    page.js("useCalibration({output: {stages: 1}, file: ' '.repeat(300000), diagnostics: []})")
    check(page.saved("costs.json") == " " * 300000, "a large profile")
    (page.folder / "saved/costs.json").write_text(profile)
    check("293.0 KiB, more than the 256.0 KiB" in messages()[0] and page.figures()["makespan"] == makespan(), f"{messages()}")

    # Back, forward, and a link.
    page.change(lambda: page.id("removeProfile").click())
    check(messages() == [], f"{messages()}")
    check(page.figures() == plain and not measured() and not page.id("calibration").is_displayed(), "not removed")
    page.change(page.driver.back)
    check(measured() and page.figures()["makespan"] == makespan() and page.id("summary").text, "back")
    page.change(page.driver.forward)
    check(not measured() and page.figures() == plain, "forward")
    page.change(page.driver.back)
    time.sleep(0.2)
    link = page.driver.current_url.split("#")[1]
    check(len(link) < 2000, f"a link with {len(link)} characters")
    other = Served("serve", "gpipe")
    page.driver.get(f"{other.address}#{link}")
    page.drawn()
    page.open_menu("more")
    check(page.figures()["makespan"] == makespan() and measured(), "in another server")
    # What it was made of is not in a link.
    check(not page.id("calibration").is_displayed(), "a summary of other traces")
    (page.folder / "saved/costs.json").unlink()
    page.id("saveProfile").click()
    check(page.saved("costs.json") == profile, "the profile of a link")
    other.end()


def narrow(page, _):
    """The page fits a narrow window, also with a profile and results."""
    page.change(lambda: page.fill("size-ranks", "4"))
    page.change(lambda: page.id("traces").send_keys("\n".join(sorted(map(str, (
        pathlib.Path(__file__).parents[2] / "Calibrate/Inputs/traces").glob("rank*.json.gz"))))))
    page.tab("compare")
    page.wait(lambda: page.driver.find_elements(By.ID, "comparison"), "no comparison")
    for width in 390, 320, 800, 1440:
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
        page.wait(lambda width=width: page.js("return innerWidth") == width, "the width")
        beyond = page.js("return [...document.querySelectorAll('body *')].filter((one) => "
                         "one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.result, .scroll, .menu, #summary, .CodeMirror'))"
                         ".map((one) => one.id || one.tagName + one.className)")
        has = page.js("return document.documentElement.scrollWidth")
        page.shot(f"width-{width}")
        # All columns of the comparison can be reached, beside the names.
        first, last, right = page.js("const box = document.querySelector('#compared .scroll'), {cells} = box.querySelector('tr:nth-child(2)');"
                                     "box.scrollLeft = 1e6; const edge = box.getBoundingClientRect();"
                                     "const places = [cells[0].getBoundingClientRect().left - edge.left, cells[cells.length - 1].getBoundingClientRect().right - edge.left, box.clientWidth];"
                                     "return places")
        page.shot(f"width-{width}-right")
        check(first == 0 and last <= right + 1, f"{width} pixels: from {first} to {last} of {right}")
        page.js("document.querySelector('#compared .scroll').scrollLeft = 0")
        check(has <= width and not beyond, f"{width} pixels: the page has {has}; beyond: {beyond}")
        page.driver.switch_to.frame(page.driver.find_element(By.CSS_SELECTOR, "#picture iframe"))
        inside = page.js("return [document.documentElement.scrollWidth, innerWidth]")
        page.driver.switch_to.default_content()
        check(inside[0] <= inside[1], f"{width} pixels: the picture has {inside}")


def dead(page, served):
    """A server that has ended is seen without a click, and nothing is lost."""
    check(not page.id("dead").is_displayed(), "dead at the beginning")
    page.change(lambda: page.set_program(PROGRAM))
    served.end(signal.SIGTERM)
    page.wait(lambda: page.id("dead").is_displayed(), "the end is not seen")
    check("pipec serve has ended" in page.id("dead").text, page.id("dead").text)
    page.type_at(1, 1, "// more\n")
    page.wait(lambda: page.status() == "not compiled", page.status())
    page.shot("dead")
    time.sleep(0.6)
    # Another server at the same port has another token.
    again = Served("serve", f"--port={served.port}")
    page.wait(lambda: "another token" in page.id("dead").text or "taken the place" in page.id("dead").text,
              "the other server is not seen")
    page.driver.get(f"{again.address}#{page.driver.current_url.split('#')[1]}")
    page.drawn()
    check(page.program() == "// more\n" + PROGRAM and not page.id("dead").is_displayed(), "the program is lost")
    again.end()


def speed(page, _):
    """Not a limit, but a figure: the time from a change to its picture."""
    times = []
    for ranks, microbatches in ((4, 8), (8, 32), (16, 64)):
        page.change(lambda: page.fill("size-ranks", str(ranks)))
        page.change(lambda: page.fill("size-microbatches", str(microbatches)))
        some = sorted((page.change(lambda i=i: page.fill("cost-F", str(i + 2))),
                       float(page.js("return document.getElementById('status').dataset.answered"))) for i in range(9))
        times.append((ranks, microbatches, *some[4]))
    for ranks, microbatches, total, answered in times:
        print(f"{ranks} ranks, {microbatches} micro-batches: drawn after {total:.0f} ms, answered after {answered:.0f} ms")


def watch(shots):
    """A page of `pipec watch` loads itself again, shows errors, and sees the end."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "mine.pipe"
        program.write_text(PROGRAM)
        served = Served("watch", str(program), "-o", f"{folder}/mine.html", stderr=subprocess.DEVNULL)
        while b'"version":0' in served.get("/version")[1]:
            time.sleep(0.05)
        page = Browser(served.address, shots, folder)
        steps = "return pipec.scene.rows[0].lane.left.length"
        check(page.js(steps) == 8, f"{page.js(steps)}")
        program.write_text(PROGRAM.replace("m = 4", "m = 6"))
        page.wait(lambda: page.js(steps) == 12, "not loaded again")
        program.write_text(PROGRAM.replace("loop", "lop"))
        page.wait(lambda: "unknown" in page.id("pipec-watch").text or "error" in page.id("pipec-watch").text, "no error")
        check(page.js(steps) == 12, "the good page is gone")
        program.write_text(PROGRAM)
        page.wait(lambda: page.js(steps) == 8 and not page.id("pipec-watch").is_displayed(), "not mended")
        served.end()
        page.wait(lambda: "has ended" in page.id("pipec-watch").text, "the end is not seen")
        page.close()


run(globals(), alone=("watch",), ends=("dead",))
