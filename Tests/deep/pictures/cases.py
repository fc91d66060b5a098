"""The pages to look at: pushes, options of the tool, and texts that the lock screen must show or must not show."""

import struct
import zlib
from dataclasses import dataclass, field

ADDRESS = "https://example.com/picture.png"
WITH_PICTURE = ["--attachment-member", "image_url", "--serve", f"{ADDRESS}=picture.png"]
# A line break is possible only inside the word.
LONG_WORD = "Donaudampfschifffahrt" * 30
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
HOSTILE = (
    "</script></style></bdi></p><script>window.attacked=1</script><img src=x onerror=window.attacked=1>"
    "\"'><svg/onload=window.attacked=1>&lt;b&gt; \x00\x1b[31m\u202eevil\u2069\u2069\u202e <\u0301script>"
)


@dataclass
class Case:
    name: str
    pushes: list
    shown: list
    options: list = field(default_factory=list)
    not_shown: list = field(default_factory=list)
    # The last push can't be opened.
    fails: bool = False
    direction: str = "ltr"
    is_cut: bool = False
    # How many notifications are in stacks, and how many pictures there are.
    stacked: int = 0
    pictures: int = 0


def push(title=None, body=None, subtitle=None, thread=None, **members):
    texts = [("title", title), ("subtitle", subtitle), ("body", body)]
    alert = {name: text for name, text in texts if text is not None}
    aps = {"alert": alert}
    if thread:
        aps["thread-id"] = thread
    if members.pop("sensitive", False):
        aps["interruption-level"] = "time-sensitive"
    return {"aps": aps, **members}


CLINIC = [
    push("Maya Lindqvist", "Did the bandage stay on over night?", thread="chat-4"),
    push("Maya Lindqvist", "I can come by at four and have a look \U0001f33b", thread="chat-4"),
    push("Dr. Amara Osei", "Your scan is here. The bone has healed well, and the cast can come off next week. "
         "Please bring the splint when you come; we fit it on the same day, and you can go home with it. "
         "If your fingers tingle or swell before then, call us at any hour.", "Radiology", "scans", image_url=ADDRESS),
    push("Leave now for your visit", "Room 2, Dr. Osei, at 9:40", thread="visits", sensitive=True),
]

CASES = [
    Case("clinic", CLINIC, ["Dr. Amara Osei", "Radiology", "Time Sensitive", "1 more"], WITH_PICTURE, is_cut=True,
         stacked=2, pictures=1),
    Case("long", [push("A long title " * 12, "word " * 200, "A long subtitle " * 12),
                  push("Word", LONG_WORD, thread="w")], ["A long title", "Donaudampf"], is_cut=True),
    Case("arabic", [push("د. أمينة حداد", "نتائجك جاهزة: كل شيء سليم. نراك يوم الاثنين الساعة 9:40 في الغرفة 2.",
                         "عيادة النور")], ["نتائجك جاهزة", "عيادة النور"], direction="rtl"),
    Case("hebrew", [push("ד״ר עמרה אוסיי", "התוצאות שלך הגיעו: הכול תקין. נתראה ביום שני ב־9:40.")],
         ["התוצאות שלך הגיעו"], direction="rtl"),
    Case("emoji", [push(f"Family {FAMILY}",
                        "\U0001f1eb\U0001f1f7 \U0001f44d\U0001f3fd a\u0301 \u2764\ufe0f\n\nthe third line")],
         [FAMILY, "\U0001f1eb\U0001f1f7", "the third line"]),
    Case("threads", [push(f"Sender {number}", f"Message {number}", thread=f"t{number % 2}") for number in range(7)],
         ["Message 6", "Message 5", "3 more", "2 more"], stacked=7),
    Case("hostile", [push(HOSTILE, HOSTILE * 2, HOSTILE, thread=HOSTILE)], ["<script>", "onerror", "&lt;b&gt;"],
         is_cut=True),
    Case("failure", CLINIC[:1], ["New message"], ["--locked"], ["Lindqvist"], fails=True),
    Case("mixed", ["nonsense", {"aps": {"alert": "Not sealed"}}, {"aps": {"content-available": 1}},
                   {"aps": {"alert": "Too long " * 600}}], ["Not sealed"], ["--at", "2026-11-01T23:59:30Z"],
         ["Too long"], fails=True),
]


def picture(width=96, height=96):
    """A PNG: a hand's bones in an X-ray's colours, drawn as capsules."""
    bones = [((.50, .95), (.50, .62), .13), ((.34, .62), (.18, .34), .05), ((.42, .58), (.38, .14), .05),
             ((.52, .58), (.54, .08), .05), ((.61, .60), (.71, .15), .05), ((.68, .68), (.88, .44), .05)]

    def brightness(x, y):
        nearest = 1.0
        for (ax, ay), (bx, by), radius in bones:
            dx, dy = bx - ax, by - ay
            part = max(0, min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)))
            distance = ((x - ax - part * dx) ** 2 + (y - ay - part * dy) ** 2) ** .5 / radius
            nearest = min(nearest, distance / 2)
        return 1 - nearest

    rows = b""
    for row in range(height):
        pixels = [brightness((column + .5) / width, (row + .5) / height) for column in range(width)]
        colours = [(14 + 200 * v * v, 26 + 205 * v * v, 48 + 195 * v * v) for v in pixels]
        rows += b"\0" + b"".join(bytes(int(part) for part in colour) for colour in colours)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
