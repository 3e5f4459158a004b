"""Which code depends on a definition: what calls, uses or extends it, and which tests speak of it?

Uses that do not mean this definition with enough confidence are left out: a reviewer who is shown the callers
of another definition of the same name stops believing the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from satchel import languages
from satchel.code_facts import CONFIDENCE, POSSIBLE, Target
from satchel.retrieval.code_graph import uses_of
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependencies import is_implicit
from satchel.retrieval.references import CODE_KINDS, Edge, definitions_of, files_mentioning
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.terms import last_name, terms
from satchel.types import ChunkKind, Label

_FILES_READ = 40  # that use a definition
_NAMED_AFTER = 0.5  # the confidence in a test of that name, in a file that is named after the tested one
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
    qualified: str = ""  # the name with those of all definitions around it


def dependency_target(chunk: ChunkRecord) -> DependencyTarget | None:
    """Return what a chunk defines, as other code would name it; None for a chunk that defines no name."""
    if chunk.kind not in CODE_KINDS or not chunk.title_path:
        return None
    *owners, name = chunk.title_path
    owner = owners[-1] if owners else ""
    if owner and is_implicit(name):
        return DependencyTarget(chunk.path, owner, qualified=".".join(owners))
    return DependencyTarget(chunk.path, name, owner, chunk.kind in _CALLED, ".".join(chunk.title_path))


def is_test(record: FileRecord, chunk: ChunkRecord) -> bool:
    """Return whether a chunk is a test, by its file or by the module around it."""
    inside = chunk.title_path if chunk.kind is ChunkKind.MODULE else chunk.title_path[:-1]
    return "test" in record.tags or not _TEST_PARTS.isdisjoint(map(str.lower, inside))


def find_users(corpus: Corpus, target: DependencyTarget) -> list[Edge]:
    """Return the chunks that use a definition, nearest first; one use for each chunk."""
    if corpus.has_graph(target.path):
        uses = uses_of(corpus, [Target(target.path, target.qualified)], _FILES_READ)
        found = _by_chunk(
            corpus, [(use.path, use.line, use.label, CONFIDENCE[use.rule]) for use in uses], target.name
        )
    else:
        found = _by_chunk(corpus, _uses_by_name(corpus, target.name, target.path), target.name)
    # A function that calls itself is no user of its own.
    others = [
        use for use in found if use.chunk.path != target.path or use.chunk.title_path[-1:] != (target.name,)
    ]
    return sorted(others, key=lambda use: (_apart(use.chunk.path, target.path), _position(use)))


def find_leftover_uses(corpus: Corpus, name: str) -> list[Edge]:
    """Return the uses of a name that nothing defines any more."""
    return sorted(_by_chunk(corpus, _uses_by_name(corpus, name), name), key=_position)


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
                confidence = _NAMED_AFTER if exact else POSSIBLE
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


_UseRow = tuple[str, int, Label, float]  # path, line, label and confidence of a use


def _uses_by_name(corpus: Corpus, name: str, path: str = "") -> list[_UseRow]:
    """Return the uses of a name in some files that mention it: in all of them if one definition or none has
    the name, otherwise in the file `path` of one of the definitions."""
    defining = {record.path for record in definitions_of(corpus, name)}
    files = [corpus.files[at].path for at in files_mentioning(corpus, name)]
    if len(defining) > 1:
        files = [other for other in files if other == path]
    return [
        (other, use.line, use.label, POSSIBLE)
        for other in files[:_FILES_READ]
        for use in corpus.references(other)
        if last_name(use.name) == name
    ]


def _by_chunk(corpus: Corpus, uses: Iterable[_UseRow], name: str) -> Iterator[Edge]:
    """Yield the first use of each chunk. Imports and links are no uses of their own."""
    seen: set[int] = set()
    for path, line, label, confidence in uses:
        if label in (Label.IMPORTS, Label.LINKS_TO):
            continue
        record = corpus.files[corpus.position_of[path]]
        for chunk in corpus.snapshot.chunks(path, line, line)[:1]:
            if chunk.number not in seen:
                seen.add(chunk.number)
                yield Edge(
                    chunk, line, Label.TESTED_BY if is_test(record, chunk) else label, confidence, name
                )


def _is_like(chunk: ChunkRecord, name: str) -> bool:
    """Return whether the name of a test chunk repeats the words of another name."""
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
