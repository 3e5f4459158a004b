"""Do the promises about chunks and indexes hold on every file of real code in twenty languages?

    python benchmarks/sweep.py                 all corpora of the sweep, into benchmarks/results/sweep.txt
    python benchmarks/sweep.py flask redis     some of them, to the terminal only

On every chunk of every file: its text is the file's lines as read from disk again, every line that is not
blank is in exactly one chunk, none is longer than it may be, no id and no document name is given twice,
every symbol has a name, nothing points outside the file.

On every corpus the same dump (files, chunks, units, outlines, symbols, references, searches) comes from a
fresh index by one worker, from one by two workers under another PYTHONHASHSEED, from the memory store, and
from an index that grew: half of the files, then the rest, one file edited and edited back, one renamed and
renamed back.

Exit code 1 when anything fails; each failure is a line with corpus, file and line.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import msgspec
import numpy as np
from corpora import CORPORA, SWEEP, Corpus, default_cache, get

from satchel import ids
from satchel.chunking.chunk_layout import MAX_CHARS
from satchel.commands import refs, search
from satchel.engine import Engine
from satchel.errors import SatchelError
from satchel.indexing import workers
from satchel.lines import split_lines
from satchel.retrieval.lookup import Fate
from satchel.storage import postings
from satchel.storage.memory import MemoryStore
from satchel.storage.protocol import Snapshot
from satchel.storage.records import ChunkRecord, FileRecord

RESULT = Path(__file__).parent / "results" / "sweep.txt"
MARKER = "zyxwsatchelsweep"  # a word that no corpus has
NEAR_MARKER = MARKER + "s_zyxwother"  # finds nothing: what is proposed instead must not show the edit either
REDACTED = "«redacted:"
SKIPPED = "(skipped)"
PICKED_SYMBOLS = 4  # searched for by name, evenly spread over all names
FIELDS = ("files", "lines", "chunks", "symbols", "references", "redactions")

Dump = dict[str, list[str]]
"""Path, `(skipped)` or `(search …)` → entries, those of a file starting with their line."""


@dataclass(slots=True)
class Result:
    """What one corpus gave; `redactions` counts values, and their lines are not compared with the file's."""

    corpus: Corpus
    files: int = 0
    lines: int = 0
    chunks: int = 0
    symbols: int = 0
    references: int = 0
    redactions: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def fail(self, path: str, line: int | str, message: str) -> None:
        """Notes one failure by its place."""
        self.failures.append(f"{self.corpus.name}/{path}:{line}: {message}")

    def expect(self, holds: bool, path: str, line: int | str, message: str) -> None:
        """Notes a failure unless it holds."""
        if not holds:
            self.fail(path, line, message)


def sweep(corpus: Corpus, cache: Path) -> Result:
    """All checks on one corpus; a run that ends early is a failure of its own."""
    result = Result(corpus)
    try:
        check(get(corpus.name, cache), cache, result)
    except (SatchelError, subprocess.CalledProcessError) as error:
        result.fail(".", 0, f"not swept to the end: {error!r}")
    return result


def check(original: Path, cache: Path, result: Result) -> None:
    """The trees are hard links in a scratch folder, the indexes lie beside them."""
    with tempfile.TemporaryDirectory(dir=cache, prefix="sweep-") as scratch:
        tree, fresh, other = Path(scratch, "tree"), Path(scratch, "fresh"), Path(scratch, "other")
        link(original, tree, files_of(original))
        one_worker = dump_elsewhere(tree, fresh, worker_count=1, hash_seed=1)
        two_workers = dump_elsewhere(tree, other, worker_count=2, hash_seed=2)
        with Engine.open(tree, index_dir=fresh) as engine:
            check_tree(engine, result)
            expected = dump(engine)
            result.expect(digest(expected) == one_worker, ".", 0, "the same index dumps differently here")
        with Engine.open(tree, index_dir=other) as engine:
            compare(expected, dump(engine), "two workers, other hash seed", result)
            result.expect(one_worker == two_workers, ".", 0, "another dump by two workers, other hash seed")
        with Engine.open(tree, store=MemoryStore(), workers=1) as engine:
            engine.refresh()
            compare(expected, dump(engine), "memory store", result)
        with Engine.open(grown(original, Path(scratch, "grown")), index_dir=Path(scratch, "steps")) as engine:
            grow(engine, original, result)
            compare(expected, dump(engine), "grown index", result)


def files_of(folder: Path) -> list[Path]:
    """Every file and symbolic link below a folder, relative and sorted."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(path.relative_to(folder) for path in found)


def link(original: Path, target: Path, paths: Iterable[Path]) -> None:
    """Hard links of some files. They are only ever replaced, never written: the corpus stays as it is."""
    for path in paths:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        os.link(original / path, target / path, follow_symlinks=False)


def check_tree(engine: Engine, result: Result) -> None:
    """Counts and checks every file of an index against the disk."""
    snapshot = engine.snapshot()
    seen_ids: set[str] = set()
    seen_docs: set[str] = set()
    result.skipped.update(item.skipped.reason.value for item in snapshot.skipped())
    for record in snapshot.files():
        check_file(engine.root, snapshot, record, result)
        doc = ids.doc_of(record.path)
        result.expect(doc not in seen_docs, record.path, 1, f"document {doc} is another file's too")
        result.expect(ids.path_of(doc) == record.path, record.path, 1, f"document {doc} names another path")
        seen_docs.add(doc)
        for chunk in snapshot.chunks(record.path):
            for spelling in (ids.canonical_id(doc, chunk.digest), ids.long_id(chunk.digest)):
                unused = spelling not in seen_ids
                result.expect(unused, record.path, chunk.start_line, f"id {spelling} is used twice")
                seen_ids.add(spelling)


def check_file(root: Path, snapshot: Snapshot, record: FileRecord, result: Result) -> None:
    """One file: what the index says of it, and its lines as they are on disk."""
    data = (root / record.path).read_bytes()
    text = data.decode(record.encoding)
    lines = split_lines(text)
    path = record.path
    result.expect(lines == list(io.StringIO(text, newline="")), path, 1, "lines are not split as Python does")
    result.expect(text.encode(record.encoding) == data, path, 1, f"{record.encoding} does not give the bytes")
    result.expect((record.size, record.file_hash) == (len(data), ids.hash_bytes(data)), path, 1, "other hash")
    result.expect(record.line_count == len(lines), path, len(lines), f"indexed are {record.line_count} lines")
    result.files += 1
    result.lines += len(lines)
    result.redactions += len(record.redactions)
    check_citations(snapshot, record, lines, result)
    check_coverage(snapshot.chunks(path), path, lines, result)
    check_places(snapshot, record, result)


def check_citations(snapshot: Snapshot, record: FileRecord, lines: list[str], result: Result) -> None:
    """The text of each chunk, line by line; a redacted line says so, and no other line differs."""
    redacted = set(record.redactions)
    for chunk in snapshot.parsed(record.path).chunks:
        shown = split_lines(chunk.text)
        for number, (ours, theirs) in enumerate(
            zip_longest(shown, lines[chunk.start_line - 1 : chunk.end_line]), chunk.start_line
        ):
            holds = REDACTED in (ours or "") if number in redacted else ours == theirs
            result.expect(holds, record.path, number, f"cited {ours!r}, the file has {theirs!r}")
        short = len(chunk.text) <= MAX_CHARS or len(shown) == 1  # a line is never cut
        result.expect(short, record.path, chunk.start_line, f"a chunk of {len(chunk.text)} characters")


def check_coverage(chunks: list[ChunkRecord], path: str, lines: list[str], result: Result) -> None:
    """Every line that is not blank is in exactly one chunk, none in two, and chunks are in order."""
    owners = [0] * (len(lines) + 1)
    result.chunks += len(chunks)
    for chunk in chunks:
        inside = 1 <= chunk.start_line <= chunk.end_line <= len(lines)
        result.expect(inside, path, chunk.start_line, f"chunk up to {chunk.end_line} of {len(lines)} lines")
        for number in range(max(chunk.start_line, 1), min(chunk.end_line, len(lines)) + 1):
            owners[number] += 1
    for number, line in enumerate(lines, 1):
        allowed = owners[number] == 1 or (owners[number] == 0 and not line.strip())
        result.expect(allowed, path, number, f"in {owners[number]} chunks: {line!r}")
    starts = [chunk.start_line for chunk in chunks]
    result.expect(starts == sorted(starts), path, 1, "chunks are not in the order of their lines")


def check_places(snapshot: Snapshot, record: FileRecord, result: Result) -> None:
    """Symbols, references and comments lie inside the file."""
    parsed = snapshot.parsed(record.path)
    result.symbols += len(parsed.symbols)
    result.references += len(parsed.references)
    places = [(item.start_line, item.end_line, item.qualified_name) for item in parsed.symbols]
    places += [(item.line, item.line, f"reference {item.name}") for item in parsed.references]
    places += [(first, last, "comment") for first, last in parsed.comments]
    for symbol in parsed.symbols:
        result.expect(bool(symbol.name.strip()), record.path, symbol.start_line, f"no name: {symbol}")
    for first, last, what in places:
        inside = 1 <= first <= last <= record.line_count
        result.expect(inside, record.path, first, f"{what}: lines {first} to {last} of {record.line_count}")


def dump(engine: Engine) -> Dump:
    """All that an index holds and answers, without what may differ: times, row numbers and posting runs."""
    snapshot = engine.snapshot()
    units = dict(units_of_files(snapshot))
    found: Dump = {}
    for record in snapshot.files():
        parsed = snapshot.parsed(record.path)
        facts = (record.size, record.file_hash, record.language, record.encoding, record.line_count)
        entries = [f"0: {facts} {record.redactions} {record.tags}"]
        for row, chunk in zip(snapshot.chunks(record.path), parsed.chunks, strict=True):
            entries.append(f"{row.start_line}: {row.digest} {chunk}")
        entries += units[record.first_unit] if record.unit_count else []
        ((outline, vectors),) = snapshot.outlines([record.path])
        entries.append(f"0: {outline} {ids.hash_bytes(vectors)}")
        entries += [f"{symbol.start_line}: {symbol}" for symbol in parsed.symbols]
        entries += [f"{reference.line}: {reference}" for reference in parsed.references]
        entries += [f"{first}: comment to {last}" for first, last in parsed.comments]
        found[record.path] = entries
    found[SKIPPED] = [f"0: {item.skipped}" for item in snapshot.skipped()]
    for name, answer in answers(engine):
        found[f"({name})"] = [f"0: {answer}"]
    return found


def units_of_files(snapshot: Snapshot) -> Iterator[tuple[int, list[str]]]:
    """By the first unit of each file of a run: its vector, then the lines and lengths of each unit and
    a hash of its terms with their counts. Rows come sorted by term."""
    for run in snapshot.posting_runs():
        files = np.frombuffer(run.files, "<u4").reshape(-1, 2).tolist()
        lines = np.frombuffer(run.lines, "<u4").reshape(-1, 2).tolist()
        lengths = np.frombuffer(run.lengths, "<u2").reshape(-1, 2).tolist()
        hashes = [hashlib.sha256() for _ in lines]
        for term, data in snapshot.run_terms(run.number):
            name = term.encode("utf-8", "surrogatepass")
            offsets, counts = postings.decode(data)
            for offset, count in zip(offsets.tolist(), counts.tolist(), strict=True):
                hashes[offset].update(b"%s %d\n" % (name, count))
        width = len(run.vectors) // max(1, len(files))
        start = 0
        for place, (first_unit, count) in enumerate(files):
            vector = run.vectors[place * width : (place + 1) * width]
            entries = [f"0: vector {vector.hex()}"]
            for unit in range(start, start + count):
                first, last = lines[unit]
                entries.append(f"{first}: unit to {last} {lengths[unit]} {hashes[unit].hexdigest()}")
            yield first_unit, entries
            start += count


def answers(engine: Engine) -> Iterator[tuple[str, str]]:
    """What some questions about a corpus give, as JSON: by name, in words, filtered, and without any hit."""
    snapshot = engine.snapshot()
    names = sorted({item.symbol.name for item in snapshot.all_symbols()} - {""}) or ["main"]
    picked = [names[len(names) * position // PICKED_SYMBOLS] for position in range(PICKED_SYMBOLS)]
    middle = snapshot.files()[len(snapshot.files()) // 2].path
    requests = [search.SearchRequest(query=name, explain=True) for name in picked]
    requests += [
        search.SearchRequest(query="how are errors handled", k=30),
        search.SearchRequest(query=f"open and read the file {middle}", path_prefix=middle.partition("/")[0]),
        search.SearchRequest(query="test that a value is returned", chunk_type="function"),
        search.SearchRequest(query=NEAR_MARKER),
    ]
    for request in requests:
        yield f"search {request.query}", msgspec.json.encode(search.run(engine, request)).decode()
    for name in picked:
        yield f"refs {name}", references(engine, name)


def references(engine: Engine, name: str) -> str:
    """Who uses a name, as JSON; an error is an answer too."""
    try:
        return msgspec.json.encode(refs.run(engine, refs.RefsRequest(name=name))).decode()
    except SatchelError as error:
        return msgspec.json.encode(error.as_dict()).decode()


def digest(dumped: Dump) -> str:
    """The sha256 of a dump."""
    whole = hashlib.sha256()
    for name, entries in sorted(dumped.items()):
        whole.update("\0".join([name, *entries, "\n"]).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def dump_elsewhere(tree: Path, index: Path, *, worker_count: int, hash_seed: int) -> str:
    """Builds an index and dumps it in a process of its own; its sha256."""
    command = [sys.executable, __file__, "--dump", str(tree), str(index), str(worker_count)]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def dump_here(tree: Path, index: Path, worker_count: int) -> str:
    """What `dump_elsewhere` starts. Small corpora go through a pool of processes as well."""
    workers._POOL_BYTES = 0
    with Engine.open(tree, index_dir=index, workers=worker_count) as engine:
        engine.refresh()
        return digest(dump(engine))


def compare(expected: Dump, found: Dump, how: str, result: Result) -> None:
    """Fails with the first entry of each file, skip list or search in which two dumps differ."""
    for name in sorted(expected.keys() | found.keys()):
        for ours, theirs in zip_longest(found.get(name, []), expected.get(name, [])):
            if ours != theirs:
                line = (ours or theirs or "0").partition(":")[0]
                result.fail(name, line, f"{how} has {ours!r}, the fresh index {theirs!r}")
                break


def grown(original: Path, tree: Path) -> Path:
    """Every second file of a corpus."""
    link(original, tree, files_of(original)[::2])
    return tree


def grow(engine: Engine, original: Path, result: Result) -> None:
    """Brings an index from half of a corpus to the whole, by way of an edit and a rename that are undone."""
    engine.refresh()
    link(original, engine.root, files_of(original)[1::2])
    engine.refresh()
    path = middle_file(engine.snapshot(), result.corpus.language)
    edit(engine, path, result)
    (engine.root / path).unlink()
    link(original, engine.root, [Path(path)])
    engine.refresh()
    folder, _, name = path.rpartition("/")
    moved = f"{folder}/moved_{name}".removeprefix("/")
    for source, target in ((path, moved), (moved, path)):
        (engine.root / source).rename(engine.root / target)
        done = engine.refresh()
        result.expect((done.parsed, done.moved) == (0, 1), target, 1, f"renamed from {source}: {done}")
    result.expect(not engine.refresh().changed, path, 1, "a refresh without changes changed something")


def middle_file(snapshot: Snapshot, language: str) -> str:
    """A file in the corpus's main language, in the middle of them."""
    paths = [record.path for record in snapshot.files() if record.language == language and record.line_count]
    return paths[len(paths) // 2]


def edit(engine: Engine, path: str, result: Result) -> None:
    """Puts a line in the middle of a file that breaks its syntax; the file must still be cited truly."""
    record = engine.snapshot().file(path)
    assert record is not None
    lines = split_lines((engine.root / path).read_bytes().decode(record.encoding))
    middle = len(lines) // 2
    lines[middle:middle] = [f"}} {MARKER} ((\n"]
    (engine.root / path).unlink()
    (engine.root / path).write_bytes("".join(lines).encode(record.encoding))
    done = engine.refresh()
    result.expect(done.parsed == 1, path, middle + 1, f"edited: {done}")
    hits, _ = engine.search(MARKER)
    cited = [(hit.path, hit.start_line <= middle + 1 <= hit.end_line) for hit in hits]
    result.expect(cited == [(path, True)], path, middle + 1, f"the edited line is found as {cited}")
    fates = [(found.fate, found.chunk and found.chunk.path) for found in engine.find(hit.id for hit in hits)]
    result.expect(fates == [(Fate.CURRENT, path)], path, middle + 1, f"the hit's id leads to {fates}")
    aside = Result(result.corpus)
    edited = engine.snapshot().file(path)
    assert edited is not None
    check_file(engine.root, engine.snapshot(), edited, aside)
    result.failures += [f"{failure} (edited)" for failure in aside.failures]


def table(results: list[Result]) -> str:
    """One line per corpus, the sum, then every failure."""
    total = Result(Corpus("all", SWEEP[0].client, "", ""))
    for result in results:
        for name in FIELDS:
            setattr(total, name, getattr(total, name) + getattr(result, name))
        total.skipped += result.skipped
        total.failures += result.failures
    rows = [f"{'corpus':16} {'language':11}" + "".join(f"{name:>11}" for name in (*FIELDS, "failures"))]
    rows[0] += "  skipped"
    for result in (*results, total):
        figures = [getattr(result, name) for name in FIELDS] + [len(result.failures)]
        skipped = ", ".join(f"{reason} {count}" for reason, count in sorted(result.skipped.items()))
        row = f"{result.corpus.name:16} {result.corpus.language:11}"
        rows.append(row + "".join(f"{figure:>11}" for figure in figures) + f"  {skipped}".rstrip())
    failures = ["", *total.failures] if total.failures else []
    return "\n".join([*rows, *failures, "", f"{len(total.failures)} failures"]) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--dump", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.dump:
        tree, index, worker_count = arguments.dump
        print(dump_here(Path(tree), Path(index), int(worker_count)))
        return 0
    results = []
    for corpus in [CORPORA[name] for name in arguments.names] or SWEEP:
        results.append(sweep(corpus, arguments.cache))
        print(f"{corpus.name}: {len(results[-1].failures)} failures", file=sys.stderr, flush=True)
    text = table(results)
    print(text, end="")
    if not arguments.names:
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(text, encoding="utf-8")
    return int(any(result.failures for result in results))


if __name__ == "__main__":
    sys.exit(main())
