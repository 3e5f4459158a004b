"""How is one command line answered? The command is found and run, and its answer printed."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from satchel import plugins
from satchel.commands.command import Command
from satchel.errors import InvalidRequest, SatchelError
from satchel.file_writing import disk_trouble
from satchel.serving.cli_flags import HELP_WIDTH, did_you_mean, make_parser, overview, read_request
from satchel.serving.cli_output import CliOutput
from satchel.serving.error_table import ERRORS, EXIT_DOES_NOT_HOLD, EXIT_OK
from satchel.visible_json import compact, indented

if TYPE_CHECKING:
    from satchel.commands.session import Session
    from satchel.engine import Engine
    from satchel.serving.verbs import Verb

OpenSession = Callable[[argparse.Namespace, Command, CliOutput], "AbstractContextManager[Session]"]
"""Opens the index that the options of a command line name, for one command."""


def run_command(given: list[str], description: str, epilog: str) -> int:
    """Run the command that a line names, print its answer, and return the exit code."""
    output = CliOutput()
    if given[:1] == ["help"]:  # `satchel help search` is `satchel search --help`
        given = [*given[1:2], "--help"]
    if not given or given[0] in ("-h", "--help"):
        output.write(_overview(description, epilog))
        return EXIT_OK
    return run_words(given, output, _open_here)


def run_words(given: list[str], output: CliOutput, open_session: OpenSession) -> int:
    """Run the command that the first word names, write its answer, and return the exit code."""
    as_json = "--json" in given
    try:
        word = _load(given[0])
        options = make_parser(word).parse_args(given[1:])
        if isinstance(word, Command):
            response = _answer(word, options, output, open_session)
            _print_answer(response, output, as_json=as_json, counted=word.counted)
        else:
            response = _do(word, options, output)
    except SatchelError as error:
        print_error(error, output, as_json=as_json)
        return ERRORS[error.code].exit
    except OSError as error:
        refused = disk_trouble(error) if error.filename else None  # the output has no name
        if refused is None:
            raise
        print_error(refused, output, as_json=as_json)
        return ERRORS[refused.code].exit
    if isinstance(response, int):
        return response
    return EXIT_OK if getattr(response, "ok", True) else EXIT_DOES_NOT_HOLD


def _overview(description: str, epilog: str) -> str:
    words = [plugins.load(kind, name) for kind in ("command", "verb") for name in plugins.names(kind)]
    return overview(words, description, epilog, width=HELP_WIDTH)


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


def _answer(
    command: Command, options: argparse.Namespace, output: CliOutput, open_session: OpenSession
) -> Any:
    """Run a command in a session, as every other surface does; what there is to know is said beside."""
    started = time.perf_counter()
    request = read_request(command, options, for_terminal=output.is_terminal)
    with open_session(options, command, output) as session:
        try:
            with session:
                response = session.run(command, request, _given(request))
        finally:
            _say_notes(session.warnings, output)
        session.log_query(command.name, getattr(request, "query", None), response, started)
        _say_notes(session.engine.notes, output)
        return response


@contextmanager
def _open_here(options: argparse.Namespace, command: Command, output: CliOutput) -> Iterator[Session]:
    """Open the index in this process."""
    from satchel.commands.freshness import NoFreshener, PatientFreshener
    from satchel.commands.session import Session
    from satchel.rendering.packs import PACK_FORMATS

    root = root_of(options)
    with ExitStack() as stack:
        opened = _open_many(options, stack) if asks_many(options) else _open_one(root, options)
        engine = stack.enter_context(opened.for_caller(progress=_progress(command, output)))
        freshener = NoFreshener() if getattr(options, "no_refresh", False) else PatientFreshener()
        yield Session(engine, PACK_FORMATS, freshener=freshener, project=str(root))


def _open_one(root: Path, options: argparse.Namespace) -> Engine:
    from satchel.engine import Engine

    return Engine.open(root, index_dir=options.index_dir, profile=options.profile or "")


def asks_many(options: argparse.Namespace) -> bool:
    """Return whether a command line asks several repositories as one."""
    named = (getattr(options, name, None) for name in ("library", "repos"))
    wanted = any(getattr(options, name, None) for name in ("cluster", "allow_partial"))
    return wanted or len(options.segments or ()) > 1 or any(value is not None for value in named)


def _open_many(options: argparse.Namespace, stack: ExitStack) -> Engine:
    """Open several folders, or a library, as one; what has to be closed afterwards is left to `stack`."""
    from satchel.library.library import Library
    from satchel.library.library_engine import LibraryEngine

    if options.index_dir:
        raise InvalidRequest("--index-dir is the index of one folder", hint="leave it out")
    profile, repos = options.profile or "", getattr(options, "repos", None) or ()
    of_library = repos or options.cluster or options.allow_partial
    if getattr(options, "library", None) is None and not of_library:
        return LibraryEngine.of_folders([root_at(options, segment) for segment in options.segments], profile)
    if options.segments:
        raise InvalidRequest(
            "--segment is a folder, and --library is asked",
            hint="leave one out, or satchel library add the folder",
        )
    cluster = None
    if options.cluster:
        from satchel.library.cluster import Cluster

        cluster = stack.enter_context(Cluster(options.cluster))
    return Library.open(options.library or "").engine(
        repos, profile, cluster, allow_partial=options.allow_partial
    )


def root_of(options: argparse.Namespace) -> Path:
    """Return the folder that a command line is about, as it is spelled there."""
    return root_at(options, (options.segments or ["."])[-1])


def root_at(options: argparse.Namespace, segment: str) -> Path:
    """Return a folder that a command line names."""
    return Path(options.repo_root) / segment if options.repo_root else Path(segment)


def _progress(command: Command, output: CliOutput) -> Any:
    """Return what shows the progress of long work, on a terminal."""
    if not output.shows_progress:
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


def _say_notes(notes: Iterable[str], output: CliOutput) -> None:
    for note in notes:
        output.say(f"note: {note}")


def _do(verb: Verb, options: argparse.Namespace, output: CliOutput) -> Any:
    """Run a verb and print its answer as that of a command is printed."""
    response = verb.run(read_request(verb, options, for_terminal=output.is_terminal))
    if isinstance(response, int):
        return response
    if getattr(options, "json", False) or verb.show is None:
        _print_answer(response, output, as_json=True, counted=False)
    else:
        output.write(verb.show(response, _style(output)))
    return response


def _print_answer(response: Any, output: CliOutput, *, as_json: bool, counted: bool) -> None:
    document = getattr(response, "document", None)
    if document is not None and (not as_json or response.format in ("json", "sections")):
        _print_document(response, output)
        return
    if as_json:
        output.write(compact(response) if counted else indented(response, 2) + "\n")
        return
    from satchel.rendering.terminal import render

    output.write(render(response, _style(output)))


def _style(output: CliOutput) -> Any:
    from satchel import settings
    from satchel.rendering.style import Style

    return Style(colour=output.is_terminal and not settings.wants_no_colour())


def _print_document(response: Any, output: CliOutput) -> None:
    """Print an answer that is a finished text as it is: it was counted to the last character."""
    if response.trace:
        told = ", ".join(f"{name} {value}" for name, value in response.trace.items())
        output.say(f"trace: {told}")
    text = response.document
    if response.format == "terminal":
        from satchel.rendering.packs.terminal import paint

        text = paint(text, _style(output))
    output.write(text)
    if output.is_terminal and not text.endswith("\n"):
        output.write("\n")


def print_error(error: SatchelError, output: CliOutput, *, as_json: bool) -> None:
    """Print an error: as its envelope, or for people."""
    if as_json:
        envelope = {"status": "error", "message": error.message, "error": error.as_dict()}
        output.write(indented(envelope, 2) + "\n")
        return
    from satchel.rendering.visible import one_line

    output.say(f"satchel: {one_line(error.message)}")
    if error.hint:
        output.say(f"  {one_line(error.hint)}")
