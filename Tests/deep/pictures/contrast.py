"""The contrast of text as it is drawn (WCAG 2.2, success criterion 1.4.3), over gradients and translucent grounds too."""

import io

from PIL import Image

# Each visible text: its rectangles, which a cut text may leave, and its colour. The colours are then made transparent.
TEXTS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  function rgba(colour) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  }
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility() || element.closest("script, legend, nav > label")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const frame = element.getBoundingClientRect();
    const rectangles = [...range.getClientRects()].map(one => [
      Math.max(one.left, frame.left), Math.max(one.top, frame.top) + scrollY,
      Math.min(one.right, frame.right), Math.min(one.bottom, frame.bottom) + scrollY,
    ]).filter(one => one[2] - one[0] >= 1 && one[3] - one[1] >= 1);
    found.push({ text: node.data.trim(), colour: rgba(getComputedStyle(element).color), rectangles });
  }
  for (const element of document.querySelectorAll("body, body *")) {
    element.style.setProperty("color", "transparent", "important");
  }
  return found;
}"""
RESTORE = """() => {
  for (const element of document.querySelectorAll("body, body *")) element.removeAttribute("style");
}"""


def lowest_contrast(page):
    """The lowest contrast of all visible text, and that text."""
    texts = page.evaluate(TEXTS)
    image = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    page.evaluate(RESTORE)
    lowest = (21.0, "")
    for text in texts:
        for left, top, right, bottom in text["rectangles"]:
            area = image.crop((int(left), int(top), max(int(right), int(left) + 1), max(int(bottom), int(top) + 1)))
            for _, ground in area.getcolors(area.width * area.height):
                lowest = min(lowest, (contrast(text["colour"], ground), text["text"]))
    return lowest


def contrast(colour, ground):
    opacity = colour[3] / 255
    front = [opacity * one + (1 - opacity) * other for one, other in zip(colour, ground)]
    lighter, darker = sorted([luminance(front), luminance(ground)], reverse=True)
    return (lighter + .05) / (darker + .05)


def luminance(colour):
    linear = [one / 12.92 if one <= .04045 else ((one + .055) / 1.055) ** 2.4 for one in (c / 255 for c in colour[:3])]
    return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]
