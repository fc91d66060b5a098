"""Random inner payloads: every JSON that a payload may have, as a text whose bytes must come back."""
from __future__ import annotations

import json
import random
from typing import Any

#: Texts whose characters have 1 to 4 bytes in UTF-8, join, combine, turn the direction, or look like the end of something.
PIECES = (
    "x", "Order 7", "Grüße", "é", "e\u0301", "ह", "你好", "שלום", "\u202ex\u202c", "\u2028", "\u2029", "\u00a0", "\u200b", "\ufeff",
    "😀", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "1️⃣", "\U0010fffd", "\ue000", "\x7f", "\u0085", '"', "\\", "/", "\n", "\t", "\r", "\b", "\f", "\0", "\x1f",
    "}", "]", ",", ":", '","pushcrypt":{', "</script>", "%@", "$", "{{", " ", "  ",
)
NUMBERS = (
    "0", "-0", "1", "-1", "10", "1e2", "1E2", "1E+2", "1e-2", "100", "0.5", "-0.0", "0.10", "1.50e0", "1.0", "9007199254740991",
    "9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
    "18446744073709551616", "123456789012345678901234567890", "3.141592653589793238462643383279", "0.1e1", "1e308", "1e309", "1e400",
    "-1e400", "5e-324", "1e-400", "2.5E-3", "0e0", "0E-0",
)
SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
MAX_DEPTH = 64
VISIBLE = ("x", "Order 7", "Grüße", "你好", "👩‍👩‍👧‍👦", "e\u0301")


class Payload:
    """The text of an inner payload, and the values in its `aps`."""

    def __init__(self, dice: random.Random, has_badge: bool) -> None:
        self.dice = dice
        self.has_space = dice.random() < 0.5
        self.has_lines = self.has_space and dice.random() < 0.5
        self.aps: dict[str, str] = self._aps(has_badge)
        """The JSON text of each member."""
        root = {"aps": self._object(self.aps)}
        for _ in range(dice.choice((0, 0, 1, 2, 5))):
            name = self.text(dice.randrange(3))
            if name not in ("aps", "pushcrypt"):
                root[name] = self.value(2, dice.choice((3, 10, 40)))
        if dice.random() < 0.03:  # Down to the last level that is allowed.
            levels = MAX_DEPTH - 1
            root["deep"] = "[" * levels + "]" * levels if dice.random() < 0.5 else '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)
        names = list(root)
        dice.shuffle(names)
        self.json = self.space() + self._object({name: root[name] for name in names}) + self.space()

    def space(self) -> str:
        if not self.has_space or self.dice.random() < 0.6:
            return ""
        return "".join(self.dice.choice(" \t\n\r" if self.has_lines else " \t") for _ in range(self.dice.randrange(1, 4)))

    def text(self, pieces: int) -> str:
        return "".join(self.dice.choice(PIECES) for _ in range(pieces))

    def string(self, text: str) -> str:
        """A JSON string of the text, with characters as they are or as escapes."""
        made = []
        for one in text:
            must = one < " " or one in '"\\'
            if one in SHORT and (must or self.dice.random() < 0.5) and self.dice.random() < 0.8:
                made.append(SHORT[one])
            elif must or self.dice.random() < 0.05:
                escape = "".join(f"\\u{unit:04x}" for unit in _units(one))
                made.append(escape if self.dice.random() < 0.5 else escape.upper().replace("\\U", "\\u"))
            else:
                made.append(one)
        return '"' + "".join(made) + '"'

    def value(self, depth: int, budget: int) -> str:
        kind = self.dice.randrange(10) if depth < MAX_DEPTH else self.dice.randrange(6)
        if kind < 2:
            return self.string(self.text(self.dice.randrange(6)))
        if kind < 4:
            return self.dice.choice(NUMBERS)
        if kind < 6 or budget <= 1:
            return self.dice.choice(("true", "false", "null", '""') + (("[]", "{}") if depth < MAX_DEPTH else ()))
        count = self.dice.randrange(min(budget, 5))
        values = [self.value(depth + 1, budget // (count + 1)) for _ in range(count)]
        if kind < 8:
            return "[" + ",".join(self.space() + value + self.space() for value in values) + "]"
        return self._object({self.text(self.dice.randrange(3)): value for value in values})

    def _object(self, members: dict[str, str]) -> str:
        return "{" + ",".join(self.space() + self.string(name) + self.space() + ":" + self.space() + value + self.space()
                              for name, value in members.items()) + "}"

    def _aps(self, has_badge: bool) -> dict[str, str]:
        dice = self.dice
        choices: dict[str, Any] = {
            "badge": lambda: dice.choice(("0", "1", "9999", "9007199254740991")), "category": lambda: self.string(self.text(1)),
            "thread-id": lambda: self.string(self.text(2)), "content-available": lambda: dice.choice(("1", "1", "0", "true", '"1"')),
            "interruption-level": lambda: dice.choice(('"passive"', '"active"', '"time-sensitive"', '"critical"')),
            "relevance-score": lambda: dice.choice(("0", "0.5", "1.0", "5e-1", "1")),
            "sound": lambda: dice.choice(('"default"', '"a.caf"', '""', "null", "{}", '{"critical":1,"name":"a","volume":0.50}')),
            "mutable-content": lambda: "1", "filter-criteria": lambda: self.string("f"), "target-content-id": lambda: self.string("t"),
            "x": lambda: dice.choice((*NUMBERS, "true", '"y"', "[]", "null")), "content-state": lambda: "null",
            "event": lambda: '"tap"', "own_1": lambda: self.value(3, 8),
        }
        names = [name for name in choices if dice.random() < 0.25 and (has_badge or name != "badge")]
        members = {"alert": self._alert(), **{name: choices[name]() for name in names}}
        order = list(members)
        dice.shuffle(order)
        return {name: members[name] for name in order}

    def _alert(self) -> str:
        dice = self.dice
        # The longest of these don't fit: every sender must refuse them.
        body = dice.choice(VISIBLE) + self.text(dice.choice((0, 1, 5, 20)))
        if dice.random() < 0.15:
            body += dice.choice(("x", "é", "😀", "👩‍👩‍👧‍👦", "Lorem ipsum ")) * dice.randrange(10, 260)
        if dice.random() < 0.4:
            return self.string(body)
        members = {"body": self.string(body)}
        if dice.random() < 0.6:
            members["title"] = self.string(self.text(3))
        if dice.random() < 0.3:
            members["subtitle"] = self.string(self.text(2))
        if dice.random() < 0.3:  # A localised alert.
            part = dice.choice(("", "title-", "subtitle-"))
            members[f"{part}loc-key"] = self.string("KEY_" + self.text(1))
            values = [self.string(self.text(2)) if dice.random() < 0.7 else dice.choice((*NUMBERS, "true", "null"))
                      for _ in range(dice.randrange(4))]
            members[f"{part}loc-args"] = "[" + ",".join(values) + "]"
        if dice.random() < 0.1:
            members["launch-image"] = '"i.png"'
        return self._object(members)

    def exposable(self, is_quiet: bool) -> list[str]:
        """The names in `aps` that a sender may expose (protocol section 2)."""
        return [name for name, text in self.aps.items() if _is_exposable(name, json.loads(text)) and not (is_quiet and name == "sound")]


def _units(one: str) -> list[int]:
    data = one.encode("utf-16-be")
    return [int.from_bytes(data[at:at + 2], "big") for at in range(0, len(data), 2)]


def _is_exposable(name: str, value: Any) -> bool:
    if name in ("alert", "mutable-content") or value is None or isinstance(value, list) or value in (float("inf"), float("-inf")):
        return False
    if name == "content-available":
        return type(value) is int and value == 1
    if isinstance(value, dict):
        return name == "sound"
    return isinstance(value, str) if name in ("sound", "category", "thread-id") else True
