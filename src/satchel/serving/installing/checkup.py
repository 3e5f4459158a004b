"""How things stand: this installation, the index of a folder, every client. Looks, and changes nothing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from satchel import extras
from satchel._version import __version__
from satchel.embedding import LEXICAL, model_id
from satchel.errors import ConfigError, SatchelError
from satchel.plugins import late
from satchel.serving.clients.client import Client, Machine, Scope
from satchel.serving.installing import guide, launch
from satchel.serving.installing.installer import Installer, Linked

if TYPE_CHECKING:
    from satchel import engine
else:
    engine = late("satchel.engine")


class Level(StrEnum):
    """How good a thing is. Only a problem keeps Satchel from working."""

    OK = "ok"
    WARN = "warn"
    PROBLEM = "problem"


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was looked at, and what to do about it."""

    topic: str
    level: Level
    detail: str
    next: str = ""


def installation(where: Machine) -> Iterator[Check]:
    """Python, Satchel, and what they need."""
    version = ".".join(str(number) for number in sys.version_info[:3])
    yield Check("python", Level.OK, f"{version} at {sys.executable}")
    yield Check("satchel", Level.OK, f"{__version__} at {' '.join(launch.executable())}")
    if launch.is_shareable(where):
        yield Check("path", Level.OK, "`satchel` on PATH is this one")
    else:
        other = launch.on_path(launch.PROGRAM, where)
        detail = f"`satchel` on PATH is another one: {other}" if other else "`satchel` is not on PATH"
        folder = Path(launch.executable()[0]).parent
        yield Check("path", Level.WARN, detail, f"put {folder} on PATH, to share a project's settings")
    git = shutil.which("git", path=where.environment.get("PATH", ""))
    if git:
        yield Check("git", Level.OK, git)
    else:
        yield Check("git", Level.WARN, "not found", "install git: ignore rules and history come from it")
    yield _servers()
    model = model_id()
    if model == LEXICAL:
        yield Check("model", Level.WARN, "no word vectors: ranking by words alone", "install Satchel again")
    else:
        yield Check("model", Level.OK, model)


def _servers() -> Check:
    """Return which servers can be started with the packages that are installed."""
    able = [name for name in ("http", "grpc", "mcp") if extras.is_installed(name)]
    lacking = [name for name in ("http", "grpc", "mcp") if name not in able]
    if lacking:
        detail = f"{', '.join(lacking)} cannot be served: packages are not installed"
        return Check("servers", Level.WARN, detail, extras.install_command("serve"))
    return Check("servers", Level.OK, ", ".join(able))


def segment(where: Machine) -> Iterator[Check]:
    """The index of the folder."""
    try:
        with engine.Engine.open(where.project) as opened:
            state, store, place = opened.state(), opened.store, opened.store.location
    except SatchelError as error:
        yield Check("index", Level.PROBLEM, error.message, error.hint)
        return
    reasons = ", ".join(reason.value for reason in state.stale_reasons)
    if not state.exists:
        yield Check("index", Level.WARN, f"none yet for {where.project}", "satchel index; or just ask")
    elif not state.readable:
        yield Check("index", Level.PROBLEM, f"{place}: {reasons}", "satchel index builds a new one")
    elif state.stale:
        yield Check("index", Level.WARN, f"{place}: stale, {reasons}", "the next question refreshes it")
    else:
        yield Check("index", Level.OK, f"{place}: fresh")
    if store.scratch is not None:
        yield _folder(store.scratch)
    if store.is_locked():
        yield Check("lock", Level.WARN, "another process is indexing now", "wait; answers come from before")


def _folder(folder: Path) -> Check:
    nearest = next(one for one in (folder, *folder.parents) if one.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return Check("folder", Level.OK, f"{folder} can be written")
    advice = "give yourself the right to, or keep indexes elsewhere: SATCHEL_HOME=DIR"
    return Check("folder", Level.PROBLEM, f"{nearest} cannot be written", advice)


def of_client(client: Client, where: Machine) -> Iterator[Check]:
    """One client: is it there, is it linked, would its link work?"""
    there, linked = launch.is_found(client, where), False
    for scope in Scope:
        try:
            installer = Installer(where, scope)
            link = installer.linked(client)
            if link is not None:
                linked = True
                yield _link(client, scope, link, where)
                yield from _instructions(client, scope, installer)
        except ConfigError as error:
            linked = True
            yield Check(client.label, Level.PROBLEM, error.message, error.hint)
    if not linked and there:
        advice = f"satchel install --client {client.label}"
        yield Check(client.label, Level.WARN, "found, not linked", advice)
    elif not linked:
        yield Check(client.label, Level.OK, "not found on this machine")


def _link(client: Client, scope: Scope, link: Linked, where: Machine) -> Check:
    again = f"satchel install --client {client.label} --scope {scope}"
    program = launch.on_path(link.program, where) if link.program else None
    if program is None:
        detail = f"{link.path} ({scope}) starts {link.program!r}, which is not there"
        return Check(client.label, Level.PROBLEM, detail, again)
    return Check(client.label, Level.OK, f"linked in {link.path} ({scope})")


def _instructions(client: Client, scope: Scope, installer: Installer) -> Iterator[Check]:
    found = installer.block(client)
    if found is None:
        return
    path, block = found
    again = f"satchel install --client {client.label} --scope {scope}"
    if block is None:
        yield Check(client.label, Level.WARN, f"no instructions in {path}", again)
    elif not guide.is_current(block):
        yield Check(client.label, Level.WARN, f"instructions of another version in {path}", again)
    else:
        yield Check(client.label, Level.OK, f"instructions in {path}")
