"""Where the answer of a command line is written: to the streams of this process, or to a caller elsewhere."""

from __future__ import annotations

import sys


class CliOutput:
    """The standard streams of this process."""

    def __init__(self) -> None:
        self.is_terminal = sys.stdout.isatty()  # whether somebody reads the answer on one
        self.shows_progress = sys.stderr.isatty()

    def write(self, text: str) -> None:
        """Write text as UTF-8 whatever the locale says: the same answer is the same bytes everywhere."""
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))

    def say(self, text: str) -> None:
        """Say a line beside the answer."""
        print(text, file=sys.stderr)


class CapturedOutput(CliOutput):
    """What is written is kept, to be sent to the process whose streams are meant."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal
        self.shows_progress = False  # a bar cannot be drawn from here
        self.answer = bytearray()
        self.beside = bytearray()

    def write(self, text: str) -> None:
        """Keep a part of the answer."""
        self.answer += text.encode("utf-8", "backslashreplace")

    def say(self, text: str) -> None:
        """Keep a line that stands beside the answer."""
        self.beside += f"{text}\n".encode("utf-8", "surrogateescape")
