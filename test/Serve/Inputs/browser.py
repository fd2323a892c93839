"""A headless Chromium with the page of `pipec serve`, for tests that use it as a reader would."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import pathlib
import tempfile
import time

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from served import Served, check

PROGRAM = """schedule mine(ranks p = 2, microbatches m = 4, depth k = 1) {
  placement loop;
  warmup { repeat k { F } }
  steady { repeat m - k { F B } }
  cooldown { repeat k { B } }
}
"""


class Browser:
    def __init__(self, address, shots, folder):
        options = Options()
        # Without a sandbox: tests run as root in containers. The pages are ours.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--window-size=1280,860", f"--user-data-dir={folder}/profile"):
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"download.default_directory": f"{folder}/saved"})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(60)
        self.shots, self.folder = shots, pathlib.Path(folder)
        self.driver.get(address)

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def id(self, name):
        return self.driver.find_element(By.ID, name)

    def wait(self, condition, what):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                if value := condition():
                    return value
            except WebDriverException:
                pass  # the page is being replaced
            time.sleep(0.02)
        self.shot("failed")
        return check(False, what)

    def status(self):
        return self.id("status").text

    def drawn(self, count=None):
        """Waits until a picture (number `count`) is shown."""
        self.wait(lambda: self.status().startswith("compiled") and
                  (count is None or self.count() >= count), "nothing was drawn")

    def count(self):
        return int(self.js("return document.getElementById('status').dataset.count ?? 0"))

    def change(self, action):
        """Does something and waits for the picture that follows. Returns the time that the page took."""
        before = self.count()
        action()
        self.drawn(before + 1)
        return float(self.js("return document.getElementById('status').dataset.ms"))

    def figures(self):
        """Name -> values, of the table of figures."""
        rows = self.js("return [...document.querySelectorAll('#figures tr')].map((row) => "
                       "[...row.cells].map((cell) => cell.textContent))")
        return {name: list(values) for name, *values in zip(*rows)}

    def tab(self, name):
        self.id(f"tab-{name}").click()

    def open_menu(self, name):
        self.js("document.getElementById(arguments[0]).open = true", name)

    def save_as(self, kind):
        self.open_menu("saveAs")
        self.driver.find_element(By.CSS_SELECTOR, f"#saveAs [data-as={kind}]").click()

    def view(self):
        """The view of the picture, once it has one."""
        frame = self.driver.find_element(By.CSS_SELECTOR, "#picture iframe:not(.coming)")
        self.driver.switch_to.frame(frame)
        view = self.js("return location.hash.slice(1)")
        self.driver.switch_to.default_content()
        return view

    def program(self):
        return self.js("return document.querySelector('.CodeMirror').CodeMirror.getValue()")

    def set_program(self, text):
        self.js("document.querySelector('.CodeMirror').CodeMirror.setValue(arguments[0])", text)

    def type_at(self, line, column, keys):
        self.js("const editor = document.querySelector('.CodeMirror').CodeMirror;"
                "editor.focus(); editor.setCursor(arguments[0] - 1, arguments[1] - 1);", line, column)
        self.driver.switch_to.active_element.send_keys(keys)

    def fill(self, name, text):
        field = self.id(name)
        field.clear()
        field.send_keys(text)
        self.js("arguments[0].blur()", field)

    def saved(self, name):
        path = self.folder / "saved" / name
        return self.wait(lambda: path.exists() and path.read_text(), f"{name} was not saved")

    def shot(self, name):
        if self.shots:
            self.driver.save_screenshot(str(pathlib.Path(self.shots) / f"{name}.png"))

    def messages(self):
        """What the console of the browser says, without the requests that fail because a test ends the server."""
        return [entry["message"] for entry in self.driver.get_log("browser") if "net::ERR_" not in entry["message"]
                and "status of 403" not in entry["message"]]

    def close(self):
        messages = self.messages()
        self.driver.quit()
        check(messages == [], f"messages on the console: {messages}")


def run(cases, alone=(), ends=()):
    """Runs the case of the command line: with a page of a server, or `alone` with the folder of pictures. The server of a
    case in `ends` is ended by it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("case")
    parser.add_argument("--shots")
    arguments = parser.parse_args()
    case = cases[arguments.case]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if arguments.case in alone:
            return case(arguments.shots)
        served = Served("serve")
        page = None
        try:
            page = Browser(served.address, arguments.shots, folder)
            page.drawn()
            case(page, served)
            page.close()
            if arguments.case not in ends:
                served.end()
        finally:
            if page:
                page.driver.quit()
            served.process.kill()
    return None
