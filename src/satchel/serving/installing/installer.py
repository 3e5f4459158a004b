"""Installs and uninstalls the server entry and the instructions of one client in one scope."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from satchel.errors import ConfigError, PathNotAllowed
from satchel.serving.clients import (
    Client,
    HookSettings,
    InstallScope,
    InstructionsFile,
    Machine,
    Registration,
    SettingsFormat,
    hook_entry,
)
from satchel.serving.installing import instructions, json_settings, toml_settings, yaml_settings
from satchel.serving.installing.file_edits import EditTrace, StagedFiles, resolve_links
from satchel.serving.installing.install_records import InstallRecord, InstallRecords

SERVER_NAME = "satchel"  # the name of the server in the settings of every client
_EDITORS: dict[SettingsFormat, ModuleType] = {
    SettingsFormat.JSON: json_settings,
    SettingsFormat.TOML: toml_settings,
    SettingsFormat.YAML: yaml_settings,
}


class Outcome(StrEnum):
    """The outcome for one file."""

    WRITTEN = "written"
    UPDATED = "updated"
    ALREADY = "already installed"
    REMOVED = "removed"
    ABSENT = "not installed"
    KEPT = "kept"


class InstalledPart(StrEnum):
    """The parts of an installation."""

    SERVER = "server"
    INSTRUCTIONS = "instructions"
    HOOK = "hook"


class FileOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file of one client, and the outcome for it."""

    client: str
    scope: InstallScope
    part: InstalledPart
    path: str
    outcome: Outcome
    note: str = ""


class RegisteredServer(NamedTuple):
    """The settings file in which our server is registered, and its entry there."""

    path: Path
    entry: dict[str, Any]

    @property
    def program(self) -> str:
        """The program that the entry starts; some clients call it `cmd`, some write it first in a list."""
        command = self.entry.get("command") or self.entry.get("cmd", "")
        return str(command[0] if isinstance(command, list) and command else command)


class Installer:
    """Stages the changes of an installation in memory; `write` writes them."""

    def __init__(self, machine: Machine, scope: InstallScope) -> None:
        self.machine = machine
        self.scope = scope
        self.files = StagedFiles()
        self.records = InstallRecords(machine)
        self._unused_folders: list[Path] = []

    def install(
        self, client: Client, command: list[str], *, with_instructions: bool = True
    ) -> Iterator[FileOutcome]:
        """Stage the server entry and the instructions of a client; yield the outcome for each file."""
        registration = _registration(client, self.scope)
        yield self._add_server(client, registration, command)
        if with_instructions and registration.instructions is not None:
            yield self._add_instructions(client, registration.instructions)

    def uninstall(
        self, client: Client, others: list[Client], *, with_instructions: bool = True
    ) -> Iterator[FileOutcome]:
        """Stage the removal of both; instructions that one of the `others` still needs stay."""
        registration = _registration(client, self.scope)
        yield self._remove_server(client, registration)
        if with_instructions and registration.instructions is not None:
            yield from self._remove_instructions(client, registration.instructions, others)

    def install_hook(self, client: Client, hooks: HookSettings, command: str) -> FileOutcome:
        """Stage the command that a client runs on every prompt, beside the commands that it runs already."""
        path = hooks.file(self.scope).path(self.machine, self.files.exists)
        if self._hooks_in(path, hooks):
            return self._outcome(client, InstalledPart.HOOK, path, Outcome.ALREADY)
        edit = _naming_file(
            path, lambda data: json_settings.add_element(data, hooks.keys, hook_entry(command))
        )
        return self._outcome(client, InstalledPart.HOOK, path, self._stage_edit(path, edit, is_new=True))

    def uninstall_hook(self, client: Client) -> Iterator[FileOutcome]:
        """Stage the removal of our command, and of nothing else; yield the outcome if there is one."""
        if (hooks := client.hooks) is None:
            return

        def remove(data: bytes, trace: EditTrace) -> bytes:
            return json_settings.remove_element(data, hooks.keys, is_own_hook, trace)

        for path in hooks.file(self.scope).paths(self.machine):
            if self._hooks_in(path, hooks):
                self._stage_removal(path, remove, is_ours=False)
                yield self._outcome(client, InstalledPart.HOOK, path, Outcome.REMOVED)

    def _hooks_in(self, path: Path, hooks: HookSettings) -> bool:
        """Return whether our command is among those of a settings file."""
        data = self.files.read(path)
        found = (
            _naming_file(path, lambda text: json_settings.read_entry(text, hooks.keys))(data)
            if data
            else None
        )
        return isinstance(found, list) and any(map(is_own_hook, found))

    def write(self) -> None:
        """Write the staged changes and the install records."""
        self.records.add_folders(self.files.write())
        self.records.write(self._unused_folders)

    def find_server(self, client: Client) -> RegisteredServer | None:
        """Return the entry of our server in the settings of a client; None if there is none."""
        registration = client.registration(self.scope)
        for path in registration.settings.paths(self.machine) if registration else ():
            found = self._entry(registration, path) if registration else None
            if found is not None:
                return RegisteredServer(path, found if isinstance(found, dict) else {})
        return None

    def find_instructions(self, client: Client) -> tuple[Path, bytes | None] | None:
        """Return the instructions file of a client and our block in it; None if the client reads none."""
        registration = client.registration(self.scope)
        if registration is None or registration.instructions is None:
            return None
        path = registration.instructions.file.path(self.machine, self.files.exists)
        return path, self._block_in(path)

    def _add_server(self, client: Client, registration: Registration, command: list[str]) -> FileOutcome:
        found = self.find_server(client)
        path = found.path if found else registration.settings.path(self.machine, self.files.exists)
        keys, wanted = (*registration.keys, SERVER_NAME), client.entry(command)
        edit = _naming_file(path, lambda data: _EDITORS[registration.format].add_entry(data, keys, wanted))
        return self._outcome(
            client, InstalledPart.SERVER, path, self._stage_edit(path, edit, is_new=found is None)
        )

    def _add_instructions(self, client: Client, target: InstructionsFile) -> FileOutcome:
        path = target.file.path(self.machine, self.files.exists)
        is_new = self._block_in(path) is None
        edit = _naming_file(path, lambda data: instructions.add_block(data, target.head))
        return self._outcome(
            client, InstalledPart.INSTRUCTIONS, path, self._stage_edit(path, edit, is_new=is_new)
        )

    def _stage_edit(self, path: Path, edit: Callable[[bytes], Any], *, is_new: bool) -> Outcome:
        """Stage an edit of a file and, if its part is new there, record how to undo it."""
        self._check_inside(path)
        before = self.files.read(path)
        after, trace = edit(before or b"")
        if after == before:
            return Outcome.ALREADY
        if is_new:
            self.records.add(path, InstallRecord(created=before is None, trace=trace))
        self.files.stage(path, after)
        return Outcome.WRITTEN if is_new else Outcome.UPDATED

    def _remove_server(self, client: Client, registration: Registration) -> FileOutcome:
        found = self.find_server(client)
        if found is None:
            path = next(registration.settings.paths(self.machine))
            return self._outcome(client, InstalledPart.SERVER, path, Outcome.ABSENT)
        keys, editor = (*registration.keys, SERVER_NAME), _EDITORS[registration.format]
        self._stage_removal(
            found.path, lambda data, trace: editor.remove_entry(data, keys, trace), is_ours=False
        )
        return self._outcome(client, InstalledPart.SERVER, found.path, Outcome.REMOVED)

    def _remove_instructions(
        self, client: Client, target: InstructionsFile, others: list[Client]
    ) -> Iterator[FileOutcome]:
        """Remove the instructions from every file of the client: it may have read another one before."""
        found = [path for path in target.file.paths(self.machine) if self._block_in(path) is not None]
        for path in found:
            users = [one.label for one in others if one.name != client.name and self._needs(one, path)]
            if users:
                note = f"{', '.join(users)} reads it"
                yield self._outcome(client, InstalledPart.INSTRUCTIONS, path, Outcome.KEPT, note)
            else:
                self._stage_removal(
                    path,
                    lambda data, trace: instructions.remove_block(data, trace, target.head),
                    is_ours=True,
                )
                yield self._outcome(client, InstalledPart.INSTRUCTIONS, path, Outcome.REMOVED)
        if not found:
            path = target.file.path(self.machine, self.files.exists)
            yield self._outcome(client, InstalledPart.INSTRUCTIONS, path, Outcome.ABSENT)

    def _stage_removal(self, path: Path, edit: Callable[[bytes, EditTrace], bytes], *, is_ours: bool) -> None:
        """Stage the removal of our part; a file that we created is removed once it is empty.

        `is_ours` says that an empty file was created by us, for a file without an install record.
        """
        self._check_inside(path)
        record = self.records.find(path) or InstallRecord(created=is_ours)
        after = _naming_file(path, lambda data: edit(data, record.trace))(self.files.read(path) or b"")
        is_empty = record.created and not after.strip()
        self.files.stage(path, None if is_empty else after)
        self.records.remove(path)
        if is_empty:
            self._unused_folders += [Path(folder) for folder in record.folders]

    def _check_inside(self, path: Path) -> None:
        """Refuse a symbolic link out of the project: a repository must not make us write elsewhere."""
        if self.scope is InstallScope.PROJECT and not resolve_links(path).is_relative_to(
            resolve_links(self.machine.project)
        ):
            raise PathNotAllowed(
                f"{path} leads out of the project", hint="remove the link, or use --scope user"
            )

    def _entry(self, registration: Registration, path: Path) -> Any:
        data = self.files.read(path)
        if not data:
            return None
        keys, editor = (*registration.keys, SERVER_NAME), _EDITORS[registration.format]
        return _naming_file(path, lambda text: editor.read_entry(text, keys))(data)

    def _block_in(self, path: Path) -> bytes | None:
        block: bytes | None = _naming_file(path, instructions.find_block)(self.files.read(path) or b"")
        return block

    def _needs(self, other: Client, path: Path) -> bool:
        """Return whether another client that has our server reads its instructions from this file."""
        registration = other.registration(self.scope)
        if registration is None or registration.instructions is None:
            return False
        reads = registration.instructions.file.path(self.machine, self.files.exists)
        try:
            return resolve_links(path) == resolve_links(reads) and self.find_server(other) is not None
        # Settings that cannot be read start no server.
        except ConfigError:
            return False

    def _outcome(
        self, client: Client, part: InstalledPart, path: Path, outcome: Outcome, note: str = ""
    ) -> FileOutcome:
        return FileOutcome(client.label, self.scope, part, str(path), outcome, note)


def is_own_hook(element: Any) -> bool:
    """Return whether an element of a list of hooks runs our command and nothing else."""
    commands = element.get("hooks") if isinstance(element, dict) else None
    if not isinstance(commands, list) or len(commands) != 1 or not isinstance(commands[0], dict):
        return False
    return bool(re.fullmatch(r".*\bsatchel(?:\.exe)?['\"]? hook", str(commands[0].get("command", ""))))


def _registration(client: Client, scope: InstallScope) -> Registration:
    """Return how a client registers servers in a scope; raise if it does not have that scope."""
    registration = client.registration(scope)
    if registration is None:
        raise ConfigError(f"{client.title} has no {scope} scope", hint=f"use --scope {InstallScope.USER}")
    return registration


def _naming_file(path: Path, work: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """Return `work` with the name of the file added to its errors."""

    def run(data: bytes) -> Any:
        try:
            return work(data)
        except ConfigError as error:
            raise ConfigError(
                f"{path}: {error.message}", hint=error.hint, details={"path": str(path)}
            ) from error

    return run
