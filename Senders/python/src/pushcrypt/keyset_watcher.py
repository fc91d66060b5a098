"""The keyset's file of a running sender: `KeysetWatcher` reads it again after a rotation."""
from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from functools import partial
from typing import Callable, Sequence

from .errors import KeyRecordError, PushCryptError
from .keys import SenderKey
from .keyset_log import KeysetFile, Point
from .keysets import Keyset

LOGGER = logging.getLogger("pushcrypt")
#: The refusals of files that may be valid later: the time comes, or a key server recovers.
_TEMPORARY = ("noKeySeals", "wrapCommandFailed")


class KeysetWatcher:
    """The keyset of a running sender. `Sealer(signer=...)` takes one of sender keys, and signs with the key that is in use.

    A thread looks at the file in intervals, and reads it if its attributes have changed; links are followed. Replace the file with a
    rename, as `pushcrypt rotate` does. If the new file is refused, or doesn't go on from the log in use, the previous keys stay in
    use. A revocation takes effect even if no other key seals: then nothing is signed. A forked process has a thread of its own.
    """

    def __init__(
        self, path: str | os.PathLike[str], passphrase: str | None = None, *, command: Sequence[str] | None = None,
        seen: Point | None = None, interval: float | None = 1.0, on_change: Callable[[Point], None] | None = None,
        on_refusal: Callable[[Exception], None] | None = None, clock: Callable[[], float] = time.time,
    ) -> None:
        """Reads the file, and raises for one that can't be used: a backend that can't sign should not start.

        `passphrase`, `command` and `seen` are those of `KeysetFile.from_path`. Store the `n` and the `hash` of `head`, 32 bytes, for
        the next run: `seen=Point(n, hash)` of `pushcrypt.keyset_log`.
        `interval` is the time between two looks in seconds. With None there is no thread: call `reload`.
        `on_change` hears the new `head`, and `on_refusal` why a new file is refused, once for each; without it, the logger
        "pushcrypt" does. The thread calls them.

        Raises KeysetFileError and OSError, as `KeysetFile.from_path`, and KeyRecordError `noKeySeals`.
        """
        self._path, self._passphrase, self._command = path, passphrase, command
        self._on_change, self._on_refusal, self._clock = on_change, on_refusal or _log, clock
        self._refusal: Exception | None = None
        self._refused: object = None  # the stamp and the reason of the last refusal, which is told once
        self._stamp: object = _stamp(path)  # before the file is read, so that a change in between is found
        self._used = self._read(seen)
        if self.keyset.primary(int(clock())) is None:
            raise self._no_key()
        self._reading, self._ended, self._interval = threading.Lock(), threading.Event(), interval
        if interval is not None:
            self._start()
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=partial(_restart, weakref.ref(self)))

    def sender_key(self, at: float | None = None) -> SenderKey:
        """The key that signs now, or at a Unix time. Raises KeyRecordError: `noKeySeals`, `wrongKind`."""
        return SenderKey.from_keyset(self.keyset, at=self._clock() if at is None else at)

    @property
    def keyset(self) -> Keyset:
        """The keys in use. This value doesn't change with the file."""
        return self._used[1]

    @property
    def head(self) -> Point:
        """The last line of the log in use."""
        return self._used[0].log.head

    @property
    def refusal(self) -> Exception | None:
        """Why the present file isn't in use, for a health check."""
        return self._refusal

    def reload(self) -> bool:
        """Reads the file now, for example after a signal, and returns whether it is in use."""
        self._look(is_forced=True)
        return self._refusal is None

    def close(self) -> None:
        """Ends the watch. The keys stay in use."""
        self._ended.set()

    def __enter__(self) -> KeysetWatcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        """Also after a fork: the new process has no such thread, and may have a lock that nobody releases."""
        if not self._ended.is_set():
            self._reading, self._ended = threading.Lock(), threading.Event()
            threading.Thread(target=self._watch, args=(self._ended,), name="pushcrypt-keyset", daemon=True).start()

    def _watch(self, ended: threading.Event) -> None:
        while not ended.wait(self._interval):
            try:
                self._look()
            except Exception:  # of on_change or on_refusal: the watch goes on
                LOGGER.exception("what a watcher of a keyset calls has failed")

    def _look(self, is_forced: bool = False) -> None:
        """Reads the file if that is needed, and calls what hears of it without the lock."""
        with self._reading:
            last_head, last_refused = self.head, self._refused
            self._renew(is_forced)
            head, refused, refusal = self.head, self._refused, self._refusal
        if head != last_head and self._on_change is not None:
            self._on_change(head)
        if refusal is not None and refused != last_refused:
            self._on_refusal(refusal)

    def _renew(self, is_forced: bool) -> None:
        stamp = None
        try:
            stamp = _stamp(self._path)
            if stamp == self._stamp and not is_forced:
                return
            used = self._read(self.head)
            if self._loses_key(*used):
                raise self._no_key()
            self._used, self._stamp, self._refusal, self._refused = used, stamp, None, None
        except Exception as error:
            is_final = isinstance(error, PushCryptError) and error.code not in _TEMPORARY
            self._stamp, self._refusal, self._refused = stamp if is_final else None, error, (stamp, str(error))

    def _read(self, seen: Point | None) -> tuple[KeysetFile, Keyset]:
        file = KeysetFile.from_path(self._path, self._passphrase, command=self._command, seen=seen)
        return file, file.keyset()

    def _loses_key(self, file: KeysetFile, keyset: Keyset) -> bool:
        """Whether no key would sign any more, although one does, and the log neither revokes nor gives up that one."""
        now = int(self._clock())
        used = self.keyset.primary(now)
        return (keyset.primary(now) is None and used is not None
                and used.key.kid in file.log.keys and not file.log.is_revoked(used.key.kid))

    def _no_key(self) -> KeyRecordError:
        return KeyRecordError("noKeySeals", f"no key of {os.fspath(self._path)} is active at this time")


def _stamp(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Device, inode, mode, owner, size and times: if all are the same, the keyset is the same."""
    found = os.stat(path)
    return (found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _restart(watcher: weakref.ref[KeysetWatcher]) -> None:
    found = watcher()
    if found is not None:
        found._start()


def _log(error: Exception) -> None:
    LOGGER.error("keyset rejected; keeping the previous one: %s", error)
