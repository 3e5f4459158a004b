"""The verbs: words of the command line that query no index, but serve, install or watch; one file each.

Their flags are made from their requests, as those of commands; no other surface has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from satchel.commands.command import Group, help_of
from satchel.rendering.style import Style


class Verb(msgspec.Struct, frozen=True):
    """A verb of the command line.

    `run` returns an exit code if it printed its own output, or a response that `show` formats for people and
    `--json` prints. A response with `ok = False` ends with the exit code of a failed check.
    """

    name: str
    request: type[msgspec.Struct]
    run: Callable[[Any], Any]
    show: Callable[[Any, Style], str] | None = None
    group: Group = Group.SET_UP

    @property
    def help(self) -> str:
        """Return the help text of the verb."""
        return help_of(self.run)
