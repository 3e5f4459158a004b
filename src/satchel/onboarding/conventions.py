"""Which commands does CI run, and which tools watch over the style of the code? Their files say so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from satchel.onboarding.command_kinds import CommandKind, kind_of_command
from satchel.onboarding.documents import developer_documents, rules
from satchel.onboarding.facts import Fact, RepositoryReader, numbered, settings_entries, shell_lines

_CI_FILES = (
    ".gitlab-ci.yml",
    ".travis.yml",
    ".cirrus.yml",
    "azure-pipelines.yml",
    ".circleci/config.yml",
    ".appveyor.yml",
    "appveyor.yml",
    ".drone.yml",
    "jenkinsfile",
)
_MOST_CI_FILES = 12
_LONGEST_COMMAND = 300  # characters
_RUN = re.compile(r"\s*(?:- )?(?:run|script|command|test_script|build_script|sh):\s*(.*)$")
_ITEM = re.compile(r"\s*- (?:(?:sh|cmd|ps|run|command): ?)?[\"']?(.+?)[\"']?\s*$")


def ci_files(reader: RepositoryReader) -> list[str]:
    """Return the files that say what CI runs; those named after tests first."""
    workflows = reader.below(".github/workflows/", ".yml", ".yaml")
    workflows.sort(key=lambda path: (not re.search(r"\b(?:ci|tests?|build|main|check)", path), path))
    known = {path.lower(): path for path in (record.path for record in reader.files)}
    return [*workflows, *(known[name] for name in _CI_FILES if name in known)][:_MOST_CI_FILES]


def ci_commands(reader: RepositoryReader) -> Iterator[tuple[CommandKind, Fact]]:
    """Yield the commands of CI that are known to set up, build, test or check a project, each once."""
    seen = set()
    for path in ci_files(reader):
        for first, last, command in shell_lines(_script_lines(reader, path)):
            kind = kind_of_command(command)
            # What CI starts in passing is not how the project is run.
            if kind not in (None, CommandKind.RUN) and command not in seen:
                seen.add(command)
                assert kind is not None
                yield kind, reader.fact("CI", command, path, first, last)


def _script_lines(reader: RepositoryReader, path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a CI file that a shell gets: behind `run:`, in the block below it, or in a list."""
    block = -1  # the indent of the key whose block is read
    for number, line in numbered(reader.lines(path)):
        indent = len(line) - len(line.lstrip())
        if block >= 0 and line.strip() and indent <= block and not line.lstrip().startswith("- "):
            block = -1
        found = _RUN.match(line)
        if found:
            block = indent
            command = found.group(1).strip("|>+- \"'")
        elif block >= 0:
            item = _ITEM.match(line)
            command = item.group(1) if item else line.strip()
        else:
            continue
        if command and not command.startswith("#") and len(command) <= _LONGEST_COMMAND:
            yield number, command


# Files whose presence says which tool formats or checks the code. Hidden ones are in no index.
_TOOL_FILES = (
    (".editorconfig", "editorconfig"),
    (".prettierrc", "Prettier"),
    (".prettierrc.json", "Prettier"),
    (".prettierrc.js", "Prettier"),
    ("prettier.config.js", "Prettier"),
    (".eslintrc", "ESLint"),
    (".eslintrc.js", "ESLint"),
    (".eslintrc.json", "ESLint"),
    (".eslintrc.cjs", "ESLint"),
    (".eslintrc.yml", "ESLint"),
    ("eslint.config.js", "ESLint"),
    ("eslint.config.mjs", "ESLint"),
    ("eslint.config.ts", "ESLint"),
    ("biome.json", "Biome"),
    (".oxlintrc.json", "oxlint"),
    ("tsconfig.json", "TypeScript"),
    (".stylelintrc", "Stylelint"),
    ("ruff.toml", "Ruff"),
    (".ruff.toml", "Ruff"),
    (".flake8", "Flake8"),
    (".pylintrc", "Pylint"),
    ("mypy.ini", "mypy"),
    ("rustfmt.toml", "rustfmt"),
    (".rustfmt.toml", "rustfmt"),
    ("clippy.toml", "Clippy"),
    (".clippy.toml", "Clippy"),
    (".golangci.yml", "golangci-lint"),
    (".golangci.yaml", "golangci-lint"),
    (".rubocop.yml", "RuboCop"),
    (".clang-format", "clang-format"),
    (".clang-tidy", "clang-tidy"),
    (".php-cs-fixer.dist.php", "PHP-CS-Fixer"),
    ("phpcs.xml.dist", "PHP_CodeSniffer"),
    ("phpstan.neon.dist", "PHPStan"),
    ("phpstan.neon", "PHPStan"),
    (".swiftlint.yml", "SwiftLint"),
    (".swiftformat", "SwiftFormat"),
    (".scalafmt.conf", "scalafmt"),
    (".formatter.exs", "mix format"),
    (".credo.exs", "Credo"),
    ("detekt.yml", "detekt"),
    (".hlint.yaml", "HLint"),
    (".luacheckrc", "luacheck"),
    ("stylua.toml", "StyLua"),
    (".stylua.toml", "StyLua"),
    (".shellcheckrc", "ShellCheck"),
    (".commitlintrc.json", "commitlint"),
    ("commitlint.config.js", "commitlint"),
    (".jshintrc", "JSHint"),
)
_TELLING = re.compile(
    r"\s*[\"']?(indent_style|indent_size|tab_width|line[-_]length|max[-_]line[-_]length|max_width|printWidth|semi|singleQuote"
    r"|tabWidth|useTabs|strict|target|edition|select|extend-select|extends|BasedOnStyle|IndentWidth|ColumnLimit|TargetRubyVersion"
    r"|EnforcedStyle|maxColumn|version|std|target-version|convention|profile|column_width)[\"']?\s*[=:]\s*(.+)$",
    re.IGNORECASE,
)
_MOST_TELLING = 4  # settings of one tool


def tool_facts(reader: RepositoryReader) -> Iterator[Fact]:
    """Yield the formatters and linters that the repository has settings for, with their telling values."""
    yield from _pyproject_tools(reader)
    for name, tool in _TOOL_FILES:
        lines = reader.lines(name)
        told = [
            (n, f"{m.group(1)} = {m.group(2)}") for n, line in numbered(lines) if (m := _TELLING.match(line))
        ]
        chosen = told[:_MOST_TELLING]
        if chosen:
            text = ", ".join(value.strip().rstrip(",") for _, value in chosen)
            yield reader.fact(tool, text, name, chosen[0][0], chosen[-1][0])
        elif lines:
            yield reader.whole_file(tool, "settings", name)
    yield from _pre_commit(reader)


def _pyproject_tools(reader: RepositoryReader) -> Iterator[Fact]:
    tools = (
        "tool.ruff",
        "tool.black",
        "tool.mypy",
        "tool.pyright",
        "tool.isort",
        "tool.pylint",
        "flake8",
        "mypy",
    )
    for path in [*reader.nearest("pyproject.toml"), *reader.at_root("setup.cfg", "tox.ini")]:
        found: dict[str, list[tuple[int, str]]] = {}
        for line, table, key, value in settings_entries(reader.lines(path)):
            tool = next((name for name in tools if table == name or table.startswith(name + ".")), "")
            open_list = value in ("[", "{", "")
            if tool and (not key or (not open_list and _TELLING.match(f"{key} = {value}"))):
                found.setdefault(tool.removeprefix("tool."), []).append(
                    (line, f"{key} = {value}" if key else "")
                )
        for tool, entries in found.items():
            told = [(line, text) for line, text in entries if text][:_MOST_TELLING] or entries[:1]
            text = ", ".join(filter(None, (text for _, text in told))) or "settings"
            yield reader.fact(tool, text, path, told[0][0], told[-1][0])


def _pre_commit(reader: RepositoryReader) -> Iterator[Fact]:
    path = ".pre-commit-config.yaml"
    if reader.lines(path):
        hooks = [
            (number, found.group(1))
            for number, line in numbered(reader.lines(path))
            if (found := re.match(r"\s*- id:\s*([\w-]+)", line))
        ]
        if hooks:
            yield reader.fact(
                "pre-commit", ", ".join(name for _, name in hooks), path, hooks[0][0], hooks[-1][0]
            )


def rule_facts(reader: RepositoryReader) -> Iterator[Fact]:
    """Yield what the documents for developers ask of a change."""
    for path in developer_documents(reader):
        yield from rules(reader, path)
