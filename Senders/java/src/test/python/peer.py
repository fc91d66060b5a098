"""The other implementation, for the tests of the Java package: reads a JSON object per line, and answers each with one.

Run with an interpreter that has the package of Senders/python.
"""
from __future__ import annotations

import json
import sys
from typing import Any

from pushcrypt import Keyset, Opener, PushCryptError, RecipientKey
from pushcrypt._json import b64, unb64
from pushcrypt.possession import answer
from pushcrypt.receipts import Receipt, name_of


def opener(line: dict[str, Any]) -> Opener:
    senders = Keyset.from_json(line["senders"]) if line.get("senders") is not None else None
    return Opener(line["topic"], Keyset.from_json(line["keyset"]), senders=senders, carriers=line.get("carriers", ["apns"]),
                  clock=lambda: line["at"])


def run(line: dict[str, Any]) -> dict[str, Any]:
    if line["op"] == "generate":
        key = RecipientKey.generate(line["suite"], psk=line["psk"])
        return {"private": json.dumps(key.private_jwk()), "record": json.dumps(key.registration_record())}
    if line["op"] == "open":
        opened = opener(line).open(line["payload"])
        found = {"json": opened.json, "id": opened.id, "iat": opened.issued_at, "exp": opened.expires_at, "proof": opened.proof,
                 "retract": list(opened.retract), "quiet": opened.quiet, "badgeAdd": opened.badge_add, "test": opened.self_test,
                 "attachments": [[one.url, one.type, one.id, one.is_avatar] for one in opened.attachments],
                 "receipt": name_of(opened.id)}
        if line.get("blob") is not None:
            blob = unb64(line["blob"])
            found["blob"] = opened.open_offload(blob) if opened.offload else b64(opened.attachments[0].open(blob))
        return found
    if line["op"] == "answer":
        return {"answer": answer(line["challenge"], record=line["record"].encode(), host=line["host"], opener=opener(line))}
    if line["op"] == "receipt":
        receipt = Receipt.from_body(line["body"])
        return {"receipt": [receipt.id, receipt.name, receipt.push_id, receipt.failure, receipt.time, receipt.kid, receipt.skid,
                            receipt.is_suppressed, receipt.is_self_test]}
    raise ValueError(line["op"])


for text in sys.stdin:
    try:
        result = run(json.loads(text))
    except PushCryptError as error:
        result = {"failure": error.code}
    print(json.dumps(result), flush=True)
