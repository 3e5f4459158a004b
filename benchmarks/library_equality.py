"""Does a library answer with the same bytes wherever its indexes lie and whoever does the work?

    python benchmarks/library_equality.py REPOSITORY… [--questions 300] [--commits 200] [--workers 3]

The repositories (folders with git, bare or not) are cloned, made into one library whose indexes are in its
folder, one in PostgreSQL, the second once more over Dask workers, and one index of all files. Questions are
made of their own symbols and headings; each is asked by `search`, `pack`, `refs` and, one of ten, `map`, and
every answer has to be that of the one index, byte for byte. Then random commits are made over the
repositories, each is synced, and at the end every index has to be the one that a fresh sync makes. The
figures are kept in results/library_equality.txt. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "library"))
from builders import dump_tables
from one_index import _OneStore, one_index
from postgres_server import shared_server

from satchel import storage
from satchel.commands.session import CallOptions, Session
from satchel.errors import SatchelError
from satchel.library.cluster import Cluster
from satchel.library.library import Library
from satchel.library.library_engine import LibraryEngine
from satchel.library.members import segment_at
from satchel.rendering.packs import PACK_FORMATS
from satchel.visible_json import compact

RESULTS = Path(__file__).parent / "results" / "library_equality.txt"
IDENTITY = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@example.org")
OWN = re.compile(r'"(index_bytes|generation|\w+_ms)":\d+')  # what is said of the index and of the moment
PACK_TOKENS = 3_000
MAP_EVERY = 10  # questions; a map reads the whole code graph
ASKED_WHILE_CHANGING = 4  # questions after every tenth commit


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *IDENTITY, *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def clone(source: Path, target: Path) -> Path:
    """Clone a repository with a branch `main` at its HEAD."""
    subprocess.run(["git", "clone", "-q", "--no-tags", str(source), str(target)], check=True)
    git(target, "checkout", "-q", "-B", "main")
    return target


def library_of(folder: Path, roots: Mapping[str, Path], store: str) -> Library:
    library = Library.open(str(folder))
    library.catalogue.create(store)
    for name, root in roots.items():
        library.add(str(root), name=name, refs=["main"])
    problems = [result.problem for result in library.sync() if result.problem]
    if problems:
        raise SystemExit("\n".join(problems))
    return library


def joint_engine(library: Library, roots: Mapping[str, Path]) -> LibraryEngine:
    """The engine over one index of the files of all repositories, with one posting run over all of them."""
    snapshots: dict[str, Any] = {}
    for name, root in roots.items():
        with segment_at(root, "main", storage.open_store("memory:")) as segment:
            segment.ensure_fresh()
            snapshots[name] = segment.store.snapshot()
    plain = library.engine()
    store = _OneStore(list(plain.members.values()), one_index(snapshots))
    return LibraryEngine(plain.root, store, plain.options)


def answer(engine: LibraryEngine, action: str, payload: dict[str, Any]) -> str:
    """The answer of a command as the bytes that every surface sends, or its error."""
    session = Session(engine, PACK_FORMATS, CallOptions(max_reindex_ms=0, stale_policy="warn"))  # type: ignore[arg-type]
    try:
        with session:
            return OWN.sub("", compact(session.call(action, payload)))
    except SatchelError as error:
        return compact(error.as_dict())


def questions(library: Library, count: int, rng: random.Random) -> list[tuple[str, str]]:
    """Texts to ask and names to look up, made of the symbols and headings of the repositories."""
    with closing(library.engine()) as engine:
        names = sorted(
            {item.symbol.name for item in engine.snapshot().all_symbols() if len(item.symbol.name) > 3}
        )
        headings = sorted({name for name in names if " " in name.strip()})
    found = []
    for number in range(count):
        chosen = rng.sample(names, 3)
        words = re.sub(r"[_\W]+|(?<=[a-z])(?=[A-Z])", " ", " ".join(chosen[: rng.choice((1, 2, 3))]))
        text = (words, rng.choice(headings), f"how does {chosen[0]} work", f"who calls {chosen[0]}")[
            number % 4
        ]
        found.append((text, chosen[0]))
    return found


def calls(asked: Sequence[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, (text, name) in enumerate(asked):
        yield "search", {"query": text, "k": 20, "explain": True}
        yield "pack", {"query": text, "format": "context", "budget_tokens": PACK_TOKENS}
        yield "refs", {"name": name, "possible": True}
        if number % MAP_EVERY == 0:
            yield "map", {"focus": name, "budget_tokens": 1500}


def compare(
    engines: Mapping[str, LibraryEngine], asked: Sequence[tuple[str, str]]
) -> Counter[tuple[str, str]]:
    """How many answers of each engine were equal to the first one's, by action, and how many not."""
    equal: Counter[tuple[str, str]] = Counter()
    (_, reference), *others = engines.items()
    for action, payload in calls(asked):
        expected = answer(reference, action, payload)
        for name, engine in others:
            is_equal = answer(engine, action, payload) == expected
            equal[name, action if is_equal else f"{action} DIFFERS"] += 1
            if not is_equal:
                print(f"{name} differs: {action} {payload}", flush=True)
    return equal


def commit_at_random(root: Path, rng: random.Random) -> None:
    """Make one commit: files edited, added, copied, renamed, removed."""
    paths = [path for path in git(root, "ls-files", "-z").split("\0") if path and (root / path).is_file()]
    for path in rng.sample(paths, min(len(paths), rng.choice((1, 1, 2, 5)))):
        target = root / path
        what = rng.choice(("edit", "edit", "edit", "add", "copy", "rename", "remove"))
        if what == "remove" and len(paths) > 20:
            target.unlink()
        elif what == "rename":
            target.rename(target.with_name(f"renamed_{rng.randrange(10**6)}{target.suffix}"))
        elif what == "copy":
            shutil.copy(target, target.with_name(f"copied_{rng.randrange(10**6)}{target.suffix}"))
        elif what == "add":
            number = rng.randrange(10**6)
            target.with_name(f"added_{number}.py").write_text(f"def added_{number}():\n    return {number}\n")
        else:
            lines = target.read_bytes().split(b"\n")
            at = rng.randrange(len(lines))
            lines[at : at + rng.choice((0, 1, 3))] = [b"changed_%d = %d" % (rng.randrange(10**6), at)]
            target.write_bytes(b"\n".join(lines))
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", f"change {rng.randrange(10**6)}")


def tables(library: Library) -> dict[str, Any]:
    """What the index of each repository holds."""
    found = {}
    for name, member in library.engine().members.items():
        with closing(member.source.store.snapshot()) as snapshot:
            found[name] = dump_tables(snapshot)
    return found


def run(options: argparse.Namespace, work: Path) -> tuple[list[str], bool]:
    rng = random.Random(options.seed)
    server = shared_server()
    named = {
        (path.parent if path.name == "repo" else path).name.rpartition("+")[2]: path
        for path in options.repositories
    }
    roots = {name: clone(path, work / "clones" / name) for name, path in named.items()}
    sqlite = library_of(work / "sqlite", roots, "")
    postgres = library_of(work / "postgres", roots, server.place(work))
    asked = questions(sqlite, options.questions, rng)
    lines: list[str] = []
    with ExitStack() as stack:
        cluster = stack.enter_context(Cluster(f"local:{options.workers}"))
        spread = postgres.engine(cluster=cluster)
        engines = {
            "one index": joint_engine(sqlite, roots),
            "SQLite": sqlite.engine(),
            "PostgreSQL": postgres.engine(),
            f"PostgreSQL, {options.workers} workers": spread,
        }
        corpus = engines["SQLite"].corpus()
        lines.append(
            f"{len(roots)} repositories ({', '.join(roots)}): "
            f"{len(corpus.files)} files, {corpus.unit_count} units"
        )
        started = time.perf_counter()
        equal = compare(engines, asked)
        looked = spread.store.spread
        lines.append(f"{len(asked)} questions, answers with the bytes of one index:")
        lines += [f"  {name}, {action}: {count}" for (name, action), count in sorted(equal.items())]
        assert looked is not None
        lines.append(
            f"  shards that were scored: {looked.scored}, that could not reach the top: {looked.skipped}"
        )
        print("\n".join(lines), f"\n({time.perf_counter() - started:.0f} s)", flush=True)
        del engines["one index"]
        changed: Counter[tuple[str, str]] = Counter()
        for number in range(1, options.commits + 1):
            name = rng.choice(sorted(roots))
            commit_at_random(roots[name], rng)
            for library in (sqlite, postgres):
                list(library.sync([name]))
            if number % 10 == 0:
                changed += compare(engines, rng.sample(asked, ASKED_WHILE_CHANGING))
                print(number, end=" ", flush=True)
        lines.append(
            f"while {options.commits} random commits were made and synced, "
            "answers with the bytes of the SQLite library:"
        )
        lines += [f"  {name}, {action}: {count}" for (name, action), count in sorted(changed.items())]
    fresh = tables(library_of(work / "fresh", roots, ""))
    for kind, library in (("SQLite", sqlite), ("PostgreSQL", postgres)):
        found = tables(library)
        same = sum(found[name] == fresh[name] for name in roots)
        lines.append(
            f"after {options.commits} commits: "
            f"{same} of {len(roots)} indexes in {kind} are those of a fresh sync"
        )
    told = "\n".join(lines)
    return lines, "DIFFERS" not in told and told.count(f"{len(roots)} of {len(roots)} indexes") == 2


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        lines, is_equal = run(options, Path(folder))
    print("\n".join(lines))
    RESULTS.write_text("\n".join(lines) + "\n")
    return int(not is_equal)


if __name__ == "__main__":
    sys.exit(main())
