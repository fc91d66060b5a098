"""The command that wraps the key of a keyset: the client of a KMS, an HSM or Vault (docs/keyset-log.md, "The wrap command").

COMMAND unwrap    stdin: the output of wrap, 1 to 4,096 bytes       stdout: the keyset key, 32 bytes
"""
from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from typing import Sequence

from ._log_line import Fault

KEY_SIZE = 32  # bytes
TIME_LIMIT_IN_SECONDS = 120.0


def unwrap(command: Sequence[str], wrapped: bytes) -> bytes:
    """The keyset key. `command` is a program and its arguments, which no shell runs. Raises Fault `wrapCommandFailed`."""
    environment = {name: value for name, value in os.environ.items() if name != "PUSHCRYPT_PASSPHRASE"}
    try:
        process = subprocess.Popen([*command, "unwrap"], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=environment, start_new_session=True)
    except OSError as error:
        raise _failed(f"can't be started: {error.strerror}") from None
    deadline = time.monotonic() + TIME_LIMIT_IN_SECONDS
    with process:
        try:
            key = _exchanged(process, wrapped, deadline)
            status = process.wait(max(deadline - time.monotonic(), 0))
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)  # also ends what the command has started
            if isinstance(error, subprocess.TimeoutExpired):
                raise _failed("took more than two minutes, and was ended") from None
            raise
    if status != 0 or len(key) != KEY_SIZE:
        raise _failed(f"failed with the status {status}" if status != 0 else f"wrote {len(key)} bytes and not {KEY_SIZE}")
    return key


def _exchanged(process: subprocess.Popen[bytes], wrapped: bytes, deadline: float) -> bytes:
    """What the command writes, or its beginning, which is longer than a key."""
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(BrokenPipeError):  # the command may end without reading it
        process.stdin.write(wrapped)  # a pipe takes so few bytes at once
    process.stdin.close()
    found = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(deadline - time.monotonic()):
            piece = os.read(process.stdout.fileno(), KEY_SIZE + 1 - len(found))
            found += piece
            if not piece:
                return found
            if len(found) > KEY_SIZE:
                raise _failed(f"wrote more than {KEY_SIZE} bytes")
    raise subprocess.TimeoutExpired(process.args, TIME_LIMIT_IN_SECONDS)


def _failed(what: str) -> Fault:
    return Fault("wrapCommandFailed", f"the command that unwraps the keyset key {what}")
