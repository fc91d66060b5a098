"""Looks at each page in Chromium, at the width of a phone and of a desktop, light and dark."""

import argparse
import io
import os
import re
import sys
import tempfile

from PIL import Image
from playwright.sync_api import sync_playwright

from cases import CASES
from look import WIDTHS, Look
from pages import Workshop

# Faults in a page: what is replaced, by what, and a part of the complaint that it must cause.
FAULTS = [
    ("-webkit-line-clamp: 4", "-webkit-line-clamp: 5", "a body of more than four lines"),
    (".date {", ".date { color: #8899bb;", "a contrast of"),
    (".screen {", ".screen { user-select: none;", "no text can be selected"),
    ("body {", "body { min-width: 1400px;", "1400 pixels wide"),
    ('<html lang="en">', "<html>", "html-has-lang"),
    ("</main>", '<img src="https://example.com/x.png" alt=""/></main>', "a request to https://example.com/x.png"),
    ("</main>", "<script>window.attacked = 1</script></main>", "a text has run a script"),
    ("Dr. Amara Osei", "Dr. Amara", "the lock screen doesn't show"),
    ("th { white-space: nowrap; }", "th, td { width: 20px; word-break: break-all; }", "'placeholder' takes"),
    ("line-height: 1.05; white-space: nowrap;", "line-height: 1.05; width: 99px; word-break: break-all;", "'09:10' takes"),
]


def check_faults(browser, path):
    """A page with a fault is complained about. A check that can't fail would be worth nothing."""
    problems = []
    page = re.sub("<meta http-equiv[^>]*>", "", open(path, encoding="utf-8").read())
    for index, (old, new, expected) in enumerate(FAULTS):
        faulty = os.path.join(os.path.dirname(path), f"fault-{index}.html")
        with open(faulty, "w", encoding="utf-8") as file:
            file.write(page.replace(old, new))
        look = Look(browser, faulty, CASES[0], "phone", "light", os.path.dirname(path))
        look.run()
        if not any(expected in problem for problem in look.problems):
            problems.append(f"the fault {new!r} isn't found; found are {look.problems}")
    print(f"{len(FAULTS)} faulty pages, {len(problems)} not found")
    return problems


def write_readme_picture(browser, path, picture):
    """Both phones, in 256 colours: the gradients would need three times the bytes in all."""
    context = browser.new_context(
        viewport={"width": 900, "height": 1400}, color_scheme="light", device_scale_factor=1.5)
    page = context.new_page()
    page.goto("file://" + path)
    box = page.locator(".phones").bounding_box()
    clip = {"x": box["x"] + 4, "y": box["y"] - 10, "width": box["width"] - 8, "height": box["height"] + 24}
    image = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
    image.quantize(256, method=Image.Quantize.MEDIANCUT, kmeans=3).save(picture, optimize=True)
    print(f"{picture}: {os.path.getsize(picture)} bytes")
    context.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pushcrypt", required=True)
    parser.add_argument("--into", required=True, help="the folder for the screenshots")
    parser.add_argument("--readme", action="store_true", help="write docs/lock-screen.png")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--case", help="only this case")
    options = parser.parse_args()
    os.makedirs(options.into, exist_ok=True)
    problems = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        workshop = Workshop(options.pushcrypt, folder)
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        for case in CASES:
            if options.case not in (None, case.name):
                continue
            path = workshop.page(case)
            for width in WIDTHS:
                for scheme in ["light", "dark"]:
                    look = Look(browser, path, case, width, scheme, options.into)
                    look.run()
                    problems += look.problems
                    print(f"{look.name}: {os.path.getsize(path)} bytes, {look.figures['rules']} rules of axe passed, "
                          f"lowest contrast {look.figures['contrast']:.2f}, {len(look.problems)} problems", flush=True)
        path = workshop.page(CASES[0])
        problems += check_faults(browser, path)
        if options.readme:
            write_readme_picture(browser, path, "docs/lock-screen.png")
        browser.close()
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
