"""What is a command for: setting up, building, testing, running or checking? Its name or its text tells."""

from __future__ import annotations

import re
from enum import StrEnum


class CommandKind(StrEnum):
    """What a newcomer wants a command for."""

    SET_UP = "set up"
    BUILD = "build"
    TEST = "test"
    RUN = "run"
    CHECK = "check"


_NAMES = (
    (CommandKind.TEST, "test tests spec specs unit e2e unittest runtests testing check-all"),
    (
        CommandKind.CHECK,
        "lint linter format fmt style typecheck types tsc check checks fix eslint clippy",
    ),
    (CommandKind.SET_UP, "install setup bootstrap deps dependencies init prepare develop devenv"),
    (CommandKind.RUN, "start dev serve server run watch demo up"),
    (CommandKind.BUILD, "build compile bundle all package"),
)
_KIND_OF_WORD = {word: kind for kind, words in reversed(_NAMES) for word in words.split()}
_SKIPS_TESTS = re.compile(r"test\.skip|skip-?tests?\b|-x test\b", re.IGNORECASE)
_WORDS = re.compile(r"[A-Za-z]+")

_PACKAGE_MANAGER = r"(?:npm|pnpm|yarn|bun|deno task|npx|bunx)(?: (?:run|exec|-w|--\S+|workspace \S+))*"
_PYTHON = r"(?:uv run|hatch run|poetry run|pdm run|python3? -m|coverage run -m)(?: --?\S+)*"
_MAKE = r"(?:g?make|just|task|(?:bundle exec |bin/)?rake)(?: -\S+)*"
_JVM = r"(?:\./|\.\\)?(?:gradlew|gradle|mvnw|mvn)(?:\.bat)?"
_CARGO = r"cargo(?: \+\S+| -\S+)*"
_HASKELL = r"(?:stack|cabal)(?: v2-| new-| )"
_PATTERNS = {
    CommandKind.TEST: (
        r"(?:py\.?test|tox|nox|ctest|jest|vitest|mocha|ava|karma|phpunit|rspec|busted|bats)(?:\s|$)",
        r"(?:bundle exec|vendor/bin/|\./vendor/bin/) ?\S*(?:rspec|phpunit|pest)\b",
        r"(?:\S*/)?runtests\S*",
        r"go test|gotestsum|dotnet test|swift test|mix test|meson test|xcodebuild .*test",
        rf"{_CARGO} (?:test|nextest|t)\b",
        rf"{_PYTHON} \S*(?:pytest|test|tox|nox)",
        r"python3? (?:-\S+ )*\S*test\S*\.py",
        rf"{_PACKAGE_MANAGER} (?:t\b|\S*(?:test|jest|vitest|mocha))",
        rf"{_MAKE} \S*(?:test|spec|check)s?\b|composer(?: run)? \S*test",
        rf"{_JVM} (?:.*[\s:])?(?:test|check|verify|[a-z]\w*Tests?)(?=\s|$)",
        rf"{_HASKELL}test|(?:\./)?sbt .*test|zig build.* test|ninja .*test",
        r"(?:bash |sh )?(?:\./|bin/|script/|scripts/|ci/)\S*tests?(?:\.\w+)?\b",
    ),
    CommandKind.CHECK: (
        r"(?:pre-commit|ruff|flake8|black|isort|mypy|pyright|pylint|eslint|prettier|golangci-lint|gofmt)\s",
        r"go vet|staticcheck|clang-(?:format|tidy)|shellcheck|stylelint|tsc\b|detekt|ktlint|swiftlint",
        r"zig fmt",
        r"scalafmt|hlint|luacheck|stylua|dotnet format|mix (?:format|credo|dialyzer)",
        r"rubocop|phpstan|php-cs-fixer",
        rf"{_CARGO} (?:fmt|clippy|deny)\b",
        r"(?:bundle exec |bin/)\S*rubocop|\S*vendor/bin/\S*(?:phpstan|phpcs|cs-fixer)",
        rf"{_PACKAGE_MANAGER} \S*(?:lint|format|fmt|typecheck|types|prettier|tsc)",
        rf"{_MAKE} \S*(?:lint|fmt|format|style|vet)\b",
        rf"{_PYTHON} (?:ruff|mypy|flake8|black|pyright|pre[-_]commit)",
        rf"{_JVM} .*(?:spotless|ktlint|detekt|checkstyle)",
    ),
    CommandKind.BUILD: (
        rf"{_PACKAGE_MANAGER} \S*(?:build|compile|bundle)",
        rf"{_MAKE}(?: (?:all|build|\S*-build|build-\S*|compile))?$",
        rf"{_CARGO} (?:build|xtask)\b",
        r"go (?:build|generate)|dotnet (?:build|publish|pack)|swift build|mix compile|zig build|bazel build",
        r"cmake |meson (?:setup|build|compile)|ninja(?:\s|$)",
        r"(?:\./)?configure(?:\s|$)|\./autogen\.sh|autoreconf",
        rf"{_JVM} .*(?:assemble|build|package|compile)\b",
        rf"{_HASKELL}build|(?:\./)?sbt .*compile|gem build",
        r"(?:bash |sh )?(?:\./)?(?:script|scripts|ci)/\S*build\S*",
        r"python3? -m build|python3? setup\.py (?:build|sdist)|(?:hatch|poetry|uv) build",
        r"docker (?:compose )?build",
    ),
    CommandKind.RUN: (
        rf"{_PACKAGE_MANAGER} (?:start|dev|serve)\b",
        rf"{_CARGO} run\b|go run|dotnet run|swift run|docker run|docker[- ]compose up|zig build run",
        rf"{_MAKE} (?:run|serve|start|dev)\b",
        r"python3? manage\.py runserver|flask (?:--\S+ \S+ )*run|uvicorn |gunicorn |php artisan serve",
        r"(?:bin/)?rails (?:s|server)\b|mix phx\.server|iex -S mix",
        rf"{_JVM} \S*[rR]un\b",
    ),
    CommandKind.SET_UP: (
        r"(?:npm|pnpm|yarn|bun) (?:ci|install|i|add)\b|yarn$|corepack enable",
        r"(?:python3? -m )?(?:uv )?pip3? install|uv (?:sync|venv|tool install)|pipx install|python3? -m venv",
        r"(?:poetry|pdm) install|hatch env|conda (?:env|install)|nix develop",
        r"bundle install|gem install|composer (?:install|update|require)|mix (?:deps\.get|setup)",
        r"go (?:mod download|install|get)\b|cargo (?:install|add)\b|brew (?:install|bundle)|luarocks install",
        r"(?:apt|apt-get|dnf|yum|pacman|apk|port) \S*(?:install|add|-S)\b|git submodule",
        r"dotnet (?:restore|add|tool install)|(?:bin|script|scripts)/(?:bootstrap|setup)",
    ),
}
_COMMANDS = [
    (kind, re.compile(rf"(?:[$>%] )?(?:sudo )?(?:[A-Z_]+=\S+ )*(?:{'|'.join(patterns)})"))
    for kind, patterns in _PATTERNS.items()
]


def kind_of_name(name: str) -> CommandKind | None:
    """Return what a script, target or task is for, as its name says; None if the name does not."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return next((_KIND_OF_WORD[word] for word in words if word in _KIND_OF_WORD), None)


def kind_of_command(command: str) -> CommandKind | None:
    """Return what a shell command is for; None for one that is not known to set up, build, test, run or check
    a project."""
    kinds = (kind for kind, pattern in _COMMANDS if pattern.match(command))
    return next(
        (kind for kind in kinds if kind is not CommandKind.TEST or not _SKIPS_TESTS.search(command)), None
    )
