"""Which commands, entry points and descriptions do the manifests of a repository state?

Each reader takes the files of its kind that stand highest in the tree. They are read line by line, so that
each fact has its line; nothing is run, and nothing is looked up outside of the index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from satchel.onboarding.command_kinds import CommandKind, kind_of_name
from satchel.onboarding.facts import Fact, RepositoryReader, numbered, settings_entries

Found = Iterator[tuple[CommandKind, Fact]]
_SHOWN_RECIPE = 120  # characters of the first line of a recipe
_LOCKS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
)


def manifest_commands(reader: RepositoryReader) -> Found:
    """Yield the commands that manifests name, the most telling sources first."""
    for read in _COMMAND_READERS:
        yield from read(reader)


def _json(reader: RepositoryReader, path: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode("".join(reader.lines(path)).removeprefix("\ufeff"))
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _key_line(reader: RepositoryReader, path: str, key: str, after: str = "") -> int:
    """Return the line of a key of a JSON file, the first one behind the key `after`; 0 if there is none."""
    behind = not after
    for number, line in numbered(reader.lines(path)):
        behind = behind or f'"{after}"' in line
        if behind and re.search(rf'"{re.escape(key)}"\s*:', line):
            return number
    return 0


def _scripts(reader: RepositoryReader, path: str, runner: str) -> Found:
    """Yield the scripts of package.json or composer.json whose names say what they are for."""
    scripts = _json(reader, path).get("scripts")
    found = []
    for name, value in scripts.items() if isinstance(scripts, dict) else ():
        command = " && ".join(map(str, value)) if isinstance(value, list) else str(value)
        kind = kind_of_name(name)
        line = _key_line(reader, path, name, "scripts")
        if kind is not None and line:
            text = f"{runner} {name} → {command}"
            found.append((len(re.findall(r"\w+", name)), line, kind, reader.fact("", text, path, line)))
    for _, _, kind, fact in sorted(found, key=lambda item: item[:2]):
        yield kind, fact


def _package_json(reader: RepositoryReader) -> Found:
    runner = next((tool for lock, tool in _LOCKS if reader.at_root(lock)), "npm") + " run"
    for path in reader.nearest("package.json"):
        yield from _scripts(reader, path, runner)


def _composer_json(reader: RepositoryReader) -> Found:
    for path in reader.nearest("composer.json"):
        yield from _scripts(reader, path, "composer")


_TASK_TABLES = re.compile(
    r"tool\.(?:poe\.tasks|pdm\.scripts|taskipy\.tasks|rye\.scripts|hatch\.envs\.[\w-]+\.scripts|pixi\.tasks)$"
)


def _pyproject(reader: RepositoryReader) -> Found:
    for path in reader.nearest("pyproject.toml"):
        for line, table, key, value in settings_entries(reader.lines(path)):
            if table.startswith("tool.pytest") and not key:
                yield CommandKind.TEST, reader.fact("", "pytest (configured here)", path, line)
            elif key and _TASK_TABLES.match(table) and (kind := kind_of_name(key)):
                runner = table.split(".")[1]
                yield kind, reader.fact("", f"{runner} run {key} → {value}", path, line)
            elif key == "build-backend":
                yield CommandKind.BUILD, reader.fact("", f"python -m build, by {value}", path, line)
            elif key == "requires-python":
                yield CommandKind.SET_UP, reader.fact("", f"Python {value}", path, line)
    yield from _python_test_tools(reader)


def _python_test_tools(reader: RepositoryReader) -> Found:
    for path in reader.at_root("tox.ini"):
        for line, table, key, value in settings_entries(reader.lines(path)):
            if table == "tox" and key in ("envlist", "env_list"):
                yield CommandKind.TEST, reader.fact("", f"tox, environments {value}", path, line)
            elif table == "testenv" and key == "commands" and value:
                yield CommandKind.TEST, reader.fact("", f"tox runs {value}", path, line)
    for path in reader.at_root("pytest.ini", "setup.cfg"):
        for line, table, key, _ in settings_entries(reader.lines(path)):
            if table in ("pytest", "tool:pytest") and not key:
                yield CommandKind.TEST, reader.fact("", "pytest (configured here)", path, line)
    for path in reader.at_root("noxfile.py"):
        for line, text in numbered(reader.lines(path)):
            found = re.match(r"def (\w+)\(session", text)
            if found and (kind := kind_of_name(found.group(1))):
                yield kind, reader.fact("", f"nox -s {found.group(1)}", path, line)


_MAKE_TARGET = re.compile(r"([A-Za-z][\w./-]*)\s*:(?![:=])([^#=]*)(?:##?\s*(.*))?$")
_JUST_RECIPE = re.compile(r"@?([a-z][\w-]*)(?:\s+[^:=]*)?:(?!=)")


def _make(reader: RepositoryReader) -> Found:
    for path in reader.at_root("makefile", "gnumakefile", "makefile.am")[:1]:
        yield from _recipes(reader, path, "make", _MAKE_TARGET)
    for path in reader.at_root("justfile")[:1]:
        yield from _recipes(reader, path, "just", _JUST_RECIPE)


def _recipes(reader: RepositoryReader, path: str, runner: str, target: re.Pattern[str]) -> Found:
    """Yield the targets whose names say what they are for, each with the first line of its recipe."""
    lines = list(numbered(reader.lines(path)))
    seen = set()
    for number, line in lines:
        found = target.match(line)
        kind = kind_of_name(found.group(1)) if found else None
        if not found or kind is None or found.group(1) in seen or "/" in found.group(1):
            continue
        seen.add(found.group(1))
        last, step = _first_step(lines[number:]) or (number, "")
        does = f" → {step}" if step else ""
        yield kind, reader.fact("", f"{runner} {found.group(1)}{does}", path, number, last)


def _first_step(following: list[tuple[int, str]]) -> tuple[int, str] | None:
    """Return the first line of a recipe that does something, not only tells it; None without a recipe."""
    for number, line in following:
        step = line.strip(" \t@-")
        if not line[:1].isspace() or not step:
            return None
        if not step.startswith(("$(info", "echo ", "#", "printf ")):
            return number, step[:_SHOWN_RECIPE]
    return None


def _tasks(reader: RepositoryReader) -> Found:
    """Yield the tasks of a Taskfile and of a Rakefile."""
    for path in reader.at_root("taskfile.yml", "taskfile.yaml", "taskfile.dist.yml")[:1]:
        inside = False
        for number, line in numbered(reader.lines(path)):
            if re.match(r"\S", line):
                inside = line.startswith("tasks:")
            found = re.match(r"  ([\w:-]+):", line) if inside else None
            if found and (kind := kind_of_name(found.group(1))):
                yield kind, reader.fact("", f"task {found.group(1).rstrip(':')}", path, number)
    for path in reader.at_root("rakefile"):
        for number, line in numbered(reader.lines(path)):
            found = re.match(
                r"\s*(?:task|multitask|Rake::TestTask\.new|RSpec::Core::RakeTask\.new)[\s(]+[:\"']?(\w+)",
                line,
            )
            if found and (kind := kind_of_name(found.group(1))):
                yield kind, reader.fact("", f"rake {found.group(1)}", path, number)


def _script_folder(reader: RepositoryReader) -> Found:
    """Yield the programs of the folder of scripts whose names say what they are for."""
    for path in (path for folder in ("script/", "scripts/") for path in reader.below(folder, "")):
        name = path.partition("/")[2]
        kind = kind_of_name(name.partition(".")[0])
        if (
            kind is not None
            and "/" not in name
            and reader.lines(path)[:1]
            and reader.lines(path)[0].startswith("#!")
        ):
            yield kind, reader.fact("", path, path, 1)


# File, the line that shows what it is, and the commands that its tool has for every such project.
_STANDARD: tuple[tuple[str, str, tuple[tuple[CommandKind, str], ...]], ...] = (
    (
        "cargo.toml",
        r"\[(?:package|workspace)\]",
        ((CommandKind.BUILD, "cargo build"), (CommandKind.TEST, "cargo test")),
    ),
    ("go.mod", r"module\s", ((CommandKind.BUILD, "go build ./..."), (CommandKind.TEST, "go test ./..."))),
    ("mix.exs", r"\s*def project", ((CommandKind.SET_UP, "mix deps.get"), (CommandKind.TEST, "mix test"))),
    ("package.swift", r".*Package\(", ((CommandKind.BUILD, "swift build"), (CommandKind.TEST, "swift test"))),
    ("build.zig", r".*pub fn build", ((CommandKind.BUILD, "zig build"),)),
    ("gradlew", r".*", ((CommandKind.BUILD, "./gradlew build"), (CommandKind.TEST, "./gradlew test"))),
    ("mvnw", r".*", ((CommandKind.BUILD, "./mvnw package"), (CommandKind.TEST, "./mvnw test"))),
    ("pom.xml", r".*<project", ((CommandKind.BUILD, "mvn package"), (CommandKind.TEST, "mvn test"))),
    ("build.sbt", r".*", ((CommandKind.BUILD, "sbt compile"), (CommandKind.TEST, "sbt test"))),
    ("stack.yaml", r".*", ((CommandKind.BUILD, "stack build"), (CommandKind.TEST, "stack test"))),
    ("cabal.project", r".*", ((CommandKind.BUILD, "cabal build"), (CommandKind.TEST, "cabal test"))),
    ("cmakelists.txt", r"\s*project\s*\(", ((CommandKind.BUILD, "cmake -B build && cmake --build build"),)),
    ("meson.build", r"project\s*\(", ((CommandKind.BUILD, "meson setup build && ninja -C build"),)),
    ("configure.ac", r"AC_INIT", ((CommandKind.BUILD, "./configure && make"),)),
    ("gemfile", r"source", ((CommandKind.SET_UP, "bundle install"),)),
    ("composer.json", r"\s*\{", ((CommandKind.SET_UP, "composer install"),)),
    ("package.json", r".*\{", ((CommandKind.SET_UP, "npm install"),)),
)


def standard_commands(reader: RepositoryReader) -> Found:
    """Yield what the tool of a manifest does in every project: not written there, and labelled so."""
    for name, pattern, commands in _STANDARD:
        for path in reader.at_root(name):
            opening = re.compile(pattern)
            line = next((n for n, text in numbered(reader.lines(path)) if opening.match(text)), 0)
            for kind, command in commands if line else ():
                if name == "package.json":
                    command = (
                        next((tool for lock, tool in _LOCKS if reader.at_root(lock)), "npm") + " install"
                    )
                yield kind, reader.fact("", f"{command} (usual for {path})", path, line)


def dockerfile_commands(reader: RepositoryReader) -> Found:
    """Yield what an image of the repository starts."""
    for path in reader.nearest("Dockerfile"):
        for number, line in numbered(reader.lines(path)):
            if re.match(r"(?:CMD|ENTRYPOINT)\s", line):
                yield CommandKind.RUN, reader.fact("", f"image starts {line.strip()}", path, number)


_DESCRIPTIONS = (
    "pyproject.toml",
    "Cargo.toml",
    "package.json",
    "composer.json",
    "setup.cfg",
    "setup.py",
    "mix.exs",
)
_DESCRIPTION = re.compile(
    r"\s*[\"']?@?(?:\w+\.)?(?:description|summary)[\"']?(?:\s*[=:]\s*|\s+(?=\"))(.*?)\s*$"
)
_NO_TEXT = ("file:", "{", "(", "@", "read", "long_")  # a value that stands elsewhere
_LEAST_DESCRIPTION = 12  # characters


def descriptions(reader: RepositoryReader) -> Iterator[Fact]:
    """Yield the sentence with which each manifest describes the project."""
    for path in reader.at_root(*map(str.lower, _DESCRIPTIONS), *_gemspecs(reader)):
        lines = list(numbered(reader.lines(path)))
        for number, line in lines:
            found = _DESCRIPTION.match(line)
            if found is None:
                continue
            last, text = number, found.group(1).strip(" \"',")
            if not text and number < len(lines):  # a text over several lines starts on the next one
                last, text = lines[number]
            if len(text) >= _LEAST_DESCRIPTION and not text.startswith(_NO_TEXT):
                yield reader.fact("described as", text, path, number, last)
                break


def _gemspecs(reader: RepositoryReader) -> list[str]:
    return [path.lower() for path in reader.below("", ".gemspec") if "/" not in path]


def entry_points(reader: RepositoryReader) -> Iterator[Fact]:
    """Yield the programs and modules that manifests declare."""
    for path in reader.nearest("pyproject.toml"):
        for line, table, key, value in settings_entries(reader.lines(path)):
            if key and table in ("project.scripts", "project.gui-scripts", "tool.poetry.scripts"):
                yield reader.fact("command", f"{key} = {value}", path, line)
    for path in reader.at_root("setup.py", "setup.cfg"):
        for number, text in numbered(reader.lines(path)):
            if found := re.match(r"\s*[\"']?([\w.-]+)\s*=\s*([\w.]+:[\w.]+)[\"']?,?\s*$", text):
                yield reader.fact("command", f"{found.group(1)} = {found.group(2)}", path, number)
    for path in reader.nearest("Cargo.toml"):
        for line, table, key, value in settings_entries(reader.lines(path)):
            if (table, key) in (("bin", "name"), ("package", "default-run")):
                yield reader.fact("command", f"binary {value}", path, line)
    for path in reader.nearest("package.json"):
        for key in ("bin", "main", "module", "types"):
            stated = _json(reader, path).get(key)
            line = _key_line(reader, path, key)
            if line and isinstance(stated, str | dict):
                pairs = stated.items() if isinstance(stated, dict) else ()
                told = ", ".join(f"{name} = {at}" for name, at in pairs) or stated
                yield reader.fact("command" if key == "bin" else "module", f"{key}: {told}", path, line)


_COMMAND_READERS: tuple[Callable[[RepositoryReader], Found], ...] = (
    _package_json,
    _pyproject,
    _make,
    _tasks,
    _composer_json,
    _script_folder,
)
