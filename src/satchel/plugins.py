"""The one door for everything pluggable: a kind is a folder, a plug-in is one file in it.

names("language")            -> ["bash", "c", …]
load("language", "python")   -> the value that languages/python.py calls LANGUAGE
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from satchel.errors import Unsupported

# kind -> (folder, the name that every file in it defines); a file without it is not a plug-in
_DOORS = {
    "chunker": ("satchel.chunking", "CHUNKER"),
    "command": ("satchel.commands", "COMMAND"),
    "language": ("satchel.languages", "LANGUAGE"),
    "store": ("satchel.storage", "STORE"),
    "tokenizer": ("satchel.tokenizers", "TOKENIZER"),
}


@cache
def _values(kind: str) -> dict[str, Any]:
    folder, attribute = _DOORS[kind]
    package = importlib.import_module(folder)
    found = {}
    for module_info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if not module_info.ispkg:
            module = importlib.import_module(f"{folder}.{module_info.name}")
            value = getattr(module, attribute, None)
            if value is not None:
                found[value.name] = value
    return found


def names(kind: str) -> list[str]:
    """The names of all plug-ins of a kind, sorted."""
    return sorted(_values(kind))


def load(kind: str, name: str) -> Any:
    """One plug-in; an unknown name is an error that lists the known ones."""
    try:
        return _values(kind)[name]
    except KeyError:
        known = ", ".join(names(kind))
        raise Unsupported(f"unknown {kind} {name!r}", hint=f"known: {known}") from None
