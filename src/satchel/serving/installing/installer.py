"""One client in one scope: its server entry and its instructions, put in or taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from satchel.errors import ConfigError, PathNotAllowed
from satchel.serving.clients.client import Client, Format, Guide, Link, Machine, Scope
from satchel.serving.installing import guide, json_settings, toml_settings
from satchel.serving.installing.files import Files, resolved
from satchel.serving.installing.receipts import Receipt, Receipts
from satchel.serving.installing.trace import Trace

SERVER = "satchel"  # what the server is called in every client
_EDITORS: dict[Format, ModuleType] = {Format.JSON: json_settings, Format.TOML: toml_settings}


class Outcome(StrEnum):
    """What became of a file."""

    WRITTEN = "written"
    UPDATED = "updated"
    ALREADY = "already installed"
    REMOVED = "removed"
    ABSENT = "not installed"
    KEPT = "kept"


class Part(StrEnum):
    """The two things that are installed."""

    SERVER = "server"
    INSTRUCTIONS = "instructions"


class Done(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file of one client, and what became of it."""

    client: str
    scope: Scope
    part: Part
    path: str
    outcome: Outcome
    note: str = ""


class Linked(NamedTuple):
    """Where a client has our server, and how it is started."""

    path: Path
    entry: dict[str, Any]

    @property
    def program(self) -> str:
        """What is run; one client writes it as the first of a list."""
        command = self.entry.get("command", "")
        return str(command[0] if isinstance(command, list) and command else command)


class Installer:
    """Plans in memory; `finish` writes everything, or nothing if it was only asked what would be done."""

    def __init__(self, machine: Machine, scope: Scope) -> None:
        self.machine = machine
        self.scope = scope
        self.files = Files()
        self.receipts = Receipts(machine)
        self._folders: list[Path] = []

    def install(self, client: Client, command: list[str], *, instructions: bool = True) -> Iterator[Done]:
        """Put the server in, and the instructions where the client reads any."""
        link = _link(client, self.scope)
        yield self._put_server(client, link, command)
        if instructions and link.guide is not None:
            yield self._put_guide(client, link.guide)

    def uninstall(self, client: Client, others: list[Client], *, instructions: bool = True) -> Iterator[Done]:
        """Take out what was put in. Instructions that another client still needs stay."""
        link = _link(client, self.scope)
        yield self._take_server(client, link)
        if instructions and link.guide is not None:
            yield from self._take_guide(client, link.guide, others)

    def finish(self) -> None:
        """Write what was planned."""
        self.receipts.add_folders(self.files.write())
        self.receipts.close(self._folders)

    def linked(self, client: Client) -> Linked | None:
        """Where the client has our server now."""
        link = client.link(self.scope)
        for path in link.settings.paths(self.machine) if link else ():
            found = self._entry(link, path) if link else None
            if found is not None:
                return Linked(path, found if isinstance(found, dict) else {})
        return None

    def block(self, client: Client) -> tuple[Path, bytes | None] | None:
        """The file of instructions that the client reads, and ours in it; None if it reads none."""
        link = client.link(self.scope)
        if link is None or link.guide is None:
            return None
        path = link.guide.place.path(self.machine, self.files.exists)
        return path, self._block_in(path)

    def _put_server(self, client: Client, link: Link, command: list[str]) -> Done:
        there = self.linked(client)
        path = there.path if there else link.settings.path(self.machine, self.files.exists)
        keys, wanted = (*link.keys, SERVER), client.entry(command)
        edit = _named(path, lambda data: _EDITORS[link.format].put(data, keys, wanted))
        return self._done(client, Part.SERVER, path, self._put(path, edit, new=there is None))

    def _put_guide(self, client: Client, where: Guide) -> Done:
        path = where.place.path(self.machine, self.files.exists)
        new = self._block_in(path) is None
        edit = _named(path, lambda data: guide.put(data, where.head))
        return self._done(client, Part.INSTRUCTIONS, path, self._put(path, edit, new=new))

    def _put(self, path: Path, edit: Callable[[bytes], Any], *, new: bool) -> Outcome:
        self._check_inside(path)
        before = self.files.read(path)
        after, trace = edit(before or b"")
        if after == before:
            return Outcome.ALREADY
        if new:
            self.receipts.keep(path, Receipt(created=before is None, trace=trace))
        self.files.put(path, after)
        return Outcome.WRITTEN if new else Outcome.UPDATED

    def _take_server(self, client: Client, link: Link) -> Done:
        there = self.linked(client)
        if there is None:
            return self._done(client, Part.SERVER, next(link.settings.paths(self.machine)), Outcome.ABSENT)
        keys = (*link.keys, SERVER)
        self._take(there.path, lambda data, trace: _EDITORS[link.format].take(data, keys, trace), bare=False)
        return self._done(client, Part.SERVER, there.path, Outcome.REMOVED)

    def _take_guide(self, client: Client, where: Guide, others: list[Client]) -> Iterator[Done]:
        """From every file that it may be in: another may count now than counted then."""
        there = [path for path in where.place.paths(self.machine) if self._block_in(path) is not None]
        for path in there:
            users = [one.label for one in others if one.name != client.name and self._needs(one, path)]
            if users:
                note = f"{', '.join(users)} reads it"
                yield self._done(client, Part.INSTRUCTIONS, path, Outcome.KEPT, note)
            else:
                self._take(path, lambda data, trace: guide.take(data, trace, where.head), bare=True)
                yield self._done(client, Part.INSTRUCTIONS, path, Outcome.REMOVED)
        if not there:
            path = where.place.path(self.machine, self.files.exists)
            yield self._done(client, Part.INSTRUCTIONS, path, Outcome.ABSENT)

    def _take(self, path: Path, edit: Callable[[bytes, Trace], bytes], *, bare: bool) -> None:
        """A file that we made goes with its last line; a `bare` one is known to be ours without a receipt."""
        self._check_inside(path)
        receipt = self.receipts.of(path) or Receipt(created=bare)
        after = _named(path, lambda data: edit(data, receipt.trace))(self.files.read(path) or b"")
        empty = receipt.created and not after.strip()
        self.files.put(path, None if empty else after)
        self.receipts.drop(path)
        if empty:
            self._folders += [Path(folder) for folder in receipt.folders]

    def _check_inside(self, path: Path) -> None:
        """The files of a project come with it: a link of theirs must not make us write elsewhere."""
        if self.scope is Scope.PROJECT and not resolved(path).is_relative_to(resolved(self.machine.project)):
            raise PathNotAllowed(
                f"{path} leads out of the project", hint="remove the link, or use --scope user"
            )

    def _entry(self, link: Link, path: Path) -> Any:
        data = self.files.read(path)
        keys = (*link.keys, SERVER)
        return _named(path, lambda text: _EDITORS[link.format].entry(text, keys))(data) if data else None

    def _block_in(self, path: Path) -> bytes | None:
        block: bytes | None = _named(path, guide.read)(self.files.read(path) or b"")
        return block

    def _needs(self, other: Client, path: Path) -> bool:
        """Whether another client that has our server reads its instructions from this file."""
        link = other.link(self.scope)
        if link is None or link.guide is None:
            return False
        reads = link.guide.place.path(self.machine, self.files.exists)
        try:
            return resolved(path) == resolved(reads) and self.linked(other) is not None
        except ConfigError:  # settings that cannot be read start no server
            return False

    def _done(self, client: Client, part: Part, path: Path, outcome: Outcome, note: str = "") -> Done:
        return Done(client.label, self.scope, part, str(path), outcome, note)


def _link(client: Client, scope: Scope) -> Link:
    link = client.link(scope)
    if link is None:
        raise ConfigError(f"{client.title} has no {scope} scope", hint=f"use --scope {Scope.USER}")
    return link


def _named(path: Path, work: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """What goes wrong in a file is told with its name."""

    def named(data: bytes) -> Any:
        try:
            return work(data)
        except ConfigError as error:
            raise ConfigError(
                f"{path}: {error.message}", hint=error.hint, details={"path": str(path)}
            ) from error

    return named
