"""The exceptions of this package. None of them contains a secret or plaintext."""
from __future__ import annotations

from typing import Callable, TypeVar

_Value = TypeVar("_Value")
_Error = TypeVar("_Error", bound=Exception)


class PushCryptError(Exception):
    """The base class. `code` is for programs, and `reason` says what is wrong, where, and what to do."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


class SealError(PushCryptError):
    """A push wasn't sealed.

    `code` is `invalidPayload`, `invalidPlaceholder`, `invalidOption`, `notExposable`, `notAuthenticated`, `suiteTooLow`,
    `deviceMissing`, `noKeySeals`, `noDayKey`, `expiresTooLate`, `tooLarge`, or that of a `KeyRecordError` for a day key. With
    `tooLarge`, `bytes_needed` is the length of the outer payload without padding and `bytes_available` is the limit.
    """

    def __init__(
        self, code: str, reason: str, bytes_needed: int | None = None, bytes_available: int | None = None
    ) -> None:
        super().__init__(code, reason)
        self.bytes_needed = bytes_needed
        self.bytes_available = bytes_available


class OpenError(PushCryptError):
    """A push or a blob wasn't opened. `code` is a class of the protocol's section 8, for example `undecryptable`."""


class PossessionError(PushCryptError):
    """A device hasn't proven that it has the key of its record, or a challenge can't be made.

    `code` is `malformed`, `otherChallenge`, `challengeExpired`, `possessionNotProven`, and for a host of another
    form `invalidOption` (a challenge) or `invalidHost` (an answer).
    """


class ReceiptError(PushCryptError):
    """A receipt can't be read. `code` is `malformed`."""


class KeyRecordError(PushCryptError):
    """A key record, a key set or a signed set of sender keys can't be used.

    Keys: `malformed`, `tooLarge`, `unsupportedKey`, `invalidKey`, `kidMismatch`, `duplicateKey`, `wrongKind`, `pskMissing`, `noKeySeals`,
    `invalidDeviceID`, `invalidTopic`, `keyExpired`, `keyRevoked`, `unsupportedSuite`. Registrations: `tooLarge`, `notAsymmetric`,
    `suiteTooLow`, `conflict`, `otherAccount`, `rolledBack`. Device sets: `tooLarge`, `notAuthentic`, `otherRegistration`. Signed
    sets: `tooLarge`, `notSigned`, `otherSet`, `otherTopic`, `otherEpoch`, `rolledBack`, `conflict`, `expired`, `unknownKey`.
    """


class KeysetFileError(PushCryptError):
    """A keyset's file or log is refused. `row` is the row at fault, counted from 1; 0 is the whole file.

    `code` is `tooLarge`, `incomplete`, `malformed`, `unsupportedVersion`, `wrongNumber`, `brokenChain`, `timeWentBack`,
    `misplaced`, `wrongKind`, `kidMismatch`, `unknownEpoch`, `wrongDigest`, `notAuthentic` or `otherKeys`. With a passphrase
    or a command also `wrongSecret`, `wrapCommandFailed`, `otherSecrets`, and `notEncrypted` for keys in clear; without one
    `secretNeeded`. `unsupportedSuite` is a key that this host can't use. A path: `foreignOwner`, `looseMode`, `olderThanHistory`.
    """

    def __init__(self, code: str, reason: str, row: int) -> None:
        super().__init__(code, reason)
        self.row = row


class Flaw(Exception):
    """Text or bytes break a rule of the protocol. The caller catches it and raises an error with a code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def attempt(call: Callable[[], _Value], *kinds: type[_Error]) -> _Value | _Error:
    """What the call returns, or its exception of one of the kinds. What is raised in an `except` block keeps such an exception, and the
    text in it, as its `__context__`."""
    try:
        return call()
    except kinds as error:
        return error


def undecryptable() -> OpenError:
    """The one error of every failed decryption: an attacker must not learn which step failed (PROTOCOL section 8)."""
    return OpenError(
        "undecryptable",
        "the push can't be decrypted: it was changed, sealed for another key or topic, or not signed by a pinned sender")
