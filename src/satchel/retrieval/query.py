"""Parse what was asked: which identifiers, paths, stack frames and quoted texts does a query name?

A query is anything from one identifier to a whole pasted issue. Nothing here knows the repository; whether a
name or a path exists in it is for the ranking to find out. Patterns are compiled when first used, and all
take linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from satchel.retrieval import issue_text, tracebacks
from satchel.retrieval.tracebacks import Frame


class Mention(msgspec.Struct, frozen=True):
    """A path or source URL that the text names, with forward slashes; lines are 0 where it names none."""

    path: str
    first_line: int = 0
    last_line: int = 0


class Query(msgspec.Struct, frozen=True):
    """What was asked, parsed. Names are as written, in order, without repeats."""

    text: str
    title: str
    prose: str
    code: str
    frames: tuple[Frame, ...]  # the most recent call last
    mentions: tuple[Mention, ...]
    title_names: tuple[str, ...]
    prose_names: tuple[str, ...]
    code_names: tuple[str, ...]  # every word of four characters or more, too
    dotted: tuple[str, ...]  # `a.b.c`, `A::b`, `A\b`, as written
    quoted: tuple[str, ...]  # quoted texts and error messages
    symbol: str  # the last name when the query is one identifier or qualified name, else ''


_Item = TypeVar("_Item", str, Mention)
_SHORT = 300  # characters; a single line of up to so many was typed, not pasted, and holds no stack trace
_LEAST_NAME = 3  # characters; shorter ones are variables
_LONGEST_NAME = 100  # characters; longer ones are encoded data
_LONGEST_PATH = 300
_MOST_SPACES = 3  # between back-ticks; a text with more is a command or a message, not names
_LEAST_QUOTED = 8  # characters; shorter texts occur everywhere
_LONGEST_MESSAGE = 300

_FILES = """
    bash c cc cfg cjs clj cpp cs csproj css cts cu cxx dart erb erl ex exs fs go gradle graphql h hh hpp
    hrl hs html hxx ini ipynb java jl js json jsx kt kts less lua m markdown md mdx mjs ml mm mts php pl
    proto ps1 py pyi pyx r rake rb rs rst sass scala scss sh sql svelte swift tf toml ts tsx txt vb vue
    xml yaml yml zig zsh
"""
_SUFFIXES = frozenset(_FILES.split())  # of files named without a folder; `console.log` must not be one
_WHOLE_NAMES = (
    r"(?:Docker|Make|Gem|Rake|Jenkins|Proc|Vagrant|Brew|Pip)file(?:\.lock)?"
    r"|(?:Cargo|poetry|yarn|uv)\.lock|go\.(?:mod|sum)"
)
_PRODUCTS = frozenset({"node.js"})  # a runtime that reads like a file
_IN_PATH = r"[\w./\\@~+-]"
_PATH = (
    rf"(?<!{_IN_PATH})(?:(?P<whole>{_WHOLE_NAMES})(?!{_IN_PATH})|(?P<path>[\w@~+-]*+[./\\]{_IN_PATH}*+))"
    r"(?::(?P<colon>\d{1,7})(?:-(?P<until>\d{1,7}))?|#L(?P<anchor>\d{1,7})(?:-L?(?P<last>\d{1,7}))?"
    r"|\"?, line (?P<said>\d{1,7})|\((?P<brackets>\d{1,7})\)|(?P<called>\())?"
)
_PAGES = frozenset({"blob", "tree", "blame", "raw", "edit", "src"})

_WORD = r"[^\W\d]\w*+"
_SEPARATOR = r"(?:\.|::|\\|->|#)"
_CHAIN = rf"{_WORD}(?:{_SEPARATOR}{_WORD})"
_SHAPE = r"\w*?(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}|_)"  # a hump, an acronym before a word, an underscore
_NAMES = (
    r"`(?P<ticked>[^`\n]{1,100}+)`"
    rf"|(?<![\w./\\])(?P<chain>{_CHAIN}++)"
    # or a call that is no plural as in `file(s)`
    rf"|(?<!\w)(?P<plain>(?={_SHAPE}|\w++\((?!e?s\))){_WORD})"
)
_CODE_NAMES = _NAMES + r"|(?<!\w)(?P<word>[^\W\d]\w{3}\w*+)"
_SYMBOL = rf"(?P<sign>[@$\\]?)(?P<chain>{_CHAIN}*+)(?P<called>\(\))?"
_QUOTED = (
    r"\"(?P<double>[^\"\n]*+)\"|“(?P<curly>[^“”\n]*+)”"
    r"|(?<!\w)'(?P<single>[^'\n]*+)'(?!\w)|`(?P<ticked>[^`\n]*+)`"
)
_ERROR = (
    r"(?m)^[^\n]{0,120}?(?:Error|Exception|Warning|Failure|[Ff]atal|[Pp]anic|\b[Ee]rror(?:\[\w{1,9}\])?|ERROR)"
    r":[ \t]++(?P<message>[^\n]{8,})"
)


def parse_query(text: str) -> Query:
    """Parse a query."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    located = [] if len(plain) <= _SHORT and "\n" not in plain else tracebacks.find_frames(plain)
    title, prose, code = issue_text.split(plain, {found.start for found in located})
    # Check boxes of issue forms link to the rules of the project.
    unticked = re.sub(issue_text.CHECK_BOX, "", plain) if "[" in plain else plain
    without_urls = re.sub(issue_text.URL, " ", unticked) if "://" in plain else unticked
    texts = [re.sub(issue_text.URL, " ", part) if "://" in part else part for part in (title, prose, code)]
    return Query(
        text=text,
        title=title,
        prose=prose,
        code=code,
        frames=tracebacks.deepest_last(located, plain),
        mentions=_unique((*_linked(unticked), *_mentioned(without_urls))),
        title_names=_unique(_names(texts[0], _NAMES)),
        prose_names=_unique(_names(texts[1], _NAMES)),
        code_names=_unique(_names(texts[2], _CODE_NAMES)),
        dotted=_unique(chain for part in texts for chain in _chains(part)),
        quoted=_unique((*_quotations(f"{title}\n{prose}"), *_messages(plain))),
        symbol="" if prose or code else _symbol(title),
    )


def _is_path(token: str) -> bool:
    """Return whether a token reads as the path of a file: a folder and any suffix, or a suffix that files
    have."""
    folder, _, name = token.rpartition("/")
    stem, _, suffix = name.rpartition(".")
    if not stem or len(token) > _LONGEST_PATH:
        return False
    if folder and suffix.islower() and suffix.isalnum():
        return suffix[0].isalpha()
    return suffix.lower() in _SUFFIXES


def _unique(items: Iterable[_Item]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys(items))


def _linked(text: str) -> Iterator[Mention]:
    """Yield the files that links to pages of a code host show."""
    for url in re.findall(issue_text.URL, text) if "://" in text else ():
        address, _, place = url.rstrip(".,;:").partition("#")
        if path := _path_of(address.partition("?")[0].split("/")):
            lines = re.match(r"(?:L|lines-)(\d{1,7})(?:C\d++)?+(?:[-:]L?(\d{1,7}))?", place)
            first = int(lines[1]) if lines else 0
            yield Mention(path, first, int(lines[2] or first) if lines else 0)


def _path_of(steps: list[str]) -> str:
    """Return the path in the steps of a URL: `https:, '', host, owner, repository, blob, branch, path…`.
    Hosts differ in the steps before the path."""
    if steps[2].startswith("raw."):
        path = "/".join(steps[6:])
    else:
        page = next((number for number in range(5, len(steps)) if steps[number] in _PAGES), len(steps))
        named = steps[page + 1 : page + 2] in (["branch"], ["commit"], ["tag"])
        path = "/".join(steps[page + 2 + named :])
    if "%" in path:
        from urllib.parse import unquote  # rarely needed, and slow to load

        path = unquote(path)
    return path if len(path) <= _LONGEST_PATH else ""


def _mentioned(text: str) -> Iterator[Mention]:
    """Yield the paths that a text without URLs names."""
    # Most short queries need none of the patterns, and compiling one costs more than using it.
    if not any(mark in text for mark in "./\\") and "file" not in text:
        return
    seen: set[str] = set()
    for match in re.finditer(_PATH, text):
        if match[0] in seen:
            continue
        seen.add(match[0])
        found = match.groupdict()
        path = found["whole"] or found["path"].replace("\\", "/").rstrip("./")
        if not found["whole"] and not _is_mention(path, match, text):
            continue
        numbers = [int(found[name] or 0) for name in ("colon", "anchor", "said", "brackets", "until", "last")]
        first, last = max(numbers[:4]), max(numbers[4:])
        yield Mention(path.removeprefix("./"), first, max(first, last))


def _is_mention(path: str, match: re.Match[str], text: str) -> bool:
    """Return whether a match of the path pattern names a file, or a folder as the whole query."""
    if (match["called"] and "/" not in path) or path.lower() in _PRODUCTS:
        return False  # `response.json()`
    is_whole_question = match.end() - match.start() == len(text)
    return _is_path(path) or (
        is_whole_question and "/" in match["path"].strip("/") and len(path) <= _LONGEST_PATH
    )


def _names(text: str, pattern: str) -> Iterator[str]:
    """Yield the identifiers of a text that a pattern finds."""
    seen: set[str] = set()
    for match in re.finditer(pattern, text) if text else ():
        written = match[0]
        if written in seen:
            continue
        seen.add(written)
        if match.lastgroup in ("plain", "word"):
            # `_so_` is emphasis and loses its underscores, `_private` keeps them.
            names = [written if written.startswith("__") else written.strip("_")]
            names = [written] if written.lstrip("_") == names[0] else names
        else:
            names = re.findall(_WORD, written)
            is_path = _is_path(written.strip("`")) and text[match.end() : match.end() + 1] != "("
            if is_path or written.count(" ") > _MOST_SPACES:
                names = [name for name in names if re.match(_SHAPE, name)]
        for name in names:
            if _LEAST_NAME <= len(name) <= _LONGEST_NAME:
                yield name


def _chains(text: str) -> Iterator[str]:
    """Yield the qualified names of a text: `a.b.c`, `A::b`, `A->b`."""
    if not any(mark in text for mark in (".", "::", "\\", "->", "#")):
        return
    seen: set[str] = set()
    for match in re.finditer(rf"(?<![\w./\\-])(?<!\w@){_CHAIN}++", text):
        chain = match[0]
        if chain in seen:
            continue
        seen.add(chain)
        called = text[match.end() : match.end() + 1] == "("
        if len(chain) > _LONGEST_NAME or (_is_path(chain) and not called):
            continue
        if max(map(len, re.split(_SEPARATOR, chain))) >= _LEAST_NAME:  # `e.g` is none
            yield chain


def chain_member(chain: str) -> str:
    """Return the last name of a qualified name."""
    return re.split(_SEPARATOR, chain)[-1]


def _symbol(title: str) -> str:
    """Return the last name of a query that is only a name. A plain lower-case word is none."""
    if " " in title:
        return ""
    written = title.strip("`")
    match = re.fullmatch(_SYMBOL, written)
    if match is None or len(written) > _LONGEST_NAME or (_is_path(written) and not match["called"]):
        return ""
    *owners, name = re.split(_SEPARATOR, match["chain"])
    marked = written != title or match["called"] or match["sign"]
    return name if owners or marked or re.match(_SHAPE, name) or name[0].isupper() else ""


def _quotations(text: str) -> Iterator[str]:
    """Yield the quoted texts that are long enough to tell something."""
    for match in re.finditer(_QUOTED, text) if any(mark in text for mark in "\"“'`") else ():
        words = match[match.lastgroup or 0].strip()
        if _LEAST_QUOTED <= len(words) <= _LONGEST_MESSAGE and (match.lastgroup != "ticked" or " " in words):
            yield words


def _messages(text: str) -> Iterator[str]:
    """Yield the messages of errors and warnings."""
    for match in re.finditer(_ERROR, text) if ":" in text else ():
        message = match["message"][:_LONGEST_MESSAGE].strip().rstrip("`")
        if len(message) >= _LEAST_QUOTED:
            yield message
