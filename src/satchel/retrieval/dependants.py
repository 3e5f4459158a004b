"""Which code depends on a definition: what calls, uses or extends it, and which tests speak of it?

Uses that do not mean this definition with enough confidence are left out: a reviewer who is shown the callers
of another definition of the same name stops believing the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

import msgspec

from satchel import languages
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependencies import IMPLICIT_NAMES
from satchel.retrieval.references import (
    CODE_KINDS,
    IMPORTED,
    ONLY_DEFINITION,
    SAME_FILE,
    Edge,
    definitions_of,
    files_mentioning,
    import_stem,
    imports_file,
)
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.terms import last_name, terms
from satchel.types import ChunkKind, Label

_FILES_READ = 40  # that mention a name, those that most likely mean the definition first
_SAME_FOLDER = 0.6  # the confidence in a definition of the same folder, beside those of the resolver
_LEAST_CONFIDENCE = 0.5
_FEW_FILES = 12  # a method's name that more files use than this is rather a common word
_FILES_ASKED = 200  # that mention a name, of which it is asked whether they import its file or name its type
_LIKE_NAME = 0.75  # the least share of a name's words that the name of its test repeats
_TEST_AFFIX = re.compile(
    r"^tests?[-_.]|[-_.]?(?:tests?|specs?|e2e)$|(?<=[a-z0-9])(?:Tests?|TestCase|Spec|IT)$"
)
_CALLED = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.CLASS, ChunkKind.STRUCT})
_TEST_PARTS = frozenset({"test", "tests"})  # of a qualified name: tests that stand beside what they test


class DependencyTarget(msgspec.Struct, frozen=True):
    """A definition that other code may depend on; `owner` is the type that it is a member of."""

    path: str
    name: str
    owner: str = ""
    tested: bool = True  # whether tests would call it or make it


def dependency_target(chunk: ChunkRecord) -> DependencyTarget | None:
    """Return what a chunk defines, as other code would name it; None for a chunk that defines no name."""
    if chunk.kind not in CODE_KINDS or not chunk.title_path:
        return None
    *owners, name = chunk.title_path
    owner = owners[-1] if owners else ""
    implicit = name in IMPLICIT_NAMES or (name.startswith("__") and name.endswith("__"))
    if implicit and owner:
        return DependencyTarget(chunk.path, owner)
    return DependencyTarget(chunk.path, name, owner, chunk.kind in _CALLED)


def is_test(record: FileRecord, chunk: ChunkRecord) -> bool:
    """Whether a chunk is a test, by its file or by the module around it."""
    inside = chunk.title_path if chunk.kind is ChunkKind.MODULE else chunk.title_path[:-1]
    return "test" in record.tags or not _TEST_PARTS.isdisjoint(map(str.lower, inside))


def find_users(corpus: Corpus, target: DependencyTarget) -> list[Edge]:
    """Return the chunks that use a definition by its name, most confident first; one use for each chunk."""
    # A function that calls itself is no user of its own.
    found = [
        use
        for use in _uses(corpus, target.name, _likely_files(corpus, target))
        if use.chunk.path != target.path or use.chunk.title_path[-1:] != (target.name,)
    ]
    return sorted(
        found, key=lambda use: (-use.confidence, _apart(use.chunk.path, target.path), _position(use))
    )


def find_leftover_uses(corpus: Corpus, name: str) -> list[Edge]:
    """Return the uses of a name that nothing defines any more."""
    mentioning = [(corpus.files[at], ONLY_DEFINITION) for at in files_mentioning(corpus, name)]
    return sorted(_uses(corpus, name, mentioning[:_FILES_READ]), key=_position)


def find_tests(corpus: Corpus, target: DependencyTarget) -> list[Edge]:
    """Return the tests that speak of a definition, in the test files that are named after its file."""
    found = []
    for path in test_files(corpus, target.path):
        names = {line: name for name, line in corpus.uses(path) if name in (target.name, target.owner)}
        for chunk in corpus.snapshot.chunks(path):
            lines = [line for line in sorted(names) if chunk.start_line <= line <= chunk.end_line]
            exact = [line for line in lines if names[line] == target.name]
            like = _is_like(chunk, target.name)
            if chunk.title_path and (exact or like):
                line = (exact or lines or [chunk.start_line])[0]
                confidence = ONLY_DEFINITION if exact else _LEAST_CONFIDENCE
                found.append(Edge(chunk, line, Label.TESTED_BY, confidence, target.name))
    return sorted(found, key=lambda use: (-use.confidence, _position(use)))


def test_files(corpus: Corpus, path: str) -> list[str]:
    """Return the test files that are named after a file, nearest first: `tests/test_x.py` for `src/x.py`."""
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
    """Return the stem of the file that a test file is named after; nothing if it is not named like a test."""
    stem = path.rpartition("/")[2].partition(".")[0]
    whole = path.rpartition("/")[2].rpartition(".")[0] or stem
    bare = _TEST_AFFIX.sub("", whole)
    return bare if bare != whole else ""


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _uses(corpus: Corpus, name: str, files: Sequence[tuple[FileRecord, float]]) -> Iterator[Edge]:
    """Yield the uses of a name in some files with their confidences, one for each chunk."""
    for record, confidence in files:
        seen: set[int] = set()
        for use in corpus.references(record.path):
            if last_name(use.name) != name or use.label in (Label.IMPORTS, Label.LINKS_TO):
                continue
            for chunk in corpus.snapshot.chunks(record.path, use.line, use.line)[:1]:
                if chunk.number not in seen:
                    seen.add(chunk.number)
                    label = Label.TESTED_BY if is_test(record, chunk) else use.label
                    yield Edge(chunk, use.line, label, confidence, name)


def _likely_files(corpus: Corpus, target: DependencyTarget) -> list[tuple[FileRecord, float]]:
    """Return the files that mention a name and most likely mean this definition, each with the confidence."""
    defined = Counter(record.path for record in definitions_of(corpus, target.name))
    mentioning = files_mentioning(corpus, target.name)
    importing = _importing(corpus, mentioning, target.path)
    if target.owner and len(mentioning) > _FEW_FILES:
        mentioning = _knowing(corpus, mentioning, target)
    found = []
    for at in mentioning:
        record = corpus.files[at]
        confidence = _confidence(record.path, target.path, defined, importing)
        if confidence >= _LEAST_CONFIDENCE:
            found.append((record, confidence))
    found.sort(key=lambda pair: (-pair[1], _apart(pair[0].path, target.path), pair[0].path))
    return found[:_FILES_READ]


def _importing(corpus: Corpus, mentioning: Sequence[int], path: str) -> set[str]:
    """Return the paths of those files that import the file `path`, the nearest alone where they are many.

    An import names the stem of the file, so full text narrows what is to be read.
    """
    named = set(files_mentioning(corpus, import_stem(path)))
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


def _knowing(corpus: Corpus, mentioning: Sequence[int], target: DependencyTarget) -> list[int]:
    """Return those files that refer to the type whose member is meant, not as a mere word."""
    owners = set(files_mentioning(corpus, target.owner))
    both = [at for at in mentioning if at in owners or corpus.files[at].path == target.path]
    nearest = sorted(both, key=lambda at: (_apart(corpus.files[at].path, target.path), at))[:_FILES_ASKED]
    return [
        at
        for at in nearest
        if corpus.files[at].path == target.path
        or any(last_name(use.name) == target.owner for use in corpus.references(corpus.files[at].path))
    ]


def _confidence(path: str, target: str, defined: Counter[str], importing: Collection[str]) -> float:
    """Return how sure it is that a file which mentions a name means its definition in the file `target`."""
    if path == target:
        return SAME_FILE
    if defined[path]:
        return 0.0  # the file means its own definition
    if path in importing:
        return IMPORTED
    if len(defined) <= 1:
        return ONLY_DEFINITION
    near = path.rpartition("/")[0] == target.rpartition("/")[0]
    return _SAME_FOLDER if near else 0.0


def _is_like(chunk: ChunkRecord, name: str) -> bool:
    """Whether the name of a test chunk repeats the words of another name."""
    words = {term for term in terms(name) if not term.startswith("=")}
    own = set(terms(chunk.title_path[-1])) if chunk.title_path else set()
    return len(words) > 1 and len(words & own) >= _LIKE_NAME * len(words)


def _apart(one: str, other: str) -> int:
    """Return how many folders lie between two files."""
    left, right = one.split("/")[:-1], other.split("/")[:-1]
    shared = 0
    for mine, theirs in zip(left, right, strict=False):
        if mine != theirs:
            break
        shared += 1
    return len(left) + len(right) - 2 * shared


def _position(edge: Edge) -> tuple[str, int]:
    return edge.chunk.path, edge.line
