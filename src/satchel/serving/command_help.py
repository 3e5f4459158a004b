"""What does `satchel --help` say, and what is meant by a command or flag that does not exist?

Commands are listed by what people want of them. Each command says its group itself, so that a new file is
listed without a change here.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from satchel.commands.command import Command, Group
from satchel.plugins import late
from satchel.serving.verb import Verb

if TYPE_CHECKING:
    from satchel.retrieval import fuzzy_match
else:  # it loads numpy, which only a misspelled word is worth
    fuzzy_match = late("satchel.retrieval.fuzzy_match")

_INDENT = 2


def overview(words: Sequence[Command | Verb], description: str, epilog: str, *, width: int) -> str:
    """Return the help of the whole command line: every command in its group, with one sentence."""
    column = _INDENT + max(len(word.name) for word in words) + 2
    lines = ["usage: satchel COMMAND [options]", "", description, ""]
    for group in Group:
        lines.append(f"{group}:")
        for word in sorted(words, key=lambda word: word.name):
            if word.group is group:
                lines += _entry(word, column, width)
        lines.append("")
    closing = "`satchel COMMAND --help` says what a command takes, `satchel --version` which version this is."
    return "\n".join((*lines, closing, "", epilog, ""))


def _entry(word: Command | Verb, column: int, width: int) -> list[str]:
    label = f"{' ' * _INDENT}{word.name}".ljust(column)
    return textwrap.wrap(
        first_sentence(word.help), width, initial_indent=label, subsequent_indent=" " * column
    )


def first_sentence(text: str) -> str:
    """Return the first sentence of a help text, on one line."""
    paragraph = " ".join(text.split("\n\n")[0].split())
    sentence, dot, _ = paragraph.partition(". ")
    return sentence + dot.strip()


def did_you_mean(wrong: str, known: Iterable[str], prefix: str = "") -> str:
    """Return a question that names what is spelled most like `wrong`; empty if nothing is. A `prefix` that
    all names have is left out when they are compared: it would make all of them alike."""
    names = [name.removeprefix(prefix) for name in known]
    found = fuzzy_match.NameMatcher(names).nearest(wrong.removeprefix(prefix))
    near = [prefix + name for name in found]
    return f"did you mean {' or '.join(near)}? " if near else ""


def flags_of(parser: argparse.ArgumentParser) -> list[str]:
    """Return every long flag that a parser takes, sorted."""
    return sorted(name for action in parser._actions for name in action.option_strings if name[:2] == "--")
