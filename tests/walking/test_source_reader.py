from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.ids import hash_bytes
from satchel.settings import WalkOptions
from satchel.types import FileEntry, Skipped, SkipReason, Source
from satchel.walking.source_reader import SourceReader, read_source
from satchel.walking.work_tree import WorkTree


def detect(path: str, first_line: str) -> str:
    if first_line.startswith("#!"):
        return "shell"
    return {"md": "markdown", "rst": "rst", "ipynb": "notebook", "py": "python"}.get(
        path.rpartition(".")[2], "text"
    )


def read(data: bytes | str, path: str = "a.py", **options: bool | int) -> Source | Skipped:
    raw = data.encode() if isinstance(data, str) else data
    return read_source(path, raw, WalkOptions(**options), detect)  # type: ignore[arg-type]


def reason(data: bytes | str, path: str = "a.py", **options: bool) -> SkipReason | None:
    answer = read(data, path, **options)
    return answer.reason if isinstance(answer, Skipped) else None


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        ("é\r\n".encode(), "utf-8", "é\r\n"),
        (b"\xef\xbb\xbfx", "utf-8", "\ufeffx"),
        (b"\xff\xfe" + "aü\n".encode("utf-16-le"), "utf-16-le", "\ufeffaü\n"),
        (b"\xfe\xff" + "aü\n".encode("utf-16-be"), "utf-16-be", "\ufeffaü\n"),
        (b"", "utf-8", ""),
    ],
)
def test_bytes_are_decoded_exactly(data: bytes, encoding: str, text: str) -> None:
    source = read(data)
    assert isinstance(source, Source)
    assert (source.encoding, source.text, source.size) == (encoding, text, len(data))
    assert source.file_hash == hash_bytes(data)


def test_legacy_encodings_are_guessed() -> None:
    data = "Grüße aus München, schöne Straße für Käse und Öl.\n".encode("cp1252") * 20
    source = read(data)
    assert isinstance(source, Source) and "Grüße" in source.text


def test_a_single_accent_is_read_as_the_commonest_encoding() -> None:
    source = read("# written by André\n".encode("cp1252"))
    assert isinstance(source, Source) and "André" in source.text and source.encoding == "cp1252"


@pytest.mark.parametrize(
    "text",
    [
        "# Città\nPerché è così più facile\n",
        "# André, Zoë, Núñez\n# © René\nx = 1\n",
        'x = "café déjà ü"\n',
        "Åsa åker på ön där älgen är\n",
    ],
)
def test_a_few_accents_are_read_as_the_commonest_encoding(text: str) -> None:
    source = read(text.encode("latin-1"))
    assert isinstance(source, Source) and (source.text, source.encoding) == (text, "cp1252")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("# Привет, мир\n", "koi8-r"), ("# Привет, мир\n", "cp1251"), ("# 日本語のテキスト\n", "cp932")],
)
def test_a_few_words_of_another_alphabet_are_still_guessed(text: str, encoding: str) -> None:
    source = read(text.encode(encoding))
    assert isinstance(source, Source) and (source.text, source.encoding) == (text, encoding)


@given(st.one_of(st.binary(), st.binary().map(lambda tail: b"caf\xe9 " + tail), st.text().map(str.encode)))
def test_whatever_is_read_can_be_written_back(data: bytes) -> None:
    source = read(data)
    if isinstance(source, Source) and not source.redactions:
        assert source.text.encode(source.encoding) == data


@pytest.mark.parametrize("data", [b"\x7fELF\0\0", b"a" * 8000 + b"\0", b"\xff\xfe\0\0a\0\0\0", b"\xff\xfea"])
def test_binary_data_is_recognised(data: bytes) -> None:
    assert reason(data) == (None if data == b"\xff\xfea" else SkipReason.BINARY)


def test_a_high_mean_is_minified() -> None:
    assert reason("x" * 5000 + "\n") == SkipReason.MINIFIED
    assert reason(("x" * 400 + "\n") * 6) == SkipReason.MINIFIED
    assert reason("x" * 1999) is None
    assert reason("var a", "app.min.js") == SkipReason.MINIFIED
    assert reason(("x" * 80 + "\r") * 100) is None


def test_a_text_that_is_mostly_long_lines_is_minified() -> None:
    licence = "// all rights\n" * 100
    assert reason(licence + "x" * 5001 + "\n") == SkipReason.MINIFIED
    assert reason(licence + "x" * 5000 + "\n") is None
    assert reason((licence + "x" * 5001).replace("\n", "\r")) == SkipReason.MINIFIED


def test_a_source_that_carries_an_image_or_a_table_on_one_line_is_none() -> None:
    code = "value = compute(value)\n"
    assert reason(code * 300 + "x" * 6000 + "\n") is None
    assert reason(code * 300 + ("x" * 12_000 + "\n") + code * 300 + "x" * 30_000) is None
    assert reason(code * 100 + ("x" * 12_000 + "\n") + code * 100 + "x" * 30_000) == SkipReason.MINIFIED
    assert reason(code * 9_000 + "x" * 50_001 + "\n") == SkipReason.MINIFIED


@pytest.mark.parametrize("path", ["logo.svg", "data.json", "map.geojson", "shapes.XML"])
def test_a_drawing_or_a_record_of_data_with_one_long_line_is_minified(path: str) -> None:
    assert reason("<line/>\n" * 2_000 + "x" * 5_001 + "\n", path) == SkipReason.MINIFIED


def test_a_drawing_of_illustrator_is_binary() -> None:
    assert reason("%PDF-1.5", "logo.ai") == SkipReason.BINARY


def test_prose_may_have_a_paragraph_on_one_line_and_notebooks_anything() -> None:
    assert reason("word " * 4000, "a.md") is None
    assert reason("x" * 50_001, "a.md") == SkipReason.MINIFIED
    assert reason("word " * 4000, "a.txt") is None
    assert reason("x" * 200_000, "a.ipynb") is None


@pytest.mark.parametrize(
    "head",
    [
        "// Code generated by protoc-gen-go. DO NOT EDIT.\n",
        "# @generated by tool\n",
        "/**\n * @generated\n */\n",
        "/* This file was automatically generated by SWIG. */\n",
        "# Autogenerated by Thrift\n",
        "<!-- AUTO-GENERATED FILE -->\n",
        "#!/bin/sh\n# Generated from x.in; do not edit.\n",
        "# THIS IS AN AUTOGENERATED FILE. DO NOT EDIT THIS FILE DIRECTLY.\n",
    ],
)
def test_a_comment_at_the_top_says_that_a_file_is_generated(head: str) -> None:
    assert reason(head + "x = 1\n") == SkipReason.GENERATED
    assert reason(head + "x = 1\n", include_generated=True) is None


def test_what_newcomers_read_is_kept_even_if_it_was_generated() -> None:
    text = "<!-- THIS FILE IS GENERATED BY A PLUGIN, DO NOT EDIT -->\n# Widgets\n"
    assert reason(text, "README.md") is None and reason(text, "docs/CONTRIBUTING.md") is None
    assert reason(text, "docs/index.md") == SkipReason.GENERATED


@pytest.mark.parametrize(
    "text",
    [
        "# Generated by Django 5.2 on 2025-01-01\n",
        'MARKER = "@generated"\nOTHER = "Code generated by x"\n',
        "Code generated by tools is not reviewed. Do not edit it.\n",
        "x = 1\n" * 400 + "# @generated\n",
        "# Do not edit the database by hand\n",
        "# The ids are generated when the row is saved.\n",
        "# commands auto generated by Alembic - please adjust!\n",
    ],
)
def test_talking_about_generated_code_is_not_being_it(text: str) -> None:
    assert reason(text) is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.md",
            "<!-- START doctoc generated TOC -->\n<!-- DON'T EDIT THIS SECTION, RE-RUN doctoc -->\n# A\n",
        ),
        ("a.md", "# Notes\n\n* The source is generated by tool X.\n"),
        ("a.md", "# Code generated by protoc\n\nDo not edit it.\n"),
        ("a.yaml", "# Default settings. The client code is generated from this file.\na: 1\n"),
        ("a.yaml", "# do not change\na: 1\n# else a name is generated\nb: 1\n"),
        ("a.py", '"""Tool."""\nHEADER = """\n# This file is generated. Do not edit.\n"""\n'),
        ("a.py", "# Not all values are present in this\n# autogenerated file.\n"),
        ("a.py", "# This file was generated by the `rspec --init` command.\n"),
        ("a.py", "#: This file was generated from a list.\nPATH = 1\n"),
        ("a.cc", "// The table used within this code was generated by\n// a script.\nchar table[] = {};\n"),
        ("a.ts", "// Not useful, because the @generated aliases point to nothing.\nx()\n"),
        ("a.ts", "// The paths point to the\n// @generated data folder.\nx()\n"),
        ("a.ts", "/**\n * Kept for compatibility w/ code generated by compilers.\n */\nexport let x\n"),
    ],
)
def test_what_a_person_keeps_is_not_generated_whatever_it_mentions(path: str, text: str) -> None:
    assert reason(text, path) is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.go", "package main\n\nfunc main() {\n\twrite(`// Code generated by x. DO NOT EDIT.\n`)\n}\n"),
        ("a.sh", "#!/bin/sh\nset -e\ncat <<EOF > out.ts\n// This file was generated. Do not edit.\nEOF\n"),
        ("Makefile", "CC = gcc\n# this file is generated by configure\ninclude config.mk\n"),
    ],
)
def test_a_comment_below_the_first_line_of_code_does_not_speak_for_its_file(path: str, text: str) -> None:
    assert reason(text, path) is None


@pytest.mark.parametrize(
    "above",
    [
        "<?php declare(strict_types=1);\n\nnamespace A\\B;\n\nuse A\\{\n    C,\n    D\n};\n",
        '\ufeff// Copyright\npackage a\n\nimport (\n\t"fmt"\n)\n',
        '<?xml version="1.0"?>\n<!DOCTYPE html>\n',
        "#![allow(dead_code)]\n",
        "'use strict';\n\nimport {\n  a,\n} from 'a';\n",
    ],
)
def test_a_comment_between_imports_and_code_speaks_for_its_file(above: str) -> None:
    assert reason(above + "/* This file is generated. Do not edit it. */\nx\n", "a.c") == SkipReason.GENERATED


@pytest.mark.parametrize("path", ["a.tt", "a.natvis.j2", "b.go.tmpl", "c.rb.erb", "d.tpl", "e.mustache"])
def test_a_template_is_a_source_whatever_it_says_of_what_is_made_from_it(path: str) -> None:
    text = "/* THIS FILE IS GENERATED. DO NOT EDIT IT. */\n"
    assert reason(text, path) is None and reason(text, "a.cs") == SkipReason.GENERATED


def test_a_comment_that_is_to_be_filled_in_makes_a_template() -> None:
    text = "// This file was automatically generated from {} by a tool. Do not edit.\n"
    assert reason(text.format("${file.name}"), "code.include") is None
    assert reason(text.format("a.md"), "code.include") == SkipReason.GENERATED


def test_the_top_of_a_file_is_looked_at_in_a_moment_however_it_is_made() -> None:
    started = time.process_time()
    for piece in ("import (\n", "use {\n", "<a", "import ( {", "\n \n"):
        reason(piece * (2_000 // len(piece)) + "x\n# This file is generated\n")
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "# API\n<!-- Do not edit this file. It is automatically\n generated by a tool. -->\n"),
        ("a.md", "<!-- This document was auto-generated. -->\n"),
        ("a.rst", ".. Note this file is autogenerated by a script\n   every week\n\nList\n====\n"),
        ("a.txt", "# Generated via tools/requirements.py.\n# Do not edit this file; modify another.\nx\n"),
        ("a.js", "/*\n  This file has been\n  automatically generated.\n*/\n"),
        ("a.java", "/** This class was automatically generated by x.pl. */\n"),
        ("a.java", "// DO NOT EDIT THIS FILE! Use generateProps.\n/** The data was generated. */\n"),
        ("a.py", "#!/usr/bin/env python\n# Autogenerated by Thrift\n"),
    ],
)
def test_a_generated_document_or_list_says_so_of_itself(path: str, text: str) -> None:
    assert reason(text, path) == SkipReason.GENERATED


@pytest.mark.parametrize(
    "end",
    [
        "//# sourceMappingURL=app.js.map",
        "//@ sourceMappingURL=a.map\n",
        "/*# sourceMappingURL=a.css.map */\n\n",
    ],
)
def test_a_bundle_in_build_output_ends_with_the_place_of_its_map(end: str) -> None:
    text = "function app() {}\n" * 9 + end
    assert reason(text, "dist/node/app.cjs") == reason(text, "pkg/build/app.js") == SkipReason.GENERATED
    assert reason(text, "dist/app.js", include_generated=True) is None
    assert reason(text, "lib/app.js") is None
    assert reason("app()\n", "dist/app.js") is None
    assert reason(text + "x = 1\n", "dist/app.js") is None


@pytest.mark.parametrize(
    "name", ["jq.1.prebuilt", "a_pb2.py", "a_pb2_grpc.py", "x/a.pb.go", "a.g.dart", "Form1.Designer.cs"]
)
def test_names_of_generated_files_are_known(name: str) -> None:
    assert reason("x", name) == SkipReason.GENERATED


def test_the_language_is_asked_for_with_the_first_line() -> None:
    source = read("\ufeff#!/bin/sh\r\necho", "run")
    assert isinstance(source, Source) and source.language == "shell"


def test_secrets_are_redacted_and_the_hash_is_of_the_file() -> None:
    data = b"a\nkey = 'AKIA" + b"ABCDEFGHIJKLMNOP'\n"
    source = read(data)
    assert isinstance(source, Source)
    assert source.text == "a\nkey = '«redacted:aws-key»'\n" and source.redactions == (2,)
    assert source.file_hash == hash_bytes(data)


def test_a_file_that_grew_over_the_cap_is_too_large(write: Callable[..., Path]) -> None:
    root = write({"a.py": "x" * 50})
    options = WalkOptions(max_file_bytes=100)
    tree = WorkTree(root, options)
    (root / "a.py").write_text("x" * 10_000)
    ((_, answer),) = SourceReader(tree, options)([FileEntry("a.py", 1, 0)])
    assert isinstance(answer, Skipped) and answer.reason == SkipReason.TOO_LARGE and "100" in answer.detail


def test_a_file_that_vanished_or_became_a_symlink_is_unreadable(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    root = write({"a.py": "x", "b.py": "x"})
    tree = WorkTree(root)
    tree.entries()
    (root / "a.py").unlink()
    (root / "b.py").unlink()
    (root / "b.py").symlink_to("/etc/hostname")
    entries = [FileEntry(path, 1, 0) for path in ("a.py", "b.py")]
    answers = [answer for _, answer in SourceReader(tree, WalkOptions())(entries)]
    assert [answer.reason for answer in answers if isinstance(answer, Skipped)] == [SkipReason.UNREADABLE] * 2
    assert [skip for _, skip in tree.read_many(["a.py", "b.py"])] == answers
