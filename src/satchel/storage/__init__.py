"""Where does an index live? In a store, which a URL names: `open_store("sqlite:///home/me/context.db")`.

The scheme of a URL is the name of a file in this folder (see `StoreScheme`). A plain path means the SQLite
index in that folder.
"""

from __future__ import annotations

import os

from satchel import plugins
from satchel.storage.protocol import LOCK_WAIT_SECONDS, Store, StoreScheme

_FOLDER_SCHEME = "sqlite"


def open_store(place: str | os.PathLike[str], *, lock_wait_seconds: float = LOCK_WAIT_SECONDS) -> Store:
    """Return the store that a URL or a folder names; `lock_wait_seconds` is how long its writers wait for
    each other. Nothing is written, and of the place only whether it is a folder is looked at."""
    scheme, rest = _parted(place)
    return scheme.open(rest, lock_wait_seconds)


def scheme_of(place: str | os.PathLike[str]) -> StoreScheme:
    """Return the kind of store that a URL or a folder names, or raise `Unsupported` for an unknown scheme."""
    return _parted(place)[0]


def place_below(base: str | os.PathLike[str], *parts: str) -> str:
    """Return the place below another one, a folder or a URL; what stands after a question mark in a URL stays
    at its end."""
    written = os.fspath(base)
    start, mark, options = written.partition("?") if "://" in written else (written, "", "")
    return f"{start.rstrip('/')}/{'/'.join(parts)}/{mark}{options}"


def place_within(place: str | os.PathLike[str], name: str) -> str | os.PathLike[str]:
    """Return the place of the index of one root: where a URL names a database that holds many, the `name` of
    the root is added to it; any other place is returned as it is."""
    scheme, rest = _parted(place)
    return place if scheme.within is None else f"{scheme.name}:{scheme.within(rest, name)}"


def _parted(place: str | os.PathLike[str]) -> tuple[StoreScheme, str]:
    scheme, rest = plugins.by_url("store", os.fspath(place))
    if scheme is not None:
        return scheme, rest
    folder = os.path.join(place, "")
    # In a URL two slashes come before the name of a machine.
    return plugins.load("store", _FOLDER_SCHEME), f"//{folder}" if folder.startswith("//") else folder
