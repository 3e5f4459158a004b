"""How a server process says where it listens, starts its slow work in the background, and ends in time."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress

import msgspec

from satchel.errors import SatchelError
from satchel.serving.dispatcher import Dispatcher

# MCP clients list the tools right after the handshake; that request must not compete with loading.
_START_DELAY_SECONDS = 0.2


def announce(
    dispatcher: Dispatcher, transport: str, address: tuple[str, int], url: str, *, as_json: bool
) -> None:
    """Print one line that says where the server listens; `{}` in `url` stands for host and port."""
    host, port = address
    if as_json:
        print(msgspec.json.encode({"transport": transport, "host": host, "port": port}).decode(), flush=True)
        return
    shown = f"[{host}]" if ":" in host else host
    names = ", ".join(root.name for root in dispatcher.roots())
    print(f"satchel: {url.format(f'{shown}:{port}')} serves {names}", file=sys.stderr, flush=True)


def start_in_background(dispatcher: Dispatcher) -> None:
    """Open the served roots in another thread, a moment after the handshake with the client."""
    timer = threading.Timer(_START_DELAY_SECONDS, _start, [dispatcher])
    timer.daemon = True
    timer.start()


def _start(dispatcher: Dispatcher) -> None:
    # A root that cannot be opened is reported by the first call, which meets the same error.
    with suppress(SatchelError):
        dispatcher.start()


def exit_within(seconds: float) -> None:
    """End the process after `seconds` unless it has ended by then.

    An index is written in transactions, so that only unfinished work is lost. Worker processes are killed,
    because they would wait for ever for a parent that is gone.
    """
    threading.Thread(target=_exit_after, args=(seconds,), daemon=True).start()


def _exit_after(seconds: float) -> None:
    time.sleep(seconds)
    kill_child_processes()
    os._exit(0)


def kill_child_processes() -> None:
    """Kill the processes that still parse files of a cancelled refresh; exiting would wait for them."""
    multiprocessing = sys.modules.get("multiprocessing")
    for child in multiprocessing.active_children() if multiprocessing is not None else ():
        child.kill()


def exit_now() -> None:
    """End the process at once although a call still runs.

    What the call writes is one transaction and is rolled back; closing the index under it could crash.
    """
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(0)
