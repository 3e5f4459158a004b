"""The registry of everything that can be added: a kind is a folder, a plug-in is one file in it.

names("language")            -> ["bash", "c", …]
load("language", "python")   -> the value that languages/python.py calls LANGUAGE
"""

from __future__ import annotations

import importlib
import re
import sys
from functools import cache
from importlib.machinery import PathFinder
from typing import Any

from satchel.errors import Unsupported

# kind -> (folder, the name that every plug-in in it defines). A file without that name is not a plug-in.
_DOORS = {
    "catalogue": ("satchel.library.catalogues", "CATALOGUE"),
    "chunker": ("satchel.chunking", "CHUNKER"),
    "client": ("satchel.serving.clients", "CLIENT"),
    "command": ("satchel.commands", "COMMAND"),
    "language": ("satchel.languages", "LANGUAGE"),
    "modules": ("satchel.graph.modules", "MODULES"),
    "renderer": ("satchel.rendering.packs", "RENDERER"),
    "signal": ("satchel.retrieval.signals", "SIGNAL"),
    "store": ("satchel.storage", "STORE"),
    "tokenizer": ("satchel.tokenizers", "TOKENIZER"),
    "transport": ("satchel.serving.transports", "TRANSPORT"),
    "verb": ("satchel.serving.verbs", "VERB"),
}
# One letter before the colon is a drive of Windows.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)
_SCHEME_NAMES = {"postgresql": "postgres"}
# kind -> the folder with further names of plug-ins, which no list shows
_ALIASES = {"command": "satchel.commands.aliases"}


def late(name: str) -> Any:
    """Return a stand-in for a module that is imported when it is first used, so that a short command loads
    little."""
    return sys.modules.get(name) or _Late(name)


class _Late:
    """A module that is imported at its first attribute access. Python's own lazy loader searches for the file
    at once, which is half of the cost of an import."""

    __slots__ = ("_module", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: Any = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            self._module = importlib.import_module(self._name)
        return getattr(self._module, attribute)


@cache
def names(kind: str) -> list[str]:
    """Return the names of all plug-ins of a kind, sorted."""
    import pkgutil  # only listing needs it

    folder, attribute = _DOORS[kind]
    modules = pkgutil.iter_modules(importlib.import_module(folder).__path__)
    return sorted(info.name for info in modules if not info.ispkg and _value(folder, info.name, attribute))


def aliases(kind: str) -> list[str]:
    """Return the further names of a kind, sorted."""
    import pkgutil

    modules = pkgutil.iter_modules(importlib.import_module(_ALIASES[kind]).__path__)
    return sorted(info.name for info in modules)


def find(kind: str, name: str) -> Any:
    """Return one plug-in without importing any other, or None if there is none of that name."""
    if not name.isidentifier():
        return None
    folder, attribute = _DOORS[kind]
    value = _value(folder, name, attribute)
    return _value(_ALIASES[kind], name, attribute) if value is None and kind in _ALIASES else value


def load(kind: str, name: str) -> Any:
    """Return one plug-in without importing any other. An unknown name is an error that lists the known
    ones."""
    value = find(kind, name)
    if value is None:
        raise Unsupported(f"unknown {kind} {name!r}", hint=f"known: {', '.join(names(kind))}")
    return value


def by_url(kind: str, place: str) -> tuple[Any, str]:
    """Return the plug-in of a kind that the scheme of a URL names, and what follows the scheme and its colon;
    None and the whole place where it is a plain path. An unknown scheme is an error, never a folder."""
    url = _URL.fullmatch(place)
    if url is None:
        return None, place
    name = url[1].lower()
    found = find(kind, _SCHEME_NAMES.get(name, name))
    if found is None:  # the URL itself may hold a password, so it is not repeated
        raise Unsupported(
            f"no {kind} has the scheme {url[1]!r}",
            hint=f"known: {', '.join(names(kind))}; write ./{url[1]}:… for a folder of that name",
        )
    return found, url[2]


@cache
def _value(folder: str, name: str, attribute: str) -> Any:
    """Return the value that a plug-in file defines under the name of its kind, or None. The value's own name
    must be that of the file."""
    full_name = f"{folder}.{name}"
    package = importlib.import_module(folder)
    if full_name not in sys.modules and PathFinder.find_spec(full_name, package.__path__) is None:
        return None
    value = getattr(importlib.import_module(full_name), attribute, None)
    if value is not None and value.name != name:
        raise ValueError(f"{full_name} defines {value.name!r}; a plug-in is named after its file")
    return value
