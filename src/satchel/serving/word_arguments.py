"""What may stand behind each word of the command line? Its flags and places, and what each of them takes.

Shell completion and manual pages are made of this. The parsers of the words are the source, so that a new
command is completed and described without a change here.
"""

from __future__ import annotations

from argparse import Action
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec

from satchel import plugins
from satchel.commands.command import Command, LocalPath
from satchel.serving.cli_flags import make_parser
from satchel.serving.verbs import Verb


class Takes(StrEnum):
    """What follows a flag, or stands at a place."""

    NOTHING = "nothing"
    TEXT = "text"
    VALUE = "value"  # one of the known values
    FILE = "file"
    FOLDER = "folder"


class WordArgument(msgspec.Struct, frozen=True):
    """A flag of a word, or a place behind it if it has no names."""

    names: tuple[str, ...]
    metavar: str
    help: str
    takes: Takes
    values: tuple[str, ...] = ()
    is_optional: bool = False  # the flag may stand without its value
    is_repeatable: bool = False


def all_words() -> list[Command | Verb]:
    """Return every command and verb, sorted by name."""
    words = [plugins.load(kind, name) for kind in ("command", "verb") for name in plugins.names(kind)]
    return sorted(words, key=lambda word: str(word.name))


def word_names() -> list[str]:
    """Return the names of all commands and verbs, sorted."""
    return sorted({*plugins.names("command"), *plugins.names("verb")})


def arguments_of(word: Command | Verb) -> list[WordArgument]:
    """Return the places and flags of a word, those that all words share last."""
    parser = make_parser(word)
    groups = [group._group_actions for group in parser._action_groups]
    shared = [action for group in groups[2:] for action in group]
    own = [action for group in groups[:2] for action in group]
    hints = get_type_hints(word.request, include_extras=True)
    return [_argument(action, hints) for action in (*own, *shared)]


def _argument(action: Action, hints: dict[str, Any]) -> WordArgument:
    """Return one action of a parser as an argument; the annotation of its field says what it takes."""
    field = action.dest.removesuffix("_flag")
    kind, *notes = get_args(hints.get(field)) or (None,)
    takes, values = _taken(action, field, kind, notes)
    help_text = "show this help and exit" if action.dest == "help" else (action.help or "")
    return WordArgument(
        tuple(action.option_strings),
        str(action.metavar or "") if takes is not Takes.NOTHING else "",
        help_text,
        takes,
        values,
        is_optional=bool(action.option_strings) and action.nargs == "?",
        is_repeatable=action.nargs in ("*", "+")
        or type(action).__name__ in ("_AppendAction", "_ExtendAction"),
    )


def _taken(action: Action, field: str, kind: Any, notes: list[Any]) -> tuple[Takes, tuple[str, ...]]:
    """Return what an action takes, and which values, if they are known."""
    if action.option_strings and action.nargs == 0:
        return Takes.NOTHING, ()
    local = next((note for note in notes if isinstance(note, LocalPath)), None)
    if field in _FOLDERS or action.metavar == "DIR":
        return Takes.FOLDER, ()
    if local is not None and not local.or_name:
        return Takes.FILE, ()
    members = tuple(str(member.value) for member in getattr(kind, "__members__", {}).values())
    values = members or _known_values(field)
    if values:
        return Takes.VALUE, values
    return (Takes.FILE if field in _OFTEN_PATHS else Takes.TEXT), ()


@cache
def _known_values(field: str) -> tuple[str, ...]:
    """Return the values of a field that names plug-ins or words."""
    found = _KNOWN.get(field)
    return tuple(found()) if found else ()


def _labels() -> list[str]:
    """Return the names of agent clients as people type them."""
    return [plugins.load("client", name).label for name in plugins.names("client")]


# Fields whose text is one of a list that the field's type does not say.
_KNOWN: dict[str, Callable[[], list[str]]] = {
    "clients": _labels,
    "format": lambda: plugins.names("renderer"),
    "language": lambda: plugins.names("language"),
    "profile": lambda: ["quality", "fast"],
    "tokenizer": lambda: plugins.names("tokenizer"),
    "transport": lambda: plugins.names("transport"),
    "word": word_names,
}
_FOLDERS = {"segment", "segments", "path_prefix", "folder"}
_OFTEN_PATHS = {"ids", "name", "focus", "file", "include_paths", "exclude_paths", "scip"}
