"""One command line → one command → one answer on the screen."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_args, get_type_hints

import msgspec

from satchel import plugins
from satchel.commands.command import Command, Flag, GitName, Positional
from satchel.errors import InvalidRequest, SatchelError
from satchel.file_writing import disk_trouble
from satchel.serving.error_table import ERRORS, EXIT_DOES_NOT_HOLD, EXIT_OK
from satchel.visible_json import compact, indented

if TYPE_CHECKING:
    from satchel.serving.verb import Verb

_HELP_WIDTH = 100
_WHOLE_NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)


def run_command(given: list[str], description: str, epilog: str) -> int:
    """Parse, run, print."""
    as_json = "--json" in given
    try:
        if given[:1] == ["help"]:  # `satchel help search` is `satchel search --help`
            given = [*given[1:2], "--help"]
        if not given or given[0] in ("-h", "--help"):
            _print_overview(description, epilog)
            return EXIT_OK
        word = _load(given[0])
        options = _parser(word).parse_args(given[1:])
        if isinstance(word, Command):
            response = _answer(options)
            _print_answer(response, as_json=as_json, counted=word.counted)
        else:
            response = _do(word, options)
    except SatchelError as error:
        _print_error(error, as_json=as_json)
        return ERRORS[error.code].exit
    except OSError as error:
        refused = disk_trouble(error) if error.filename else None  # the output has no name
        if refused is None:
            raise
        _print_error(refused, as_json=as_json)
        return ERRORS[refused.code].exit
    if isinstance(response, int):
        return response
    return EXIT_OK if getattr(response, "ok", True) else EXIT_DOES_NOT_HOLD


def _print_overview(description: str, epilog: str) -> None:
    from satchel.serving.command_help import overview

    words = [plugins.load(kind, name) for kind in ("command", "verb") for name in plugins.names(kind)]
    _write(overview(words, description, epilog, width=_HELP_WIDTH))


def _load(name: str) -> Command | Verb:
    """Return the command or verb of that name, loading the file of no other one."""
    if name.startswith("-"):
        raise InvalidRequest(f"{name} stands before the command", hint="satchel COMMAND [options]")
    found: Command | Verb | None = plugins.find("command", name) or plugins.find("verb", name)
    if found is None:
        from satchel.serving.command_help import did_you_mean

        words = sorted({*plugins.names("command"), *plugins.names("verb")})
        near = did_you_mean(name, words)
        hint = f"{near}satchel --help lists all commands" if near else f"known: {', '.join(words)}"
        raise InvalidRequest(f"unknown command {name!r}", hint=hint)
    return found


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are those of all commands: typed, and JSON where that was asked for."""

    def error(self, message: str) -> NoReturn:
        raise InvalidRequest(message, hint=f"{self._meant(message)}{self.prog} --help")

    def _meant(self, message: str) -> str:
        """Return which flag was probably meant by the first one that is not known."""
        told, _, unknown = message.partition(": ")
        wrong = next((word for word in unknown.split() if word.startswith("--")), "")
        if told != "unrecognized arguments" or not wrong:
            return ""
        from satchel.serving.command_help import did_you_mean, flags_of

        return did_you_mean(wrong.partition("=")[0], flags_of(self), prefix="--")


def _parser(word: Command | Verb) -> argparse.ArgumentParser:
    """Return the parser of one command or verb; its options also say which one it is."""
    parser = _Parser(
        prog=f"satchel {word.name}",
        description=word.help,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=_HELP_WIDTH),
    )
    parser.set_defaults(command=word.name)
    add_flags(parser, word)
    return parser


def add_flags(parser: argparse.ArgumentParser, word: Command | Verb) -> None:
    """All that a word of the command line takes."""
    if isinstance(word, Command):
        _add_shared(parser, word)
    _add_fields(parser, word.request)


def _add_shared(parser: argparse.ArgumentParser, command: Command) -> None:
    shared = parser.add_argument_group("every command")
    shared.add_argument(
        "--segment", "-s", default=".", metavar="DIR", help="the folder to work on (default: .)"
    )
    shared.add_argument("--repo-root", "-r", default="", metavar="DIR", help="where --segment is relative to")
    shared.add_argument(
        "--index-dir",
        default=None,
        metavar="DIR",
        help="keep the index in this folder or at this store URL, not in _ctx/",
    )
    if "profile" not in command.request.__struct_fields__:  # a command may have one to say more about
        shared.add_argument(
            "--profile", default="", metavar="NAME", help="rank by quality (default) or fast: without vectors"
        )
    shared.add_argument("--json", action="store_true", help="print the answer as JSON")
    if command.fresh:
        shared.add_argument("--no-refresh", action="store_true", help="answer from the index as it is")


def _add_fields(parser: argparse.ArgumentParser, request: type[msgspec.Struct]) -> None:
    hints = get_type_hints(request, include_extras=True)
    for field in msgspec.structs.fields(request):
        kind, *notes = get_args(hints[field.name])
        description = next(note.description or "" for note in notes if isinstance(note, msgspec.Meta))
        flags = [f"--{field.name.replace('_', '-')}"]
        flags += [note.name for note in notes if isinstance(note, Flag) and note.name not in flags]
        settings: dict[str, Any] = {"help": f"{description}{_values(kind, field.default, description)}"}
        if kind is bool and field.default is False:
            settings["action"] = "store_true"
        elif bool in (kind, *get_args(kind)):
            settings.update(action=argparse.BooleanOptionalAction, default=None)
        elif getattr(kind, "__origin__", None) is dict:
            settings.update(type=_pairs, default=None, metavar="NAME=N,…")
        elif _is_tuple(kind) and issubclass(get_args(kind)[0], msgspec.Struct):
            settings.update(type=_json_list, default=None, metavar="JSON")
        elif _is_tuple(kind):
            settings.update(action="append", default=None, metavar=field.name[:-1].upper())
        else:
            settings.update(type=_reader(kind), default=None, metavar=field.name.upper())
        if any(isinstance(note, Positional) for note in notes):
            settings.pop("action", None)
            nargs = "*" if _is_tuple(kind) else "?"
            parser.add_argument(field.name, nargs=nargs, help=settings["help"], metavar=field.name.upper())
            settings.update(default=None, dest=f"{field.name}_flag")
            if _is_tuple(kind):
                settings.update(action="extend", nargs="+")
        parser.add_argument(*flags, **settings)


def _values(kind: Any, default: Any, description: str) -> str:
    """What may be given, where it is one of a few; and what is taken if nothing is, unless that was said."""
    members = [member.value for member in getattr(kind, "__members__", {}).values()]
    told = [f"{', '.join(members[:-1])} or {members[-1]}"] if len(members) > 1 else []
    shown = type(default) in (int, float) or isinstance(default, str)
    if default and shown and "default" not in description:
        told.append(f"default {getattr(default, 'value', default)}")
    return f" ({'; '.join(told)})" if told else ""


def _pairs(text: str) -> dict[str, int]:
    """`definitions=4,tests=0`."""
    pairs = {}
    for part in filter(str.strip, text.split(",")):
        name, _, number = part.partition("=")
        if not name.strip() or not _WHOLE_NUMBER.fullmatch(number.strip()):
            raise argparse.ArgumentTypeError(f"{part.strip()!r} has not the form NAME=N, as definitions=4")
        pairs[name.strip()] = int(number)
    return pairs


def _json_list(text: str) -> list[Any]:
    """What has no words of its own on a command line: a list of objects."""
    from satchel.commands.payloads import check_depth, too_deep

    try:
        found = msgspec.json.decode(text, type=list[Any])
    except RecursionError:
        raise too_deep() from None
    except msgspec.DecodeError as error:
        raise argparse.ArgumentTypeError(f"this is no list in JSON: {error}") from None
    check_depth(found)
    return found


def _is_tuple(kind: Any) -> bool:
    return getattr(kind, "__origin__", None) is tuple


def _reader(kind: Any) -> Any:
    kinds = (kind, *get_args(kind))
    return next((number for number in (int, float) if number in kinds), str)


def _answer(options: argparse.Namespace) -> Any:
    """Run a command in a session, as every other surface does; what there is to know goes to stderr."""
    started = time.perf_counter()
    command: Command = plugins.load("command", options.command)
    request = _request(command, options)
    from satchel.commands.freshness import NoFreshener, PatientFreshener
    from satchel.commands.session import Session
    from satchel.engine import Engine
    from satchel.rendering.formats import PACK_FORMATS

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
    """Run a verb; what it answers with is printed as a command's answer is."""
    response = verb.run(_request(verb, options))
    if isinstance(response, int):
        return response
    if getattr(options, "json", False) or verb.show is None:
        _print_answer(response, as_json=True, counted=False)
    else:
        _write(verb.show(response, _style()))
    return response


def _request(command: Command | Verb, options: argparse.Namespace) -> Any:
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(command.request):
        value = getattr(options, field.name, None)
        value = _joined(field.name, value, getattr(options, f"{field.name}_flag", None))
        if value is None and field.required:
            raise InvalidRequest(
                f"the following arguments are required: {field.name.upper()}",
                hint=f"satchel {command.name} --help",
            )
        if value == "" and _names_git(command.request, field.name):
            raise InvalidRequest(
                f"--{field.name} is empty", hint=f"name what is meant, or leave --{field.name} out"
            )
        if value is not None:
            values[field.name] = _readable(value)
    if "format" in command.request.__struct_fields__ and (options.json or sys.stdout.isatty()):
        values.setdefault("format", "json" if options.json else "terminal")
    try:
        return msgspec.convert(values, command.request)
    except msgspec.ValidationError as error:
        raise InvalidRequest(str(error), hint=f"satchel {command.name} --help") from error


def _joined(name: str, by_place: Any, by_flag: Any) -> Any:
    """Return the value of a field that may stand at its place (`search QUERY`) or behind its flag."""
    if by_flag is None or by_place is None:
        return by_place if by_flag is None else by_flag
    if not isinstance(by_flag, list):
        raise InvalidRequest(
            f"{name.upper()} is given twice", hint=f"leave out --{name} or what stands alone"
        )
    return [*by_place, *by_flag]


def _names_git(request: type[msgspec.Struct], name: str) -> bool:
    hint = get_type_hints(request, include_extras=True)[name]
    return any(isinstance(note, GitName) for note in get_args(hint))


def _readable(value: Any) -> Any:
    """Words of the command line that are not UTF-8 arrive as lone surrogates, which no answer can hold."""
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value


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
    """An answer that is a finished text is printed as it is: it was counted to the last character."""
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


def _print_error(error: SatchelError, *, as_json: bool) -> None:
    if as_json:
        envelope = {"status": "error", "message": error.message, "error": error.as_dict()}
        _write(indented(envelope, 2) + "\n")
        return
    from satchel.rendering.visible import one_line

    print(f"satchel: {one_line(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"  {one_line(error.hint)}", file=sys.stderr)


def _write(text: str) -> None:
    """UTF-8 whatever the locale says: the same answer is the same bytes everywhere."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
