"""The Python package behind the wire of the kit: pushcrypt-conformance python3 Conformance/programs/python.py"""
from __future__ import annotations

import json
import sys
from typing import Any, Callable

import pushcrypt
from pushcrypt import blobs, possession
from pushcrypt._json import b64, unb64
from pushcrypt._times import seconds, time_text
from pushcrypt.keysets import Keyset
from pushcrypt.sender_sets import Pins, State, accept

Request = dict[str, Any]
PADDING = {"max": "limit", "none": None}


def clock(request: Request) -> Callable[[], int]:
    return lambda: int(request["at"])


def is_set(text: str) -> bool:
    """Whether it is a set with times, from which a key is chosen by time."""
    record = json.loads(text)
    return isinstance(record, dict) and "pushcrypt" in record


def recipient(request: Request) -> pushcrypt.Recipient:
    text = request["to"]
    if is_set(text):
        to = pushcrypt.Recipient.from_keyset(Keyset.from_json(text), at=request["at"])
    else:
        to = pushcrypt.Recipient.from_jwk(text)
    return to.for_device(request["device"]) if "device" in request else to


def signer(request: Request) -> pushcrypt.SenderKey | None:
    if "signWith" not in request:
        return None
    text = request["signWith"]
    if is_set(text):
        return pushcrypt.SenderKey.from_keyset(Keyset.from_json(text), at=request["at"])
    return pushcrypt.SenderKey.from_jwk(text)


def seal(request: Request) -> Request:
    names = {"expires": "expires_after", "expose": "exposed", "badgeAdd": "badge_add", "selfTest": "self_test",
             "minimumSuite": "minimum_suite", "requiresDayKey": "requires_day_key"}
    same = ("limit", "carrier", "campaign", "retract", "quiet", "bare")
    options = {names.get(name, name): value for name, value in request.items() if name in names or name in same}
    if "pad" in request:
        options["padding"] = PADDING.get(request["pad"], request["pad"])
    if "offload" in request:
        options["offload"] = pushcrypt.Offload.from_members(request["offload"])
    options["attachments"] = [pushcrypt.Attachment.from_members(members) for members in request.get("attachments", [])]
    placeholder = pushcrypt.Placeholder(**{name.replace("-", "_"): value for name, value in request["placeholder"].items()})
    sealer = pushcrypt.Sealer(request["topic"], signer=signer(request), clock=clock(request))
    push = sealer.seal(request["payload"], to=recipient(request), placeholder=placeholder, **options)
    return {"payload": push.json.decode(), "id": push.id, "expiresAt": push.expires_at, "usesLastResortKey": push.uses_last_resort_key}


def senders(value: Any, request: Request) -> Any:
    if value is None or isinstance(value, str):
        return None if value is None else Keyset.from_json(value)
    return [pushcrypt.NamedSender(Keyset.from_json(one["keys"]), one["name"]) if "keys" in one else
            accept(unb64(one["document"]), Pins.from_json(one["pins"]), request["topic"], None, request["at"]) for one in value]


def opener(request: Request) -> pushcrypt.Opener:
    return pushcrypt.Opener(request["topic"], Keyset.from_json(request["keys"]), senders=senders(request["senders"], request),
                            carriers=request.get("carriers", ["apns"]), clock=clock(request))


def open_(request: Request) -> Request:
    push = opener(request).open(request["payload"].encode("utf-8", "surrogatepass"))
    payload = push.open_offload(unb64(request["blob"])) if "blob" in request else push.json
    answer: Request = {"payload": payload, "id": push.id, "expiresAt": push.expires_at, "retract": push.retract, "quiet": push.quiet,
                       "badgeAdd": push.badge_add}
    if request.get("details"):
        answer.update(
            attachments=[one.url for one in push.attachments if not one.is_avatar], proof=push.proof, message=push.name,
            avatar=next((one.url for one in push.attachments if one.is_avatar), None), retractedMessages=push.retracted_names)
    return answer


def record(request: Request) -> Request:
    return {"kid": pushcrypt.Registration.from_json(request["record"], requiring=request.get("requiring", ())).kid}


def keys(request: Request) -> Request:
    text = request["text"]
    if request["as"] == "recipient":
        return {"kids": [pushcrypt.Recipient.from_jwk(text).kid]}
    if request["as"] == "signer":
        return {"kids": [pushcrypt.SenderKey.from_jwk(text).kid]}
    keyset = Keyset.from_json(text)
    if request["as"] == "senders":
        pushcrypt.Opener("a", [], senders=keyset)
    answer: Request = {"kids": [entry.key.kid for entry in keyset.entries]}
    if "at" in request:
        primary = keyset.primary(request["at"])
        answer.update(primary=primary and primary.key.kid, states=keyset.states(request["at"]))
    return answer


def set_(request: Request) -> Request:
    pins, stored = Pins.from_json(request["pins"]), request.get("stored")
    if "document" not in request:
        return {}
    known = State(stored["epoch"], stored["seq"], unb64(stored["digest"], 32), seconds(stored["issuedAt"], "issuedAt"),
                  frozenset(unb64(one, 32) for one in stored["revoked"])) if stored is not None else None
    state = accept(unb64(request["document"]), pins, request["topic"], known, request["at"]).state
    return {"state": {"epoch": state.epoch, "seq": state.seq, "digest": b64(state.digest), "issuedAt": time_text(state.issued_at),
                      "revoked": [b64(one) for one in state.revoked]}}


def challenge(request: Request) -> Request:
    registration = pushcrypt.Registration.from_json(request["record"], requiring=request.get("requiring", ()))
    made = pushcrypt.challenge(registration, host=request["host"], topic=request["topic"], signer=signer(request), clock=clock(request))
    return {"challenge": made.json, "pending": json.loads(made.pending.to_json())}


def answer(request: Request) -> Request:
    made = possession.answer(request["challenge"], record=request["record"].encode(), host=request["host"], opener=opener(request))
    return {"answer": made}


def confirm(request: Request) -> Request:
    pending = pushcrypt.Pending.from_json(json.dumps(request["pending"], ensure_ascii=False))
    registration = pending.confirm(request["answer"], clock=clock(request))
    return {"record": registration.record.decode(), "kid": registration.kid, "suite": registration.recipient.suite}


def change(request: Request) -> Request:
    def row(members: dict[str, Any]) -> pushcrypt.StoredRegistration:
        registration = pushcrypt.Registration.from_json(members["record"], requiring=())
        return pushcrypt.StoredRegistration(registration, members["account"], members["deviceToken"], members.get("environment"))

    made = pushcrypt.RegistrationChange.storing(row(request["upload"]), over=map(row, request["stored"]), is_proven=request["proven"],
                                                allows_lower_suite=request.get("allowsLowerSuite", False))
    return {"write": made.is_written, "remove": made.removed}


def receipt(request: Request) -> Request:
    read = pushcrypt.Receipt.from_body(request["body"])
    return {"receipt": {"id": read.id, "name": read.name, "push": read.push_id, "outcome": read.failure or "opened", "time": read.time,
                        "kid": read.kid, "skid": read.skid, "suppressed": read.is_suppressed, "test": read.is_self_test}}


def blob(request: Request) -> Request:
    is_attachment = request["purpose"] == "attachment"
    if "plaintext" in request:
        plaintext = unb64(request["plaintext"]) if request["plaintext"] else b""
        made = blobs.seal_attachment(plaintext) if is_attachment else blobs.seal_offload(plaintext)
        return {"blob": b64(made.data), "reference": {"key": b64(made.key), "size": made.size, "sha256": b64(made.sha256)}}
    reference = pushcrypt.Offload.from_members({"url": "", **request["reference"]})
    data = unb64(request["blob"]) if request["blob"] else b""
    return {"plaintext": b64(blobs.open_blob(reference, blobs.ATTACHMENT if is_attachment else blobs.PAYLOAD, data))}


OPERATIONS: dict[str, Callable[[Request], Request]] = {
    "seal": seal, "open": open_, "record": record, "keys": keys, "set": set_, "challenge": challenge, "answer": answer, "confirm": confirm,
    "change": change, "receipt": receipt, "blob": blob,
}


def answered(request: Request) -> Request:
    operation = OPERATIONS.get(request["op"])
    if operation is None:
        return {"unsupported": request["op"]}
    try:
        return {"ok": True, **operation(request)}
    except pushcrypt.PushCryptError as error:
        return {"unsupported": "suite 3"} if error.code == "unsupportedSuite" else {"failure": error.code}
    except ValueError:  # A text that isn't JSON, or a value that no option takes.
        return {"failure": "malformed"}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"tag": request["tag"], **answered(request)}), flush=True)


if __name__ == "__main__":
    main()
