"""What a client is: where it keeps its settings, how it names a server there, where it reads instructions.

A client is one value in one file of this folder. Its paths are told as text; `Machine` finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

HERE = ""  # the client starts servers in the project's folder, so nothing needs to be said
FIXED = "{project}"  # the client starts servers anywhere: the folder is written down
WORKSPACE = "${workspaceFolder}"  # the client puts the open folder in its place


class Scope(StrEnum):
    """Who has the server: the user in every project, or everybody in one project."""

    USER = "user"
    PROJECT = "project"


class Format(StrEnum):
    """How a settings file is written. JSON may have comments and trailing commas."""

    JSON = "json"
    TOML = "toml"


class Machine(msgspec.Struct, frozen=True):
    """Where paths start: looked up once, so that everything below is told and tests tell it otherwise."""

    home: Path
    project: Path
    environment: Mapping[str, str]
    platform: str  # as sys.platform names it

    def folder(self, name: str) -> str:
        """The start of a path, or an empty text if the machine has none."""
        given = {"{config}": "XDG_CONFIG_HOME", "{appdata}": "APPDATA"}.get(name, "")
        usual = {
            "{home}": self.home,
            "{project}": self.project,
            "{config}": self.home / ".config",
            "{appdata}": self.home / "AppData" / "Roaming",
        }
        return self.environment.get(given) or str(usual.get(name, ""))


class Folder(msgspec.Struct, frozen=True):
    """A folder on each system; `variable` is the client's own way to move it, or a folder above it."""

    linux: str
    macos: str = ""  # as on Linux
    windows: str = ""  # as on Linux
    variable: str = ""

    def on(self, machine: Machine) -> Path:
        variable, _, below = self.variable.partition("/")
        moved = machine.environment.get(variable) if variable else None
        if moved:
            return Path(moved, below)
        named = {"darwin": self.macos, "win32": self.windows}.get(machine.platform) or self.linux
        start, _, rest = named.partition("/")
        return Path(machine.folder(start), *rest.split("/")) if rest else Path(machine.folder(start))


class Place(msgspec.Struct, frozen=True):
    """A file that may have several names: the first that is there counts, otherwise `new` is made."""

    folder: Folder
    new: str
    others: tuple[str, ...] = ()  # in the order in which the client prefers them to `new`
    after: tuple[str, ...] = ()  # those that it reads only where `new` is not there

    def paths(self, machine: Machine) -> Iterator[Path]:
        """Every file that it may be."""
        folder = self.folder.on(machine)
        return (folder / name for name in (*self.others, self.new, *self.after))

    def path(self, machine: Machine, exists: Callable[[Path], bool]) -> Path:
        """The file that counts."""
        there = (path for path in self.paths(machine) if exists(path))
        return next(there, self.folder.on(machine) / self.new)


class Guide(msgspec.Struct, frozen=True):
    """Where the client reads instructions. A file of our own starts with `head`."""

    place: Place
    head: str = ""


class Link(msgspec.Struct, frozen=True):
    """One scope of a client: the settings file, the keys that lead to its servers, what `--segment` says."""

    settings: Place
    keys: tuple[str, ...]
    segment: str
    guide: Guide | None = None
    format: Format = Format.JSON
    remark: str = ""  # what the user has to know or do after an installation


def typed_entry(command: list[str]) -> dict[str, Any]:
    """A server that says how it is spoken to."""
    return {"type": "stdio", **plain_entry(command)}


def plain_entry(command: list[str]) -> dict[str, Any]:
    """A server as most clients write it."""
    return {"command": command[0], "args": command[1:]}


class Client(msgspec.Struct, frozen=True):
    """An agent client. `marks` are the folders and `executables` the programs that show it is installed."""

    name: str
    title: str
    executables: tuple[str, ...]
    marks: tuple[Folder, ...]
    user: Link
    project: Link | None = None
    entry: Callable[[list[str]], dict[str, Any]] = plain_entry

    @property
    def label(self) -> str:
        """The name as it is typed."""
        return self.name.replace("_", "-")

    def link(self, scope: Scope) -> Link | None:
        return self.user if scope is Scope.USER else self.project
