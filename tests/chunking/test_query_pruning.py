"""A query of the patterns that can match finds what the whole query finds, in the same order."""

from __future__ import annotations

import importlib
import random
import warnings
from pathlib import Path
from typing import Any

import pytest
import tree_sitter

from satchel import languages, plugins
from satchel.chunking.parsers import CompiledQuery, Grammar, blank_out, normalize_text
from satchel.chunking.query_pruning import can_match, kinds_in, parse_query
from satchel.chunking.syntax import parse_here

SAMPLES = Path(__file__).parents[1] / "languages" / "samples"
QUERIED = [
    name for name in plugins.names("language") if languages.get(name).query and languages.get(name).grammar
]


def compiled_language(name: str) -> tree_sitter.Language:
    language = languages.get(name)
    entry = getattr(importlib.import_module(language.grammar), language.grammar_entry)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return tree_sitter.Language(entry())


def sample_of(name: str) -> str:
    written = [path for path in sorted(SAMPLES.iterdir()) if path.suffix != ".outline"]
    return "".join(path.read_text() for path in written if languages.detect(path.name) == name)


def matches(query: CompiledQuery, tree: tree_sitter.Tree) -> list[Any]:
    return [
        (
            query.numbers[pattern],
            [
                (name, [(node.start_byte, node.end_byte, node.type) for node in nodes])
                for name, nodes in captures.items()
            ],
        )
        for pattern, captures in tree_sitter.QueryCursor(query.query).matches(tree.root_node)
    ]


@pytest.mark.parametrize("name", QUERIED)
def test_patterns_are_told_apart_as_tree_sitter_does(name: str) -> None:
    source = languages.get(name).query
    query = tree_sitter.Query(compiled_language(name), source)
    starts = [query.start_byte_for_pattern(number) for number in range(query.pattern_count)]
    ends = [*starts[1:], len(source.encode())]
    written = [source.encode()[start:end].decode() for start, end in zip(starts, ends, strict=True)]
    found = parse_query(source)
    assert len(found) == len(written)
    for pattern, text in zip(found, written, strict=True):
        assert text.startswith(pattern.source)
        rest = text.removeprefix(pattern.source).split("\n")
        assert all(not line.strip() or line.strip().startswith(";") for line in rest)


@pytest.mark.parametrize("name", QUERIED)
def test_the_same_is_found_in_whole_and_in_broken_files_in_any_order(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    language = languages.get(name)
    lines = sample_of(name).splitlines(keepends=True)
    assert lines
    grammar = Grammar(compiled_language(name), language.query)
    monkeypatch.setattr("satchel.chunking.syntax.load_grammar", lambda _: grammar)
    early = parse_here("".join(lines), name)
    grammar.compile_whole()
    assert parse_here("".join(lines), name) == early
    chance = random.Random(1)
    for share in (1.0, 0.6, 0.2, 0.0):
        text = "".join(line for line in lines if chance.random() < share)
        tree = grammar.parser.parse(blank_out(normalize_text(text).encode(), language))
        part = Grammar(compiled_language(name), language.query).query_for(tree)
        assert matches(part, tree) == matches(grammar.compile_whole(), tree)


def test_few_patterns_are_compiled_for_a_small_file() -> None:
    grammar = Grammar(compiled_language("cpp"), languages.get("cpp").query)
    tree = grammar.parser.parse(b"int twice(int value) {\n  return 2 * value;\n}\n")
    part = grammar.query_for(tree)
    assert 0 < len(part.numbers) < len(parse_query(languages.get("cpp").query)) // 4
    assert grammar.query_for(tree) is part


def test_few_patterns_are_compiled_for_one_large_file() -> None:
    grammar = Grammar(compiled_language("cpp"), languages.get("cpp").query)
    tree = grammar.parser.parse(b"int twice(int value) {\n  return 2 * value;\n}\n" * 2_500)
    assert tree.root_node.descendant_count > 50_000
    assert len(grammar.query_for(tree).numbers) < len(parse_query(languages.get("cpp").query)) // 4


def test_after_a_few_files_the_whole_query_is_used() -> None:
    grammar = Grammar(compiled_language("python"), languages.get("python").query)
    texts = (b"x = 1\n", b"def f():\n    pass\n", b"import a\n", b"class A(B):\n    pass\n", b"f(x)[1].y\n")
    used = [grammar.query_for(grammar.parser.parse(text)) for text in texts]
    assert used[-1] is grammar.compile_whole() and used[0] is not used[-1]


def test_a_pattern_whose_node_is_optional_or_of_any_kind_can_match() -> None:
    language = compiled_language("python")
    tree = tree_sitter.Parser(language).parse(b"x = 1\n")
    kinds = kinds_in(tree, language)
    wanted = {
        "(module (expression_statement (assignment)))": True,
        "(module (assignment))": False,  # a statement stands between
        "(module (class_definition)? @a)": True,
        "(module (_ (assignment)))": True,
        "[(class_definition) (assignment)] @a": True,
        "[(class_definition) (import_statement)] @a": False,
        '(assignment "=" @a)': True,
        '(assignment "+=" @a)': False,
        '((assignment) @a (#eq? @a "class_definition"))': True,
        "(assignment left: [(identifier) (call)] !type)": True,
        "(expression)": True,  # stands for all kinds of expressions
    }
    found = {source: can_match(pattern, kinds) for source in wanted for pattern in parse_query(source)}
    assert found == wanted
