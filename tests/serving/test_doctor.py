"""The doctor looks, says what to do, and changes nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import filelock
import pytest
from builders import SHOP, make_tree

from satchel.engine import Engine
from satchel.errors import ProjectNotFound
from satchel.rendering.style import Style
from satchel.serving.cli import main
from satchel.serving.clients import InstallScope
from satchel.serving.installing import instructions, launch
from satchel.serving.installing.doctor_checks import CheckLevel, DoctorCheck
from satchel.serving.verbs import doctor, install
from satchel.serving.verbs.doctor import DoctorRequest
from satchel.serving.verbs.install import InstallRequest


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project in a home of its own, where no client is installed."""
    root: Path = make_tree(tmp_path / "home" / "shop", SHOP)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "SATCHEL_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(launch, "find_program", lambda name, where: name if Path(name).is_file() else None)
    monkeypatch.chdir(root)
    return root


def checks(topic: str) -> list[DoctorCheck]:
    return [check for check in doctor.run(DoctorRequest()).checks if check.topic == topic]


def levels(topic: str) -> list[CheckLevel]:
    return [check.level for check in checks(topic)]


def tree() -> dict[str, bytes | None]:
    """All files and folders; SQLite's own notes beside an index come and go with every reader."""
    paths = [path for path in Path.home().rglob("*") if not path.name.endswith(("-shm", "-wal"))]
    return {path.as_posix(): path.read_bytes() if path.is_file() else None for path in paths}


def test_nothing_is_written_and_no_index_is_made() -> None:
    before = tree()
    assert doctor.run(DoctorRequest()).ok
    assert tree() == before and not Path("_ctx").exists()


def test_nothing_is_written_beside_an_index() -> None:
    with Engine.open(".") as engine:
        engine.refresh()
    install.run(InstallRequest(clients=("codex",)))
    before = tree()
    doctor.run(DoctorRequest())
    assert tree() == before


def test_python_satchel_git_and_model_are_named() -> None:
    found = {check.topic: check for check in doctor.run(DoctorRequest()).checks}
    assert all(found[topic].detail for topic in ("python", "satchel", "git", "model", "folder"))
    assert found["path"].level is CheckLevel.WARN and "PATH" in found["path"].next


def test_the_index_is_missing_then_fresh_then_stale() -> None:
    assert levels("index") == [CheckLevel.WARN]
    with Engine.open(".") as engine:
        engine.refresh()
    assert levels("index") == [CheckLevel.OK]
    Path("new.py").write_text("x = 1\n")
    (stale,) = checks("index")
    assert stale.level is CheckLevel.WARN and "filesystem_changed" in stale.detail


def test_a_broken_index_is_a_problem() -> None:
    Path("_ctx").mkdir()
    Path("_ctx/context.db").write_bytes(b"not a database" * 500)
    response = doctor.run(DoctorRequest())
    assert not response.ok
    assert "→ satchel index" in doctor.show(response, Style())


def test_settings_of_ours_that_cannot_be_read_are_a_problem() -> None:
    Path("satchel.toml").write_text("ignore = ")
    assert levels("index") == [CheckLevel.PROBLEM]


@pytest.mark.skipif(os.geteuid() == 0, reason="everything can be written by root")
def test_a_folder_that_cannot_be_written_is_a_problem(shop: Path) -> None:
    shop.chmod(0o555)
    assert levels("folder") == [CheckLevel.PROBLEM]


def test_another_process_that_indexes_is_noticed() -> None:
    with Engine.open(".") as engine:
        engine.refresh()
    assert levels("lock") == []
    with filelock.FileLock("_ctx/context.lock"):
        assert levels("lock") == [CheckLevel.WARN]


def test_a_client_is_not_there_then_found_then_linked() -> None:
    assert levels("codex") == [CheckLevel.OK]
    Path.home().joinpath(".codex").mkdir()
    (found,) = checks("codex")
    assert found.level is CheckLevel.WARN and found.next == "satchel install --client codex"
    install.run(InstallRequest(clients=("codex",)))
    assert levels("codex") == [CheckLevel.OK, CheckLevel.OK]


def test_both_scopes_are_told() -> None:
    for scope in InstallScope:
        install.run(InstallRequest(clients=("gemini",), scope=scope))
    told = " ".join(check.detail for check in checks("gemini"))
    assert "(user)" in told and "(project)" in told


def test_a_link_to_a_program_that_is_gone_is_a_problem() -> None:
    install.run(InstallRequest(clients=("opencode",), no_instructions=True))
    path = Path.home() / ".config/opencode/opencode.json"
    values = json.loads(path.read_text())
    values["mcp"]["satchel"]["command"][0] = "/gone/satchel"
    path.write_text(json.dumps(values))
    (link, instructions) = checks("opencode")
    assert link.level is CheckLevel.PROBLEM and "/gone/satchel" in link.detail
    assert link.next == "satchel install --client opencode --scope user"
    assert instructions.level is CheckLevel.WARN and "no instructions" in instructions.detail


def test_old_instructions_are_a_warning() -> None:
    install.run(InstallRequest(clients=("codex",)))
    path = Path.home() / ".codex/AGENTS.md"
    path.write_text(f"{instructions.BEGIN}\nold\n{instructions.END}\n")
    assert levels("codex") == [CheckLevel.OK, CheckLevel.WARN]


def test_settings_of_a_client_that_cannot_be_read_are_a_problem() -> None:
    path = Path.home() / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text("{\n,}")
    (problem,) = checks("cursor")
    assert problem.level is CheckLevel.PROBLEM and "mcp.json: line 2" in problem.detail


def test_a_folder_that_is_not_there_is_refused() -> None:
    with pytest.raises(ProjectNotFound):
        doctor.run(DoctorRequest(segment="nowhere"))


def test_only_a_problem_gives_another_exit_code(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["doctor", "--json"]) == 0
    answer = json.loads(capfdbinary.readouterr().out)
    assert answer["ok"] and {"topic", "level", "detail"} <= answer["checks"][0].keys()
    Path("satchel.toml").write_text("ignore = ")
    assert main(["doctor"]) == 1
    assert capfdbinary.readouterr().out.startswith(b"ok ")
