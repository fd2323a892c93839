#!/usr/bin/env python3
"""The parts of the page of `pipec serve` around the picture, in a headless Chromium, and the page as a file.

    page.py CASE   [--shots FOLDER]

Cases are the functions below; --shots keeps pictures of what was seen.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import time

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from browser import PROGRAM, Browser, run
from served import check

TABS = ["picture", "compare", "search", "plan", "run"]
WIDTHS = (1440, 800, 390)


def shown(page):
    """The tab that is selected, which must be the only one whose panel can be seen."""
    names = [name for name in TABS if page.id(f"tab-{name}").get_attribute("aria-selected") == "true"]
    panels = [name for name in TABS if page.id(f"panel-{name}").is_displayed()]
    check(names == panels and len(names) == 1, f"tabs {names}, panels {panels}")
    return names[0]


def idle(page):
    page.wait(lambda: page.js("return job === null"), "a job has no end")


def resize(page, width, scheme="light"):
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                {"width": width, "height": 844 if width < 500 else 900, "deviceScaleFactor": 1, "mobile": False})
    page.wait(lambda: page.js("return innerWidth") == width, "the width")


def tabs(page, _):
    """Tabs by mouse and keyboard; nothing moves; results are in view at every width, in light and dark."""
    resize(page, 1440)
    page.js("window.shifts = 0; new PerformanceObserver((list) => list.getEntries().forEach((one) => { window.shifts += one.value; }))"
            ".observe({type: 'layout-shift', buffered: true})")
    check(shown(page) == "picture", "another tab at the beginning")
    page.tab("picture")
    for key, name in (Keys.ARROW_RIGHT, "compare"), (Keys.END, "run"), (Keys.ARROW_RIGHT, "picture"), (Keys.ARROW_LEFT, "run"), (Keys.HOME, "picture"):
        page.driver.switch_to.active_element.send_keys(key)
        check(shown(page) == name and page.driver.switch_to.active_element == page.id(f"tab-{name}"), f"{name}: {shown(page)}")
        check([tab for tab in TABS if page.id(f"tab-{tab}").get_attribute("tabindex") == "0"] == [name], "other tab stops")
    idle(page)
    page.tab("search")
    page.fill("effort", "1")
    page.id("search").click()
    idle(page)
    page.tab("plan")
    page.fill("planEffort", "1")
    page.id("plan").click()
    page.wait(lambda: page.id("planned").text, "no plan")
    check(page.driver.find_elements(By.CSS_SELECTOR, "#plans tr:nth-child(3)"), page.id("planned").text)
    for scheme in "light", "dark":
        for width in WIDTHS:
            resize(page, width, scheme)
            for name in TABS:
                page.tab(name)
                idle(page)
                first = {"picture": "#picture", "compare": "#comparison tr:nth-child(2)", "search": "#found", "plan": "#plans tr:nth-child(2)",
                         "run": "#frameworks tr:nth-child(2)"}[name]
                page.wait(lambda first=first: page.driver.find_elements(By.CSS_SELECTOR, first), f"{name}: nothing")
                page.js("scrollTo(0, 0)")
                top, bottom, height = page.js("const {top, bottom} = document.querySelector(arguments[0]).getBoundingClientRect();"
                                              "return [top, bottom, innerHeight]", first)
                check(top < height - 60 and (name == "picture" or bottom < height), f"{name} at {width}: from {top} to {bottom}")
                # Commands are broken between words only, and the page has no scroll bar below.
                words = page.js("return [...document.querySelectorAll(`#panel-${arguments[0]} .word`)].map((word) => word.getClientRects().length)", name)
                check(set(words) == ({1} if name in ("plan", "run") else set()), f"{name} at {width}: words in {words} parts")
                check(page.js("return document.documentElement.scrollWidth <= innerWidth"), f"{name} at {width}: wider than the window")
                page.shot(f"{name}-{scheme}-{width}")
    # On a phone the button that cancels has no row, and is there during a job only.
    check(page.js("return byId('tabs').parentElement.offsetHeight - byId('tabs').offsetHeight") < 4, "a row below the tabs")
    check(not page.id("cancel").is_displayed(), "a button without a job")
    page.js("byId('cancel').disabled = false")
    check(page.id("cancel").is_displayed() and page.js("return byId('tabs').parentElement.offsetHeight - byId('tabs').offsetHeight") < 4, "no button")
    page.js("byId('cancel').disabled = true")
    resize(page, 1440)
    page.tab("picture")
    before = page.js("return window.shifts")
    page.change(lambda: page.driver.find_element(By.CSS_SELECTOR, "[aria-label='More ranks p']").click())
    page.tab("compare")
    idle(page)
    page.tab("picture")
    check(page.js("return window.shifts") - before < 0.01, f"the layout moved by {page.js('return window.shifts') - before}")
    # The tab is part of a link.
    page.tab("run")
    page.wait(lambda: "#" in page.driver.current_url, "no link")
    time.sleep(0.3)
    page.driver.refresh()
    page.drawn()
    check(shown(page) == "run", "the tab of the link")


def steppers(page, _):
    """Buttons and arrow keys change sizes and costs; Undo and Redo go through all changes."""
    def value(name):
        return page.id(name).get_attribute("value")

    def can(name):
        return page.id(name).get_attribute("aria-disabled") == "false"

    first = page.figures()
    check(not can("undo") and not can("redo"), "undo at the beginning")
    page.change(lambda: page.driver.find_element(By.CSS_SELECTOR, "[aria-label='More ranks p']").click())
    check(value("size-ranks") == "5" and page.figures()["ranks"] == ["5"], f"{page.figures()}")
    page.change(lambda: page.id("cost-F").send_keys(Keys.ARROW_UP))
    check(value("cost-F") == "2", value("cost-F"))
    page.change(lambda: page.fill("cost-B", "5/2"))
    page.wait(lambda: page.js("return entry") == 3, "typing is not remembered")
    page.change(lambda: page.id("cost-B").send_keys(Keys.ARROW_DOWN))
    check(value("cost-B") == "3/2", value("cost-B"))
    for _ in range(2):
        page.id("cost-p2p").send_keys(Keys.ARROW_DOWN)
    check(value("cost-p2p") == "", "a negative cost")
    for number in 4, 3, 2, 1:
        page.wait(lambda number=number: page.js("return entry") == number, f"change {number} is not remembered")
        page.id("undo").click()
    page.wait(lambda: page.figures() == first and not can("undo"), "not all is undone")
    ActionChains(page.driver).key_down(Keys.CONTROL).key_down(Keys.SHIFT).send_keys("z").key_up(Keys.SHIFT).key_up(Keys.CONTROL).perform()
    page.wait(lambda: page.figures()["ranks"] == ["5"] and can("redo"), "nothing is done again")
    ActionChains(page.driver).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
    page.wait(lambda: page.figures() == first, "the change stays")
    # A menu closes with Escape, and its summary has the focus.
    page.driver.find_element(By.CSS_SELECTOR, "#more > summary").send_keys(Keys.ENTER)
    check(page.js("return byId('more').open"), "the menu is closed")
    page.id("otherCosts").send_keys(Keys.ESCAPE)
    check(page.js("return !byId('more').open && document.activeElement.parentElement.id === 'more'"), "the menu is open")


def examples(page, _):
    """Every program of the menu compiles, and takes the place of the one before with its sizes."""
    groups = page.js("return [...document.querySelectorAll('#examples optgroup')].map((group) => [group.label, group.children.length])")
    check([name for name, _ in groups] == ["Library", "Examples", "Overview", "Tutorial", "Guide to scheduling"], f"{groups}")
    check(dict(groups)["Library"] >= 20 and dict(groups)["Examples"] == 5 and dict(groups)["Tutorial"] >= 4, f"{groups}")
    page.change(lambda: page.fill("size-ranks", "6"))
    for value in page.js("return [...document.querySelectorAll('#examples option')].map(({value}) => value).filter(Boolean)"):
        page.change(lambda value=value: Select(page.id("examples")).select_by_value(value))
        check(page.js("return config.examples[arguments[0]].program", value) == page.program(), value)
        check(page.driver.find_elements(By.CSS_SELECTOR, "#messages .error") == [], page.id("messages").text)
        check(page.id("size-ranks").get_attribute("value") == "", "the size of the program before")


def sharing(page, served):
    """Opening a program, changing a cost, finding a better schedule and saving it for others takes at most 8 clicks."""
    clicks = 0

    def click(selector):
        nonlocal clicks
        clicks += 1
        page.driver.find_element(By.CSS_SELECTOR, selector).click()

    def finish(name, what):
        one, other = page.figures()["makespan"]
        check(float(other) < float(one), f"{page.figures()}")
        click("#savePage")
        page.saved(f"{name}.html")
        check(clicks <= 8, f"{what}: {clicks} clicks")
        print(f"{what}: {clicks} clicks")

    def search():
        click("#tab-search")
        page.fill("effort", "1")
        click("#search")
        page.wait(lambda: page.driver.find_elements(By.ID, "found") and not page.driver.find_elements(By.CSS_SELECTOR, "#searched.old"),
                  "no schedule found")
        idle(page)
        page.change(lambda: click("#show-found"))

    # From an example, with a schedule of the library.
    click("#examples")
    value = page.js("return [...document.querySelectorAll('#examples option')].find(({textContent}) => textContent === 'gpipe').value")
    clicks += 1
    page.change(lambda: Select(page.id("examples")).select_by_value(value))
    page.change(lambda: click("[aria-label='More p2p']"))
    click("#tab-compare")
    page.wait(lambda: page.driver.find_elements(By.ID, "comparison"), "no comparison")
    idle(page)
    page.change(lambda: click("#comparison tr:nth-child(2) button"))
    finish("gpipe", "an example")

    # From the link of a colleague, whose program has this name, too, with a search.
    page.js("state.withName = ''; choose({})")
    page.change(lambda: page.set_program(PROGRAM.replace("mine", "theirs")))
    page.wait(lambda: "#" in page.driver.current_url, "no link")
    time.sleep(0.3)
    link = page.driver.current_url.split("#")[1]
    page.driver.get("about:blank")
    clicks = 1
    page.driver.get(f"{served.address}#{link}")
    page.drawn()
    check("theirs" in page.program() and len(page.figures()["makespan"]) == 1, "not the program of the link")
    page.change(lambda: click("[aria-label='More p2p']"))
    search()
    finish("theirs", "a link")

    # From a program that is pasted in place of the one that is shown.
    page.js("choose({withName: '', withSteps: ''})")
    clicks = 1
    page.change(lambda: page.set_program(PROGRAM.replace("mine", "pasted")))
    page.change(lambda: click("[aria-label='More F']"))
    search()
    finish("pasted", "a program")


def frameworks(page, _):
    """The verdicts are those of lint, and the commands that are shown make files."""
    page.change(lambda: page.set_program(PROGRAM))
    page.tab("run")
    page.wait(lambda: page.driver.find_elements(By.ID, "frameworks"), "no verdicts")
    (page.folder / "mine.pipe").write_text(PROGRAM)
    rows = page.js("return [...document.querySelectorAll('#frameworks tr')].slice(1).map((row) => [...row.cells].map((cell) => cell.textContent))")
    names = page.js("return config.frameworks.map(({name}) => name)")
    text = "".join(subprocess.run(["pipec", "lint", "mine.pipe", f"--for={name}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  cwd=page.folder, check=False).stdout for name in names)
    said = dict(re.findall(r"^(\S[^:\n]*): (yes|no)", text, re.MULTILINE))
    for title, runs, how in rows:
        name = title.replace("PyTorch 2.13", "PyTorch 2.6 to 2.14")
        check(said[name] == runs, f"{title} {runs}: {said}")
        if runs == "yes":
            words = shlex.split(how)
            done = subprocess.run(words, cwd=page.folder, stderr=subprocess.PIPE, text=True, check=False)
            check(done.returncode == 0 and (page.folder / words[-1]).stat().st_size > 0, f"{how}: {done.stderr}")
        else:
            check(how != "", f"{title}: no reason")
    check({runs for _, runs, _ in rows} == {"yes", "no"} and len(rows) == len(names) + 1, f"{rows}")
    # Closed forms, which the program then checks.
    page.id("derive").click()
    page.wait(lambda: page.driver.find_elements(By.ID, "clauses"), "no closed forms")
    check("expect makespan == " in page.id("clauses").text, page.id("derived").text)
    page.change(page.id("insert").click)
    check("expect makespan == " in page.program() and page.id("messages").text == "", page.id("messages").text)


def language(page, _):
    """Completion, descriptions and corrections of the language server in the editor."""
    page.change(lambda: page.set_program(PROGRAM))
    page.type_at(3, 3, "coold")
    hints = page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".CodeMirror-hint"), "no completion")
    check(hints[0].text.startswith("cooldown"), hints[0].text)
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait(lambda: "  cooldown" in page.program().splitlines()[2], page.program())
    page.change(lambda: page.set_program(PROGRAM))
    # By the keyboard, and by the mouse.
    page.type_at(2, 14, Keys.CONTROL + "i")
    page.wait(lambda: page.id("hover").is_displayed() and "loop" in page.id("hover").text, "no description")
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    page.wait(lambda: not page.id("hover").is_displayed(), "the description stays")
    word = page.driver.find_element(By.CSS_SELECTOR, ".CodeMirror .cm-keyword")
    ActionChains(page.driver).move_to_element(word).perform()
    page.wait(lambda: page.id("hover").is_displayed() and page.id("hover").text, "no description")
    ActionChains(page.driver).move_to_element(page.id("name")).perform()
    page.wait(lambda: not page.id("hover").is_displayed(), "the description stays")
    # A correction of a word.
    page.set_program(PROGRAM.replace("placement loop", "placement lop"))
    fix = page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, "#messages .fix"), "no correction")[0]
    check("loop" in fix.text, fix.text)
    page.change(fix.click)
    check(page.program() == PROGRAM, page.program())
    # Clauses that hold and false ones have marks of their own; the others have none, and nothing holds at other sizes.
    clauses = ["expect makespan == 21;", "expect makespan == 14;", "expect span <= 22;", "expect makespan == 3 if p == 9;"]
    marks = ("return [...document.querySelectorAll('.CodeMirror-code > div')].map((line) => [line.querySelector('.mark')?.className ?? '',"
             " line.querySelector('.mark')?.title ?? '', line.querySelector('.CodeMirror-line').offsetHeight])"
             ".slice(2, 6)")
    page.change(lambda: page.set_program(PROGRAM.replace("  warmup", "".join(f"  {one}\n" for one in clauses) + "  warmup")))
    page.wait(lambda: page.id("held").get_attribute("textContent") == "2 clauses of expect hold", "no clause holds")
    kinds, titles, heights = zip(*page.js(marks))
    check(kinds == ("mark holds", "mark error", "mark holds", ""), f"{kinds}")
    check(titles[0] == "this clause holds" and titles[2] == "this clause holds: 21" and "14" in titles[1], f"{titles}")
    check(len(set(heights)) == 1, f"a mark moves lines: {heights}")
    # They are between the number of the line and its text.
    number, mark, text = page.js("return ['.CodeMirror-linenumber', '.mark', '.CodeMirror-line > span']"
                                 ".map((part) => document.querySelector('.mark.holds').closest('.CodeMirror-code > div').querySelector(part).getBoundingClientRect().left)")
    check(number < mark < text, f"a mark at {mark}, between {number} and {text}")
    page.shot("held")
    page.change(lambda: page.js("state.sizes.ranks = 3; compile()"))
    page.wait(lambda: not page.id("held").get_attribute("textContent"), "clauses hold at sizes that were not checked")
    check("mark holds" not in page.js(marks)[0], "a mark")


def axe(page, _):
    """No violations of the rules of axe (PIPEC_AXE names axe.min.js), in light and dark, in each tab and with an error."""
    script = pathlib.Path(os.environ["PIPEC_AXE"]).read_text()
    code = script + ("; const done = arguments[arguments.length - 1]; axe.run(document, {iframes: false}).then(({violations}) => done(violations"
                     ".flatMap(({id, nodes}) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)} ${node.failureSummary}`))))")

    def test(what):
        found = page.driver.execute_async_script(code)
        check(found == [], f"{what}: {json.dumps(found, indent=1)}")

    def fresh():
        # What is out of date is pale until its successor has come.
        page.wait(lambda: not page.driver.find_elements(By.CSS_SELECTOR, ".shown .old"), "old results")

    for scheme in "light", "dark":
        for width in 1440, 390:
            resize(page, width, scheme)
            for name in TABS:
                page.tab(name)
                idle(page)
                fresh()
                test(f"{name} in {scheme}, {width} pixels")
    page.change(lambda: page.set_program(PROGRAM.replace("  warmup", "  expect makespan == 21;\n  warmup")))
    page.wait(lambda: page.id("held").get_attribute("textContent") == "1 clause of expect holds", "no clause holds")
    fresh()
    test("a clause that holds")
    page.open_menu("more")
    test("a menu")
    page.open_menu("saveAs")
    test("another menu")
    page.set_program(PROGRAM.replace("placement loop", "placement lop"))
    page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, "#messages .fix"), "no correction")
    test("an error")


def look_at_saved(page, name, makespan):
    """A saved page has all that the page had, and sends no request."""
    page.wait(lambda: page.status() == "saved", f"{page.status()} {page.messages()}")
    check(page.figures()["makespan"] == makespan and name in page.program(), f"{page.figures()}")
    check(page.js("return editor.getOption('readOnly')") and not page.id("size-ranks").is_enabled(), "the page can be changed")
    page.driver.switch_to.frame(page.driver.find_element(By.CSS_SELECTOR, "#picture iframe"))
    check(page.js("return pipec.scene.schedules.length") == len(makespan), "the picture")
    page.driver.switch_to.default_content()
    page.shot("saved")
    for tab, what in ("compare", "comparison"), ("run", "frameworks"):
        page.tab(tab)
        check(page.id(what).is_displayed(), f"no {what}")
        page.shot(f"saved-{tab}")
    asked = page.js("return performance.getEntriesByType('resource').map(({name}) => name)")
    check(asked == [], f"requests: {asked}")


def exported(shots):
    """`pipec serve --export` writes a page that opens without a server, of at most 2 MB for 16 x 64, the same each time."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["pipec", "serve", "one_f_one_b", "ranks=16", "microbatches=64", "--cost=p2p=1/2", "--target=torch"]
        texts = []
        for name in "one", "two/deep":
            done = subprocess.run([*words, f"--export={folder}/{name}"], stdout=subprocess.PIPE, text=True, check=True)
            check(done.stdout == "", done.stdout)
            texts.append(pathlib.Path(folder, name, "index.html").read_bytes())
            check(os.listdir(f"{folder}/{name}") == ["index.html"], "other files")
        check(texts[0] == texts[1], "two pages of the same differ")
        check(len(texts[0]) <= 2_000_000, f"{len(texts[0])} bytes")
        print(f"{len(texts[0])} bytes")
        report = json.loads(subprocess.run(["pipec", "one_f_one_b", "ranks=16", "microbatches=64", "--cost=p2p=1/2", "--target=torch",
                                            "--emit=report", "--format=json"], stdout=subprocess.PIPE, check=True).stdout)
        page = Browser(f"file://{folder}/one/index.html", shots, folder)
        look_at_saved(page, "schedule one_f_one_b", [str(report["makespan"])])
        how = page.id("serveCommand").text
        check(how == "pipec serve one_f_one_b.pipe microbatches=64 ranks=16 --cost=p2p=1/2 --target=torch", how)
        page.driver.find_element(By.CSS_SELECTOR, "#saved .export").click()
        check(page.saved("one_f_one_b.pipe") == page.program(), "the program")
        shown_tabs = page.js("return [...document.querySelectorAll('[role=tab]')].map(({id}) => id)")
        check(shown_tabs == ["tab-picture", "tab-compare", "tab-run"], f"{shown_tabs}")
        check(not page.id("savedProfile").is_displayed(), "a profile")
        # With the costs of a profile, and false clauses as messages.
        pathlib.Path(folder, "mine.pipe").write_text(PROGRAM.replace("placement", "expect makespan == 1; placement"))
        pathlib.Path(folder, "costs.json").write_text('{"F": 3, "stages": {"0": {"B": 4}}}')
        subprocess.run(["pipec", "serve", "mine.pipe", "p=3", "--cost-profile=costs.json", "--export=three"], cwd=folder, stderr=subprocess.PIPE,
                       check=True)
        page.driver.get(f"file://{folder}/three/index.html")
        page.wait(lambda: page.status() == "saved", page.status())
        check(page.figures()["ranks"] == ["3"] and "expected == 1" in page.id("messages").text, page.id("messages").text)
        check(page.id("serveCommand").text == "pipec serve mine.pipe ranks=3 --cost-profile=costs.json", page.id("serveCommand").text)
        page.id("saveItsProfile").click()
        check(page.saved("costs.json") == pathlib.Path(folder, "costs.json").read_text(), "the profile")
        page.close()


def saving_pages(page, served):
    """*Save page* writes the state that is shown, which opens when the server has ended."""
    page.change(lambda: page.set_program(PROGRAM))
    page.change(lambda: page.fill("size-microbatches", "6"))
    page.change(lambda: Select(page.id("with")).select_by_value("gpipe"))
    for name in "compare", "run":
        page.tab(name)
        idle(page)
    page.wait(lambda: page.driver.find_elements(By.ID, "frameworks"), "no verdicts")
    page.tab("picture")
    makespan = page.figures()["makespan"]
    page.id("savePage").click()
    text = page.saved("mine.html")
    check(served.token not in text, "the token is in the page")
    served.end()
    page.driver.get(f"file://{page.folder}/saved/mine.html")
    look_at_saved(page, "schedule mine", makespan)
    check(page.id("serveCommand").text == "pipec serve mine.pipe microbatches=6", page.id("serveCommand").text)


run(globals(), alone=("exported",), ends=("saving_pages",))
