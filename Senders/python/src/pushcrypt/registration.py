"""What an app uploads so that a backend can seal to it, and what an upload replaces (PROTOCOL section 3)."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable, Literal, Union

from ._device_set import MAX_SET
from ._json import parse, raw_bytes
from ._keys import MAX_RECORD, RANK, Key, Secretive, load_key
from .errors import Flaw, KeyRecordError
from .keys import Recipient, sealing_key
from .keysets import Entry

#: "psk": a secret that only app and backend have, a psk or a shared key. "asymmetric": a key pair, so that the backend can't open
#: what it has sealed.
Requirement = Literal["psk", "asymmetric"]

#: A device token belongs to one environment of APNs.
Environment = Literal["sandbox", "production"]

_CODES = ("unsupportedKey", "unsupportedSuite", "invalidKey", "kidMismatch", "wrongKind", "tooLarge", "notAuthentic",
          "otherRegistration")


@dataclass(frozen=True, eq=False)
class Registration(Secretive):
    """A registration record. Store `record` with the account and the device token; it is a secret like a password."""

    record: bytes = field(repr=False)
    """The bytes of the upload."""
    recipient: Recipient
    """The key to seal to."""

    @classmethod
    def from_json(cls, record: Union[bytes, str], *, requiring: Iterable[Requirement]) -> Registration:
        """Reads the body of an upload. Require ("psk", "asymmetric") of apps that use the library's `DeviceIdentity` as it is.

        It checks all day keys. To seal to a stored record, `Recipient.from_jwk` reads only the key of the day.

        Raises KeyRecordError: `tooLarge`, `malformed`, `unsupportedKey`, `unsupportedSuite`, `invalidKey`, `kidMismatch`;
        `wrongKind` for a private key or a key that signs; `pskMissing`, `notAsymmetric` if a requirement isn't met; `notAuthentic`,
        `otherRegistration` for a device set of another record.
        """
        text = raw_bytes(record)
        registration = cls(text, Recipient(sealing_key(Entry(_key(text)))))
        registration.check(requiring)
        return registration

    @property
    def kid(self) -> str:
        return self.recipient.kid

    def check(self, requiring: Iterable[Requirement]) -> None:
        """Checks requirements, for example of a stored record. Raises KeyRecordError: `pskMissing`, `notAsymmetric`."""
        wanted = set(requiring)
        if isinstance(requiring, str) or not wanted <= {"psk", "asymmetric"}:
            raise TypeError("requiring isn't a sequence of \"psk\" and \"asymmetric\"")
        if "psk" in wanted and not self.recipient.proves_sender:
            raise KeyRecordError("pskMissing", f"key {self.kid} has no psk: everyone with the public key could seal to it")
        if "asymmetric" in wanted and self.recipient.suite == 4:
            raise KeyRecordError("notAsymmetric", f"key {self.kid} is a shared secret, and a key pair is required")

    def check_suite(self, *, replacing: Registration) -> None:
        """Checks that it may replace an earlier record of the same device. Raises KeyRecordError `suiteTooLow`."""
        if RANK[self.recipient.suite] < RANK[replacing.recipient.suite]:
            raise KeyRecordError(
                "suiteTooLow", f"key {self.kid} has suite {self.recipient.suite}, which ranks below suite "
                f"{replacing.recipient.suite} of key {replacing.kid}, which it would replace")

    def check_device_set(self, *, replacing: Registration) -> None:
        """Checks that its device set may replace that of a stored record of the same key. A record without a set replaces every set.

        Raises KeyRecordError: `rolledBack` for a lower `seq`, `conflict` for another set with the same `seq`.
        """
        new, old = self.recipient._key.device_set, replacing.recipient._key.device_set
        if new is None or old is None:
            return
        if new.sequence < old.sequence:
            raise KeyRecordError("rolledBack", f"the device set of key {self.kid} has the seq {new.sequence}, and the stored one "
                                 f"{old.sequence}: an earlier upload came late")
        if new.sequence == old.sequence and new.text != old.text:
            raise KeyRecordError("conflict", f"another device set of key {self.kid} with the seq {new.sequence} is stored")


def _key(text: bytes) -> Key:
    """The key of the record, whose day keys were checked."""
    try:
        _check_size(len(text) - 6 * MAX_SET)  # a set whose characters are all escaped
        root, read = parse(text)
        _, start, end = root.spans.get("deviceSet", (0, 0, 0))
        _check_size(len(text) - len(read[start:end].encode()))
        key = load_key(root)
        for days in key.device_set.days if key.device_set is not None else ():
            key.day_key(days.kid)
        return key
    except Flaw as flaw:
        raise KeyRecordError("malformed", f"the record: {flaw.reason}") from None
    except KeyRecordError as error:
        raise error if error.code in _CODES else KeyRecordError("malformed", error.reason) from None


def _check_size(count: int) -> None:
    """Of a record without the value of its device set."""
    if count > MAX_RECORD:
        raise KeyRecordError("tooLarge", f"the record has {count:,} bytes and the limit is {MAX_RECORD:,}")


@dataclass(frozen=True)
class StoredRegistration:
    """A registration with the account and the device token that it was stored with."""

    registration: Registration
    account: str
    device_token: str
    environment: Environment | None = None
    """The environment of APNs to which the device token belongs; None if the backend keeps none."""

    def __post_init__(self) -> None:
        if not isinstance(self.account, str) or not isinstance(self.device_token, str):
            raise TypeError("account or device_token isn't a string")
        if self.environment not in (None, "sandbox", "production"):
            raise ValueError("environment isn't sandbox or production")

    @property
    def kid(self) -> str:
        return self.registration.kid


@dataclass(frozen=True)
class RegistrationChange:
    """What an upload changes in the backend's table of registrations, whose key is the kid.

    Read the rows with the kid or the device token of the upload, decide, and write in one transaction.
    """

    is_written: bool
    """Whether the upload is written. False if its row is the same."""
    removed: tuple[str, ...]
    """The kids of rows to remove: one installation has one registration."""

    @classmethod
    def storing(
        cls, upload: StoredRegistration, *, over: Iterable[StoredRegistration], is_proven: bool, allows_lower_suite: bool = False
    ) -> RegistrationChange:
        """Decides what to do with the upload of a signed-in account.

        `is_proven`: the device has answered a challenge for the record. Only then can a key change its account.
        `allows_lower_suite`: only for a device that is known to have lost the suite of its stored key.

        Raises KeyRecordError: `conflict` if another key has the same kid, or another device set the same seq; `rolledBack` for an older
        device set; `otherAccount`, `suiteTooLow`.
        """
        if type(is_proven) is not bool or type(allows_lower_suite) is not bool:
            raise TypeError("is_proven or allows_lower_suite isn't True or False")
        rows = list(over)
        present = next((row for row in rows if row.kid == upload.kid), None)
        if present is not None:
            # Equal kids aren't enough: an attacker can make two keys with one kid of 64 bits.
            if present.registration.recipient != upload.registration.recipient:
                raise KeyRecordError("conflict", f"another key with the id {upload.kid} is stored; it is never replaced")
            if not is_proven and present.account != upload.account:
                raise KeyRecordError("otherAccount", f"key {upload.kid} belongs to another account")
            upload.registration.check_device_set(replacing=present.registration)
        replaced = [row for row in rows if row.device_token == upload.device_token and row.kid != upload.kid]
        for row in replaced:
            # The row of another account doesn't count: its user could keep the next user of the device from registering.
            if not allows_lower_suite and row.account == upload.account:
                upload.registration.check_suite(replacing=row.registration)
        return cls(present != upload, tuple(row.kid for row in replaced))
