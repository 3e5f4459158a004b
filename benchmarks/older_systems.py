"""Do users of older systems find what they know? Runs the tests of one and the schemas of another.

    python benchmarks/older_systems.py chunks CLONE      wyrmspire/agent: its tests of chunks and their search
    python benchmarks/older_systems.py schemas FOLDER    contracts/command/v1 of AmirTlinov/context-finder-mcp

Nothing of a clone is kept here: its files run unchanged, with our classes under the names they import.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import referencing

import satchel

_TESTS = ("tests/store/test_chunks.py", "tests/tools/test_chunk_search.py")
_MODULES = {
    "store/chunks.py": "from satchel.serving.chunk_manager import ChunkManager, ChunkMetadata\n",
    "tool/chunk_search.py": "from satchel.serving.chunk_search_tool import ChunkSearchTool\n",
}
_AUTHOR = ("-c", "user.name=someone", "-c", "user.email=someone@example.org")
_PASSED = "✓ "
_SCHEMA = "https://json-schema.org/draft/2020-12/schema"
_SAMPLE = {
    "app.py": "def total(basket):\n    return sum(basket)\n",
    "README.md": "# Shop\n\nA basket has a total.\n",
}
# What our wire contract says beyond the schemas: keys that they do not have, and a fingerprint that is a text
# (empty without a root), because a number of 64 bits does not survive every reader of JSON.
_OURS = (
    r"'([0-9a-f]{16})?' is not of type 'integer'",
    r"Additional properties are not allowed \('(generation|dirty_hash)' was unexpected\)",
)
_OURS_IN_PACKS = (
    r"Additional properties are not allowed \('chunk_id', 'content_hash'(, 'ref')? were unexpected\)",
    r"Additional properties are not allowed"
    r" \((('ref'|'hints'|'next_queries'|'trace')(, )?)+ (was|were) unexpected\)",
)


def main() -> int:
    """Run what is asked for; 1 if something does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    kinds = parser.add_subparsers(dest="kind", required=True)
    kinds.add_parser("chunks").add_argument("clone", type=Path)
    kinds.add_parser("schemas").add_argument("folder", type=Path)
    options = parser.parse_args()
    return run_chunk_tests(options.clone) if options.kind == "chunks" else check_schemas(options.folder)


def run_chunk_tests(clone: Path) -> int:
    """Run each test file as its authors do, as a script, and print what it says."""
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in _MODULES.items():
            module = Path(folder) / name
            module.parent.mkdir()
            module.write_text(text)
        for name in _TESTS:
            command = [sys.executable, "-c", _run_with(folder, clone / name)]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            passed += sum(line.startswith(_PASSED) for line in done.stdout.splitlines())
            failed += done.returncode != 0
            print(done.stdout + done.stderr)
    print(f"{passed} tests passed, {failed} of {len(_TESTS)} files failed")
    return int(bool(failed))


def _run_with(folder: str, script: Path) -> str:
    """A program that runs a script with our modules in place of those beside it."""
    start = f"import runpy, sys; sys.path.insert(0, {folder!r})"
    return f"{start}; runpy.run_path({str(script)!r}, run_name='__main__')"


def check_schemas(folder: Path) -> int:
    """Validate real answers, and print what differs: what our contract adds, and what nothing explains."""
    schemas = {path.name: json.loads(path.read_text()) for path in sorted(folder.glob("*.schema.json"))}
    resources = [(schema["$id"], referencing.Resource.from_contents(schema)) for schema in schemas.values()]
    registry: referencing.Registry[Any] = referencing.Registry().with_resources(resources)
    unexplained = 0
    with tempfile.TemporaryDirectory() as root:
        for name, text in _SAMPLE.items():
            (Path(root) / name).write_text(text)
        for words in (["init", "-q"], ["add", "."], [*_AUTHOR, "commit", "-q", "-m", "shop"]):
            subprocess.run(["git", "-C", root, *words], check=True)
        for title, schema_name, answer in _answers(root):
            schema = {"$schema": _SCHEMA, "$ref": schemas[schema_name]["$id"]}
            validator = jsonschema.Draft202012Validator(schema, registry=registry)
            is_pack = schema_name == "context_pack.schema.json"
            # A minimal pack has no key of ours.
            ours = _OURS if not is_pack else () if "minimal" in title else _OURS + _OURS_IN_PACKS
            for error in _leaves(validator.iter_errors(answer)):
                told = any(re.fullmatch(pattern, error.message) for pattern in ours)
                unexplained += not told
                print(f"{title}: {error.json_path}: {error.message}{' (ours)' if told else ''}")
    print(f"{unexplained} differences that our contract does not explain")
    return int(bool(unexplained))


def _answers(root: str) -> Iterator[tuple[str, str, Any]]:
    """Real answers, each with the name of the schema that it has to fit."""
    for action, payload in (
        ("context_pack", {"query": "total"}),
        ("context_pack", {"query": "total", "response_mode": "minimal", "budget_tokens": 900}),
        ("context_pack", {"query": "where is NoSuchThing", "response_mode": "minimal"}),
        ("search", {"query": "basket"}),
        ("search", {"query": ""}),
        ("no_such_action", {}),
    ):
        told = satchel.answer({"action": action, "payload": {"project": root, **payload}})
        yield f"{action} {payload}", "command_response.schema.json", told
        if "error" in told:
            yield f"{action} {payload}", "error.schema.json", told["error"]
        elif action == "context_pack":
            yield f"{action} {payload}", "context_pack.schema.json", told["data"]


def _leaves(errors: Any) -> Iterator[Any]:
    """What is wrong at the bottom of alternatives, null aside."""
    for error in errors:
        below = [inner for inner in error.context or () if "is not of type 'null'" not in inner.message]
        yield from _leaves(below) if below else (error,)


if __name__ == "__main__":
    sys.exit(main())
