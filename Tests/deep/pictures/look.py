"""Looks at one page in one window of Chromium, and collects what is wrong."""

import os

from axe_playwright_python.sync_playwright import Axe

from contrast import lowest_contrast

WIDTHS = {"small": 320, "phone": 390, "desktop": 1280}
# Names and numbers of the byte budget, and the clock: each is one line.
ONE_LINE = ".budget th, .budget td.count, .clock"
LEAST_CONTRAST = 4.5


class Look:
    """A case's page in a window of a width and a colour scheme."""

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
        self.look()
        self.lock_screen()
        self.selection()
        self.context.close()

    def look(self):
        width = self.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        self.expect(width[0] <= width[1], f"{width[0]} pixels wide in a window of {width[1]}")
        for box in self.page.locator(ONE_LINE).all():
            lines = box.evaluate('''element => {
              const range = document.createRange(); range.selectNodeContents(element);
              const texts = [...range.getClientRects()].filter(r => r.width > 0 && r.height > 14);
              return new Set(texts.map(r => Math.round(r.top))).size }''')
            self.expect(lines <= 1, f"{box.inner_text()!r} takes {lines} lines")
        found = Axe().run(self.page)
        for violation in found.response["violations"]:
            nodes = "; ".join(node["html"][:120] for node in violation["nodes"][:3])
            self.wrong(f"{violation['id']}: {violation['help']}: {nodes}")
        self.figures["rules"] = self.figures.get("rules", 0) + len(found.response["passes"])
        # axe can't judge text over a gradient, so all text is measured in the picture itself.
        contrast, text = lowest_contrast(self.page)
        self.figures["contrast"] = min(self.figures.get("contrast", 21), contrast)
        self.expect(contrast >= LEAST_CONTRAST, f"a contrast of {contrast:.2f}: {text[:60]!r}")
        self.page.screenshot(path=os.path.join(self.folder, f"{self.name}.png"), full_page=True)

    def lock_screen(self):
        case, after = self.case, self.page.locator(".device").nth(1)
        text = after.inner_text()
        for expected in case.shown:
            self.expect(expected.lower() in text.lower(), f"the lock screen doesn't show {expected!r}")
        for secret in case.not_shown:
            self.expect(secret not in text, f"the lock screen shows {secret!r}")
        self.expect(self.page.evaluate("window.attacked") is None, "a text has run a script")
        self.expect(self.page.locator("script").count() == 0, "a text has become a script element")
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
