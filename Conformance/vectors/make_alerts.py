"""Writes alerts-v1.json with the Python package: alerts with and without a text that a person can see, to seal and to open.

Run with an interpreter that has the package of Senders/python: python make_alerts.py > alerts-v1.json
Salts and message ids come from labels, so every run makes the same file.
"""
from __future__ import annotations

import json
from typing import Any

import annotate
from make_envelopes import Mode, PushCryptError, b64, material, support
from make_pushcrypt_v1 import AT, DAY, TOPIC

MODE = Mode("device", False)
#: Inclusive ranges, except the last two code points of each plane.
INVISIBLE = (
    "0000-0020", "007F-00A0", "00AD", "034F", "061C", "115F-1160", "1680", "17B4-17B5", "180B-180F", "2000-200F", "2028-202F",
    "205F-206F", "2800", "3000", "3164", "FDD0-FDEF", "FE00-FE0F", "FEFF", "FFA0", "FFF0-FFFC", "13430-1343F", "16FE4",
    "1BCA0-1BCA3", "1D159", "1D173-1D17A", "E0000-E0FFF")
#: Texts without a visible character, and texts with one.
UNSEEN = {
    "empty": "", "spaces": "   ", "a tab and a line break": "\t\r\n", "a no-break space": "\u00a0", "a line separator": "\u2028",
    "a zero width space": "\u200b", "a zero width joiner": "\u200d", "a word joiner": "\u2060", "a byte order mark": "\ufeff",
    "a soft hyphen": "\u00ad", "a right-to-left override": "\u202e", "an isolate": "\u2066", "a tag": "\U000e0041",
    "a variation selector": "\ufe0f", "a Hangul filler": "\u3164", "a blank Braille pattern": "\u2800",
    "an object replacement character": "\ufffc", "a null notehead": "\U0001d159", "a control character": "\u009b", "NUL": "\0",
    "a noncharacter": "\U0010fffe", "an unassigned tag": "\U000e0fff", "all of these": " \u200b\u3164\u2800\ufeff",
}
SEEN = {
    "a letter": "x", "a letter among spaces": " \u200b x", "a combining mark": "\u0301", "an Arabic number sign": "\u0600",
    "a digit of Arabic": "\u0663", "an emoji": "\U0001f9f6", "a replacement character": "\ufffd", "a private character": "\uf8ff",
    "an unassigned code point": "\u0378", "an unassigned code point of plane 14": "\U000e1000", "a Braille dot": "\u2801",
    "a punctuation mark": ".",
}


def alerts() -> list[tuple[str, str, bool]]:
    """(name, JSON, whether it has visible text)"""
    found = []
    for texts, is_visible in ((UNSEEN, False), (SEEN, True)):
        for name, text in texts.items():
            found.append((name, json.dumps(text), is_visible))
    for name in ("title", "subtitle", "body", "loc-key", "title-loc-key"):
        found.append((f"{name} of spaces", json.dumps({name: "  "}), False))
        found.append((f"{name} with a letter, and the others of spaces", json.dumps(
            {**dict.fromkeys(("title", "subtitle", "body", "loc-key", "title-loc-key"), "\u200b"), name: "x"}), True))
    found.append(("subtitle-loc-key alone", '{"subtitle-loc-key": "x"}', False))
    found.append(("arguments alone", '{"loc-args": ["x"], "title-loc-args": ["x"]}', False))
    return found


def main() -> None:
    header = f'{{"id":"{b64(material("id", 16))}","iat":{AT},"exp":{AT + DAY}}}'
    keyset, vectors = json.dumps(MODE.key.record()), []
    for name, alert, is_visible in alerts():
        inner = MODE.payload(MODE.sealed(f'{{"aps":{{"alert":{alert}}},"pushcrypt":{header}}}'.encode()))
        outer = MODE.payload().replace('"alert":"New message"', f'"alert":{alert}')
        entry: dict[str, Any] = {"name": name, "alert": alert, "isVisible": is_visible, "inner": inner, "outer": outer}
        for payload in (inner, outer):
            try:
                support.open_with_sets(payload.encode(), keyset.encode(), None, TOPIC, AT)
                assert is_visible, name
            except PushCryptError as error:
                assert (error.code, is_visible) == ("malformed", False), (name, error)
        vectors.append(entry)
    annotate.printed("alerts-v1", {"keyset": keyset, "topic": TOPIC, "at": AT, "invisible": INVISIBLE, "vectors": vectors})


if __name__ == "__main__":
    main()
