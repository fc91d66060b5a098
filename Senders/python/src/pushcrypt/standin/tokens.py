"""Provider tokens, as "Establishing a token-based connection to APNs" describes them."""
from __future__ import annotations

import json
from typing import Any, Literal, Mapping
from weakref import WeakKeyDictionary

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from .._json import unb64
from ..errors import Flaw

LONGEST_AGE_IN_SECONDS = 3_600
SHORTEST_INTERVAL_IN_SECONDS = 1_200
#: By how much the clock of a provider may be ahead. Apple names no number.
TOLERANCE_IN_SECONDS = 60

#: Where another token within 20 minutes is too many. Apple's page says that a token must not change more often; reports differ on
#: whether APNs counts them for a key or for a connection.
Scope = Literal["key", "connection"]


class ProviderTokens:
    """Checks the header `authorization` of requests.

    token  = JWS compact serialisation, ES256
    header = {"alg": "ES256", "kid": ID OF THE KEY}
    claims = {"iss": ID OF THE TEAM, "iat": UNIX SECONDS, which may have a fraction}
    """

    def __init__(self, team_id: str, keys: Mapping[str, ec.EllipticCurvePublicKey], scope: Scope = "key") -> None:
        self._team_id, self._keys, self._scope = team_id, dict(keys), scope
        #: The tokens that were verified, with kid and `iat`. A signature is verified once.
        self._verified: dict[str, tuple[str, float]] = {}
        #: The last token of each key, for all connections and for each of them.
        self._last: dict[str, tuple[str, float]] = {}
        self._of_connections: WeakKeyDictionary[object, dict[str, tuple[str, float]]] = WeakKeyDictionary()

    def refusal(self, authorization: str | None, now: float, connection: object) -> str | None:
        """The reason of APNs' page; None for a valid token."""
        parts = (authorization or "").split(" ")
        if len(parts) != 2 or parts[0].lower() != "bearer":
            return "MissingProviderToken"
        token = parts[1]
        found = self._verified.get(token) or self._verify(token)
        if found is None:
            return "InvalidProviderToken"
        kid, issued_at = self._verified[token] = found
        if issued_at > now + TOLERANCE_IN_SECONDS:
            return "InvalidProviderToken"
        if now - issued_at > LONGEST_AGE_IN_SECONDS:
            return "ExpiredProviderToken"
        last_tokens = self._last if self._scope == "key" else self._of_connections.setdefault(connection, {})
        last = last_tokens.get(kid)
        if last is not None and last[0] != token:
            if abs(issued_at - last[1]) < SHORTEST_INTERVAL_IN_SECONDS:
                return "TooManyProviderTokenUpdates"
            if issued_at < last[1]:
                # Two senders may use different tokens until each has renewed its own.
                return None
        last_tokens[kid] = (token, issued_at)
        return None

    def _verify(self, token: str) -> tuple[str, float] | None:
        try:
            header_text, claims_text, signature_text = token.split(".")
            header, claims = (json.loads(unb64(text)) for text in (header_text, claims_text))
            signature = unb64(signature_text, 64)
            if header.get("alg") != "ES256" or claims.get("iss") != self._team_id or not _is_time(claims.get("iat")):
                return None
            key = self._keys[header["kid"]]
            numbers = (int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
            key.verify(encode_dss_signature(*numbers), f"{header_text}.{claims_text}".encode(), ec.ECDSA(SHA256()))
            return header["kid"], float(claims["iat"])
        except (Flaw, InvalidSignature, KeyError, TypeError, ValueError, AttributeError):
            return None


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
