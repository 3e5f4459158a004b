"""Who depends on a definition: who calls, uses or extends it, and which tests speak of it?

References are known by name alone. That a use means just this definition is the surer the closer the two
are: the same file, an import of it, the only definition of that name. What is not sure enough is left out: a
reviewer who is shown the callers of a namesake stops believing the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

import msgspec

from satchel import languages
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.names import last_name
from satchel.retrieval.references import imports_file
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.terms import compound, terms
from satchel.types import ChunkKind, Label

_FILES_READ = 40  # that mention a name, those that most likely mean it first
_SAME_FILE, _IMPORTS_IT, _ONLY_ONE, _SAME_FOLDER = 0.9, 0.95, 0.8, 0.6
_SURE_ENOUGH = 0.5
_FEW_FILES = 12  # a method's name that more files use than this is rather a common word
_FILES_ASKED = 200  # that mention a name: whether they import its file, or speak of its type
_LIKE_NAME = 0.75  # the share of a name's words that the name of a test repeats
_TEST_AFFIX = re.compile(
    r"^tests?[-_.]|[-_.]?(?:tests?|specs?|e2e)$|(?<=[a-z0-9])(?:Tests?|TestCase|Spec|IT)$"
)
_NOT_CODE = frozenset({ChunkKind.SECTION, ChunkKind.CONFIG, ChunkKind.TEXT, ChunkKind.FILE})
_CALLED = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.CLASS, ChunkKind.STRUCT})
_TEST_PARTS = frozenset({"test", "tests"})  # of a qualified name: tests that stand beside what they test
# Nobody calls these by their name: whoever makes or uses the object depends on its type.
_IMPLICIT = frozenset({"constructor", "initialize", "new", "init", "deinit", "drop", "fmt", "default"})


class Touched(msgspec.Struct, frozen=True):
    """A definition that others may depend on; `owner` is the type that it is a member of."""

    path: str
    name: str
    owner: str = ""
    tested: bool = True  # it is something that tests would call or make


class Use(msgspec.Struct, frozen=True):
    """A piece of code that depends on a definition, and the line where it says so."""

    chunk: ChunkRecord
    line: int
    label: Label
    sureness: float
    name: str  # of the definition


def touched(chunk: ChunkRecord) -> Touched | None:
    """What a chunk defines, as others would name it; None if nothing is named."""
    if chunk.kind in _NOT_CODE or not chunk.title_path:
        return None
    *owners, name = chunk.title_path
    owner = owners[-1] if owners else ""
    implicit = name in _IMPLICIT or (name.startswith("__") and name.endswith("__"))
    if implicit and owner:
        return Touched(chunk.path, owner)
    return Touched(chunk.path, name, owner, chunk.kind in _CALLED)


def is_test(record: FileRecord, chunk: ChunkRecord) -> bool:
    """Whether a chunk is a test: by its file, or by the module inside of its file."""
    inside = chunk.title_path if chunk.kind is ChunkKind.MODULE else chunk.title_path[:-1]
    return "test" in record.tags or not _TEST_PARTS.isdisjoint(map(str.lower, inside))


def users(corpus: Corpus, one: Touched) -> list[Use]:
    """Who uses a definition by its name, surest first; one use for each piece of code."""
    found = [
        use
        for use in _uses(corpus, one.name, _likely_files(corpus, one))
        if use.chunk.path != one.path or use.chunk.title_path[-1:] != (one.name,)  # it may call itself
    ]
    return sorted(found, key=lambda use: (-use.sureness, _apart(use.chunk.path, one.path), _place(use)))


def leftovers(corpus: Corpus, name: str) -> list[Use]:
    """Who uses a name that nothing defines any more."""
    mentioning = [(corpus.files[at], _ONLY_ONE) for at in _mentioning(corpus, name)]
    return sorted(_uses(corpus, name, mentioning[:_FILES_READ]), key=_place)


def used(corpus: Corpus, path: str, spans: Sequence[tuple[int, int]]) -> Iterator[Use]:
    """The definitions that some lines use, where it is clear which are meant: the only one of that name, in a
    file that is imported or stands in the same folder."""
    imports = [use.name for use in corpus.references(path) if use.label is Label.IMPORTS]
    seen: set[str] = set()
    for use in corpus.references(path):
        name = last_name(use.name)
        here = any(first <= use.line <= last for first, last in spans)
        if not here or name in seen or name in _IMPLICIT or use.label in (Label.IMPORTS, Label.LINKS_TO):
            continue
        seen.add(name)
        records = [
            record
            for record in corpus.snapshot.symbols_named(name)
            if record.symbol.name == name and record.symbol.kind not in _NOT_CODE
        ]
        folder = path.rpartition("/")[0]
        near = [
            record
            for record in records
            if record.path.rpartition("/")[0] == folder
            or any(imports_file(written, record.path) for written in imports)
        ]
        for record in near if len(records) == 1 else []:
            line = record.symbol.start_line
            for chunk in corpus.snapshot.chunks(record.path, line, line)[:1]:
                yield Use(chunk, line, use.label, _SURE_ENOUGH, name)


def tests_by_name(corpus: Corpus, one: Touched) -> list[Use]:
    """Tests in the file that is named after the definition's file: those that speak of the definition."""
    found = []
    for path in test_files(corpus, one.path):
        names = {line: name for name, line in corpus.uses(path) if name in (one.name, one.owner)}
        for chunk in corpus.snapshot.chunks(path):
            lines = [line for line in sorted(names) if chunk.start_line <= line <= chunk.end_line]
            exact = [line for line in lines if names[line] == one.name]
            like = _is_like(chunk, one.name)
            if chunk.title_path and (exact or like):
                line = (exact or lines or [chunk.start_line])[0]
                found.append(
                    Use(chunk, line, Label.TESTED_BY, _ONLY_ONE if exact else _SURE_ENOUGH, one.name)
                )
    return sorted(found, key=lambda use: (-use.sureness, _place(use)))


def test_files(corpus: Corpus, path: str) -> list[str]:
    """The test files that are named after a file, nearest first: `tests/test_x.py` after `src/x.py`."""
    wanted = {_stem(path)}
    if _stem(path) in languages.index_stems():  # `shop/index.ts` is tested by `shop.test.ts`, too
        wanted.add(path.rpartition("/")[0].rpartition("/")[2])
    found = [
        record.path
        for record in corpus.files
        if "test" in record.tags and record.path != path and tested_stem(record.path) in wanted
    ]
    return sorted(found, key=lambda other: (_apart(other, path), other))[:2]


@lru_cache(maxsize=50_000)
def tested_stem(path: str) -> str:
    """The stem of the file that a test file is named after; nothing if it is not named like a test."""
    stem = path.rpartition("/")[2].partition(".")[0]
    whole = path.rpartition("/")[2].rpartition(".")[0] or stem
    bare = _TEST_AFFIX.sub("", whole)
    return bare if bare != whole else ""


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _uses(corpus: Corpus, name: str, files: Sequence[tuple[FileRecord, float]]) -> Iterator[Use]:
    for record, sureness in files:
        seen: set[int] = set()
        for use in corpus.references(record.path):
            if last_name(use.name) != name or use.label in (Label.IMPORTS, Label.LINKS_TO):
                continue
            for chunk in corpus.snapshot.chunks(record.path, use.line, use.line)[:1]:
                if chunk.number not in seen:
                    seen.add(chunk.number)
                    label = Label.TESTED_BY if is_test(record, chunk) else use.label
                    yield Use(chunk, use.line, label, sureness, name)


def _likely_files(corpus: Corpus, one: Touched) -> list[tuple[FileRecord, float]]:
    """The files that mention a name and most likely mean this definition, with how sure that is."""
    defined = Counter(
        record.path
        for record in corpus.snapshot.symbols_named(one.name)
        if record.symbol.name == one.name and record.symbol.kind not in _NOT_CODE
    )
    mentioning = _mentioning(corpus, one.name)
    importing = _importing(corpus, mentioning, one.path)
    if one.owner and len(mentioning) > _FEW_FILES:
        mentioning = _knowing(corpus, mentioning, one)
    found = []
    for at in mentioning:
        record = corpus.files[at]
        sure = _sureness(record.path, one.path, defined, importing)
        if sure >= _SURE_ENOUGH:
            found.append((record, sure))
    found.sort(key=lambda pair: (-pair[1], _apart(pair[0].path, one.path), pair[0].path))
    return found[:_FILES_READ]


def _importing(corpus: Corpus, mentioning: Sequence[int], path: str) -> set[str]:
    """Those of some files that import another, the nearest alone where they are many. An import names the
    other's stem, so full text narrows what is to be read."""
    stem = _stem(path)
    if stem in languages.index_stems():
        stem = path.rpartition("/")[0].rpartition("/")[2] or stem
    named = set(_mentioning(corpus, stem))
    near = sorted(
        (at for at in mentioning if at in named), key=lambda at: (_apart(corpus.files[at].path, path), at)
    )
    return {
        corpus.files[at].path
        for at in near[:_FILES_ASKED]
        if any(
            use.label is Label.IMPORTS and imports_file(use.name, path)
            for use in corpus.references(corpus.files[at].path)
        )
    }


def _knowing(corpus: Corpus, mentioning: Sequence[int], one: Touched) -> list[int]:
    """Those files that speak of the type whose member is meant; its name as a mere word does not count."""
    owners = set(_mentioning(corpus, one.owner))
    both = [at for at in mentioning if at in owners or corpus.files[at].path == one.path]
    nearest = sorted(both, key=lambda at: (_apart(corpus.files[at].path, one.path), at))[:_FILES_ASKED]
    return [
        at
        for at in nearest
        if corpus.files[at].path == one.path
        or any(last_name(use.name) == one.owner for use in corpus.references(corpus.files[at].path))
    ]


def _sureness(path: str, target: str, defined: Counter[str], importing: Collection[str]) -> float:
    if path == target:
        return _SAME_FILE
    if defined[path]:
        return 0.0  # it means its own
    if path in importing:
        return _IMPORTS_IT
    if len(defined) <= 1:
        return _ONLY_ONE
    near = path.rpartition("/")[0] == target.rpartition("/")[0]
    return _SAME_FOLDER if near else 0.0


def _mentioning(corpus: Corpus, name: str) -> list[int]:
    """Full text finds the files; the name as one identifier is a term of its own."""
    places, _ = corpus.postings(compound(name))
    return sorted(set(corpus.file_of[places].tolist()))


def _is_like(chunk: ChunkRecord, name: str) -> bool:
    """Whether the name of a test repeats the words of another name."""
    words = {term for term in terms(name) if not term.startswith("=")}
    own = set(terms(chunk.title_path[-1])) if chunk.title_path else set()
    return len(words) > 1 and len(words & own) >= _LIKE_NAME * len(words)


def _apart(one: str, other: str) -> int:
    """How many folders lie between two files."""
    left, right = one.split("/")[:-1], other.split("/")[:-1]
    shared = 0
    for mine, theirs in zip(left, right, strict=False):
        if mine != theirs:
            break
        shared += 1
    return len(left) + len(right) - 2 * shared


def _place(use: Use) -> tuple[str, int]:
    return use.chunk.path, use.line
