"""How does a command line become a request, and what is said in its help? Flags are made from the fields of a
command's request.

The description of a field is the help of its flag; its type says what the flag takes; `Positional` and `Flag`
beside it add a place and further spellings. `satchel --help` lists commands by what people want of them. Each
command says its group itself, so that a new file is listed without a change here.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, get_args, get_type_hints

import msgspec

from satchel.commands.command import BareValue, Command, Flag, GitName, Group, Positional
from satchel.commands.shared import FilterFields
from satchel.errors import InvalidRequest
from satchel.plugins import late

if TYPE_CHECKING:
    from satchel.commands import payloads
    from satchel.retrieval import fuzzy_match
    from satchel.serving import word_arguments
    from satchel.serving.verbs import Verb
else:  # what only some command lines need; `fuzzy_match` loads numpy, which only a misspelled word is worth
    payloads, fuzzy_match = late("satchel.commands.payloads"), late("satchel.retrieval.fuzzy_match")
    word_arguments = late("satchel.serving.word_arguments")


HELP_WIDTH = 100  # characters
_INDENT = 2  # blanks before a command in the overview
_WHOLE_NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
_NO_SUCH_VALUE = re.compile(r"Invalid enum value '(.*)' - at `\$\.(\w+)", re.DOTALL)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are those of all commands: typed, and JSON where that was asked for."""

    def error(self, message: str) -> NoReturn:
        raise InvalidRequest(message, hint=f"{self._meant(message)}{self.prog} --help")

    def _meant(self, message: str) -> str:
        """Return which commands take the first flag that is not known here, or which flag was meant by it."""
        told, _, unknown = message.partition(": ")
        wrong = next((word for word in unknown.split() if word.startswith("--")), "")
        if told != "unrecognized arguments" or not wrong:
            return ""
        flag = wrong.partition("=")[0]
        if others := [
            word.name for word in word_arguments.all_words() if flag in flags_of(make_parser(word))
        ]:
            return f"{flag} is taken by {', '.join(others)}; "
        return did_you_mean(flag, flags_of(self), prefix="--")


def make_parser(word: Command | Verb) -> argparse.ArgumentParser:
    """Return the parser of one command or verb; its options also say which one it is."""
    parser = _Parser(
        prog=f"satchel {word.name}",
        description=word.help,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=HELP_WIDTH),
    )
    parser.set_defaults(command=word.name)
    add_flags(parser, word)
    named = [action for action in parser._actions if not action.option_strings]
    words = (f"[{action.metavar} ...]" if action.nargs == "*" else f"[{action.metavar}]" for action in named)
    # All flags of a command on ten lines hide what it takes; they stand below, each with what it is for.
    parser.usage = " ".join((parser.prog, *words, "[options]"))
    return parser


def add_flags(parser: argparse.ArgumentParser, word: Command | Verb) -> None:
    """Add all flags that a command or verb takes to a parser."""
    filters = parser.add_argument_group("filters") if issubclass(word.request, FilterFields) else parser
    if isinstance(word, Command):
        _add_shared(parser, word)
    _add_fields(parser, filters, word.request)


def _add_shared(parser: argparse.ArgumentParser, command: Command) -> None:
    shared = parser.add_argument_group("every command")
    several = "" if command.of_one_folder else "; given twice or more, all are asked as one"
    shared.add_argument(
        "--segment",
        "-s",
        action="append",
        dest="segments",
        metavar="DIR",
        help=f"the folder to work on (default: .){several}",
    )
    if not command.of_one_folder:
        _add_library(shared, command)
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
    shared.add_argument(
        "--no-server", action="store_true", help="answer here, also where a server of this folder runs"
    )
    if command.fresh:
        shared.add_argument("--no-refresh", action="store_true", help="answer from the index as it is")


def _add_library(shared: argparse._ArgumentGroup, command: Command) -> None:
    shared.add_argument(
        "--library",
        nargs="?",
        const="",
        default=None,
        metavar="PLACE",
        help="ask all repositories of a library as one: the user's own, or that of a folder or URL",
    )
    if "repo" not in command.request.__struct_fields__:
        shared.add_argument(
            "--repo",
            action="append",
            dest="repos",
            default=None,
            metavar="GLOB",
            help="with --library: only repositories of this name (repeatable)",
        )
    shared.add_argument(
        "--cluster",
        default="",
        metavar="PLACE",
        help="with --library: spread it over Dask workers: tcp://host:port, local or local:N",
    )
    shared.add_argument(
        "--allow-partial",
        action="store_true",
        help="with --library: leave out repositories whose store cannot be reached, and say so",
    )


def _add_fields(
    parser: argparse.ArgumentParser, filters: argparse._ActionsContainer, request: type[msgspec.Struct]
) -> None:
    hints = get_type_hints(request, include_extras=True)
    taken: set[str] = set()  # `--pattern` is a filter of files, also where a request has a field of this name
    for field in msgspec.structs.fields(request):
        kind, *notes = get_args(hints[field.name])
        description = next(note.description or "" for note in notes if isinstance(note, msgspec.Meta))
        flags = [f"--{field.name.replace('_', '-')}"]
        flags += [note.name for note in notes if isinstance(note, Flag) and note.name not in flags]
        flags = [flag for flag in flags if flag not in taken]
        taken.update(flags)
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
            bare = [note.value for note in notes if isinstance(note, BareValue)]
            settings.update(*({"nargs": "?", "const": value} for value in bare))
        if any(isinstance(note, Positional) for note in notes):
            settings.pop("action", None)
            nargs = "*" if _is_tuple(kind) else "?"
            parser.add_argument(field.name, nargs=nargs, help=settings["help"], metavar=field.name.upper())
            settings.update(default=None, dest=f"{field.name}_flag")
            if _is_tuple(kind):
                settings.update(action="extend", nargs="+")
        group = filters if field.name in FilterFields.__struct_fields__ else parser
        group.add_argument(*flags, **settings)


def _values(kind: Any, default: Any, description: str) -> str:
    """Return which values a flag takes, if they are few, and its default, unless its description says it."""
    members = _values_of(kind)
    told = [_any_of(members)] if len(members) > 1 else []
    shown = type(default) in (int, float) or isinstance(default, str)
    if default and shown and "default" not in description:
        told.append(f"default {getattr(default, 'value', default)}")
    return f" ({'; '.join(told)})" if told else ""


def _values_of(kind: Any) -> list[str]:
    """Return the values of an enumeration; none of any other type."""
    return [member.value for member in getattr(kind, "__members__", {}).values()]


def _any_of(values: Sequence[str]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}"


def _pairs(text: str) -> dict[str, int]:
    """Parse pairs of a name and a number: `definitions=4,tests=0`."""
    pairs = {}
    for part in filter(str.strip, text.split(",")):
        name, _, number = part.partition("=")
        if not name.strip() or not _WHOLE_NUMBER.fullmatch(number.strip()):
            raise argparse.ArgumentTypeError(f"{part.strip()!r} has not the form NAME=N, as definitions=4")
        pairs[name.strip()] = int(number)
    return pairs


def _json_list(text: str) -> list[Any]:
    """Parse a list of objects, which a command line takes as JSON."""
    try:
        found = msgspec.json.decode(text, type=list[Any])
    except RecursionError:
        raise payloads.too_deep() from None
    except msgspec.DecodeError as error:
        raise argparse.ArgumentTypeError(f"this is no list in JSON: {error}") from None
    payloads.check_depth(found)
    return found


def _is_tuple(kind: Any) -> bool:
    return getattr(kind, "__origin__", None) is tuple


def _reader(kind: Any) -> Any:
    kinds = (kind, *get_args(kind))
    return next((number for number in (int, float) if number in kinds), str)


def read_request(command: Command | Verb, options: argparse.Namespace, *, for_terminal: bool) -> Any:
    """Return the request that the options of a command line make. Its answer may be read on a terminal."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(command.request):
        value = getattr(options, field.name, None)
        value = _joined(field.name, value, getattr(options, f"{field.name}_flag", None))
        if value is None and field.required:
            taken = getattr(options, "library", None)
            swallowed = f"{taken!r} was taken for the folder of --library: write it last, or --library=DIR"
            raise InvalidRequest(
                f"the following arguments are required: {field.name.upper()}",
                hint=swallowed if taken else f"satchel {command.name} --help",
            )
        if value == "" and _names_git(command.request, field.name):
            raise InvalidRequest(
                f"--{field.name} is empty", hint=f"name what is meant, or leave --{field.name} out"
            )
        if value is not None:
            values[field.name] = _readable(value)
    if "format" in command.request.__struct_fields__ and (options.json or for_terminal):
        values.setdefault("format", "json" if options.json else "terminal")
    try:
        return msgspec.convert(values, command.request)
    except msgspec.ValidationError as error:
        raise _refused(command, str(error)) from error


def _refused(command: Command | Verb, message: str) -> InvalidRequest:
    """Return the error for what a request does not take; of a field with few values it names them."""
    hint = f"satchel {command.name} --help"
    found = _NO_SUCH_VALUE.match(message)
    if found is None:
        return InvalidRequest(message, hint=hint)
    value, name = found.groups()
    kind = get_args(get_type_hints(command.request, include_extras=True)[name])[0]
    known = [value for each in (kind, *get_args(kind)) for value in _values_of(each)]
    return InvalidRequest(
        f"--{name.replace('_', '-')} is {value!r}, it must be {_any_of(known)}",
        hint=f"{did_you_mean(value, known)}{hint}",
    )


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
    """Return a value without lone surrogates, which stand for bytes that are not UTF-8 and fit no answer."""
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value


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
