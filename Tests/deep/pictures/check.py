"""Looks at each page in Chromium, at the width of a phone and of a desktop, light and dark."""

import argparse
import io
import os
import sys
import tempfile

from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import sync_playwright

from cases import CASES
from contrast import lowest_contrast
from pages import Workshop

WIDTHS = {"phone": 390, "desktop": 1280}
STEPS = ["Sent", "On the wire", "On the lock screen"]
LEAST_CONTRAST = 4.5


class Look:
    """One page in one window. It collects what is wrong."""

    def __init__(self, browser, path, case, width, scheme, folder):
        self.case, self.name, self.folder = case, f"{case.name}-{width}-{scheme}", folder
        self.problems, self.figures = [], {}
        self.context = browser.new_context(
            viewport={"width": WIDTHS[width], "height": 900}, color_scheme=scheme, offline=True)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.wrong(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.wrong(f"error in the page: {error}"))
        self.page.on("dialog", lambda dialog: (self.wrong("a dialog"), dialog.dismiss()))
        address = "file://" + path
        self.page.on("request", lambda request: request.url == address or request.url.startswith("data:")
                     or self.wrong(f"a request to {request.url}"))
        self.page.goto(address)

    def wrong(self, text):
        self.problems.append(f"{self.name}: {text}")

    def expect(self, condition, text):
        if not condition:
            self.wrong(text)

    def run(self):
        self.expect(self.visible_steps() == STEPS[2:], "the page doesn't begin with the lock screen")
        self.page.locator("#story").focus()
        self.page.keyboard.press("Home")
        for index, step in enumerate(STEPS):
            if index:
                self.page.keyboard.press("ArrowRight")
            self.expect(self.visible_steps() == [step], f"the slider shows {self.visible_steps()} and not {step}")
            self.expect(self.page.locator("#story").get_attribute("aria-valuetext") == step, f"no name of {step}")
            self.look(step)
        self.lock_screen()
        self.selection()
        self.context.close()

    def visible_steps(self):
        return [section.get_attribute("data-step") for section in self.page.locator("main > section").all()
                if section.is_visible()]

    def look(self, step):
        width = self.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        self.expect(width[0] <= width[1], f"{step}: {width[0]} pixels wide in a window of {width[1]}")
        found = Axe().run(self.page)
        for violation in found.response["violations"]:
            nodes = "; ".join(node["html"][:120] for node in violation["nodes"][:3])
            self.wrong(f"{step}: {violation['id']}: {violation['help']}: {nodes}")
        self.figures["rules"] = self.figures.get("rules", 0) + len(found.response["passes"])
        # axe can't judge text over a gradient, so all text is measured in the picture itself.
        contrast, text = lowest_contrast(self.page)
        self.figures["contrast"] = min(self.figures.get("contrast", 21), contrast)
        self.expect(contrast >= LEAST_CONTRAST, f"{step}: a contrast of {contrast:.2f}: {text[:60]!r}")
        name = f"{self.name}-{STEPS.index(step)}.png"
        self.page.screenshot(path=os.path.join(self.folder, name), full_page=True)

    def lock_screen(self):
        case, after = self.case, self.page.locator(".device").nth(1)
        text = after.inner_text()
        for expected in case.shown:
            self.expect(expected.lower() in text.lower(), f"the lock screen doesn't show {expected!r}")
        for secret in case.not_shown:
            self.expect(secret not in text, f"the lock screen shows {secret!r}")
        self.expect(self.page.evaluate("window.attacked") is None, "a text has run a script")
        self.expect(self.page.locator("script").count() == 1, "a text has become a script element")
        pictures = after.locator("img").evaluate_all("all => all.filter(one => one.naturalWidth > 0).length")
        self.expect(pictures == self.page.locator("img").count() == case.pictures, f"{pictures} pictures")
        self.lines(after)
        for stack in after.locator("summary").all():
            stack.click()
        shown = sum(banner.is_visible() for banner in after.locator(".stack .banner").all())
        self.expect(shown == case.stacked, f"{shown} notifications of stacks after they are opened")

    def lines(self, after):
        """How many lines a body has, and its direction."""
        bodies = after.locator(".banner:visible .body")
        measured = bodies.evaluate_all(
            "all => all.map(one => [one.clientHeight / parseFloat(getComputedStyle(one).lineHeight),"
            " one.scrollHeight > one.clientHeight + 1, getComputedStyle(one).direction])")
        self.expect(all(count <= 4.1 for count, _, _ in measured), f"a body of more than four lines: {measured}")
        cut = [count for count, is_cut, _ in measured if is_cut]
        self.expect(bool(cut) == self.case.is_cut and all(count > 3.9 for count in cut), f"cut: {measured}")
        if self.case.shown != ["New message"] and self.case.name not in ["hostile", "mixed"]:
            self.expect(all(direction == self.case.direction for _, _, direction in measured), f"direction: {measured}")

    def selection(self):
        """A user selects a line of a notification with three clicks."""
        text = self.page.locator(".device").nth(1).locator(".banner .text p:visible, .banner .text h3:visible").last
        text.scroll_into_view_if_needed()
        box = text.bounding_box()
        right_to_left = text.evaluate("one => getComputedStyle(one).direction") == "rtl"
        x = box["x"] + (box["width"] - 14 if right_to_left else 14)
        self.page.mouse.click(x, box["y"] + 9, click_count=3)
        self.expect(self.page.evaluate("getSelection().toString().trim()") != "", "no text can be selected")


def check_switch(browser, path):
    """The switch of the page shows light and dark whatever the system says; without scripts all steps are visible."""
    problems = []
    for system in ["light", "dark"]:
        context = browser.new_context(color_scheme=system, java_script_enabled=False)
        page = context.new_page()
        page.goto("file://" + path)
        if not all(section.is_visible() for section in page.locator("main > section").all()):
            problems.append("without scripts a step is hidden")
        if page.locator("nav").is_visible():
            problems.append("without scripts the slider is visible, and does nothing")
        context.close()
        context = browser.new_context(color_scheme=system)
        page = context.new_page()
        page.goto("file://" + path)
        colours = {}
        for scheme in ["light", "dark", "system"]:
            page.locator(f"#{scheme}").check()
            colours[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        if colours["light"] == colours["dark"] or colours["system"] != colours[system]:
            problems.append(f"the switch in a {system} system: {colours}")
        context.close()
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
        problems += check_switch(browser, path)
        if options.readme:
            write_readme_picture(browser, path, "docs/lock-screen.png")
        browser.close()
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
