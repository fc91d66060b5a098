"""The levels sender and sender-full: pushes that must be sealed, opened and measured, or refused."""
from __future__ import annotations

import functools
import json
from typing import Any, Callable, Iterator, Sequence

from pushcrypt import _keys, blobs
from pushcrypt._json import b64, unb64

from .cases import Case, Failed, Level, Request, Session, expect, of_vector, shown, text_of
from .material import DEVICE, Vectors
from .measure import INNER, Measured, Mode, capacity_of, measure
from .opening import PURPOSES, plaintext_of

_RECIPIENTS = ("p256", "p256 psk", "x25519", "x25519 psk", "xwing", "xwing psk", "shared", "device")
_PADDING, _OFFLOAD = "protocol 5, padding", "protocol 6, offloaded payloads"


def modes(vectors: Vectors) -> list[Mode]:
    """The level sender has a key of suite 1, with and without psk, and signs."""
    found = []
    for name in _RECIPIENTS:
        for signer in (vectors.keys["sender"], None):
            level: Level = "sender" if name in ("p256", "p256 psk") and signer is not None else "sender-full"
            label = f"{name}, {'unsigned' if signer is None else 'signed'}"
            found.append(Mode(label, level, vectors.keys[name], vectors.record(name), signer))
    master = vectors.keys["shared"]
    found.append(Mode("shared for a device, signed", "sender-full", _keys.device_key(master, DEVICE), vectors.record("shared"),
                      vectors.keys["sender"], DEVICE))
    return found


def mode_named(vectors: Vectors, name: str) -> Mode:
    return next(mode for mode in modes(vectors) if mode.name == name)


def cases(vectors: Vectors) -> Iterator[Case]:
    every = modes(vectors)
    for entry in vectors.load("sealing-v1")["vectors"]:
        run = functools.partial(seals_or_refuses, mode_of(vectors, entry), {"op": "seal", **entry["request"]}, entry["failure"] is not None)
        yield of_vector(entry["name"], entry["level"], entry, run)
    yield from _padding(every)
    yield from _limits(every)
    yield from _fresh(every)
    yield from _limits_of_carriers(every)
    yield from _campaigns(vectors)
    yield from _sealed_blobs()


def mode_of(vectors: Vectors, entry: dict[str, Any]) -> Mode:
    """The keys that open a push of sealing-v1.json."""
    signer = None if entry["signer"] is None else vectors.keys[entry["signer"]]
    return Mode(entry["name"], entry["level"], vectors.keys[entry["key"]], entry["request"]["to"], signer)


def seals_or_refuses(mode: Mode, request: Request, is_refused: bool, session: Session) -> None:
    if is_refused:
        session.refused(request)
    else:
        sealed(session, mode, request)


def sealed(session: Session, mode: Mode, request: Request) -> Measured:
    return measure(session, mode, request, session.ask(request))


def _seals(mode: Mode, request: Request, session: Session) -> None:
    sealed(session, mode, request)


def _seals_all(mode: Mode, requests: Sequence[Request], session: Session) -> None:
    for request, answer in zip(requests, session.ask_all(requests)):
        session.asked = [request]
        measure(session, mode, request, answer)


def case(group: str, name: str, mode: Mode, rule: str, run: Callable[[Session], None], *, level: Level | None = None,
         flags: tuple[str, ...] = ()) -> Case:
    return Case(f"{group}/{mode.name}: {name}", level or mode.level, rule, run, mode.key.suite, (*mode.flags, *(flags or ("accepted",))))


# --- Padding and sizes ----------------------------------------------------------------------------------------------------------


def _body(text: str) -> str:
    return '{"aps":{"alert":"' + text + '"}}'


def _padding(every: Sequence[Mode]) -> Iterator[Case]:
    for mode in every:
        multiples: tuple[Any, ...] = (1, 2, 3, 16, 64, 100, 128, 256, 500, 512, 1_024, 4_096, "max", "none")
        for pad in multiples if mode.level == "sender" else (1, 128, 500, "max", "none"):
            # The lengths reach both sides of a multiple, whatever the program's header takes.
            lengths = range(1, 130) if pad == 128 and mode.level == "sender" else range(1, 520, 37)
            requests = [mode.request(_body("x" * length), pad=pad) for length in lengths]
            yield case("padding", f"pad {pad}", mode, _PADDING, functools.partial(_seals_all, mode, requests))
        yield case("padding", "128 without the option", mode, _PADDING, functools.partial(_seals, mode, mode.request(_body("x" * 50))))


#: A text of what an alert is made to fill a push: the name, and the bytes that a program may count wrongly.
FILLINGS = (("ASCII", "x"), ("é", "é"), ("é as an escape", "\\u00e9"), ("emoji", "😀"), ("ZWJ sequences", "👩‍👩‍👧‍👦"))


def _limits(every: Sequence[Mode]) -> Iterator[Case]:
    for mode in every:
        options: list[dict[str, Any]] = [{}, {"pad": "none"}, {"pad": "max"}, {"limit": 4_095}, {"limit": 2_001}, {"expose": ["category"]},
                                         {"placeholder": {"title": "é😀\u2028"}, "pad": "max"}]
        for name, unit in FILLINGS if mode.level == "sender" else FILLINGS[:2]:
            for option in options if mode.level == "sender" else options[:1]:
                told = "".join(f", {key} {_told(value)}" for key, value in option.items())
                for what, more in (("the limit to the byte", 0), ("a byte less", -1), ("a byte more", 1)):
                    run = functools.partial(_reaches_the_limit, mode, unit, option, more)
                    flag = "refused" if more > 0 else "accepted"
                    yield case("limits", f"{name}{told}, {what}", mode, _PADDING, run, flags=(flag,))


def _told(option: Any) -> str:
    return "of 2 to 4 bytes a character" if isinstance(option, dict) else option[0] if isinstance(option, list) else str(option)


def _reaches_the_limit(mode: Mode, unit: str, option: dict[str, Any], more: int, session: Session) -> None:
    """`more`: the bytes by which the message is longer than the longest one."""
    category = ',"category":"c"' if "expose" in option else ""

    def payload(text: str) -> str:
        return '{"aps":{"alert":"' + text + '"' + category + "}}"

    empty = mode.request(payload("x"), **{**option, "pad": "none"})
    made = sealed(session, mode, empty)
    room = capacity_of(made.frame, mode, empty) - made.unpadded + 1 + more
    count, rest = divmod(room, len(unit.encode("utf-8")))
    asked = mode.request(payload(unit * count + "x" * rest), **option)
    if more > 0:
        session.refused(asked)
        return
    full = sealed(session, mode, asked)
    expect("bytes of the message without padding", made.unpadded - 1 + room, full.unpadded)


def _fresh(every: Sequence[Mode]) -> Iterator[Case]:
    for mode in every:
        if mode.name in ("p256 psk, signed", "p256, signed", "x25519 psk, signed", "xwing psk, signed", "shared, signed"):
            yield case("freshness", "a fresh encapsulation, id and padding in each of 1,000 pushes", mode, "protocol 3, suites",
                       functools.partial(_seals_all, mode, [mode.request()] * 1_000))


# --- sender-full -------------------------------------------------------------------------------------------------------------


def _limits_of_carriers(every: Sequence[Mode]) -> Iterator[Case]:
    for mode in every:
        if mode.name in ("p256 psk, signed", "x25519, unsigned", "xwing psk, signed", "device, signed"):
            for carrier in ("apns", "rebuilt", "fcm", "text", "expo", "oneSignal"):
                # OneSignal's service demands a body.
                option = {"carrier": carrier, "placeholder": {"body": "New message"}, "pad": "none"}
                for what, more in (("the limit to the byte", 0), ("a byte more", 1)):
                    run = functools.partial(_reaches_the_limit, mode, "x", option, more)
                    yield case("sealed carriers", f"{carrier}: {what}", mode, "protocol 2, carriers", run, level="sender-full",
                               flags=("refused",) if more else ())


def _campaigns(vectors: Vectors) -> Iterator[Case]:
    for number, entry in enumerate(vectors.load("keysets-v1")["campaigns"]):
        mode = mode_named(vectors, f"{entry['key']}, signed")
        yield of_vector(f"keysets-v1/campaigns: {entry['key']}, {number}", "sender-full", entry,
                        functools.partial(_has_the_id, mode, mode.request(campaign=entry["campaign"]), entry["id"]))


def _has_the_id(mode: Mode, request: Request, expected: str, session: Session) -> None:
    for _ in range(2):
        expect("the message's id", expected, sealed(session, mode, request).opened.id)


# --- Blobs -------------------------------------------------------------------------------------------------------------------


def _sealed_blobs() -> Iterator[Case]:
    for size in (0, 1, 65_535, 65_536, 65_537, 131_072, 200_000):
        yield Case(f"sealed blobs/an attachment of {size:,} bytes", "sender-full", "protocol 7, blobs",
                   functools.partial(_seals_blob, plaintext_of(size), "attachment"), None, ("accepted",))
    for name, payload in (("a short payload", INNER), ("a payload of 4,096 bytes", _body("x" * (4_096 - len(INNER) + 1))),
                          ("a payload of 4,097 bytes", _body("x" * (4_097 - len(INNER) + 1))),
                          ("a payload of 262,144 bytes", _body("x" * (262_144 - len(INNER) + 1)))):
        run = functools.partial(_seals_blob, payload.encode(), "payload")
        yield Case(f"sealed blobs/{name}", "sender-full", _OFFLOAD, run, None, ("accepted",))
    yield Case("sealed blobs/a fresh key in each of 100 blobs", "sender-full", "protocol 7, blobs", _fresh_blobs, None, ("accepted",))
    for name, text in (
        ("a payload of 262,145 bytes", _body("x" * (262_145 - len(INNER) + 1))),
        ("a payload of 16,385 values", '{"aps":{"alert":"x"},"y":[0' + ",0" * 16_380 + "]}"),
        ("a payload with a pushcrypt member", '{"aps":{"alert":"x"},"pushcrypt":1}'), ("a payload without a text", _body(" ")),
        ("a payload with a name twice", '{"aps":{"alert":"x"},"a":1,"a":1}'), ("a payload that is no JSON", "{"),
        ("the payload of a Live Activity", '{"aps":{"alert":"x","event":"update","content-state":{}}}'),
    ):
        asked = {"op": "blob", "purpose": "payload", "plaintext": b64(text.encode())}
        yield Case(f"sealed blobs/refused: {name}", "sender-full", _OFFLOAD, functools.partial(_refuses, asked), None, ("refused",))


def _refuses(asked: Request, session: Session) -> None:
    session.refused(asked)


def _seals_blob(plaintext: bytes, purpose: str, session: Session) -> None:
    _opened_blob(session.accepted({"op": "blob", "purpose": purpose, "plaintext": b64(plaintext) if plaintext else ""}), plaintext, purpose)


def _opened_blob(answer: dict[str, Any], plaintext: bytes, purpose: str) -> bytes:
    """The key of the blob, which was opened."""
    reference, blob = answer.get("reference"), text_of(answer, "blob")
    padded = plaintext.ljust(-(-len(plaintext) // 4_096) * 4_096) if purpose == "payload" else plaintext
    try:
        read = blobs.Offload.from_members({"url": "", **(reference if isinstance(reference, dict) else {})})
        opened = blobs.open_blob(read, PURPOSES[purpose], unb64(blob))
    except Exception as error:
        raise Failed("a blob that opens with its reference", f"{error}; the reference is {shown(reference)}") from None
    if opened != padded:
        raise Failed(f"the plaintext of {len(padded):,} bytes", f"another one, of {len(opened):,} bytes")
    return read.key


def _fresh_blobs(session: Session) -> None:
    asked = {"op": "blob", "purpose": "attachment", "plaintext": b64(b"x")}
    answers = session.ask_all([asked] * 100)
    keys = {_opened_blob(answer, b"x", "attachment") for answer in answers}
    if len(keys) < len(answers):
        raise Failed("another key for each blob", f"{len(keys)} keys for {len(answers)} blobs")


