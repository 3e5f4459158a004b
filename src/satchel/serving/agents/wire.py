"""The wire to an agent is two descriptors of our own, taken before anything can be printed.

Descriptor 1 leads to standard error from then on, so that no print, of whatever library or child process, can
end up between two messages; descriptor 0 leads nowhere, so that no child process eats a message.
"""

from __future__ import annotations

import os
import sys


class Wire:
    """The two descriptors, taken before anything can be printed."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self.input, self.output = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
