"""Builders of real folders, repositories, engines and processes, and the one dump that compares indexes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from command_processes import command_processes

from satchel import plugins
from satchel.chunking import parse_source
from satchel.commands.session import CallOptions, Session
from satchel.engine import Engine
from satchel.ids import hash_bytes, hash_text
from satchel.indexing.analysis import analyse_source
from satchel.indexing.term_collector import TermCollector
from satchel.languages import detect
from satchel.lines import split_lines
from satchel.packing.pack import WORK_TREE, Budget, Counts, Item, Pack
from satchel.packing.sections import Section
from satchel.rendering.packs import PACK_FORMATS
from satchel.retrieval.candidates import CANDIDATES
from satchel.retrieval.filters import Filters
from satchel.retrieval.search import gather_evidence
from satchel.retrieval.signals.signal import Context
from satchel.storage import postings
from satchel.storage.memory import MemoryStore
from satchel.storage.protocol import Snapshot, Store
from satchel.storage.records import FileRecord, PackedFile
from satchel.types import FileEntry, Source
from satchel.walking.source_reader import SourceReader
from satchel.walking.work_tree import WorkTree

Files = Mapping[str, str | bytes]

SHOP: dict[str, str | bytes] = {
    "README.md": "# Shop\n\nA small shop.\n\n## Setup\n\nRun `make install`.\n\n## Usage\n\nCall checkout.\n",
    "docs/guide.md": "# Guide\n\nHow the basket works, see [setup](../README.md#setup).\n\n## Core rules\n\nPay first.\n",
    "src/basket.py": (
        '"""Baskets."""\n\nfrom src.money import add_money\n\n\n'
        "class Basket:\n"
        '    """What a customer wants."""\n\n'
        "    def add_item(self, item):\n"
        "        self.items.append(item)\n\n"
        "    def total_price(self):\n"
        "        return add_money(item.price for item in self.items)\n"
    ),
    "src/money.py": (
        "RATE = 2\n\n\ndef add_money(amounts):\n    # rounding happens at the till\n    return sum(amounts) * RATE\n"
    ),
    "src/till.go": (
        'package till\n\nimport "fmt"\n\n// OpenTill starts the day.\nfunc OpenTill() {\n\tfmt.Println("open")\n}\n'
    ),
    "tests/test_basket.py": (
        "from src.basket import Basket\n\n\ndef test_total():\n    assert Basket().total_price() == 0\n"
    ),
    "config.toml": '[till]\nname = "front"\n',
}
QUERIES = ("basket total price", "add_money", "setup", "till", "how does the customer pay first")

_GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
_OUR_VARIABLES = ("SATCHEL_HOME", "SATCHEL_WORKERS", "NO_COLOR", "PYTHONHASHSEED")
PLUGGED_STORES = Path(__file__).parent / "storage" / "plugged"
STORE_ENVIRONMENT: dict[str, str] = {}  # of every process that a test starts; set by `pytest --store`
_CHANGE_SECONDS = 0.045  # after which a change gives another change time
_LONG_AGO_SECONDS = 60  # older than the time within which an equal stamp proves nothing


def make_tree(root: Path, files: Files) -> Path:
    """Write files given as path → text (or bytes) below a folder; returns the folder."""
    root.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(
            content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        )
    return root


def age(root: Path, seconds: float = _LONG_AGO_SECONDS) -> Path:
    """Set the times of all files back, so that an equal stamp means an equal file."""
    then = time.time() - seconds
    for path in root.rglob("*"):
        if path.is_file() and "_ctx" not in path.parts and ".git" not in path.parts:
            os.utime(path, (then, then))
    time.sleep(_CHANGE_SECONDS)  # nobody can set back when a file was changed
    return root


def remove_folder(folder: Path) -> None:
    """Remove a folder that another process may be writing into."""
    for _ in range(20):
        try:
            shutil.rmtree(folder)
            return
        except OSError:  # a file was written into it meanwhile
            time.sleep(0.01)
    shutil.rmtree(folder)


def make_engine(
    root: Path, store: Store | None = None, *, index_dir: Path | None = None, workers: int = 1
) -> Engine:
    """An engine over real files; without a store its index is the real file in `_ctx/`."""
    return Engine.open(root, store=store, index_dir=index_dir, workers=workers)


def memory_engine(root: Path) -> Engine:
    """An engine with a fresh index in memory."""
    engine = make_engine(root, MemoryStore())
    engine.refresh()
    return engine


def git(root: Path, *arguments: str) -> str:
    """Run git in a folder, deaf to the configuration of this machine."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=root,
        env=os.environ | _GIT_ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def git_repo(root: Path, files: Files) -> Path:
    """A repository with all files committed."""
    make_tree(root, files)
    if not (root / ".git").exists():
        git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A", ".")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")
    return root


class Repository:
    """A repository that is written commit by commit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        git(root, "init", "-q", "-b", "main")

    def commit(self, message: str, files: Files | None = None, *removed: str) -> str:
        make_tree(self.root, files or {})
        for path in removed:
            (self.root / path).unlink()
        git(self.root, "add", "-A", ".")
        git(self.root, "commit", "-q", "--allow-empty", "-m", message)
        return git(self.root, "rev-parse", "HEAD").strip()[:12]


def with_plugged_stores() -> dict[str, str]:
    """Return the environment in which a process finds the stores that only tests have."""
    folders = (str(PLUGGED_STORES), os.environ.get("PYTHONPATH", ""))
    return {"PYTHONPATH": os.pathsep.join(filter(None, folders))}


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a user who set nothing."""
    kept = {name: value for name, value in os.environ.items() if name not in _OUR_VARIABLES}
    return kept | {"XDG_CONFIG_HOME": os.devnull + "/none"} | STORE_ENVIRONMENT | dict(extra or {})


def run_cli(
    *arguments: str | Path,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    given: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """The real command line in a process of its own, forked where that gives the same."""
    words, variables = [str(word) for word in arguments], clean_environment(environment)
    if hasattr(os, "fork") and command_processes().can_fork(variables):
        return command_processes().run(words, cwd, variables, given)
    return subprocess.run(
        [sys.executable, "-m", "satchel", *words],
        input=given,
        cwd=cwd,
        env=variables,
        capture_output=True,
        check=False,
        timeout=120,
    )


# What root's interpreter loads late, nobody may not read: a first run as root loads it all.
_AS_NOBODY = """
import array, difflib, io, os, pkgutil, sys
from pathlib import Path
from satchel.serving.cli import main
segment, warm, *arguments = sys.argv[1:]
Path(warm, f"warm_{os.getpid()}.py").write_text(f"warm = {os.getpid()}")
screen, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO())
main([*arguments, "--segment", warm])
sys.stdout = screen
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.exit(main([*arguments, "--segment", segment]))
"""


def run_cli_as_nobody(
    *arguments: str, segment: Path, warm: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """The command line bound by permissions, which do not bind root."""
    return subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, str(segment), str(warm), *arguments],
        env=clean_environment(environment),
        capture_output=True,
        check=False,
        timeout=120,
    )


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter; pytest's own are closed to them."""
    with TemporaryDirectory() as name:
        root = Path(name).resolve()
        root.chmod(0o755)
        yield root


def packed(path: str, text: str, mtime_ns: int = 1) -> tuple[FileRecord, PackedFile]:
    """A text as the index keeps it, by the real parser."""
    language = detect(path, text.partition("\n")[0])
    data = text.encode("utf-8", "surrogatepass")
    source = Source(path, text, language, "utf-8", hash_bytes(data), len(data))
    analysed = analyse_source(
        source, FileEntry(path, len(data), mtime_ns), parse_source(text, language), TermCollector()
    )
    return analysed.record, analysed.packed


def reader(root: Path) -> SourceReader:
    """What reads the files of a folder."""
    engine = make_engine(root, MemoryStore())
    return SourceReader(WorkTree(root.resolve(), engine.options.walk), engine.options.walk)


def closely(engine: Engine, query: str, count: int = CANDIDATES) -> Context:
    """A question and its candidates, as the signals see them."""
    context = gather_evidence(engine.corpus(), query, Filters(), count)
    assert context is not None
    return context


def signals(engine: Engine, query: str, group: str) -> dict[str, dict[str, float]]:
    """What the signals of one group say: name → path → strength."""
    context = closely(engine, query)
    found = plugins.load("signal", group).compute(context)
    return {
        name: {record.path: float(value) for record, value in zip(context.records, values, strict=True)}
        for name, values in found.items()
    }


def dump(engine: Engine, queries: Sequence[str] = QUERIES) -> dict[str, Any]:
    """Everything an index says, without what its history may change (numbers, generation, settledness)."""
    snapshot = engine.snapshot()
    return {**dump_tables(snapshot), "searches": {query: _hits(engine, query) for query in queries}}


def dump_tables(snapshot: Snapshot) -> dict[str, Any]:
    """The tables of a snapshot, file by file."""
    units = dict(_units(snapshot))
    return {
        "files": {
            record.path: _file(snapshot, record)
            | {"units": units[record.first_unit] if record.unit_count else []}
            for record in snapshot.files()
        },
        "symbols": [(item.path, item.symbol.qualified_name) for item in snapshot.all_symbols()],
        "symbol_count": snapshot.symbol_count(),
        "kinds": snapshot.kind_counts(),
        "skipped": [_values(record.skipped) for record in snapshot.skipped()],
    }


def _units(snapshot: Snapshot) -> Iterator[tuple[int, list[Any]]]:
    """By the first unit of each file that a run covers: its vector, and its units' lines, lengths, terms."""
    for run in snapshot.posting_runs():
        lines = np.frombuffer(run.lines, "<u4").reshape(-1, 2).tolist()
        lengths = np.frombuffer(run.lengths, "<u2").reshape(-1, 2).tolist()
        held: list[list[tuple[str, int]]] = [[] for _ in lines]
        for term, data in snapshot.run_terms(run.number):
            offsets, counts = postings.decode(data)
            for offset, count in zip(offsets.tolist(), counts.tolist(), strict=True):
                held[offset].append((term, count))
        units = list(zip(lines, lengths, held, strict=True))
        files = np.frombuffer(run.files, "<u4").reshape(-1, 2)
        width = len(run.vectors) // max(1, len(files))
        ends = np.cumsum(files[:, 1]).tolist()
        for place, ((first, count), end) in enumerate(zip(files.tolist(), ends, strict=True)):
            yield first, [run.vectors[place * width : (place + 1) * width], *units[end - count : end]]


def _file(snapshot: Snapshot, record: FileRecord) -> dict[str, Any]:
    path = record.path
    chunks = snapshot.chunks(path)
    return {
        "record": (record.size, record.mtime_ns, record.file_hash, record.language, record.encoding)
        + (record.line_count, record.redactions, record.tags, record.chunk_count, record.unit_count),
        "chunks": [
            (chunk.kind, chunk.title_path, chunk.level, chunk.start_line, chunk.end_line, chunk.body_offset)
            + (chunk.digest,)
            for chunk in chunks
        ],
        "found_by_digest": [chunk in snapshot.chunks_by_digest(chunk.digest) for chunk in chunks[:1]],
        "symbols": [_values(symbol) for symbol in snapshot.symbols(path)],
        "references": snapshot.references(path),
        "comments": snapshot.parsed(path).comments,
        "facts": snapshot.facts(path),
        "edges": snapshot.edges([path]),
        "outline": snapshot.outlines([path]),
        "text": snapshot.text(path),
    }


def _hits(engine: Engine, query: str) -> list[Any]:
    return [_values(hit) for hit in engine.search(query, k=50, explain=True)[0]]


def _values(item: Any) -> tuple[Any, ...]:
    if isinstance(item, tuple):
        return item
    names = getattr(item, "__struct_fields__", None) or [field.name for field in fields(item)]
    return tuple(getattr(item, name) for name in names)


def make_item(path: str, content: str, start_line: int = 1, **others: Any) -> Item:
    """An item whose lines and hash are true of its content."""
    end_line = start_line + max(1, len(split_lines(content))) - 1
    values: dict[str, Any] = {
        "ref": WORK_TREE,
        "chunk_id": f"{path}:{start_line}:{end_line}",
        "kind": "function",
        "symbol": "",
        "section": Section.DEFINITIONS,
        "score": 1.0,
        "file_hash": hash_text(content),
    }
    return Item(
        path=path,
        start_line=start_line,
        end_line=end_line,
        content=content,
        content_hash=hash_text(content),
        **values | others,
    )


def make_pack(*items: Item, query: str = "how are sessions stored", **others: Any) -> Pack:
    """A pack of these items, with a budget that nobody counted."""
    values: dict[str, Any] = {
        "ref": WORK_TREE,
        "mode": "full",
        "model_id": "lexical",
        "profile": "fast",
        "budget": Budget(tokenizer="chars4", max_tokens=4000, used_tokens=310),
        "counts": Counts(candidates=len(items), selected=len(items)),
    }
    return Pack(query=query, items=items, **values | others)


def cite(root: Path, path: str, start_line: int, end_line: int, **others: Any) -> Item:
    """Lines of a file on disk as an item."""
    text = (root / path).read_bytes().decode()
    return make_item(path, "".join(split_lines(text)[start_line - 1 : end_line]), start_line, **others)


def session_of(engine: Engine, options: CallOptions | None = None, **settings: Any) -> Session:
    """A session with the formats that every surface hands in."""
    return Session(engine, PACK_FORMATS, options, **settings)
