"""What a command is: a request, a response, and the function between them.

The docstring of `run` is the help text. A request field is a flag: its description is in its
annotation; `Positional()` beside it makes it a positional argument, `Flag("-k")` adds a short form.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from satchel.commands.session import Session
    from satchel.engine import Engine


def help_of(function: Callable[..., Any]) -> str:
    """Return the docstring of a function without the indent that its lines have in the code."""
    written = (function.__doc__ or "").strip()
    return written.replace("\n    ", "\n")


class Group(StrEnum):
    """What people want of a command. `satchel --help` lists commands by it, in this order."""

    ASK = "Ask a question"
    LOOK = "Look something up"
    CHECK = "Check"
    SERVE = "Serve agents and programs"
    SET_UP = "Set up"


class Positional(msgspec.Struct, frozen=True):
    """Marks a request field that the command line takes by position."""


class Flag(msgspec.Struct, frozen=True):
    """Another spelling of a request field's flag on the command line."""

    name: str


class BareValue(msgspec.Struct, frozen=True):
    """Marks a request field whose flag may stand without a value on the command line, and then has this
    one."""

    value: int | str


class LocalPath(msgspec.Struct, frozen=True):
    """Marks a request field that names a file of the machine: the command line takes it, a server does not.
    With `or_name`, a plain name is no path."""

    or_name: bool = False


class GitName(msgspec.Struct, frozen=True):
    """Marks a request field that names a commit or a change. Left out, the work tree is meant; empty on the
    command line, a script's variable was not set, which must not pass for the work tree."""


class Verbatim(msgspec.Struct, frozen=True):
    """Marks a response field that holds text of the repository, which an agent's text form shows already."""


class SaidInText(msgspec.Struct, frozen=True):
    """Marks a response field that an agent's text form says in words of its own."""


class OfWholeData(msgspec.Struct, frozen=True):
    """Marks a response field that belongs to the whole data: a size of it, or a detail. It is no fact of an
    answer that is sent as text."""


class Command(msgspec.Struct, frozen=True):
    """A verb. `fresh` commands bring the index up to date before they run; the JSON of a `counted` one is
    what its budget counts, and is given as it was counted. `run` gets the engine and the request; where the
    command `takes_session` it gets the session, which holds the engine and the formats of packs. A command
    that `composes` others has them among its items. `tool` is its name among the few tools that agents are
    offered, `tool_fields` are fields that this tool lists although most calls do without them. A command
    whose response says `ok = False` ran, but what it checked does not hold."""

    name: str
    request: type[msgspec.Struct]
    response: type[msgspec.Struct]
    run: Callable[[Engine, Any], Any] | Callable[[Session, Any], Any]
    fresh: bool = True
    counted: bool = False
    takes_session: bool = False
    composes: bool = False
    tool: str = ""
    tool_fields: frozenset[str] = frozenset()
    group: Group = Group.ASK
    of_one_folder: bool = (
        False  # whether it works on the files of one folder, so that no library can be asked
    )

    @property
    def help(self) -> str:
        """Return what the command does, for people and for agents."""
        return help_of(self.run)
