"""`satchel watch`: keep the index of a folder fresh, in the foreground."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from satchel import extras, settings
from satchel.commands.command import Flag, Group
from satchel.errors import ProjectNotFound
from satchel.plugins import late
from satchel.serving.verbs import Verb
from satchel.visible_json import compact

if TYPE_CHECKING:
    from satchel import storage
    from satchel.serving import served_project
    from satchel.serving.watching import index_updater, updater_state
else:  # `--help` must load no engine
    index_updater = late("satchel.serving.watching.index_updater")
    updater_state = late("satchel.serving.watching.updater_state")
    served_project, storage = late("satchel.serving.served_project"), late("satchel.storage")

_POLL_SECONDS = 0.5  # on some systems a signal is handled only between two waits


class WatchRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `satchel watch`."""

    segment: Annotated[str, Meta(description="the project (default: .)"), Flag("-s")] = "."
    index_dir: Annotated[
        str, Meta(description="keep the index in this folder or at this store URL, not in _ctx/")
    ] = ""
    json: Annotated[bool, Meta(description="print a JSON object for each refresh")] = False


def run(request: WatchRequest) -> int:
    """Keep the index of a folder fresh until interrupted: an edit can be found within a second.

    Prints a line for the first refresh and for each one after it. Several may watch the same folder, and
    any other command may run beside it: one of them indexes a change, the others see that it is done. While
    it runs, it answers the questions of other command lines about this folder, which saves their start.
    """
    if not os.path.isdir(request.segment):
        raise ProjectNotFound(f"{request.segment!r} is not a folder", hint="give the root of a project")
    extras.require("serve", "satchel watch")
    if chosen := settings.chosen_index(Path(request.segment).resolve(), request.index_dir):
        storage.scheme_of(chosen)
    done = threading.Event()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: done.set())
    project = served_project.ServedProject(Path(request.segment).resolve())
    project.open(
        request.index_dir,
        "",
        lambda root: index_updater.IndexUpdater(
            root,
            index_dir=request.index_dir or None,
            on_event=lambda event: _print(event, request.json, done),
        ),
    )
    while not done.wait(_POLL_SECONDS):
        project.release_if_old()
    project.close()
    return 0


def _print(event: updater_state.UpdaterEvent, as_json: bool, done: threading.Event) -> None:
    """Print an event as one line: refreshes and JSON to standard output, other texts to standard error."""
    line = compact(event) if as_json else _line(event)
    try:
        print(line, file=sys.stdout if as_json or _is_refresh(event) else sys.stderr, flush=True)
    # The reader of the lines has gone away.
    except OSError:
        done.set()


def _is_refresh(event: updater_state.UpdaterEvent) -> bool:
    return bool(event.event == updater_state.UpdaterEventKind.REFRESH)


def _line(event: updater_state.UpdaterEvent) -> str:
    """Return an event as a line for people."""
    if not _is_refresh(event):
        return f"satchel: {event.text}"
    counts: dict[str, Any] = {
        name: getattr(event, name) for name in ("parsed", "moved", "touched", "dropped")
    }
    done = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nothing to do"
    note = f" ({event.text})" if event.text else ""
    return f"generation {event.generation}: {done}, {event.duration_ms} ms{note}"


VERB = Verb("watch", WatchRequest, run, group=Group.SERVE)
