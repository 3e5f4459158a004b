"""`satchel install`: register the MCP server with the agent clients of this machine or project."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import extras
from satchel.commands.command import Flag, Group
from satchel.errors import InvalidRequest
from satchel.plugins import late
from satchel.rendering.style import Style
from satchel.rendering.visible import one_line, visible
from satchel.serving.clients import Client, InstallScope, Machine
from satchel.serving.installing import launch
from satchel.serving.installing.file_edits import StagedFiles
from satchel.serving.installing.installer import FileOutcome, Installer, Outcome
from satchel.serving.verbs import Verb

if TYPE_CHECKING:
    from satchel.walking import redaction
else:
    redaction = late("satchel.walking.redaction")

_ClientNames = tuple[str, ...]


class InstallRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `satchel install` and `satchel uninstall`."""

    clients: Annotated[_ClientNames, Meta(description="only this client (repeatable)"), Flag("--client")] = ()
    all: Annotated[bool, Meta(description="every client, found on this machine or not")] = False
    scope: Annotated[InstallScope, Meta(description="user (default) or project: files to commit")] = (
        InstallScope.USER
    )
    dry_run: Annotated[bool, Meta(description="show what would change, write nothing")] = False
    no_instructions: Annotated[bool, Meta(description="leave instruction files alone")] = False
    hooks: Annotated[
        bool, Meta(description="also run `satchel hook` on every prompt, in clients that can")
    ] = False
    segment: Annotated[str, Meta(description="the project (default: .)"), Flag("-s")] = launch.DEFAULT_SEGMENT
    json: Annotated[bool, Meta(description="print the answer as JSON")] = False


class InstallResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome for each file; `diffs` has content only if nothing was written."""

    scope: InstallScope
    changes: list[FileOutcome]
    dry_run: bool = False
    diffs: list[str] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)


def run(request: InstallRequest) -> InstallResponse:
    """Link Satchel to agent clients: the MCP server in their settings, and instructions where they read them.

    Takes the clients found on this machine, or those named with --client. Comments and formatting of the
    files stay; a second run changes nothing; `satchel uninstall` takes everything out again.
    """
    extras.require("mcp", "the server that agent clients start")
    machine = launch.current_machine(request.segment)
    installer = Installer(machine, request.scope)
    changes: list[FileOutcome] = []
    notes: list[str] = []
    for client in _chosen_clients(request, machine):
        registration = client.registration(request.scope)
        if registration is None:
            lacking, other = _lacking_scope(request.scope)
            if request.clients:
                raise InvalidRequest(f"{client.title} {lacking}", hint=f"use --scope {other}")
            notes.append(f"{client.title} {lacking} and was left out: --scope {other}")
            continue
        command = launch.server_command(registration, request.scope, machine, request.segment)
        changes += installer.install(client, command, with_instructions=not request.no_instructions)
        notes += [f"{client.title}: {registration.remark}"] if registration.remark else []
        if request.hooks and client.hooks is not None:
            hook = launch.hook_command(request.scope, machine)
            changes.append(installer.install_hook(client, client.hooks, hook))
        elif request.hooks:
            notes.append(f"{client.title} has no prompt hooks that are documented")
    if request.scope is InstallScope.PROJECT and not launch.is_shareable(machine):
        notes.append(
            "satchel is not on PATH, so the files name this machine's path: put it on PATH to share them"
        )
    return write_changes(installer, changes, notes, dry_run=request.dry_run)


def _lacking_scope(scope: InstallScope) -> tuple[str, InstallScope]:
    """Return what is said of a client that has no settings in a scope, and the scope that it has."""
    if scope is InstallScope.PROJECT:
        return "knows no projects", InstallScope.USER
    return "is linked project by project", InstallScope.PROJECT


def _chosen_clients(request: InstallRequest, machine: Machine) -> list[Client]:
    """Return the clients that the request names, or the ones found on this machine."""
    if request.clients and request.all:
        raise InvalidRequest("--client and --all cannot be used together", hint="leave one out")
    if request.clients:
        return [launch.find_client(name) for name in dict.fromkeys(request.clients)]
    return launch.all_clients() if request.all else launch.installed_clients(machine)


def write_changes(
    installer: Installer, changes: list[FileOutcome], notes: list[str], *, dry_run: bool
) -> InstallResponse:
    """Write the staged changes, or return them as diffs for a dry run."""
    if dry_run:
        return InstallResponse(installer.scope, changes, True, _diffs(installer.files), notes)
    installer.write()
    return InstallResponse(installer.scope, changes, notes=notes)


def _diffs(files: StagedFiles) -> list[str]:
    """Return the staged changes as unified diffs. Settings may hold secrets, which are redacted."""
    diffs = []
    for path, (before, after) in files.changes.items():
        old, new = (_lines(data) for data in (before, after))
        names = ("/dev/null" if before is None else str(path), "/dev/null" if after is None else str(path))
        lines = list(difflib.unified_diff(old, new, *names, lineterm=""))
        if lines:
            diffs.append(redaction.redact("\n".join(lines) + "\n").text)
    return diffs


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace").replace("\r\n", "\n")
    return text.removesuffix("\n").split("\n") if text else []


def show(response: InstallResponse, style: Style) -> str:
    """Return the outcomes as lines for people."""
    rows = []
    for done in response.changes:
        quiet = done.outcome in _QUIET
        words = f"would be {done.outcome}" if response.dry_run and not quiet else done.outcome
        state = style.dim(words) if quiet else style.name(words)
        note = style.dim(f"  ({one_line(done.note)})") if done.note else ""
        rows.append(f"{done.client:<14} {done.part:<12} {style.path(one_line(done.path))}  {state}{note}")
    rows += [visible(diff).rstrip("\n") for diff in response.diffs]
    if response.dry_run:
        rows.append("nothing was written")
    elif any(done.outcome not in _QUIET for done in response.changes):
        rows.append(style.dim("restart the clients; `satchel doctor` shows how things stand"))
    rows += [style.dim(f"note: {note}") for note in response.notes]
    return "\n".join(rows) + "\n"


_QUIET = (Outcome.ALREADY, Outcome.ABSENT, Outcome.KEPT)
VERB = Verb("install", InstallRequest, run, show, group=Group.SET_UP)
