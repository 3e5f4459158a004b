"""The files that are generated from the code: `contracts/v1/` and `docs/commands/`. Tests notice a drift."""

from __future__ import annotations

from argparse import Action, ArgumentParser
from typing import Any

import msgspec
from msgspec.structs import fields

from satchel import plugins
from satchel.commands.command import Command, Group
from satchel.commands.freshness import IndexStateItem
from satchel.packing.layers import LayeredPack
from satchel.serving.cli_flags import add_flags, first_sentence
from satchel.serving.envelope import Request, Response
from satchel.serving.http import openapi
from satchel.serving.verbs import Verb

_SHARED = "every command"  # the title of the flags that all commands have
_INDEX = "README.md"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas of `contracts/v1/` by file name."""
    found = {
        "command.request.schema.json": _schema(Request),
        "command.response.schema.json": _schema(Response),
        "context_pack_layers.schema.json": _schema(LayeredPack),
        "index_state.schema.json": _schema(IndexStateItem),
        "openapi.json": openapi.document(),
    }
    for name in plugins.names("command"):
        command: Command = plugins.load("command", name)
        found[f"{name}.request.schema.json"] = _schema(command.request)
        found[f"{name}.response.schema.json"] = _schema(command.response)
    return found


def _schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {"$schema": _DIALECT, **msgspec.json.schema(kind)}


def command_pages() -> dict[str, str]:
    """Return the pages of `docs/commands/` by file name."""
    words: list[Command | Verb] = [
        plugins.load(kind, name) for kind in ("command", "verb") for name in plugins.names(kind)
    ]
    return {_INDEX: _index(words), **{f"{word.name}.md": _page(word) for word in words}}


def _index(words: list[Command | Verb]) -> str:
    """Return the page that lists all commands and the flags that they share."""
    first = _parser(next(word for word in words if isinstance(word, Command)))
    return "\n".join(
        (
            "# Commands",
            "",
            *(line for group in Group for line in _group(group, words)),
            f"## Flags of {_SHARED}",
            "",
            *_table(_flags(first, shared=True)),
            "",
        )
    )


def _group(group: Group, words: list[Command | Verb]) -> list[str]:
    """Return the part of the index that lists the commands of one group."""
    rows = [
        f"| [`satchel {word.name}`]({word.name}.md) | {first_sentence(word.help)} |"
        for word in sorted(words, key=lambda word: word.name)
        if word.group is group
    ]
    return [f"## {group}", "", "| command | what it does |", "|---|---|", *rows, ""]


def _page(word: Command | Verb) -> str:
    """Return the page of one command or verb."""
    own = _flags(_parser(word), shared=False)
    lines = [f"# satchel {word.name}", "", *_as_markdown(word.help), "", *(_table(own) if own else ())]
    if isinstance(word, Command):
        lines += [f"\nAnother name for it, on every surface: {name}." for name in _aliases(word)]
        contract = f"../../contracts/v1/{word.name}"
        lines += [
            "",
            f"Besides, it takes the [flags of {_SHARED}]({_INDEX}). On the wire: "
            f"[request]({contract}.request.schema.json), [answer]({contract}.response.schema.json).",
        ]
    return "\n".join((*lines, ""))


def _aliases(command: Command) -> list[str]:
    """Return the aliases of a command, each with its required arguments."""
    named: list[Command] = [plugins.load("command", name) for name in plugins.aliases("command")]
    return [
        f"`{other.name}({', '.join(field.name for field in fields(other.request) if field.required)})`"
        for other in named
        if other.response is command.response
    ]


def _as_markdown(text: str) -> list[str]:
    """Return a help text as Markdown: its examples become indented code."""
    return [f"    {line}" if line.startswith("satchel ") else line for line in text.split("\n")]


def _parser(word: Command | Verb) -> ArgumentParser:
    parser = ArgumentParser(prog=f"satchel {word.name}", add_help=False)
    add_flags(parser, word)
    return parser


def _flags(parser: ArgumentParser, *, shared: bool) -> list[Action]:
    """Return the flags of a parser that all commands share, or the ones of this command alone."""
    return [
        action
        for group in parser._action_groups
        for action in group._group_actions
        if (group.title == _SHARED) == shared
    ]


def _table(flags: list[Action]) -> list[str]:
    """Return the lines of a Markdown table of flags."""
    rows = [f"| {_flag_names(flag)} | {(flag.help or '').replace('|', chr(92) + '|')} |" for flag in flags]
    return ["| flag | what it says |", "|---|---|", *rows]


def _flag_names(flag: Action) -> str:
    """Return the spellings of a flag with its value, as Markdown."""
    value = f" {flag.metavar}" if flag.option_strings and flag.nargs != 0 and flag.metavar else ""
    if value and flag.nargs == "?":
        value = f" [{flag.metavar}]"
    names = [f"`{name}{value}`" for name in flag.option_strings]
    return ", ".join(names) or f"`{flag.metavar}`"
