"""The architecture as rules: which folder may import which, nothing hidden, nothing heavy at the start."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from satchel.plugins import _DOORS as DOORS

SOURCE = Path(__file__).parent.parent / "src" / "satchel"
FILES = sorted(SOURCE.rglob("*.py"))
LEVELS = (
    ("_version",),
    ("types", "errors", "lines", "caching", "visible_json", "wording"),
    ("code_facts",),
    ("parsed",),
    ("cancellation", "ids", "plugins", "extras", "terms", "globs", "file_writing"),
    ("settings", "languages", "tokenizers", "embedding", "storage"),
    ("walking", "chunking", "graph", "indexing", "retrieval", "packing"),
    ("verifying",),
    ("tracked_index",),
    ("updated_index",),
    ("segment",),
    ("pack_request",),
    ("corpus_reading",),
    ("pack_pipeline",),
    ("reviewing", "onboarding", "recall"),
    ("engine",),
    ("library",),
    ("evaluation",),
    ("commands",),
    ("rendering",),
    ("serving",),
    ("__main__", "__init__"),
)
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
HEAVY = {
    "asyncio",
    "chardet",
    "grpc",
    "mcp",
    "numpy",
    "pathspec",
    "pydantic",
    "re2",
    "rich",
    "starlette",
    "tiktoken",
    "tree_sitter",
}


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax of a file, which several rules look at."""
    return ast.parse(path.read_text())


def part_of(path: Path) -> str:
    relative = path.relative_to(SOURCE)
    return relative.parts[0].removesuffix(".py")


def own_imports(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    """Every import of our own package with the top part that it names."""
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        for module in modules:
            if module.startswith("satchel."):
                assert isinstance(node, ast.stmt)
                yield node, module.split(".")[1]


def may_use(own: str, other: str) -> bool:
    """Whether a part is the other one, or above it."""
    return other == own or LEVEL[other] < LEVEL[own]


def test_a_part_imports_only_itself_and_what_is_below_it() -> None:
    found = [
        f"{path.relative_to(SOURCE)} imports {other}"
        for path in FILES
        for _, other in own_imports(tree_of(path))
        if not may_use(part_of(path), other)
        and (part_of(path), other) != ("commands", "engine")  # for its type
    ]
    assert found == []


def parts_behind_strings(tree: ast.AST) -> Iterator[str]:
    """Every part of our own package that code names by a string: to `late`, or to the door of plug-ins."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0]
        if isinstance(first, ast.JoinedStr):
            first = first.values[0]
        named = first.value if isinstance(first, ast.Constant) else None
        if called == "late" and isinstance(named, str):
            yield named.split(".")[1]
        elif called in ("load", "find", "names", "aliases") and isinstance(named, str) and named in DOORS:
            yield DOORS[named][0].split(".")[1]


def test_no_part_reaches_above_itself_by_a_string() -> None:
    found = [
        f"{path.relative_to(SOURCE)} names {other}"
        for path in FILES
        for other in parts_behind_strings(tree_of(path))
        if not may_use(part_of(path), other)
    ]
    assert found == []


def test_a_string_that_names_a_higher_part_is_seen() -> None:
    code = 'plugins.load("renderer", name)\nlate("satchel.engine")\nlate(f"satchel.serving.{name}")'
    assert [*parts_behind_strings(ast.parse(code))] == ["rendering", "engine", "serving"]


def test_a_public_type_is_defined_once() -> None:
    homes: dict[str, list[str]] = {}
    for path in FILES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(path.relative_to(SOURCE).as_posix())
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


LONG = 400  # lines


def test_a_long_file_says_why_it_is_one() -> None:
    for path in FILES:
        if len(path.read_text().splitlines()) > LONG:
            said = ast.get_docstring(tree_of(path)) or ""
            assert re.search(r"\blong\b.*\bbecause\b", said, re.DOTALL), f"divide {path}, or say why not"


SHORT = 60  # lines
# A plug-in is a file of its own however short it is. So are a second name of a command, a tokenizer that has no name of
# its own, and a page of the viewer.
PLUG_IN = re.compile(rf"^(?:{'|'.join(attribute for _, attribute in DOORS.values())})\b.*=", re.MULTILINE)
ONE_FILE_EACH = {"commands/aliases", "serving/viewer", "tokenizers"}


def test_a_short_file_has_two_importers_or_is_a_plug_in() -> None:
    importers: dict[str, set[Path]] = {}
    for path in FILES:
        for module in _modules_named(tree_of(path)):
            importers.setdefault(module, set()).add(path)
    lonely = []
    for path in FILES:
        relative = path.relative_to(SOURCE)
        module = relative.with_suffix("").as_posix().replace("/", ".")
        text = path.read_text()
        may_be_alone = PLUG_IN.search(text) or relative.parent.as_posix() in ONE_FILE_EACH
        if len(text.splitlines()) >= SHORT or path.stem in ("__init__", "__main__") or may_be_alone:
            continue
        if len(importers.get(module, ())) < 2:
            lonely.append(relative.as_posix())
    assert lonely == [], "merge them into the file that uses them"


def _modules_named(tree: ast.AST) -> Iterator[str]:
    """Every module of ours that a file imports, and every name that may be one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("satchel"):
            base = (node.module or "").removeprefix("satchel").removeprefix(".")
            yield base
            yield from (f"{base}.{alias.name}".strip(".") for alias in node.names)


LONG_FUNCTION = 40  # lines


def test_a_long_function_says_why_it_is_one() -> None:
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not node.end_lineno:
                continue
            if node.end_lineno - node.lineno >= LONG_FUNCTION:
                text = "".join(path.read_text().splitlines(keepends=True)[node.lineno - 1 : node.end_lineno])
                assert "# Long, because" in text, f"divide {node.name} in {path}, or say why not"


# The plug-in door and the lazy command line are the places where loading late is the point.
LATE = {"serving/cli.py", "serving/cli_run.py"}


def test_no_import_of_our_own_is_hidden_in_a_function() -> None:
    functions = [
        (path, node)
        for path in FILES
        if path.relative_to(SOURCE).as_posix() not in LATE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef)
    ]
    assert [f"{path}: {other}" for path, function in functions for _, other in own_imports(function)] == []


def test_no_import_cycles() -> None:
    graph = {
        path.relative_to(SOURCE).with_suffix("").as_posix().replace("/", "."): _module_imports(path)
        for path in FILES
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name not in done:
            for other in graph.get(name, ()):
                visit(other, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def _module_imports(path: Path) -> set[str]:
    found = set()
    for node in tree_of(path).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("satchel"):
            base = node.module.removeprefix("satchel").removeprefix(".")
            for alias in node.names:
                full = f"{base}.{alias.name}".strip(".")
                is_module = (SOURCE / full.replace(".", "/")).with_suffix(".py").is_file()
                found.add(full if is_module else base)
    return found


@pytest.mark.parametrize(
    "statement", ["import satchel", "from satchel.serving.cli import main; main(['--help'])"]
)
def test_the_start_loads_nothing_heavy(statement: str) -> None:
    code = f"try:\n    {statement}\nexcept SystemExit:\n    pass\nimport sys\nprint(*sys.modules, sep='\\n')"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = {line.split(".")[0] for line in output.splitlines()}
    assert not loaded & HEAVY


# What only indexing, walking or another command needs.
UNUSED_BY_SEARCH = {
    "satchel.chunking",
    "satchel.indexing.refresh",
    "satchel.packing",
    "satchel.verifying",
    "satchel.walking.git",
    "satchel.walking.ignore_rules",
    "satchel.walking.listing",
    "satchel.walking.file_filter",
    "satchel.walking.watermark",
}


# What a command needs to run in a session, as on every surface.
OF_A_SESSION = ("freshness", "payloads", "session")


@pytest.fixture(scope="module")
def loaded_by_a_search(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules of a search whose index is fresh and whose last walk is remembered."""
    root = tmp_path_factory.mktemp("shop")
    (root / "a.py").write_text("def open_till():\n    pass\n")
    os.utime(root / "a.py", (1, 1))
    search = f"from satchel.serving.cli import main; main(['search', 'till', '--segment', {str(root)!r}])"
    index = search.replace("['search', 'till', ", "['index', ")
    listing = "import sys; print('---', *sys.modules, sep='\\n')"

    def run(code: str) -> str:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    run(index)
    time.sleep(2.1)  # a folder that changed just now is walked again
    run(search)
    return set(run(f"{search}; {listing}").partition("---\n")[2].splitlines())


def test_a_search_loads_nothing_that_it_does_not_use(loaded_by_a_search: set[str]) -> None:
    commands = {name for name in loaded_by_a_search if name.startswith("satchel.commands.")}
    assert commands == {f"satchel.commands.{name}" for name in (*OF_A_SESSION, "command", "search", "shared")}
    assert not loaded_by_a_search & UNUSED_BY_SEARCH
    assert not {name.split(".")[0] for name in loaded_by_a_search} & (HEAVY - {"numpy"})


def test_a_search_makes_no_dataclass_around_its_scoring(loaded_by_a_search: set[str]) -> None:
    """Each generates code when it is loaded and costs a millisecond; a struct does not."""
    scoring = ("satchel.embedding.", "satchel.languages.", "satchel.retrieval.", "satchel.storage.")
    ours = [
        name for name in loaded_by_a_search if name.startswith("satchel.") and not name.startswith(scoring)
    ]
    sources = {name: SOURCE.parent / f"{name.replace('.', '/')}.py" for name in ours}
    users = [name for name, path in sources.items() if path.is_file() and "@dataclass" in path.read_text()]
    assert users == []


def test_the_version_takes_under_60_ms_of_cpu() -> None:
    code = (
        "import os, resource, subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'satchel', '--version'], check=True)\n"
        "usage = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(usage.ru_utime + usage.ru_stime)"
    )
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split()[-1])
        for _ in range(5)
    ]
    assert min(runs) < 0.06  # the least of five: other work on the machine only adds


def test_only_ids_hashes() -> None:
    users = [path for path in FILES if "hashlib" in path.read_text()]
    assert users == [SOURCE / "ids.py"]


@pytest.mark.parametrize(
    "path", sorted((SOURCE.parents[1] / "benchmarks").rglob("*.py")), ids=lambda path: path.name
)
def test_benchmarks_import_what_is_there(path: Path) -> None:
    """The type checker reads the package alone, and a benchmark is run too seldom to notice a moved name."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "satchel":
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")


def test_no_package_or_archive_is_tracked() -> None:
    """What `pip download` or a build leaves behind stays out of the clone, which everyone copies whole."""
    root = SOURCE.parents[1]
    if not (root / ".git").exists():
        pytest.skip("not a clone")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    names = [name for name in os.fsdecode(listed).split("\0") if name]
    assert [name for name in names if name.endswith((".whl", ".zip", ".tar", ".gz", ".so"))] == []
    present = [root / name for name in names if (root / name).is_file()]
    assert [str(path) for path in present if path.stat().st_size > LARGEST_FILE] == []


LARGEST_FILE = 4_000_000  # bytes; the word vectors and a vocabulary take 3 MB each


# Who touches the environment beside `settings`, and why.
ENVIRONMENT = {
    "serving/cli.py",  # SATCHEL_DEBUG, before anything is loaded; a variable for numpy
    "serving/local_client.py",  # compared with that of a server; where the user's sockets are
    "serving/installing/launch.py",  # hands it on, as a part of what is known of the machine
    "serving/grpc/__init__.py",  # a variable for gRPC
    "serving/transports/mcp.py",  # a variable for pydantic
    "settings.py",
    "walking/git_command.py",  # hands it on to git
    "walking/git_inputs.py",  # what git reads of it decides what git says
}


def test_only_settings_reads_the_environment() -> None:
    users = {path.relative_to(SOURCE).as_posix() for path in FILES if "os.environ" in path.read_text()}
    assert users == ENVIRONMENT


STORE_KINDS = {path.stem for path in (SOURCE / "storage").glob("*.py") if "\nSTORE = " in path.read_text()}


# Only people are told the location of a store; no path is made of it.
TELLS_LOCATION = ("commands/status.py", "serving/installing/doctor_checks.py")


def test_nothing_outside_storage_knows_a_kind_of_store() -> None:
    """A store is chosen by its URL. The public API exports one class, for those who hand a store over, and
    stores may know each other."""
    kinds = {f"{kind.capitalize()}Store" for kind in STORE_KINDS}
    for path in FILES:
        if part_of(path) in ("storage", "__init__"):
            continue
        names = {node.id for node in ast.walk(tree_of(path)) if isinstance(node, ast.Name)}
        attributes = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute)]
        assert not (names | {node.attr for node in attributes}) & kinds, path
        of_store = {
            node.attr for node in attributes if getattr(node.value, "attr", "") in ("store", "_store")
        }
        assert "path" not in of_store, path
        assert "location" not in of_store or path.relative_to(SOURCE).as_posix() in TELLS_LOCATION, path


def test_storage_has_more_than_one_kind_of_store() -> None:
    assert {"memory", "sqlite"} <= STORE_KINDS


def test_no_attribute_of_an_engine_is_assigned_from_outside() -> None:
    """What one call wants is given to `for_caller`, which makes an engine for it."""
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_an_engine(node.value)
    ]
    assert found == []


def _is_an_engine(node: ast.expr) -> bool:
    """Whether an expression is written as an engine is: `engine`, `self.engine`, `session.engine`, …"""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.removeprefix("_") in {"engine", "segment", "past", "opened"}
