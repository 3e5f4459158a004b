"""The agent clients that Satchel can be installed in: their settings files, server entries and instructions.

A client is one value in one file of this folder. Its paths are templates that `Machine` resolves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

# What `--segment` is in a server entry, by where the client starts servers.
HERE = ""  # in the folder of the project: no argument is needed
FIXED = "{project}"  # anywhere: the absolute path of the project is written
WORKSPACE = "${workspaceFolder}"  # anywhere, but the client replaces this by the open folder


class InstallScope(StrEnum):
    """For whom Satchel is installed: one user in every project, or everybody in one project."""

    USER = "user"
    PROJECT = "project"


class SettingsFormat(StrEnum):
    """The format of a settings file. JSON may have comments and trailing commas."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"


class Machine(msgspec.Struct, frozen=True):
    """The folders and the environment of a machine, looked up once so that tests can replace them."""

    home: Path
    project: Path
    environment: Mapping[str, str]
    platform: str  # as sys.platform names it

    def folder(self, name: str) -> str:
        """Return the folder that a template such as `{home}` stands for; an empty text for other names."""
        variable = {"{config}": "XDG_CONFIG_HOME", "{appdata}": "APPDATA"}.get(name, "")
        defaults = {
            "{home}": self.home,
            "{project}": self.project,
            "{config}": self.home / ".config",
            "{appdata}": self.home / "AppData" / "Roaming",
        }
        return self.environment.get(variable) or str(defaults.get(name, ""))


class Folder(msgspec.Struct, frozen=True):
    """A folder on each system. The environment variable `variable` moves it, or its parent: `NAME/below`."""

    linux: str
    macos: str = ""  # empty: as on Linux
    windows: str = ""  # empty: as on Linux
    variable: str = ""

    def on(self, machine: Machine) -> Path:
        """Return the path of the folder on a machine."""
        variable, _, below = self.variable.partition("/")
        moved = machine.environment.get(variable) if variable else None
        if moved:
            return Path(moved, below)
        named = {"darwin": self.macos, "win32": self.windows}.get(machine.platform) or self.linux
        start, _, rest = named.partition("/")
        return Path(machine.folder(start), *rest.split("/")) if rest else Path(machine.folder(start))


class ClientFile(msgspec.Struct, frozen=True):
    """A file of a client with several possible names: the first that exists, or `new` if none does."""

    folder: Folder
    new: str
    others: tuple[str, ...] = ()  # names that the client prefers to `new`, in its order
    after: tuple[str, ...] = ()  # names that it reads only if `new` does not exist

    def paths(self, machine: Machine) -> Iterator[Path]:
        """Return every path that the file may have, in the order of preference."""
        folder = self.folder.on(machine)
        return (folder / name for name in (*self.others, self.new, *self.after))

    def path(self, machine: Machine, exists: Callable[[Path], bool]) -> Path:
        """Return the first path that exists, or the path of a new file."""
        existing = (path for path in self.paths(machine) if exists(path))
        return next(existing, self.folder.on(machine) / self.new)


class InstructionsFile(msgspec.Struct, frozen=True):
    """Where the client reads instructions. A file that we create starts with `head`."""

    file: ClientFile
    head: str = ""


class Registration(msgspec.Struct, frozen=True):
    """Where and how a client registers MCP servers in one scope."""

    settings: ClientFile
    keys: tuple[str, ...]  # that lead to the servers in the settings
    segment: str  # the value of `--segment`: HERE, FIXED, WORKSPACE or a path
    instructions: InstructionsFile | None = None
    format: SettingsFormat = SettingsFormat.JSON
    remark: str = ""  # what the user has to know or do after an installation


class HookSettings(msgspec.Struct, frozen=True):
    """Where a client keeps the commands that it runs on every prompt: a list at these keys."""

    user: ClientFile
    project: ClientFile
    keys: tuple[str, ...]

    def file(self, scope: InstallScope) -> ClientFile:
        """Return the settings file of a scope."""
        return self.user if scope is InstallScope.USER else self.project


def hook_entry(command: str) -> dict[str, Any]:
    """Return an element of that list: a command that gets no longer than a prompt can wait."""
    return {"hooks": [{"type": "command", "command": command, "timeout": 5}]}


def typed_entry(command: list[str]) -> dict[str, Any]:
    """Return a server entry that names its protocol."""
    return {"type": "stdio", **plain_entry(command)}


def plain_entry(command: list[str]) -> dict[str, Any]:
    """Return a server entry as most clients write it."""
    return {"command": command[0], "args": command[1:]}


class Client(msgspec.Struct, frozen=True):
    """An agent client. It is installed if one of the folders `marks` or the programs `executables` exists."""

    name: str
    title: str
    executables: tuple[str, ...]
    marks: tuple[Folder, ...]
    user: Registration | None
    project: Registration | None = None
    entry: Callable[[list[str]], dict[str, Any]] = plain_entry
    hooks: HookSettings | None = None

    @property
    def label(self) -> str:
        """Return the name as it is typed on the command line."""
        return self.name.replace("_", "-")

    def registration(self, scope: InstallScope) -> Registration | None:
        """Return how servers are registered in a scope; None if the client does not have that scope."""
        return self.user if scope is InstallScope.USER else self.project
