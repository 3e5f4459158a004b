"""After a change of the files: does every surface, started as people start it, answer from the files of now?

    python benchmarks/faulting/after_changes.py [--rounds 500] [--seed 1] [--surface NAME]…

A round is one change, then five questions over one surface. Every citation of every answer is compared with
the disk, what the change wrote must be found, and what it removed must not be.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests"
sys.path[:0] = [str(HERE.parent), str(TESTS), str(TESTS / "serving")]

import surfaces  # noqa: E402

from faulting.changing import ChangingProject, fresh_project  # noqa: E402
from faulting.truth import citations, untrue  # noqa: E402

# name → (the surface, the flags that its server is started with); without flags is how people start it
SURFACES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "cli": ("cli", ()),
    "python": ("python", ()),
    "http, 2 workers": ("http", ("--workers", "2")),
    "http, 1 worker": ("http", ("--workers", "1")),
    "http, no watch": ("http", ("--no-watch",)),
    "grpc": ("grpc", ()),
    "grpc, no watch": ("grpc", ("--no-watch",)),
    "mcp stdio": ("mcp stdio", ()),
    "mcp stdio, no watch": ("mcp stdio", ("--no-watch",)),
    "mcp http": ("mcp http", ()),
    "mcp http, no watch": ("mcp http", ("--no-watch",)),
}
Ask = Callable[[str, Mapping[str, Any]], Any]


def asking(surface: Any) -> Ask:
    """A function that gives the envelope, also where there is none: the command line prints data alone."""
    if hasattr(surface, "ask"):
        found: Ask = surface.ask
        return found

    def ask(action: str, payload: Mapping[str, Any]) -> Any:
        data, code = surface.call(action, payload)
        return {"status": "error" if code else "ok", "data": data, "error": {"code": code}}

    return ask


def probe(ask: Ask, project: ChangingProject, before: Mapping[str, str]) -> Iterator[str]:
    """Ask about what has changed since the marks were `before`; yield a sentence for whatever is not as it is
    on the disk."""
    changed = [path for path, mark in project.marks.items() if before.get(path) != mark]
    path = changed[-1] if changed else project.any_path()
    mark = project.marks[path]
    questions: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": f"count_{mark}", "k": 5}),
        ("get", {"ids": [f"{path}:1:3"]}),
        ("context_pack", {"query": f"count_{mark}", "max_chars": 6000}),
        ("map", {"budget_tokens": 400}),
        ("refs", {"name": f"count_{mark}"}),
    ]
    for action, payload in questions:
        yield from _wrong(project, action, payload, ask(action, payload), path)
    for mark in [mark for mark in before.values() if mark not in project.marks.values()][:2]:
        found = ask("search", {"query": f"count_{mark}", "k": 5})
        if found["status"] == "ok" and any(mark in hit["snippet"] for hit in found["data"]["hits"]):
            yield f"search: {mark} is gone and was found"


def _wrong(
    project: ChangingProject, action: str, payload: Mapping[str, Any], envelope: Any, path: str
) -> Iterator[str]:
    if envelope["status"] != "ok":
        if (action, envelope["error"]["code"]) != ("refs", "symbol_not_found") or path.endswith(".py"):
            yield f"{action} {payload}: {envelope['error']}"
        return
    data, state = envelope["data"], (envelope.get("meta") or {}).get("index_state")
    if state is not None and state["stale"]:
        yield f"{action}: stale, {state['stale_reasons']}"
    for item in untrue(action, data, project.root):
        yield f"{action}: {item.path}:{item.first}-{item.last} is not {item.text[:60]!r}"
    found = {item.path for item in citations(action, data)}
    if action in ("search", "get", "context_pack") and path not in found:
        yield f"{action} {payload}: {path} was not found"


def run_surface(
    name: str, rounds: int, seed: int, folder: Path, *, places: Sequence[str] = ("git", "plain")
) -> list[str]:
    """Run so many rounds over one surface, in a git work tree and in a plain folder by turns; return a
    sentence for each answer that was wrong."""
    kind, flags = SURFACES[name]
    wrong: list[str] = []
    with ExitStack() as stack:
        projects: list[tuple[ChangingProject, Ask]] = []
        for place in places:
            project = fresh_project(folder / place, seed, in_git=place == "git")
            ask = asking(stack.enter_context(surfaces.surface(kind, project.root, *flags)))
            ask("index", {})
            projects.append((project, ask))
        for number in range(rounds):
            project, ask = projects[number % len(places)]
            kinds = list(project.changes)
            change = kinds[number // len(places) % len(kinds)]
            before = dict(project.marks)
            project.changes[change]()
            wrong += [f"{name}, {change}, round {number}: {text}" for text in probe(ask, project, before)]
    return wrong


def run(rounds: int, seed: int, names: Sequence[str], tell: Callable[[str], None]) -> list[str]:
    """Spread the rounds over the surfaces; return a sentence for each answer that was wrong."""
    wrong: list[str] = []
    for at, name in enumerate(names):
        share = rounds // len(names) + (at < rounds % len(names))
        with tempfile.TemporaryDirectory() as folder:
            found = run_surface(name, share, seed + at, Path(folder))
        tell(f"{name}: {share} rounds, {len(found)} wrong")
        wrong += found
    return wrong


def main() -> int:
    """Run the rounds and print what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--surface", action="append", choices=list(SURFACES))
    options = parser.parse_args()
    wrong = run(options.rounds, options.seed, options.surface or list(SURFACES), print)
    print("\n".join(wrong[:40]))
    print(
        f"{options.rounds} rounds, {len(wrong)} wrong", dict(Counter(text.split(", ")[0] for text in wrong))
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
