"""JSON-lines driver of the Python package: one request object per line on stdin, one response per line on stdout."""
from __future__ import annotations

import base64
import json
import sys
import traceback
from importlib.metadata import version
from typing import Any, Callable

import pushcrypt
import support
from pushcrypt import _carriers, _keys, blobs, sender_sets
from pushcrypt._json import b64, unb64
from pushcrypt.errors import Flaw, PushCryptError, SealError
from pushcrypt.keyset_log import KeysetFile

Request = dict[str, Any]


def seal(request: Request) -> dict[str, Any]:
    """Seal `inner` to one record (to a device's key if `device` is given with a master)."""
    to = support.for_device(_keys.load_key(request["to"]), request.get("device"))
    sign_with = request.get("sign_with")
    outer = support.seal(to, request["topic"], request["inner"], request["placeholder"], request["at"],
                         expires=request.get("expires", support.WINDOW_IN_SECONDS), pad=request.get("pad", 128),
                         limit=request.get("limit", support.MAX_LIMIT), expose=request.get("expose", []),
                         sign_with=_keys.load_key(sign_with) if sign_with is not None else None,
                         extras=request.get("extras"))
    return {"payload": outer.decode("utf-8")}


def open_(request: Request) -> dict[str, Any]:
    """Open `payload` or `payload_b64`. `trust` pins sender keys, even if it is an empty list."""
    keys = [support.for_device(_keys.load_key(jwk), request.get("device")) for jwk in request["keys"]]
    trust = request.get("trust")
    pinned = [_keys.load_key(jwk) for jwk in trust] if trust is not None else None
    if "payload_b64" in request:
        payload = base64.b64decode(request["payload_b64"], validate=True)
    else:
        payload = request["payload"].encode("utf-8", "surrogatepass")  # a lone surrogate becomes invalid UTF-8
    opened = support.open_payload(payload, keys, request["topic"], request["at"], pinned)
    answer = {"inner": opened.json, "id": opened.id, "iat": opened.issued_at, "exp": opened.expires_at}
    if opened._extras:
        answer["extras"] = opened._extras
    return answer if opened.signed_by is None else {**answer, "signed_by": opened.signed_by}


def carrier(request: Request) -> dict[str, Any]:
    """Open a push of a carrier, and make the request to its service."""
    name, payload = request["carrier"], base64.b64decode(request["payload_b64"], validate=True)
    keys = [pushcrypt.RecipientKey(_keys.load_key(jwk)) for jwk in request["keys"]]
    opener = pushcrypt.Opener(request["topic"], keys, senders=None, carriers=[name], clock=lambda: request["at"])
    opened = opener.open(payload)
    made = _carriers.request(
        name, payload, request["headers"], expires_at=opened.expires_at, sealed_at=opened.issued_at, quiet=opened.quiet,
        collapse_id=request["headers"].get("apns-collapse-id"))
    return {"inner": opened.json, "text": json.dumps(made)}


def pending(request: Request) -> dict[str, Any]:
    """Read a stored pending registration, and write it again."""
    return {"text": pushcrypt.Pending.from_json(request["text"]).to_json()}


def kid(request: Request) -> dict[str, Any]:
    """Compute the kid of a record without one."""
    return {"kid": _keys.load_key(request["key"], require_kid=False).kid}


def device_key(request: Request) -> dict[str, Any]:
    """Derive a device's record."""
    return {"key": _keys.device_key(_keys.load_key(request["key"]), request["device"]).record()}


def generate(request: Request) -> dict[str, Any]:
    """Make a fresh key and its public record (for oct, which has no public form, the record itself)."""
    key = _keys.generate(request["kind"], request.get("psk", False))
    return {"private": key.record(), "public": key.record(private=False)}


def open_keyset(request: Request) -> dict[str, Any]:
    """Read a keyset's file: the id, the last line's number and hash, and the private JWKs."""
    file = KeysetFile.from_bytes(request["text"].encode(), request.get("passphrase"))
    return {"id": file.log.id, "seq": file.log.head.n, "head": b64(file.log.head.hash),
            "keys": [key.record() for key in file.material or ()]}


PURPOSES = {"attachment": blobs.ATTACHMENT, "payload": blobs.PAYLOAD}


def seal_blob(request: Request) -> dict[str, Any]:
    """Encrypt a blob under a given key, and make the reference to it."""
    key, plaintext = unb64(request["key"], 32), base64.b64decode(request["data"], validate=True)
    blob = blobs.seal_blob(key, PURPOSES[request["purpose"]], plaintext)
    members = support.reference(key, plaintext, blob).members()
    return {"data": base64.b64encode(blob).decode(), "reference": {name: members[name] for name in ("key", "size", "sha256")}}


def open_blob(request: Request) -> dict[str, Any]:
    """Decrypt a blob."""
    blob, reference = base64.b64decode(request["data"], validate=True), blobs.Offload.from_members(request["reference"])
    return {"data": base64.b64encode(blobs.open_blob(reference, PURPOSES[request["purpose"]], blob)).decode()}


def accept_set(request: Request) -> dict[str, Any]:
    """Decide whether an app with these pins accepts a signed sender set."""
    stored = request.get("stored")
    if stored is not None:
        stored["issuedAt"] = stored.pop("issued_at")
    state = support.accept_set(request["pins"].encode(), request["topic"], request["document"].encode(), stored,
                               request["now"])
    return {"state": state}


def sign_set(request: Request) -> dict[str, Any]:
    """Sign a published set."""
    publication = sender_sets.Publication(unb64(request["set"]), tuple(request["topics"]), request["epoch"], request["seq"],
                                          request["issued_at"], request["valid_until"])
    publishers = [pushcrypt.PublisherKey(_keys.load_key(jwk)) for jwk in request["publishers"]]
    return {"text": sender_sets.sign(request["keyset"], publication, publishers).decode()}


def versions(request: Request) -> dict[str, Any]:
    """List the libraries in use."""
    return {"cryptography": version("cryptography"), "pushcrypt": version("pushcrypt")}


OPERATIONS: dict[str, Callable[[Request], dict[str, Any]]] = {
    "seal": seal, "open": open_, "carrier": carrier, "pending": pending, "kid": kid, "device_key": device_key, "generate": generate,
    "open_keyset": open_keyset, "seal_blob": seal_blob, "open_blob": open_blob,
    "accept_set": accept_set, "sign_set": sign_set, "version": versions,
}


#: The channel's name of a code, where it isn't the package's.
CODES = {"invalidPayload": "malformed", "invalidPlaceholder": "invalidArgument", "invalidOption": "invalidArgument",
         "invalidTopic": "invalidArgument"}
DEVICE_KEY_CODES = {"invalidDeviceID": "invalidArgument", "wrongKind": "malformed"}


def answer(line: bytes) -> dict[str, Any]:
    """The response to one request line. Returns every exception as a response."""
    operation = None
    try:
        request = json.loads(line.decode("utf-8"))
        operation = request["op"]
        return OPERATIONS[operation](request)
    except Flaw as flaw:
        return {"error": "malformed", "detail": flaw.reason}
    except PushCryptError as error:
        codes = CODES if operation in ("seal", "open") else DEVICE_KEY_CODES if operation == "device_key" else {}
        response: dict[str, Any] = {"error": codes.get(error.code, error.code), "detail": error.reason}
        if isinstance(error, SealError) and error.bytes_needed is not None:
            response.update(needed=error.bytes_needed, available=error.bytes_available)
        return response
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return {"error": "internalError"}


def main() -> None:
    """Answer until the end of input."""
    for line in sys.stdin.buffer:
        if line.strip():
            sys.stdout.write(json.dumps(answer(line)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
