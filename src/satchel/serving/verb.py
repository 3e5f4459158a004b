"""What a verb is: a word of the command line that asks nothing of an index, but serves, installs or watches.

Its flags come from its request as a command's do; it appears on no other surface.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from satchel.commands.command import Group, help_of
from satchel.rendering.style import Style


class Verb(msgspec.Struct, frozen=True):
    """`run` gives an exit code when it has said what there is to say, or a response, which `show` makes
    readable and `--json` prints. A response that says `ok = False` ends as a failed check does."""

    name: str
    request: type[msgspec.Struct]
    run: Callable[[Any], Any]
    show: Callable[[Any, Style], str] | None = None
    group: Group = Group.SET_UP

    @property
    def help(self) -> str:
        """What the verb does."""
        return help_of(self.run)
