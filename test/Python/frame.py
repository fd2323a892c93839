# REQUIRES: browser
# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""The page of a schedule in a notebook: it works in its frame, and has no access to what is
around it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

import pipec

schedule = pipec.compile("one_f_one_b", ranks=2, microbatches=3, passes="insert-p2p")
pathlib.Path("notebook.html").write_text(
    f"<!DOCTYPE html><title>A notebook</title><h1>Cells</h1>{schedule._repr_html_()}", encoding="utf-8")

options = Options()
for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,760",
                 f"--user-data-dir={pathlib.Path('profile').resolve()}"):
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
try:
    driver.set_page_load_timeout(120)
    driver.set_script_timeout(120)
    driver.get(pathlib.Path("notebook.html").resolve().as_uri())
    frame = driver.find_element(By.TAG_NAME, "iframe")
    assert frame.size["width"] > 1000 and frame.size["height"] == 480, frame.size
    driver.switch_to.frame(frame)

    def settle():
        driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));")

    settle()
    canvas = driver.find_element(By.ID, "view")
    drawn = """const canvas = arguments[0], all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
               const colours = new Set(); for (let i = 0; i < all.length; i += 4) colours.add(all[i] << 16 | all[i + 1] << 8 | all[i + 2]);
               return colours.size;"""
    assert driver.execute_script(drawn, canvas) > 5

    # A button of the page works; the page has no address in a frame.
    before = driver.execute_script("return pipec.scene.view.to;")
    driver.find_element(By.ID, "in").click()
    settle()
    assert driver.execute_script("return pipec.scene.view.to;") < before
    driver.execute_async_script("setTimeout(arguments[0], 400);")

    # The notebook is out of reach.
    for reached in "window.parent.document.title", "window.top.location.href", "document.cookie", "localStorage.length":
        assert driver.execute_script(f"try {{ return {reached}; }} catch (error) {{ return error.name; }}") == "SecurityError", reached
    driver.switch_to.default_content()
    messages = driver.get_log("browser")
    assert not messages, messages
finally:
    driver.quit()
