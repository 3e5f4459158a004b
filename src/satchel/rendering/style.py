"""Colour on a terminal, and none anywhere else."""

from __future__ import annotations

import msgspec


class Style(msgspec.Struct, frozen=True):
    """Wraps text in ANSI colours if they are wanted."""

    colour: bool = False

    def path(self, text: str) -> str:
        return self._wrap("36", text)

    def name(self, text: str) -> str:
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        return self._wrap("2", text)

    def error(self, text: str) -> str:
        return self._wrap("31", text)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text
