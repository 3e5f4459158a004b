"""Manual pages in the macros of man(7): `satchel.1`, and one page for each word of the command line."""

from __future__ import annotations

import textwrap

from satchel._version import __version__
from satchel.commands.command import Command, Group
from satchel.serving.cli import DESCRIPTION, EPILOG
from satchel.serving.cli_flags import first_sentence
from satchel.serving.verbs import Verb
from satchel.serving.word_arguments import WordArgument, all_words, arguments_of

PROGRAM = "satchel"


def man_pages() -> dict[str, str]:
    """Return all manual pages by file name."""
    words = all_words()
    return {f"{PROGRAM}.1": _overview(words), **{page_name(word.name): _page(word) for word in words}}


def page_name(word: str) -> str:
    """Return the file name of the page of a word."""
    return f"{PROGRAM}-{word}.1"


def _overview(words: list[Command | Verb]) -> str:
    """Return the page of the whole command line: all words by what they are for, examples, exit codes."""
    lines = [
        *_head(PROGRAM, DESCRIPTION),
        ".SH SYNOPSIS",
        f".B {PROGRAM}",
        ".I COMMAND",
        "[options]",
        ".SH DESCRIPTION",
        "Every command has a page of its own, as satchel\\-search(1), and takes \\fB\\-\\-help\\fR.",
    ]
    for group in Group:
        lines.append(f".SS {_text(group)}")
        for word in words:
            if word.group is group:
                lines += [
                    ".TP",
                    f".BR {_text(PROGRAM + '-' + word.name)} (1)",
                    _text(first_sentence(word.help)),
                ]
    examples, _, codes = EPILOG.partition("\n\nexit codes: ")
    lines += [".SH EXAMPLES", *_verbatim(examples.partition("\n")[2]), '.SH "EXIT STATUS"', _text(codes)]
    return "\n".join((*lines, *_ENVIRONMENT, ""))


def _page(word: Command | Verb) -> str:
    """Return the page of one word."""
    arguments = arguments_of(word)
    title = f"{PROGRAM}-{word.name}"
    summary = first_sentence(word.help)
    rest = word.help.partition("\n\n")[2]
    lines = [*_head(title, summary), ".SH SYNOPSIS", f".B {PROGRAM} {_text(word.name)}", "[options]"]
    lines += [f"[\\fI{_text(place.metavar)}\\fR]" for place in arguments if not place.names]
    lines += [".SH DESCRIPTION", _text(summary), *_paragraphs(rest), ".SH OPTIONS"]
    for argument in arguments:
        lines += [".TP", _names(argument), _text(argument.help or "no more is said")]
    return "\n".join((*lines, '.SH "SEE ALSO"', f".BR {PROGRAM} (1)", ""))


def _head(title: str, summary: str) -> list[str]:
    """Return the title and the name of a page. It has no date: the same version gives the same bytes."""
    name = _text(title)
    return [
        f'.TH {name.upper()} 1 "" "satchel {__version__}" "Satchel"',
        ".SH NAME",
        f"{name} \\- {_text(summary.rstrip('.').replace(chr(10), ' '))}",
    ]


def _names(argument: WordArgument) -> str:
    """Return the spellings of an argument with its value."""
    value = f"\\fI{_text(argument.metavar)}\\fR" if argument.metavar else ""
    if not argument.names:
        return value
    shown = f" [{value}]" if argument.is_optional else f" {value}"
    return ", ".join(f"\\fB{_text(name)}\\fR{shown if value else ''}" for name in argument.names)


def _paragraphs(text: str) -> list[str]:
    """Return a help text as paragraphs; lines that are command lines become examples."""
    lines: list[str] = []
    for paragraph in filter(str.strip, text.split("\n\n")):
        if all(line.startswith(f"{PROGRAM} ") for line in paragraph.split("\n")):
            lines += [".PP", *_verbatim(paragraph)]
        else:
            lines += [".PP", *(_text(line) for line in paragraph.split("\n"))]
    return lines


def _verbatim(text: str) -> list[str]:
    """Return lines that are shown as they are."""
    return [".nf", *(_text(line) for line in textwrap.dedent(text).split("\n")), ".fi"]


def _text(text: str) -> str:
    """Return text as roff reads it: nothing is an escape or a request, and hyphens can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


_ENVIRONMENT = (
    ".SH ENVIRONMENT",
    ".TP",
    ".B SATCHEL_HOME",
    "the folder or store URL in which indexes are kept, instead of _ctx/ in each project",
    ".TP",
    ".B SATCHEL_TOKEN",
    "the token that callers of a server must send",
    ".TP",
    ".B SATCHEL_QUERY_LOG",
    "1: note questions beside the index",
    ".TP",
    ".B NO_COLOR",
    "set: no colours",
)
