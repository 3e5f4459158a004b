from __future__ import annotations

import pytest

from satchel.walking.file_kinds import path_tags


@pytest.mark.parametrize(
    ("path", "language", "tags"),
    [
        ("src/app.py", "python", ""),
        ("tests/test_app.py", "python", "test"),
        ("pkg/app_test.go", "go", "test"),
        ("src/button.spec.ts", "typescript", "test"),
        ("src/test/java/com/a/AppTest.java", "java", "test"),
        ("web/__tests__/a.js", "javascript", "test"),
        ("spec/models/user_spec.rb", "ruby", "test"),
        ("src/Polly.Core.Tests/Helpers.cs", "csharp", "test"),
        ("akka-actor-tests/src/main/Probe.scala", "scala", "test"),
        ("core/src/commonTest/kotlin/Fake.kt", "kotlin", "test"),
        ("Sources/VaporTests/Client.swift", "swift", "test"),
        ("koin-test/src/main/kotlin/Check.kt", "kotlin", ""),
        ("scalatest/src/Suites.scala", "scala", ""),
        ("src/latest.py", "python", ""),
        ("src/contest.go", "go", ""),
        ("src/Latest.java", "java", ""),
        ("README.md", "markdown", "docs"),
        ("docs/conf.py", "python", "docs"),
        ("examples/run.py", "python", "example"),
        ("package.json", "json", "dependency"),
        ("Cargo.toml", "toml", "dependency"),
        ("requirements-dev.txt", "text", "dependency"),
        ("pyproject.toml", "toml", "dependency"),
        ("Makefile", "make", "build"),
        ("Dockerfile", "dockerfile", "build"),
        (".github/workflows/ci.yml", "yaml", "ci"),
        (".gitlab-ci.yml", "yaml", "ci"),
        ("app/config/database.yml", "yaml", "config"),
        ("deploy/values.yaml", "yaml", "config"),
        ("tsconfig.json", "json", "config"),
        ("setup.py", "python", "build dependency"),
    ],
)
def test_a_path_has_the_tags_that_its_conventions_give_it(path: str, language: str, tags: str) -> None:
    assert path_tags(path, language) == tuple(tags.split())
