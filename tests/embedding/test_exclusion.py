"""What is never trained on is recognised under its other names and inside other packages."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "embedding" / "exclusion.py"


@pytest.fixture(scope="module")
def exclusion() -> ModuleType:
    spec = importlib.util.spec_from_file_location("embedding_exclusion", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name",
    ["Flask", "immutable", "golang-github-spf13-cobra", "@vitest/ui", "libgson-java", "libuv1", "rust-serde"]
    + ["p5", "ol", "react-query", "@tanstack/query-core", "prismjs", "@alifd/next", "eslint-plugin-n"],
)
def test_a_forbidden_package_is_known_by_any_name(exclusion: ModuleType, name: str) -> None:
    assert exclusion.package_is_forbidden(name)


@pytest.mark.parametrize(
    "name", ["attrs", "lodash", "libgit2", "@tiptap/core", "rust-hashbrown", "query-string", "p2"]
)
def test_other_packages_are_allowed(exclusion: ModuleType, name: str) -> None:
    assert not exclusion.package_is_forbidden(name)


@pytest.mark.parametrize(
    "path",
    ["gevent-24/deps/libuv/src/a.c", "pip/_vendor/requests/api.py", "a/fmt-9.1/format.h", "a/json.hpp"]
    + ["js/p5.min.js", "a/highlight.js-9/index.js", "vendor/serde_derive/src/lib.rs", "js/chart.js"],
)
def test_a_copy_inside_another_package_is_found_by_its_path(exclusion: ModuleType, path: str) -> None:
    assert exclusion.path_is_forbidden(path) and not exclusion.path_is_forbidden("a/src/cli.py")


def test_a_copy_in_another_folder_is_found_by_its_notice(exclusion: ModuleType) -> None:
    assert exclusion.content_is_forbidden(b"// Copyright 2018 The Abseil Authors.\n")
    assert exclusion.content_is_forbidden(b"/*\n * Copyright (C) Igor Sysoev\n */\n")
    assert not exclusion.content_is_forbidden(b"// Copyright 2018 The Authors.\n" + b" " * 3000 + b"Evan You")


def test_no_listed_package_is_forbidden(exclusion: ModuleType) -> None:
    lines = (FILE.parent / "packages.txt").read_text(encoding="utf-8").splitlines()
    names = [name for line in lines if line[0] not in "#[" for name in line.split()]
    assert len(names) > 1000
    assert not [name for name in names if exclusion.package_is_forbidden(name)]
