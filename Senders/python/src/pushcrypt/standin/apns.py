"""What the stand-in answers. It knows no connections: `server` has them."""
from __future__ import annotations

import json
import re
import time
import uuid
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Literal, Mapping, Sequence, get_args

from .tokens import ProviderTokens

MAX_PAYLOAD = 4_096
MAX_VOIP_PAYLOAD = 5_120
_REASONS: Mapping[int, str] = {
    400: "BadCollapseId BadDeviceToken BadExpirationDate BadMessageId BadPriority BadTopic DeviceTokenNotForTopic DuplicateHeaders "
         "IdleTimeout InvalidPushType MissingDeviceToken MissingTopic PayloadEmpty TopicDisallowed",
    403: "BadCertificate BadCertificateEnvironment ExpiredProviderToken Forbidden InvalidProviderToken MissingProviderToken "
         "UnrelatedKeyIdInToken BadEnvironmentKeyIdInToken",
    404: "BadPath", 405: "MethodNotAllowed", 410: "ExpiredToken Unregistered", 413: "PayloadTooLarge",
    429: "TooManyProviderTokenUpdates TooManyRequests", 500: "InternalServerError", 503: "ServiceUnavailable Shutdown",
}
#: "Handling notification responses from APNs": the status of each reason.
STATUSES = {reason: status for status, reasons in _REASONS.items() for reason in reasons.split()}
#: "Sending notification requests to APNs": what the topic of a type has after the app's bundle identifier.
_SUFFIXES = {
    "alert": "", "background": "", "location": ".location-query", "voip": ".voip", "complication": ".complication",
    "fileprovider": ".pushkit.fileprovider", "mdm": "", "liveactivity": ".push-type.liveactivity", "pushtotalk": ".voip-ptt",
    "widgets": ".push-type.widgets", "controls": ".push-type.controls"}
_SINGLE = ("authorization", "apns-id", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id")

FaultKind = Literal["answer", "reset", "resetAfterAccepting", "cutAnswer", "close", "closeAfterAccepting", "goAway", "delay", "silence"]
#: The faults of pushes that are accepted all the same.
_ACCEPTED = ("resetAfterAccepting", "cutAnswer", "closeAfterAccepting", "goAway", "delay", "silence")


@dataclass(frozen=True)
class Refusal(Exception):
    """A status and a reason of Apple's page."""

    reason: str
    timestamp: int | None = None
    """Of 410: when the token ended, in milliseconds since 1970."""
    retry_after: int | None = None
    """The header, in seconds."""
    undocumented_status: int | None = None

    @property
    def status(self) -> int:
        return self.undocumented_status or STATUSES[self.reason]

    def at(self, seconds: float) -> Refusal:
        """With a time, if it is 410 and has none."""
        return replace(self, timestamp=int(seconds * 1_000)) if self.status == 410 and self.timestamp is None else self

    @property
    def body(self) -> bytes:
        body: dict[str, Any] = {"reason": self.reason}
        if self.timestamp is not None:
            body["timestamp"] = self.timestamp
        return json.dumps(body, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Fault:
    """What happens to a push that would be accepted. `refusal` belongs to `answer`, `milliseconds` to `delay`."""

    kind: FaultKind
    refusal: Refusal | None = None
    milliseconds: int = 0

    @classmethod
    def ordered(cls, order: Mapping[str, Any]) -> Fault:
        """{"fault": KIND, "reason": REASON, "retryAfter": SECONDS, "timestamp": MILLISECONDS, "milliseconds": N}. Raises ValueError."""
        kind: Any = order.get("fault")
        reason = order.get("reason")
        if kind == "answer":
            if reason not in STATUSES:
                raise ValueError("the reason is none of Apple's: " + ", ".join(STATUSES))
            return cls("answer", Refusal(reason, timestamp=order.get("timestamp"), retry_after=order.get("retryAfter")))
        if kind not in get_args(FaultKind):
            raise ValueError("the fault is none of " + ", ".join(get_args(FaultKind)))
        return cls(kind, milliseconds=int(order.get("milliseconds", 1_000)))


@dataclass(frozen=True)
class AcceptedPush:
    """A push that was accepted for a device."""

    token: str
    payload: bytes
    headers: Mapping[str, str]
    """Those of APNs, with `apns-id` of the answer."""

    @property
    def line(self) -> bytes:
        """{"token": TOKEN, "headers": HEADERS, "payload": PAYLOAD} and a newline, for `pushcrypt simulate`."""
        head = json.dumps({"token": self.token, "headers": dict(self.headers)}, separators=(",", ":"))[:-1].encode()
        return head + b',"payload":' + self.payload.replace(b"\n", b" ").replace(b"\r", b" ") + b"}\n"


@dataclass
class Answer:
    id: str
    refusal: Refusal | None = None
    fault: Fault | None = None
    is_authenticated: bool = False


@dataclass
class _Device:
    topic: str
    ended_at: int | None = None


@dataclass
class StandIn:
    """One of Apple's two servers, sandbox or production. It knows the devices that a test has added."""

    tokens: ProviderTokens
    deliver: Callable[[AcceptedPush], None] = lambda push: None
    """Gets each accepted push, before the sender gets its answer."""
    clock: Callable[[], float] = time.time
    counts: Counter[str] = field(default_factory=Counter)
    """`accepted`, `faults`, `connections`, and reasons of refusals."""
    _devices: dict[str, _Device] = field(default_factory=dict)
    _faults: deque[Fault] = field(default_factory=deque)

    def add(self, token: str, topic: str) -> None:
        """Adds a device with the app of a topic. If its token had ended, it is valid again."""
        self._devices[token.lower()] = _Device(topic)

    def end(self, token: str) -> None:
        """Ends a token, as when the user deletes the app: 410 from now on."""
        self._devices[token.lower()].ended_at = int(self.clock() * 1_000)

    def order(self, fault: Fault, times: int = 1) -> None:
        """Carries the fault out on the next requests that would be accepted."""
        self._faults.extend([fault] * times)

    def respond(self, headers: Sequence[tuple[str, str]], body: bytes, connection: object) -> Answer:
        """`headers` has the pseudo-headers too, and `body` at most one byte more than the limit."""
        given = dict(headers)
        answer = Answer(given.get("apns-id", str(uuid.uuid4()).upper()))
        try:
            push = self._checked(headers, given, body, connection, answer)
            answer.fault = self._faults.popleft() if self._faults else None
            if answer.fault is not None:
                self.counts["faults"] += 1
                if answer.fault.refusal is not None:
                    raise answer.fault.refusal.at(self.clock())
            if answer.fault is None or answer.fault.kind in _ACCEPTED:
                self.counts["accepted"] += 1
                self.deliver(push)
        except Refusal as refusal:
            self.counts[refusal.reason] += 1
            answer.refusal = refusal
        return answer

    def _checked(
        self, headers: Sequence[tuple[str, str]], given: Mapping[str, str], body: bytes, connection: object, answer: Answer
    ) -> AcceptedPush:
        if given.get(":method") != "POST":
            raise Refusal("MethodNotAllowed")
        names = [name for name, _ in headers]
        if any(names.count(name) > 1 for name in _SINGLE):
            raise Refusal("DuplicateHeaders")
        if "apns-id" in given and not _is_uuid(given["apns-id"]):
            raise Refusal("BadMessageId")
        topic, push_type = given.get("apns-topic", ""), given.get("apns-push-type", "alert")
        if not topic:
            raise Refusal("MissingTopic")
        if len(topic.encode()) > 255:
            raise Refusal("BadTopic")
        if push_type not in _SUFFIXES:
            raise Refusal("InvalidPushType")
        priority = given.get("apns-priority", "10")
        if priority not in ("1", "5", "10") or (push_type == "background" and priority == "10"):
            raise Refusal("BadPriority")
        expiration = given.get("apns-expiration")
        if expiration is not None and not re.fullmatch("[0-9]{1,18}", expiration):
            raise Refusal("BadExpirationDate")
        collapse_id = given.get("apns-collapse-id")
        if collapse_id is not None and len(collapse_id.encode()) > 64:
            raise Refusal("BadCollapseId")
        token = _token(given.get(":path", ""))
        reason = self.tokens.refusal(given.get("authorization"), self.clock(), connection)
        if reason is not None:
            raise Refusal(reason)
        answer.is_authenticated = True
        _check_payload(body, push_type)
        self._check_device(token, topic, push_type)
        return AcceptedPush(token, body, {name: given[name] for name in _SINGLE[1:] if name in given} | {"apns-id": answer.id})

    def _check_device(self, token: str, topic: str, push_type: str) -> None:
        device = self._devices.get(token)
        known = {device.topic for device in self._devices.values()}
        suffix = _SUFFIXES[push_type]
        if topic in known and suffix:
            # Such as a Live Activity with the topic of the app.
            raise Refusal("TopicDisallowed")
        app = topic[: -len(suffix)] if suffix and topic.endswith(suffix) else topic
        if app not in known:
            raise Refusal("TopicDisallowed")
        if device is None:
            raise Refusal("BadDeviceToken")
        if device.topic != app:
            raise Refusal("DeviceTokenNotForTopic")
        if device.ended_at is not None:
            raise Refusal("Unregistered", timestamp=device.ended_at)


def _check_payload(body: bytes, push_type: str) -> None:
    if not body:
        raise Refusal("PayloadEmpty")
    if len(body) > (MAX_VOIP_PAYLOAD if push_type == "voip" else MAX_PAYLOAD):
        raise Refusal("PayloadTooLarge")
    try:
        payload = json.loads(body)
    except ValueError:
        payload = None
    aps = payload.get("aps") if isinstance(payload, dict) else None
    if not isinstance(aps, dict) or (push_type == "alert" and not aps.get("alert")):
        # Apple names no reason for a body that isn't a payload of its type.
        raise Refusal("BadPayload (the stand-in's own reason)", undocumented_status=400)


def _token(path: str) -> str:
    if not path.startswith("/3/device"):
        raise Refusal("BadPath")
    token = path[len("/3/device"):]
    if len(token) < 2 or token[0] != "/":
        raise Refusal("MissingDeviceToken")
    if not re.fullmatch("(?:[0-9A-Fa-f]{2})+", token[1:]):
        raise Refusal("BadDeviceToken")
    return token[1:].lower()


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
