"""The manifests in the repository are those of this version, and the clients' own tools accept them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from satchel import __version__
from satchel.serving.plugin_manifests import DESCRIPTION, PLUGIN, manifest_files, registry_entry

ROOT = Path(__file__).parent.parent.parent


def test_the_manifests_are_those_of_this_version(update_golden: bool) -> None:
    if update_golden:
        for path, text in manifest_files().items():
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text)
    assert {path: (ROOT / path).read_text() for path in manifest_files()} == manifest_files()


def versions(value: Any) -> list[str]:
    """Every version in a manifest, however deep."""
    if isinstance(value, list):
        return [found for part in value for found in versions(part)]
    if not isinstance(value, dict):
        return []
    below = [found for part in value.values() for found in versions(part)]
    return [*below, *([value["version"]] if "version" in value else [])]


def test_every_version_is_the_one_of_the_package() -> None:
    found = [
        number
        for path in manifest_files()
        if path.endswith(".json")
        for number in versions(json.loads((ROOT / path).read_text()))
    ]
    assert len(found) == 10 and set(found) == {__version__}


def test_the_paths_that_manifests_name_are_there() -> None:
    for market in (".claude-plugin", ".cursor-plugin"):
        (plugin,) = json.loads((ROOT / market / "marketplace.json").read_text())["plugins"]
        assert (ROOT / plugin["source"] / market / "plugin.json").is_file()
    codex = json.loads((ROOT / PLUGIN / ".codex-plugin/plugin.json").read_text())
    assert (ROOT / PLUGIN / codex["mcpServers"]).is_file() and (ROOT / PLUGIN / codex["skills"]).is_dir()
    extension = json.loads((ROOT / "gemini-extension.json").read_text())
    assert (ROOT / extension["contextFileName"]).is_file()


def test_the_registry_entry_keeps_what_the_registry_demands() -> None:
    entry = registry_entry()
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"]) and len(DESCRIPTION) <= 100
    (package,) = entry["packages"]
    assert {"registryType", "identifier", "version", "transport"} <= package.keys()
    assert all(argument["type"] in ("named", "positional") for argument in package["packageArguments"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"])


def own_tool(name: str, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
    """The result of a client's own program, with a home of its own and nothing to ask."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    variables = {
        **os.environ,
        "HOME": str(home),
        "CODEX_HOME": str(home),
        "DISABLE_AUTOUPDATER": "1",
        "CI": "1",
    }
    command = [program, *words]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("path", [".", PLUGIN])
def test_claude_code_accepts_the_plug_in(path: str, tmp_path: Path) -> None:
    result = own_tool("claude", "plugin", "validate", str(ROOT / path), home=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "warning" not in (result.stdout + result.stderr).lower()


def test_codex_accepts_the_list_of_plug_ins(tmp_path: Path) -> None:
    added = own_tool("codex", "plugin", "marketplace", "add", str(ROOT), home=tmp_path)
    assert added.returncode == 0, added.stdout + added.stderr
    installed = own_tool("codex", "plugin", "add", "satchel@satchel", home=tmp_path)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    listed = own_tool("codex", "plugin", "list", home=tmp_path)
    assert "satchel" in listed.stdout


def test_gemini_accepts_the_extension(tmp_path: Path) -> None:
    result = own_tool("gemini", "extensions", "validate", str(ROOT), home=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
