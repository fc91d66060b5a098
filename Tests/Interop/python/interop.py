"""JSON-lines driver of the reference: one request object per line on stdin, one response per line on stdout."""
from __future__ import annotations

import base64
import json
import sys
import traceback
from importlib.metadata import version
from typing import Any, Callable

import blobs
import keyset_at_rest
import pushcrypt_reference as pc
import sender_sets

Request = dict[str, Any]


def seal(request: Request) -> dict[str, Any]:
    """Seal `inner` to one record (to a device's key if `device` is given with a master)."""
    to = pc.for_device(pc.load_key(request["to"]), request.get("device"))
    sign_with = request.get("sign_with")
    outer = pc.seal(to, request["topic"], request["inner"], request["placeholder"], request["at"],
                    expires=request.get("expires", pc.WINDOW), pad=request.get("pad", 128),
                    limit=request.get("limit", pc.MAX_LIMIT), expose=request.get("expose", []),
                    sign_with=pc.load_key(sign_with) if sign_with is not None else None,
                    extras=request.get("extras"))
    return {"payload": outer.decode("utf-8")}


def open_(request: Request) -> dict[str, Any]:
    """Open `payload` or `payload_b64`. `trust` pins sender keys, even if it is an empty list."""
    keys = [pc.for_device(pc.load_key(jwk), request.get("device")) for jwk in request["keys"]]
    trust = request.get("trust")
    pinned = [pc.load_key(jwk) for jwk in trust] if trust is not None else None
    if "payload_b64" in request:
        payload = base64.b64decode(request["payload_b64"], validate=True)
    else:
        payload = request["payload"].encode("utf-8", "surrogatepass")  # a lone surrogate becomes invalid UTF-8
    opened = pc.open_payload(payload, keys, request["topic"], request["at"], pinned)
    answer = {"inner": opened.inner, "id": opened.id, "iat": opened.iat, "exp": opened.exp}
    if opened.extras:
        answer["extras"] = opened.extras
    return answer if opened.signed_by is None else {**answer, "signed_by": opened.signed_by}


def kid(request: Request) -> dict[str, Any]:
    """Compute the kid of a record without one."""
    return {"kid": pc.load_key(request["key"], require_kid=False).kid}


def device_key(request: Request) -> dict[str, Any]:
    """Derive a device's record."""
    return {"key": pc.device_key(pc.load_key(request["key"]), request["device"]).record()}


def generate(request: Request) -> dict[str, Any]:
    """Make a fresh key and its public record (for oct, which has no public form, the record itself)."""
    key = pc.generate(request["kind"], request.get("psk", False))
    return {"private": key.record(), "public": key.record(private=False)}


def open_keyset(request: Request) -> dict[str, Any]:
    """Decrypt the private JWKs of an encrypted keyset's file."""
    return {"keys": keyset_at_rest.open_keyset(request["text"], request["passphrase"])}


def seal_keyset(request: Request) -> dict[str, Any]:
    """Make an encrypted keyset's file with given metadata."""
    return {"text": keyset_at_rest.seal_keyset(request["metadata"], request["keys"], request["passphrase"],
                                               request["n"], request["r"], request["p"])}


def seal_blob(request: Request) -> dict[str, Any]:
    """Encrypt a blob under a given key, and make the reference to it."""
    key, plaintext = blobs.unb64(request["key"], 32), base64.b64decode(request["data"], validate=True)
    blob = blobs.seal_blob(key, request["purpose"], plaintext)
    return {"data": base64.b64encode(blob).decode(), "reference": blobs.reference(key, plaintext, blob)}


def open_blob(request: Request) -> dict[str, Any]:
    """Decrypt a blob."""
    blob = base64.b64decode(request["data"], validate=True)
    return {"data": base64.b64encode(blobs.open_blob(request["reference"], request["purpose"], blob)).decode()}


def accept_set(request: Request) -> dict[str, Any]:
    """Decide whether an app with these pins accepts a signed sender set."""
    stored = request.get("stored")
    if stored is not None:
        stored["issuedAt"] = stored.pop("issued_at")
    state = sender_sets.accept(request["pins"].encode(), request["topic"], request["document"].encode(), stored,
                               request["now"])
    return {"state": state}


def sign_set(request: Request) -> dict[str, Any]:
    """Sign a published set."""
    publication = sender_sets.Publication(sender_sets.unb64(request["set"]), request["topics"], request["epoch"],
                                          request["seq"], request["issued_at"], request["valid_until"])
    publishers = [pc.load_key(jwk) for jwk in request["publishers"]]
    return {"text": sender_sets.sign(request["keyset"].encode(), publication, publishers).decode()}


def versions(request: Request) -> dict[str, Any]:
    """List the libraries in use."""
    return {"cryptography": version("cryptography"), "pyhpke": version("pyhpke")}


OPERATIONS: dict[str, Callable[[Request], dict[str, Any]]] = {
    "seal": seal, "open": open_, "kid": kid, "device_key": device_key, "generate": generate,
    "open_keyset": open_keyset, "seal_keyset": seal_keyset, "seal_blob": seal_blob, "open_blob": open_blob,
    "accept_set": accept_set, "sign_set": sign_set, "version": versions,
}


def answer(line: bytes) -> dict[str, Any]:
    """The response to one request line. Returns every exception as a response."""
    try:
        request = json.loads(line.decode("utf-8"))
        return OPERATIONS[request["op"]](request)
    except pc.Refusal as refusal:
        response: dict[str, Any] = {"error": refusal.code}
        if refusal.detail:
            response["detail"] = refusal.detail
        if refusal.needed is not None:
            response.update(needed=refusal.needed, available=refusal.available)
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
