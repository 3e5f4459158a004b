"""Bad input by the hundred, in small: the trials of `benchmarks/faulting` with a few inputs each, and what the
long runs have found."""

from __future__ import annotations

import json
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import SHOP, age, make_tree, memory_engine, run_cli

import satchel
from satchel.chunking import parse_source
from satchel.errors import ConfigError, IndexCorrupt
from satchel.serving.installing import json_settings, toml_settings, yaml_settings
from satchel.storage import records
from satchel.terms import last_name

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from faulting import conformance, fuzzing, repositories
from faulting.parsers import matches, parsers

INPUTS = 5  # of each parser, beside one seed
SLOW = ("kept", "pack renderers", "question")  # a tenth of a second each
COUNTS = "counts:"  # the tests of the tokenizers compare with tiktoken, which takes seconds to load
STRINGS = ("\u202eabc\u202c, %s%n", " ../../etc/passwd ", "\x1c[[:alpha:]*\x1f", "\u3000")
JSON_FILES = {
    "deep": b"[" * 100_000,
    "digits": b"9" * 5_000,
    "beyond_64_bits": b"[-123123123123123123123123123123]",
    "surrogate": b'["\xff", "\\ud800"]',
    "utf16": '["é"]'.encode("utf-16"),
    "nul": b'{"cells": [], "cells": {"source": "\x00"}}',
}
KEYS = ("mcpServers", "satchel")
ENTRY: dict[str, Any] = {"command": "satchel", "args": ["serve", "mcp"]}


@pytest.mark.parametrize("name", [name for name in parsers() if not name.startswith(COUNTS)])
def test_a_parser_reads_or_refuses_broken_input(name: str) -> None:
    parser = parsers()[name]
    seeds = [seed for seed in parser.seeds() if len(seed) < 4_000]
    count = len(seeds) + (1 if name in SLOW else INPUTS)
    for data in islice(fuzzing.mutations(seeds, 7), len(seeds) - 1, count):
        assert not fuzzing.failure(parser.check, data), data


def test_the_same_seed_gives_the_same_inputs() -> None:
    first, second, other = (list(islice(fuzzing.mutations([b"a b", b"c"], seed), 50)) for seed in (1, 1, 2))
    assert first == second != other


def test_a_defect_is_found_kept_and_the_shortest_input_of_it(tmp_path: Path) -> None:
    def broken(data: bytes) -> None:
        assert b"x" not in data, "an x"

    for data in (b"a x b", b"x", b"xx"):
        fuzzing.write_finding(tmp_path, "toy", fuzzing.failure(broken, data), data)
    (kept,) = tmp_path.glob("toy/*.input")
    assert kept.read_bytes() == b"x" and "an x" in kept.with_suffix(".txt").read_text()


def test_a_process_of_its_own_counts_its_inputs(tmp_path: Path) -> None:
    inputs = fuzzing.run_parser("cursor", 0.5, 1, tmp_path, plain=True)
    assert inputs > 10 and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [("a/**/b", "a/b", True), ("a/*/b", "a/x/y/b", False), ("**/*.py", "x.py", True), ("a?", "a/", False)],
)
def test_the_matcher_that_globs_are_compared_with(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_strings_in_every_place_of_a_request(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "shop", SHOP)
    with repositories.surfaces.surface("http", root, "--no-watch") as server:
        wrong = [text for string in STRINGS[:2] for text in repositories.ask_with(string, root, server)]
    assert not wrong


def test_strings_as_names_and_contents_of_files(tmp_path: Path) -> None:
    assert not list(repositories.as_names(STRINGS, tmp_path / "names"))
    assert not list(repositories.as_contents(STRINGS, tmp_path / "contents"))


def test_json_that_is_none_in_every_place(tmp_path: Path) -> None:
    assert not list(repositories.try_json(JSON_FILES, tmp_path))


def test_an_answer_that_is_not_true_is_noticed(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a.py": "x = 1\ny = 2\n"})
    hit = {"path": "a.py", "start_line": 1, "end_line": 2, "snippet": "y = 2\n"}
    assert not list(repositories.untrue("search", {"hits": [hit]}, tmp_path))
    assert list(repositories.untrue("search", {"hits": [hit | {"snippet": "y = 3\n"}]}, tmp_path))


def test_a_typedef_of_c_is_named_behind_its_body(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a.h": "int x;\ntypedef enum\n{\n   ONE,\n} kinds;\n"})
    for name, line, is_true in (("kinds", 2, True), ("other", 2, False), ("kinds", 1, False)):
        row = {"path": "a.h", "line": line, "name": name, "signature": f"typedef enum {name}"}
        assert bool(list(repositories.untrue("map", {"symbols": [row]}, tmp_path))) is not is_true


def test_a_function_of_c_may_be_named_below_its_first_line(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a.h": "static INLINE\nvoid drop(int x);\n\nint y;\n"})
    for line, is_true in ((1, True), (2, True), (3, False), (4, False)):
        row = {"path": "a.h", "line": line, "name": "drop", "signature": "static INLINE void drop(int x)"}
        assert bool(list(repositories.untrue("map", {"symbols": [row]}, tmp_path))) is not is_true


def test_the_scenario_of_a_folder_whose_time_looks_like_a_year() -> None:
    for time_of_run in ("2026-11-18T20-16-20-204Z", "2026-11-18T09-41-07-001Z"):
        assert conformance.scenario_of(f"server-tools-call-audio-{time_of_run}") == "tools-call-audio"


def test_a_scenario_is_passed_explained_or_wrong() -> None:
    failed = [{"status": "FAILURE", "errorMessage": "MCP error -32601: Method not found"}]
    assert conformance.judge("ping", [{"status": "SUCCESS"}], {})[0] == "passed"
    assert conformance.judge("ping", failed, {})[0] == "wrong"
    assert conformance.judge("logging-set-level", failed, {})[0] == "explained"
    assert conformance.judge("logging-set-level", failed, {"logging": {}})[0] == "wrong"
    assert conformance.judge("logging-set-level", [{"status": "SUCCESS"}], {})[0] == "wrong"


# --- found by the long runs ---


@pytest.mark.parametrize("content", ["a = " + "[" * 5_000, "a = " + "9" * 5_000])
def test_settings_that_python_refuses_to_read_are_bad_settings(tmp_path: Path, content: str) -> None:
    make_tree(tmp_path, {**SHOP, "satchel.toml": content})
    done = run_cli("status", "--segment", tmp_path, "--json")
    assert done.returncode == 6 and json.loads(done.stdout)["error"]["code"] == "config_error", done.stderr


@pytest.mark.parametrize(
    ("editor", "value"),
    [
        (json_settings, "[" * 20_000),
        (json_settings, "9" * 5_000),
        (toml_settings, "[" * 20_000),
        (toml_settings, "9" * 5_000),
        # YAML values that are not ours are never read, so a number may have any length.
        (yaml_settings, "[" * 20_000),
    ],
)
def test_settings_of_a_client_that_python_refuses_to_read_are_left_alone(editor: Any, value: str) -> None:
    data = f"a = {value}" if editor is toml_settings else f'{{"a": {value}}}'
    with pytest.raises(ConfigError):
        editor.add_entry(data.encode(), KEYS, ENTRY)


def test_comments_that_end_with_a_lone_carriage_return_come_back(tmp_path: Path) -> None:
    data = b"  // mine\r"
    edited, trace = json_settings.add_entry(data, KEYS, ENTRY)
    assert json_settings.remove_entry(edited, KEYS, trace) == data


def test_a_name_of_a_megabyte_is_looked_up_at_once(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    started = time.process_time()
    for name in ("a" * 1_000_000 + "*" * 100_000 + "b*", "a" + "$ " * 300_000 + "b", "*" * 1_000_000):
        answer = satchel.answer({"action": "refs", "payload": {"name": name, "project": str(root)}})
        assert answer["status"] == "error" and answer["error"]["code"] != "internal"
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("django.db.models", "models"),
        ("./router.js", "router"),
        ("a$.", "a$"),
        ("$ $$", "$"),
        ("a.$", "a"),
        ("**", "**"),
    ],
)
def test_the_last_name_of_a_reference(written: str, name: str) -> None:
    assert last_name(written) == name


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (".tx().tx()\n", "bash"),
        ('{"  ": {"a": 1}}\n', "json"),
        ("# A\n\n#\n\ntext\n", "markdown"),
    ],
)
def test_what_has_no_name_is_no_symbol_and_no_reference(text: str, language: str) -> None:
    parsed = parse_source(text, language)
    assert all(item.name for item in (*parsed.symbols, *parsed.all_references()))


def test_an_outline_that_is_no_utf8_is_damage() -> None:
    for data in (b"\xa1\xff", msgspec.msgpack.encode(["x"]), bytes.fromhex("9f92a1f09f92a1f0")):
        with pytest.raises(IndexCorrupt):
            records.unpack_outline(data)


@pytest.mark.parametrize("name", [" front.md", "\u3000", "a, b .py", "end "])
def test_an_id_is_found_again_with_the_blanks_of_its_name(tmp_path: Path, name: str) -> None:
    root = age(make_tree(tmp_path, {name: "basket\n", "b.py": "x = 1\n"}))
    (hit,) = satchel.answer({"action": "search", "payload": {"query": "basket", "project": str(root)}})[
        "data"
    ]["hits"]
    for asked in (hit["id"], f"{name}:1:1", name, f"b.py,{hit['id']}"):
        answer = satchel.answer({"action": "get", "payload": {"ids": [asked], "project": str(root)}})
        assert answer["status"] == "ok" and not answer["data"].get("missing"), asked
        assert answer["data"]["chunks"][-1]["path"] == name
    spaced = satchel.answer({"action": "get", "payload": {"ids": ["  b.py:1:1 "], "project": str(root)}})
    assert spaced["data"]["chunks"][0]["path"] == "b.py"


def test_a_heading_with_the_character_that_joins_titles_keeps_its_id(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"docs/a.md": "# One\x1ftwo\n\ntext\n"})
    for words in (("build", "--scope", "all"), ("validate",)):
        done = run_cli(*words, "--segment", root, "--json")
        assert done.returncode == 0, done.stdout
    (chunk,) = memory_engine(root).snapshot().chunks("docs/a.md")
    assert chunk.title_path == ("One two",)


def test_a_dataset_of_nothing_but_brackets_is_refused(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {**SHOP, "deep.jsonl": "[" * 100_000})
    done = run_cli("eval", root / "deep.jsonl", "--segment", root, "--json")
    assert done.returncode == 2 and json.loads(done.stdout)["error"]["code"] == "invalid_request", done.stderr
