"""The shared suite of every language: one sample file each, its outline kept as text beside it.

`pytest tests/languages --update-golden` writes the outlines anew; read the diff before committing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from satchel import plugins
from satchel.chunking import parse_source
from satchel.languages import detect
from satchel.lines import split_lines
from satchel.parsed import Parsed

SAMPLES = Path(__file__).parent / "samples"
FILES = sorted(path for path in SAMPLES.iterdir() if path.suffix != ".outline")


def outline(parsed: Parsed) -> str:
    rows = ["# chunks"]
    rows += [f"{c.start_line}-{c.end_line} {c.kind} {'.'.join(c.title_path)}".rstrip() for c in parsed.chunks]
    rows += ["# symbols"]
    for s in parsed.symbols:
        rows.append(
            f"{s.start_line}-{s.end_line} {s.kind} {s.qualified_name} | {s.signature} | {s.doc}".rstrip(" |")
        )
    rows += ["# references"]
    rows += [f"{r.line} {r.label} {r.name}" for r in parsed.all_references()]
    return "\n".join(rows) + "\n"


def sample_text(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_outline_of_the_sample_is_as_expected(path: Path, update_golden: bool) -> None:
    text = sample_text(path)
    golden = path.with_name(path.name + ".outline")
    found = outline(parse_source(text, detect(path.name, text.split("\n", 1)[0])))
    if update_golden:
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_line_is_in_exactly_one_exact_chunk(path: Path, line_end: str) -> None:
    text = sample_text(path).replace("\n", line_end)
    lines = split_lines(text)
    covered = [0] * len(lines)
    for chunk in parse_source(text, detect(path.name, lines[0])).chunks:
        assert chunk.text == "".join(lines[chunk.start_line - 1 : chunk.end_line])
        for number in range(chunk.start_line - 1, chunk.end_line):
            covered[number] += 1
    assert [count for count, line in zip(covered, lines, strict=True) if line.strip()] == [
        1 for line in lines if line.strip()
    ]
    assert max(covered) == 1


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_line_end_gives_the_same_symbols_and_references(path: Path, line_end: str) -> None:
    text = sample_text(path)
    language = detect(path.name, text.split("\n", 1)[0])
    found, expected = (parse_source(each, language) for each in (text.replace("\n", line_end), text))
    assert (found.symbols, found.all_references()) == (expected.symbols, expected.all_references())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_lone_carriage_return_cuts_the_same_chunks_as_a_line_feed(path: Path) -> None:
    text = sample_text(path)
    language = detect(path.name, text.split("\n", 1)[0])
    assert outline(parse_source(text.replace("\n", "\r"), language)) == outline(parse_source(text, language))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_byte_order_mark_changes_no_outline(path: Path) -> None:
    text = sample_text(path)
    language = detect(path.name, text.split("\n", 1)[0])
    marked = parse_source("\ufeff" + text, language)
    assert outline(marked) == outline(parse_source(text, language))
    assert marked.chunks[0].text.startswith("\ufeff")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_without_a_final_line_end_has_the_same_outline(path: Path) -> None:
    text = sample_text(path).rstrip("\n")
    language = detect(path.name, text.split("\n", 1)[0])
    found = parse_source(text, language)
    assert outline(found) == outline(parse_source(text + "\n", language))
    assert found.chunks[-1].text.endswith(text[-1])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_cut_off_anywhere_loses_no_text(path: Path) -> None:
    text = sample_text(path)
    language = detect(path.name, text.split("\n", 1)[0])
    for end in range(0, len(text), max(1, len(text) // 12)):
        shown = "".join(chunk.text for chunk in parse_source(text[:end], language).chunks)
        assert "".join(shown.split()) == "".join(text[:end].split())


@pytest.mark.parametrize("name", plugins.names("language"))
def test_every_language_has_a_sample(name: str) -> None:
    assert any(detect(path.name, sample_text(path).split("\n", 1)[0]) == name for path in FILES)


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("csharp", "namespace N.M;\nclass B { void Q() {} }\n", ["N.M.B", "N.M.B.Q"]),
        ("csharp", "namespace N.M {\nclass B { void Q() {} }\n}\n", ["N.M.B", "N.M.B.Q"]),
        ("php", "<?php\nnamespace A\\B;\nclass K { function m() {} }\n", ["A.B.K", "A.B.K.m"]),
        ("php", "<?php\nnamespace A;\nclass K {}\nnamespace B;\nfunction f() {}\n", ["A.K", "B.f"]),
    ],
)
def test_a_namespace_names_what_it_holds_with_braces_and_without(
    language: str, text: str, names: list[str]
) -> None:
    assert [symbol.qualified_name for symbol in parse_source(text, language).symbols] == names


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("typescript", "/** Adds. */\nexport function add() {}\n"),
        ("ruby", "# Adds.\ndef add\nend\n"),
        ("bash", "# Adds.\nadd() { :; }\n"),
        ("sql", "-- Adds.\nCREATE TABLE add (id INTEGER);\n"),
        ("css", "/* Adds. */\n.add { color: red; }\n"),
    ],
)
def test_a_comment_behind_a_byte_order_mark_belongs_to_what_it_precedes(language: str, text: str) -> None:
    parsed = parse_source("\ufeff" + text, language)
    assert [(chunk.start_line, chunk.end_line) for chunk in parsed.chunks] == [(1, text.count("\n"))]
    assert parsed.symbols[0].doc == "Adds."


def test_the_only_line_of_a_recipe_belongs_to_it_without_a_line_end() -> None:
    chunks = parse_source("all:\n\techo a", "makefile").chunks
    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(1, 2)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("interface I { fun z() }\n", "interface"),
        ("fun interface I { fun z() }\n", "interface"),
        ("sealed interface I { val a: Int }\n", "interface"),
        ("class I { val a = 1 }\n", "class"),
        ("enum class I { A, B }\n", "enum"),
        ("@A private enum class I(val x: Int) { A(1); fun z() {} }\n", "enum"),
    ],
)
def test_a_kotlin_type_on_one_line_is_of_the_kind_that_its_word_says(text: str, kind: str) -> None:
    assert parse_source(text, "kotlin").symbols[0].kind == kind


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("NS_BEGIN\nclass Foo {\n  void bar() {}\n};\nNS_END\n", ["Foo", "Foo.bar"]),
        ("template <class T>\nclass ABSL_OWNER Foo {\n  void bar() {}\n};\n", ["Foo", "Foo.bar"]),
        ('struct OLD_ONE("x") API_ONE Foo final : Base {\n  void bar() {}\n};\n', ["Foo", "Foo.bar"]),
        ("class FOO_BAR final {\n  void bar() {}\n};\n", ["FOO_BAR", "FOO_BAR.bar"]),
        ("struct FOO_BAR make() {\n  return call(1,\n    SOME_VALUE\n  );\n}\n", ["make"]),
    ],
)
def test_a_macro_hides_no_class_of_cpp(text: str, names: list[str]) -> None:
    parsed = parse_source(text, "cpp")
    assert [symbol.qualified_name for symbol in parsed.symbols] == names
    assert "".join(chunk.text for chunk in parsed.chunks) == text


def test_the_signature_of_a_class_shows_its_macros() -> None:
    (symbol,) = parse_source("class ABSL_OWNER Foo {\n};\n", "cpp").symbols
    assert symbol.signature == "class ABSL_OWNER Foo"


def test_code_that_a_broken_parse_took_for_a_name_is_none() -> None:
    text = """Begin
template<typename BinaryType>
    using container_type = BinaryType;

    byte_container_with_subtype(const container_type& b, subtype_type subtype_) noexcept(
        noexcept(container_type(b)))
        : container_type(b)
        , m_subtype(subtype_)

    byte_container_with_subtype(container_type&& b, subtype_type subtype_) noexcept(
        noexcept(container_type(std::move(b))))
        : container_type(std::move(b))
        return std::tie(static_cast<const BinaryType&>(*this), m_subtype, m_has_subtype) ==
               std::tie(static_cast<const BinaryType&>(rhs), rhs.m_subtype, rhs.m_has_subtype);
"""
    assert parse_source(text, "cpp").symbols == ()


@pytest.mark.parametrize("language", ["javascript", "typescript"])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("export default isSupported && function adapter(config) {\n  return 1;\n}\n", "adapter"),
        ("module.exports = known || class Adapter {\n};\n", "Adapter"),
        ("send = isSupported ? function adapter() {} : null;\n", "adapter"),
    ],
)
def test_a_named_function_behind_a_condition_is_defined(language: str, text: str, name: str) -> None:
    assert [symbol.name for symbol in parse_source(text, language).symbols] == [name]


def test_a_function_whose_macro_makes_its_type_part_of_the_name_is_still_found() -> None:
    text = "SINCE_20 inline\n    typename std::enable_if<true, int>::type\n    countl_zero(T x) {\n  return 1;\n}\n"
    (symbol,) = parse_source(f"template <class T>\n{text}", "cpp").symbols
    assert symbol.name.endswith("countl_zero")
