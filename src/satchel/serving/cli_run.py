"""How is one command line answered? The command is found and run, and its answer printed."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from satchel import plugins
from satchel.commands.command import Command
from satchel.errors import InvalidRequest, SatchelError
from satchel.file_writing import disk_trouble
from satchel.serving.cli_flags import HELP_WIDTH, did_you_mean, make_parser, overview, read_request
from satchel.serving.error_table import ERRORS, EXIT_DOES_NOT_HOLD, EXIT_OK
from satchel.visible_json import compact, indented

if TYPE_CHECKING:
    from satchel.serving.verbs import Verb


def run_command(given: list[str], description: str, epilog: str) -> int:
    """Run the command that a line names, print its answer, and return the exit code."""
    as_json = "--json" in given
    try:
        if given[:1] == ["help"]:  # `satchel help search` is `satchel search --help`
            given = [*given[1:2], "--help"]
        if not given or given[0] in ("-h", "--help"):
            _print_overview(description, epilog)
            return EXIT_OK
        word = _load(given[0])
        options = make_parser(word).parse_args(given[1:])
        if isinstance(word, Command):
            response = _answer(options)
            _print_answer(response, as_json=as_json, counted=word.counted)
        else:
            response = _do(word, options)
    except SatchelError as error:
        print_error(error, as_json=as_json)
        return ERRORS[error.code].exit
    except OSError as error:
        refused = disk_trouble(error) if error.filename else None  # the output has no name
        if refused is None:
            raise
        print_error(refused, as_json=as_json)
        return ERRORS[refused.code].exit
    if isinstance(response, int):
        return response
    return EXIT_OK if getattr(response, "ok", True) else EXIT_DOES_NOT_HOLD


def _print_overview(description: str, epilog: str) -> None:
    words = [plugins.load(kind, name) for kind in ("command", "verb") for name in plugins.names(kind)]
    _write(overview(words, description, epilog, width=HELP_WIDTH))


def _load(name: str) -> Command | Verb:
    """Return the command or verb of that name, loading the file of no other one."""
    if name.startswith("-"):
        raise InvalidRequest(f"{name} stands before the command", hint="satchel COMMAND [options]")
    found: Command | Verb | None = plugins.find("command", name) or plugins.find("verb", name)
    if found is None:
        words = sorted({*plugins.names("command"), *plugins.names("verb")})
        near = did_you_mean(name, words)
        hint = f"{near}satchel --help lists all commands" if near else f"known: {', '.join(words)}"
        raise InvalidRequest(f"unknown command {name!r}", hint=hint)
    return found


def _answer(options: argparse.Namespace) -> Any:
    """Run a command in a session, as every other surface does; what there is to know goes to stderr."""
    started = time.perf_counter()
    command: Command = plugins.load("command", options.command)
    request = read_request(command, options)
    from satchel.commands.freshness import NoFreshener, PatientFreshener
    from satchel.commands.session import Session
    from satchel.engine import Engine
    from satchel.rendering.packs import PACK_FORMATS

    root = Path(options.repo_root) / options.segment if options.repo_root else Path(options.segment)
    opened = Engine.open(root, index_dir=options.index_dir, profile=options.profile or "")
    with opened.for_caller(progress=_progress(command)) as engine:
        freshener = NoFreshener() if getattr(options, "no_refresh", False) else PatientFreshener()
        session = Session(engine, PACK_FORMATS, freshener=freshener, project=str(root))
        try:
            with session:
                response = session.run(command, request, _given(request))
        finally:
            _print_notes(session.warnings)
        session.log_query(command.name, getattr(request, "query", None), response, started)
        _print_notes(engine.notes)
        return response


def _progress(command: Command) -> Any:
    """Return what shows the progress of long work, on a terminal."""
    if not sys.stderr.isatty():
        return None
    from satchel.rendering.style import ProgressBar

    return ProgressBar("asking" if command.name == "eval" else "indexing")


def _given(request: Any) -> dict[str, Any]:
    """Return the fields of a request that have another value than the default."""
    values = {
        field.name: (getattr(request, field.name), field.default) for field in msgspec.structs.fields(request)
    }
    given = {name: value for name, (value, default) in values.items() if value not in (default, {})}
    told: dict[str, Any] = msgspec.to_builtins(given)
    return told


def _print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def _do(verb: Verb, options: argparse.Namespace) -> Any:
    """Run a verb and print its answer as that of a command is printed."""
    response = verb.run(read_request(verb, options))
    if isinstance(response, int):
        return response
    if getattr(options, "json", False) or verb.show is None:
        _print_answer(response, as_json=True, counted=False)
    else:
        _write(verb.show(response, _style()))
    return response


def _print_answer(response: Any, *, as_json: bool, counted: bool) -> None:
    document = getattr(response, "document", None)
    if document is not None and (not as_json or response.format in ("json", "sections")):
        _print_document(response)
        return
    if as_json:
        _write(compact(response) if counted else indented(response, 2) + "\n")
        return
    from satchel.rendering.terminal import render

    _write(render(response, _style()))


def _style() -> Any:
    from satchel import settings
    from satchel.rendering.style import Style

    return Style(colour=sys.stdout.isatty() and not settings.wants_no_colour())


def _print_document(response: Any) -> None:
    """Print an answer that is a finished text as it is: it was counted to the last character."""
    if response.trace:
        told = ", ".join(f"{name} {value}" for name, value in response.trace.items())
        print(f"trace: {told}", file=sys.stderr)
    text = response.document
    if response.format == "terminal":
        from satchel.rendering.packs.terminal import paint

        text = paint(text, _style())
    _write(text)
    if sys.stdout.isatty() and not text.endswith("\n"):
        _write("\n")


def print_error(error: SatchelError, *, as_json: bool) -> None:
    if as_json:
        envelope = {"status": "error", "message": error.message, "error": error.as_dict()}
        _write(indented(envelope, 2) + "\n")
        return
    from satchel.rendering.visible import one_line

    print(f"satchel: {one_line(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"  {one_line(error.hint)}", file=sys.stderr)


def _write(text: str) -> None:
    """Write text as UTF-8 whatever the locale says: the same answer is the same bytes everywhere."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
