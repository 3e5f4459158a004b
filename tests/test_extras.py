"""Without the packages of an extra there is one clear error, and everything else works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from builders import SHOP, make_tree

from satchel import extras, plugins

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# None in place of a module is how Python itself says that it cannot be imported.
BLOCKED = sorted({module for modules in extras.MODULES.values() for module in modules})
WITHOUT_EXTRAS = (
    f"import sys; sys.modules.update(dict.fromkeys({BLOCKED!r}))\n"
    "from satchel.serving.cli import main\n"
    "sys.exit(main(sys.argv[1:]))"
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = make_tree(tmp_path_factory.mktemp("shop"), SHOP)
    (root / "tokenizer.json").write_text("{}")
    return root


def run_core(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_EXTRAS, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["serve", "http"], "http"),
        (["serve", "grpc"], "grpc"),
        (["serve", "mcp"], "mcp"),
        (["serve", "mcp", "--port", "0"], "mcp"),
        (["watch"], "serve"),
        (["install", "--dry-run"], "mcp"),
        (["pack", "basket", "--tokenizer", "./tokenizer.json"], "huggingface"),
    ],
    ids=" ".join,
)
def test_a_missing_extra_is_one_error_with_the_command_that_installs_it(
    words: list[str], extra: str, shop: Path
) -> None:
    result = run_core(*words, folder=shop)
    assert result.returncode == 2 and result.stdout == ""
    message, hint = result.stderr.splitlines()
    assert message.startswith("satchel: ") and "needs packages that are not installed" in message
    assert hint.strip() == f"pip install 'satchel-context[{extra}]'"


def test_people_cannot_be_checked_without_their_extra(shop: Path) -> None:
    assert run_core("library", "init", "--library", "books", folder=shop).returncode == 0
    provider = {f"SATCHEL_OIDC_{name}": "keys.json" for name in ("ISSUER", "AUDIENCE", "JWKS")}
    blocked = ("jwt", "cryptography")
    code = WITHOUT_EXTRAS.replace(repr(BLOCKED), repr(blocked))
    result = subprocess.run(
        [sys.executable, "-c", code, "serve", "http", "--library", "books"],
        cwd=shop,
        env=os.environ | provider,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 2
    assert "needs packages that are not installed: jwt" in result.stderr
    assert result.stderr.splitlines()[-1].strip() == "pip install 'satchel-context[oidc]'"


def test_the_error_is_typed(shop: Path) -> None:
    error = json.loads(run_core("pack", "q", "--tokenizer", "./tokenizer.json", "--json", folder=shop).stdout)
    assert error["error"]["code"] == "unsupported"
    assert error["error"]["details"] == {"extra": "huggingface", "missing": ["tokenizers"]}


def test_questions_need_no_extra(shop: Path) -> None:
    for words in (["index"], ["search", "basket"], ["pack", "how is tax computed"], ["map"], ["--help"]):
        result = run_core(*words, folder=shop)
        assert result.returncode == 0 and result.stdout, result.stderr


def test_the_doctor_says_which_servers_are_missing(shop: Path) -> None:
    checks = json.loads(run_core("doctor", "--json", folder=shop).stdout)["checks"]
    (servers,) = [check for check in checks if check["topic"] == "servers"]
    assert servers["level"] == "warn" and servers["next"] == "pip install 'satchel-context[serve]'"


def test_every_transport_names_its_extra() -> None:
    for name in plugins.names("transport"):
        assert plugins.load("transport", name).extra in extras.MODULES


def test_the_extras_bring_what_they_are_asked_for() -> None:
    """Each module comes from a package that the extra names, or from one that such a package needs."""
    assert PROJECT["name"] == extras.DISTRIBUTION
    declared = PROJECT["optional-dependencies"]
    assert set(extras.MODULES) | {"all", "test"} == set(declared)
    assert "satchel-context[grpc,http,mcp]" in declared["serve"]
    assert declared["all"] == ["satchel-context[huggingface,library,oidc,serve]"]
    carried = {"anyio": "mcp", "mcp_types": "mcp", "google": "grpcio-reflection"}  # by what that one needs
    providers = packages_distributions()
    for extra, modules in extras.MODULES.items():
        named = {normal(re.split(r"[\[>]", line)[0]) for line in declared[extra]}
        for module in modules:
            top = module.partition(".")[0]
            packages = {carried[top]} if top in carried else set(map(normal, providers[top]))
            assert packages & named, f"nothing in [{extra}] installs {module}"


def normal(name: str) -> str:
    return name.lower().replace("_", "-")


def test_no_extra_is_needed_by_the_core() -> None:
    """No module of an extra is imported by a file that a core command loads."""
    code = WITHOUT_EXTRAS.replace(
        "from satchel.serving.cli import main",
        "import pkgutil, importlib, satchel\n"
        "skip = ('satchel.serving', 'satchel.storage.postgres_')\n"
        "for info in pkgutil.walk_packages(satchel.__path__, 'satchel.'):\n"
        "    if not info.name.startswith(skip) and info.name != 'satchel.__main__':\n"
        "        importlib.import_module(info.name)\n"
        "sys.exit(0)",
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
