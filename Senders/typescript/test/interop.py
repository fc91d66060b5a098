"""Answers requests of the tests with the Python package: a JSON array of requests on stdin, one of answers on stdout."""
import base64
import json
import sys

from pushcrypt import (
    Attachment, Keyset, Offload, OpenError, Opener, Pending, Placeholder, PushCryptError, RecipientKey, Recipient, Registration, Sealer, SenderKey,
    pinned)
from pushcrypt.possession import answer, challenge

AT = 1_800_000_000


def clock():
    return AT


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def opener(request):
    keys = RecipientKey.from_jwk(request["key"])
    if request.get("device"):
        keys = keys.for_device(request["device"])
    senders = None if request.get("sender") is None else pinned(request["sender"])
    return Opener(request.get("topic", "com.example.app"), keys, senders=senders, carriers=request.get("carriers", ["apns"]), clock=clock)


def open_push(request):
    push = opener(request).open(request["payload"])
    return {"json": push.json, "id": push.id, "issuedAt": push.issued_at, "expiresAt": push.expires_at, "signedBy": push.signed_by,
            "proof": push.proof, "retract": list(push.retract), "quiet": push.quiet, "badgeAdd": push.badge_add, "selfTest": push.self_test,
            "attachments": [one.members() for one in push.attachments], "offload": push.offload.members() if push.offload else None}


def generate(request):
    key = RecipientKey.generate(request["suite"], psk=request["psk"])
    return {"private": json.dumps(key.private_jwk()), "record": json.dumps(key.registration_record())}


def generate_sender(_):
    key = SenderKey.generate()
    return {"private": json.dumps(key.private_jwk()), "public": json.dumps(key.public_jwk())}


def seal(request):
    """The request and the size of a push of the Python package with the same options."""
    signer = SenderKey.from_jwk(request["signer"]) if request.get("signer") else None
    sealer = Sealer("com.example.app", signer=signer, clock=clock)
    placeholder = Placeholder(**request["placeholder"])
    push = sealer.seal(request["payload"], to=Recipient.from_jwk(request["to"]), placeholder=placeholder, **request["options"])
    return {"request": push.request, "headers": push.headers, "json": push.json.decode()}


def open_blob(request):
    kind = Attachment if request["kind"] == "attachment" else Offload
    opened = kind.from_members(request["members"]).open(unb64(request["blob"]))
    return opened if isinstance(opened, str) else base64.urlsafe_b64encode(opened).decode().rstrip("=")


def answer_challenge(request):
    return answer(request["challenge"], record=request["record"].encode(), host=request["host"], opener=opener(request))


def make_challenge(request):
    made = challenge(Registration.from_json(request["record"], requiring=()), host=request["host"], topic="com.example.app", clock=clock)
    return {"json": made.json, "pending": made.pending.to_json()}


def confirm(request):
    return Pending.from_json(request["pending"]).confirm(request["answer"], clock=clock).kid


OPERATIONS = {one.__name__: one for one in (
    open_push, generate, generate_sender, seal, open_blob, answer_challenge, make_challenge, confirm)}


def answered(request):
    try:
        return {"ok": OPERATIONS[request["op"]](request)}
    except PushCryptError as error:
        return {"failure": error.code}


json.dump([answered(request) for request in json.load(sys.stdin)], sys.stdout)
