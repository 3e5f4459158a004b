"""Who asked what of a server? The audit log: one line of JSON for each answer, and for calls without access.

A line says when, who (the name of a token, or a subject), which action with which outcome, and the
repositories that the answer names. Questions are in it only if the operator wants that, and without secrets.
The file is opened anew for every line, so that logrotate may move it away at any time."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Hashable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from satchel.errors import SatchelError
from satchel.file_writing import cannot_write
from satchel.library.catalogue import Catalogue
from satchel.library.grants import Caller
from satchel.plugins import late
from satchel.serving.envelope import Request, Response, encode
from satchel.settings import AuditSettings

if TYPE_CHECKING:
    from satchel.walking import redaction
else:
    redaction = late("satchel.walking.redaction")  # only questions that are noted need it

_MODE = 0o600
_LONGEST_QUESTION = 2_000  # characters
_REFUSAL_SECONDS = 1.0  # between two lines about calls without access: a flood of them must not fill the disk
_MAY_BE_A_REPOSITORY = re.compile(rb"(?<![\w./-])([A-Za-z0-9._][A-Za-z0-9._-]{0,99})(?=[/@])")
_OUR_TOKEN = re.compile(r"satchel_[\w-]{20,}|eyJ[\w-]+\.[\w-]+\.[\w-]*")
_NOT_A_QUESTION = ("text", "project", "tokenizer")  # a saved pack to verify, and what is no question


class AuditLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line. `repositories` are those that the answer names; `times` counts calls without access."""

    time: str
    who: str = ""
    kind: str = ""  # operator, token or person
    action: str = ""
    outcome: str
    repositories: list[str] | None = None
    times: int = 0
    question: str = ""


class AuditLog:
    """The audit log of one server. A line that cannot be written is an error, and its answer is not given."""

    def __init__(self, settings: AuditSettings, catalogue: Catalogue | None) -> None:
        self._file = settings.file
        self._with_questions = settings.with_questions
        self._catalogue = catalogue
        self._names: frozenset[str] = frozenset()
        self._stamp: Hashable = None
        self._lock = threading.Lock()
        self._refusals = 0
        self._refused_at = -_REFUSAL_SECONDS
        self._append(b"")  # a file that cannot be written is said at the start

    def note_answer(self, caller: Caller, request: Request, response: Response) -> None:
        """Write the line of an answer."""
        outcome = response.error["code"] if isinstance(response.error, dict) else "ok"
        named = set(_MAY_BE_A_REPOSITORY.findall(encode(response))) if self._catalogue is not None else set()
        self._write(
            AuditLine(
                time=_now(),
                who=caller.name,
                kind=_kind(caller),
                action=request.action,
                outcome=outcome,
                repositories=sorted(self._known().intersection(name.decode() for name in named)),
                question=self._question(request.payload) if self._with_questions else "",
            )
        )

    def note_push(self, repository: str) -> None:
        """Write the line of a push hook that was taken."""
        self._write(AuditLine(time=_now(), action="push", outcome="ok", repositories=[repository]))

    def note_refusal(self) -> None:
        """Write that a call had no access; of many in a second, how many there were."""
        with self._lock:
            self._refusals += 1
            if time.monotonic() - self._refused_at < _REFUSAL_SECONDS:
                return
            times, self._refusals, self._refused_at = self._refusals, 0, time.monotonic()
        self._write(AuditLine(time=_now(), outcome="unauthorized", times=times))

    def _question(self, payload: dict[str, Any]) -> str:
        kept = {name: value for name, value in payload.items() if name not in _NOT_A_QUESTION}
        text = redaction.redact(msgspec.json.encode(kept).decode("utf-8", "replace")).text
        return _OUR_TOKEN.sub("«redacted:token»", text)[:_LONGEST_QUESTION]

    def _known(self) -> frozenset[str]:
        """Return the names of all repositories, as the catalogue has them now."""
        if self._catalogue is None:
            return frozenset()
        stamp = self._catalogue.stamp()
        if stamp != self._stamp:
            try:
                self._names = frozenset(one.name for one in self._catalogue.all())
            except SatchelError:  # the answer says so, too
                return self._names
            self._stamp = stamp
        return self._names

    def _write(self, line: AuditLine) -> None:
        self._append(msgspec.json.encode(line) + b"\n")

    def _append(self, data: bytes) -> None:
        """Add bytes to the file in one step: lines of several processes do not mix."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            descriptor = os.open(self._file, flags, _MODE)
            try:
                if os.fstat(descriptor).st_mode & 0o077:
                    os.fchmod(descriptor, _MODE)
                if data:
                    os.write(descriptor, data)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise cannot_write("the audit log", error, "SATCHEL_AUDIT_LOG names another file") from error


def _kind(caller: Caller) -> str:
    return "operator" if caller.is_operator else "person" if caller.is_person else "token"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
