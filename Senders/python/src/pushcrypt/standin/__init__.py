"""A server on this machine that behaves as the documentation of APNs describes, for tests: HTTP/2 over TLS, provider tokens,
Apple's statuses and reasons, limits, GOAWAY and resets.

It needs the extra `standin`: pip install 'pushcrypt[standin]'. `python -m pushcrypt.standin --help` lists its options.
"""
from __future__ import annotations

from .apns import AcceptedPush, Fault, Refusal, StandIn
from .server import Server
from .tokens import ProviderTokens

__all__ = ["AcceptedPush", "Fault", "ProviderTokens", "Refusal", "Server", "StandIn"]
