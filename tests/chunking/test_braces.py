"""Brace languages without a grammar."""

from __future__ import annotations

import pytest
from exactness import assert_exact
from hypothesis import given
from hypothesis import strategies as st

from satchel.chunking import parse_source
from satchel.types import ChunkKind, Label

PIECES = st.sampled_from(
    [
        *("message A", "enum B", "rpc C(D) returns (E)", "type F", "extend type G", "scalar H", "@mixin i"),
        *(".j, k", "{", "}", ";", "\n", "\n\n", "\r\n", "\r", " ", '"', "'", '"""', "//", "/*", "*/", "#"),
        *("x = 1", 'import "y";', "@include z", "ä\u2028", ":"),
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@pytest.mark.parametrize("language", ["protobuf", "graphql", "thrift", "scss"])
@given(text=TEXTS)
def test_whatever_the_text_every_line_is_in_one_exact_chunk(language: str, text: str) -> None:
    assert_exact(text, parse_source(text, language).chunks)


@given(text=TEXTS)
def test_a_symbol_stands_inside_the_file_and_ends_after_it_starts(text: str) -> None:
    for symbol in parse_source(text, "protobuf").symbols:
        assert 1 <= symbol.start_line <= symbol.end_line <= max(1, len(text))


@pytest.mark.parametrize("hidden", ['"}"', "'{'", "/* } */", "// }\n", '"\\"}"'])
def test_a_brace_in_a_string_or_comment_counts_for_nothing(hidden: str) -> None:
    parsed = parse_source(f"message A {{\n string x = {hidden};\n}}\nmessage B {{}}\n", "protobuf")
    assert [symbol.qualified_name for symbol in parsed.symbols] == ["A", "B"]


def test_nested_definitions_have_qualified_names() -> None:
    parsed = parse_source("message A { message B { enum C { X = 0; } } }", "protobuf")
    assert [(symbol.kind, symbol.qualified_name) for symbol in parsed.symbols] == [
        (ChunkKind.STRUCT, "A"),
        (ChunkKind.STRUCT, "A.B"),
        (ChunkKind.ENUM, "A.B.C"),
    ]


def test_a_definition_without_braces_ends_where_the_next_one_starts() -> None:
    parsed = parse_source("scalar A\n\n# About B.\nscalar B\nunion C =\n  | D\n", "graphql")
    assert [(symbol.name, symbol.start_line, symbol.end_line, symbol.doc) for symbol in parsed.symbols] == [
        ("A", 1, 1, ""),
        ("B", 4, 4, "About B."),
        ("C", 5, 6, ""),
    ]


def test_a_brace_after_a_blank_line_is_not_that_of_the_definition_above() -> None:
    parsed = parse_source("scalar A\n\nschema {\n  query: Q\n}\n", "graphql")
    assert [(symbol.name, symbol.end_line) for symbol in parsed.symbols] == [("A", 1)]


def test_a_keyword_inside_a_statement_defines_nothing() -> None:
    parsed = parse_source(
        'message A {\n  optional message B = 1;\n  option (x) = { message: "C" };\n}\n', "protobuf"
    )
    assert [symbol.name for symbol in parsed.symbols] == ["A"]


def test_an_extension_lends_its_name_but_defines_nothing() -> None:
    parsed = parse_source("extend google.protobuf.FieldOptions {\n  optional string x = 1;\n}\n", "protobuf")
    assert parsed.symbols == ()
    assert [(chunk.kind, chunk.name) for chunk in parsed.chunks] == [
        (ChunkKind.IMPL, "google.protobuf.FieldOptions")
    ]


def test_an_unclosed_block_runs_to_the_last_line_of_code() -> None:
    parsed = parse_source("message A {\n  int32 x = 1;\n\n// remark\n", "protobuf")
    assert [(symbol.start_line, symbol.end_line) for symbol in parsed.symbols] == [(1, 2)]


def test_deep_nesting_ends_in_an_answer() -> None:
    text = "message A {\n" * 3000
    assert_exact(text, parse_source(text, "protobuf").chunks)


def test_imports_are_found_but_not_in_comments() -> None:
    text = 'import "a.proto";\nimport public \'b.proto\';\n// import "c.proto";\n/*\nimport "d.proto";\n*/\n'
    parsed = parse_source(text, "protobuf")
    assert [(use.name, use.line) for use in parsed.references if use.label is Label.IMPORTS] == [
        ("a.proto", 1),
        ("b.proto", 2),
    ]


def test_types_are_used_bases_are_extended_and_mixins_are_called() -> None:
    service = parse_source("service S extends base.T {\n  Order get(1: KEY k)\n}\n", "thrift")
    assert [(use.name, use.label) for use in service.references] == [
        ("T", Label.EXTENDS),
        ("Order", Label.USES),
    ]
    rules = parse_source(".a { @include centre; font: Arial; }", "scss")
    assert [(use.name, use.label) for use in rules.references] == [("centre", Label.CALLS)]


def test_a_rule_is_named_by_its_first_selector_and_an_at_rule_by_all_of_its_head() -> None:
    parsed = parse_source("a:hover,\nb { c: d }\n@media x and\n (y) { e { f: g } }\n", "scss")
    assert [symbol.name for symbol in parsed.symbols] == ["a:hover", "@media x and (y)"]
