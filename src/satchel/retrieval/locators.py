"""Parse ids and locators as written: which file and lines may a text mean?

`path:12:40`, `path:12-40`, `path:12` and `path#L12-L40` are lines, a path alone is the file. A name may hold
colons, hashes and commas itself, so one text has several readings: the index decides between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from satchel import ids

WHOLE = -1  # as a line number: all lines of the file; 0 can be written, and is an error
_NUMBER = r"\d{1,9}"  # ten digits are the digest of an id
_OWN_FORM = re.compile(rf"(.+):({_NUMBER}):({_NUMBER})", re.DOTALL)
_OTHER_FORMS = (
    re.compile(rf"(.+):L?({_NUMBER})-L?({_NUMBER})", re.DOTALL),
    re.compile(rf"(.+)#L({_NUMBER})(?:C\d+)?(?:-L?({_NUMBER})(?:C\d+)?)?", re.DOTALL),
    re.compile(rf"(.+):L?({_NUMBER})", re.DOTALL),
)
CANONICAL = re.compile(rf"(.+):([0-9a-f]{{{ids.SHORT_DIGEST}}})", re.DOTALL)
LONG = re.compile(rf"chunk_([0-9a-f]{{{ids.LONG_DIGEST}}})")
_COMMAS_IN_A_PATH = 8  # paths with more are asked for one at a time: joining stays linear


class Locator(msgspec.Struct, frozen=True):
    """Lines of a file; all of them if `first` is WHOLE."""

    path: str
    first: int = WHOLE
    last: int = WHOLE


def possible_locators(asked: str) -> Iterator[Locator]:
    """Yield the lines of files that a text may mean, the likeliest first."""
    if match := _OWN_FORM.fullmatch(asked):
        yield Locator(match[1], int(match[2]), int(match[3]))
    yield Locator(asked)
    for form in _OTHER_FORMS:
        if match := form.fullmatch(asked):
            written = [int(number) for number in match.groups()[1:] if number]
            yield Locator(match[1], written[0], written[-1])


def possible_paths(path: str) -> Iterator[str]:
    """Yield the paths that a written path may mean: as it is, in normal form, as a document id."""
    yield path
    plain = plain_path(path)
    if plain != path:
        yield plain
    if plain and not plain.endswith("/"):
        yield ids.path_of(plain)


def plain_path(path: str) -> str:
    """Return a path with forward slashes and without a leading `./`."""
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return path


def looks_like_id(text: str) -> bool:
    """Return whether a text has the form of an id or of lines, known or not."""
    return any(form.fullmatch(text) for form in (LONG, CANONICAL, _OWN_FORM, *_OTHER_FORMS))


def split_joined(joined: str, known: Callable[[str], bool]) -> Iterator[str]:
    """Yield the ids in a text that joins them by commas.

    A path may hold a comma too, so a comma separates only after an id or before a text that the index knows.
    The longest part that the index knows is taken as one.
    """
    parts = joined.split(",")
    start = 0
    while start < len(parts):
        end = _end_of_known(parts, start, known) or start + 1
        while end < len(parts) and not _separates(parts, start, end, known):
            end += 1
        if part := without_blanks(",".join(parts[start:end]), known):
            yield part
        start = end


def without_blanks(asked: str, known: Callable[[str], bool]) -> str:
    """Return a text without the blanks around it, unless they belong to the name of a file."""
    plain = asked.strip()
    return asked if plain != asked and known(asked) else plain


def _separates(parts: list[str], start: int, end: int, known: Callable[[str], bool]) -> bool:
    """Return whether the comma before part `end` ends the id that began at part `start`."""
    so_far = ",".join(parts[start:end]).strip()
    if not so_far or end - start > _COMMAS_IN_A_PATH or looks_like_id(so_far) or known(so_far):
        return True
    return not parts[end].strip() or bool(_end_of_known(parts, end, known))


def _end_of_known(parts: list[str], start: int, known: Callable[[str], bool]) -> int:
    """Return the end of the longest run of parts from `start` that the index knows; 0 if there is none."""
    first = parts[start].strip()
    if looks_like_id(first) and known(first):  # no file is called `app.py:1:2,` and so on
        return start + 1
    for end in range(min(len(parts), start + 1 + _COMMAS_IN_A_PATH), start, -1):
        part = without_blanks(",".join(parts[start:end]), known)
        if part and known(part):
            return end
    return 0
