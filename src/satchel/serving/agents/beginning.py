"""A server answers first and loads what answers need a moment later, unasked."""

from __future__ import annotations

import threading
from contextlib import suppress

from satchel.errors import SatchelError
from satchel.serving.dispatcher import Dispatcher

_SETTLING_SECONDS = 0.2  # clients list the tools right after the handshake: that goes first


def start_soon(dispatcher: Dispatcher) -> None:
    """Opens the roots and begins to keep them, in the background."""
    soon = threading.Timer(_SETTLING_SECONDS, _start, [dispatcher])
    soon.daemon = True
    soon.start()


def _start(dispatcher: Dispatcher) -> None:
    with suppress(SatchelError):  # whoever calls is told, by the call that finds the same
        dispatcher.start()
