"""The levels sender and sender-full: what a sender must refuse, beside what it must not."""
from __future__ import annotations

import dataclasses
import functools
import json
import re
from typing import Any, Iterator, Sequence

from pushcrypt import PushCryptError, Recipient
from pushcrypt._keys import load_key

from .cases import Case, Level, Request, Session, of_vector
from .material import Vectors
from .measure import Mode
from .sealing import mode_named, seals_or_refuses

_NAMES = {"expiresAfter": "expires", "exposed": "expose"}
#: Options of sender-refusals-v1.json that the level sender has.
_SMALL = {"expiresAfter", "limit", "exposed"}
_PRIVATE = re.compile(r', "(?:d|priv)": "[A-Za-z0-9_-]+"')


def cases(vectors: Vectors) -> Iterator[Case]:
    yield from _refusals(vectors)
    yield from _alerts(vectors)
    yield from _records(vectors)
    yield from _signers(vectors)
    yield from _references(vectors, mode_named(vectors, "p256 psk, signed"))


def _make(name: str, mode: Mode, level: Level, vector: dict[str, Any], request: Request, is_refused: bool) -> Case:
    """A vector of another kind as a request to seal, in the mode of a sender."""
    case = of_vector(name, level, vector, functools.partial(seals_or_refuses, mode, request, is_refused))
    return dataclasses.replace(case, suite=mode.key.suite, flags=(*mode.flags, "refused" if is_refused else "accepted"))


def _refusals(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("sender-refusals-v1")
    for entry in file["seal"]:
        mode = mode_named(vectors, f"{entry['to']}, {'signed' if entry['isSigned'] else 'unsigned'}")
        bare = not entry["options"].get("requiresDevice", False) if entry["to"] == "shared" else None
        options = {_NAMES.get(name, name): value for name, value in entry["options"].items() if name != "requiresDevice"}
        request = mode.request(entry["payload"], placeholder=entry["placeholder"], bare=bare, **options)
        yield _make(f"sender-refusals-v1/seal: {entry['name']}", mode, "sender-full", entry, request, entry["failure"] is not None)
        if entry["to"] == "device" and set(entry["options"]) <= _SMALL:
            small = mode_named(vectors, "p256 psk, signed")
            request = small.request(entry["payload"], placeholder=entry["placeholder"], **options)
            yield _make(f"sender-refusals-v1/seal: {entry['name']} [p256 psk, signed]", small, "sender", entry, request,
                        entry["failure"] is not None)


def _alerts(vectors: Vectors) -> Iterator[Case]:
    file, mode = vectors.load("alerts-v1"), mode_named(vectors, "p256 psk, signed")
    for entry in file["vectors"]:
        alert = json.loads(entry["alert"])
        placeholder = {"body": alert} if isinstance(alert, str) else alert
        for part, request in (("payload", mode.request('{"aps":{"alert":%s}}' % entry["alert"])),
                              ("placeholder", mode.request(placeholder=placeholder))):
            yield _make(f"alerts-v1/sealed {part}: {entry['name']}", mode, "sender", entry, request, not entry["isVisible"])
    listed = [_range(text) for text in file["invisible"]] + [(plane << 16 | 0xFFFE, plane << 16 | 0xFFFF) for plane in range(17)]
    for first, last in listed:
        name = f"alerts-v1/range {first:04X}-{last:04X}"
        run = functools.partial(_borders, mode, first, last, listed)
        yield Case(name, "sender", file["vectors"][0]["rule"], run, 1, (*mode.flags, "refused", "accepted"))


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first, 16), int(last or first, 16)


def _borders(mode: Mode, first: int, last: int, listed: Sequence[tuple[int, int]], session: Session) -> None:
    """The first and the last code point of a range are invisible, those beside it are visible unless another range has them."""
    for code in (first, last, first - 1, last + 1):
        if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000:
            text, is_invisible = chr(code), any(low <= code <= high for low, high in listed)
            seals_or_refuses(mode, mode.request(json.dumps({"aps": {"alert": {"title": " ", "body": text}}})), is_invisible, session)
            seals_or_refuses(mode, mode.request(placeholder={"title": text}), is_invisible, session)


def _records(vectors: Vectors) -> Iterator[Case]:
    """Records of keysets-v1.json in the place of the recipient's. Without `d`, each has the fault of its name alone."""
    signer = vectors.keys["sender"]
    for entry in vectors.load("keysets-v1")["vectors"]:
        name, text, suite = entry["name"], entry["text"], entry["suite"]
        if suite is None or entry["as"] not in ("keyset", "recipient"):
            continue
        if entry["as"] == "keyset" and suite != 4:
            if entry["failure"] is None or re.search(r": (d|priv) ", name):
                continue
            text = _PRIVATE.sub("", text)
        is_refused = _refuses(text)
        if is_refused != (entry["failure"] is not None):
            continue
        base = name.split(":")[0]
        key = load_key(_only(json.loads(text))) if not is_refused and suite == 4 else vectors.keys[base]
        is_small = suite == 1 and '"pushcrypt"' not in text
        mode = Mode(f"{base}, signed", "sender" if is_small else "sender-full", key, text, signer)
        yield _make(f"keysets-v1/sealed to: {name}", mode, mode.level, entry, mode.request(bare=True if suite == 4 else None), is_refused)


def _refuses(text: str) -> bool:
    try:
        Recipient.from_jwk(text)
    except PushCryptError:
        return True
    return False


def _only(record: Any) -> Any:
    return record["keys"][0] if "keys" in record else record


def _signers(vectors: Vectors) -> Iterator[Case]:
    mode = mode_named(vectors, "p256 psk, signed")
    for entry in vectors.load("keysets-v1")["vectors"]:
        name = entry["name"]
        if (name.startswith("sender: ") and entry["as"] == "keyset" and name != "sender: public") or entry["as"] == "signer":
            level: Level = "sender-full" if '"pushcrypt"' in entry["text"] else "sender"  # The level sender has no sets with times.
            yield _make(f"keysets-v1/signed with: {name}", mode, level, entry, mode.request(signWith=entry["text"]),
                        entry["failure"] is not None)


def _references(vectors: Vectors, mode: Mode) -> Iterator[Case]:
    """The attachments and the offloaded payloads of blobs-v1.json as options of sealing."""
    for entry in vectors.load("blobs-v1")["headers"]:
        header = json.loads(entry["header"])
        attachments, offload = header.get("attachments", []), header.get("offload", {})
        is_list = isinstance(attachments, list) and all(isinstance(one, dict) and one.get("id", "") is not None for one in attachments)
        if not is_list or not isinstance(offload, dict) or not (attachments or offload) or header.get("test", True) is not True:
            continue  # An option of another type isn't a request, and null may be how a program leaves out an id.
        options: dict[str, Any] = {"attachments": attachments or None, "offload": offload or None,
                                   "selfTest": True if "test" in header else None}
        known = {name for one in (*attachments, offload) for name in one} <= {"url", "key", "size", "sha256", "type", "id", "use"}
        is_refused = not entry["valid"]
        if is_refused or known:
            request = mode.request(pad="none", **options)
            yield _make(f"blobs-v1/sealed: {entry['name']}", mode, "sender-full", entry, request, is_refused)
