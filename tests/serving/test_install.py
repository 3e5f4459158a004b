"""Installed into every client's own files, read by a real parser, and gone to the byte."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml  # type: ignore[import-untyped]
from jsonc import read_json

from satchel.errors import ConfigError, InvalidRequest, PathNotAllowed, ProjectNotFound, Unsupported
from satchel.rendering.style import Style
from satchel.serving.cli import main
from satchel.serving.clients import Client, InstallScope, Machine, Registration, SettingsFormat
from satchel.serving.installing import instructions, launch
from satchel.serving.installing.installer import Installer, Outcome
from satchel.serving.verbs import install, uninstall
from satchel.serving.verbs.install import InstallRequest, InstallResponse

VARIABLES = (
    "XDG_CONFIG_HOME",
    "APPDATA",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "GEMINI_CLI_HOME",
    "SATCHEL_HOME",
)
PLACES = [
    (client, scope) for client in launch.all_clients() for scope in InstallScope if client.registration(scope)
]
IDS = [f"{client.label}-{scope}" for client, scope in PLACES]
EVERY = pytest.mark.parametrize(("client", "scope"), PLACES, ids=IDS)
Before = Callable[[Registration], bytes | None]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own with one project in it, and no client anywhere on PATH."""
    root = tmp_path / "home" / "work" / "shop"
    root.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(root)
    return root


def put(*clients: str, **options: Any) -> InstallResponse:
    return install.run(InstallRequest(clients=clients, **options))


def take(*clients: str, **options: Any) -> InstallResponse:
    return uninstall.run(InstallRequest(clients=clients, **options))


def tree() -> dict[str, Any]:
    """Every file and folder of the home, with content and rights."""
    home = Path.home()
    return {
        path.relative_to(home).as_posix(): (
            path.read_bytes() if path.is_file() else None,
            stat.S_IMODE(path.lstat().st_mode) if path.is_file() else None,
        )
        for path in home.rglob("*")
    }


def settings_of(client: Client, scope: InstallScope) -> tuple[Registration, Path]:
    registration = client.registration(scope)
    assert registration is not None
    return registration, registration.settings.path(launch.current_machine("."), Path.exists)


def entry_in(registration: Registration, path: Path) -> Any:
    """Our entry as the client's own kind of parser reads it."""
    data = path.read_bytes()
    match registration.format:
        case SettingsFormat.TOML:
            values = tomllib.loads(data.decode("utf-8-sig"))
        case SettingsFormat.YAML:
            values = yaml.safe_load(data)
        case SettingsFormat.JSON:
            values = read_json(data)
    for key in registration.keys:
        values = values[key]
    return values["satchel"]


def nested(registration: Registration, servers: dict[str, Any]) -> dict[str, Any]:
    (key,) = registration.keys
    return {"theme": "dark", key: servers}


def others(registration: Registration) -> bytes:
    if registration.format is SettingsFormat.TOML:
        return b'model = "x"\n\n[mcp_servers.other]\ncommand = "other"\n'
    if registration.format is SettingsFormat.YAML:
        return b"extensions:\n  other:\n    cmd: other\nGOOSE_MODEL: x\n"
    return json.dumps(nested(registration, {"other": {"command": "other"}}), indent=4).encode() + b"\n"


def commented(registration: Registration) -> bytes:
    if registration.format is SettingsFormat.TOML:
        return b'# top\nmodel = "x" # keep\n\n# end'
    if registration.format is SettingsFormat.YAML:
        return b"# top\nGOOSE_MODEL: x # keep\nextensions: # none yet\n"
    return b'// top\n{\n\t"theme": "dark", // keep\n\t/* servers\n\t   come here */\n}\n'


STATES: dict[str, Before] = {
    "absent": lambda registration: None,
    "empty": lambda registration: b"",
    "bare": lambda registration: b"{}" if registration.format is SettingsFormat.JSON else b"# nothing\n",
    "commented": commented,
    "others": others,
    "windows": lambda registration: b"\xef\xbb\xbf" + others(registration).replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("state", STATES)
@EVERY
def test_what_is_written_is_read_and_taken_back_to_the_byte(
    client: Client, scope: InstallScope, state: str
) -> None:
    registration, path = settings_of(client, scope)
    before = STATES[state](registration)
    if before is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before)
    clean = tree()
    put(client.label, scope=scope)
    command = launch.server_command(registration, scope, launch.current_machine("."), ".")
    assert entry_in(registration, path) == client.entry(command)
    installed = tree()
    again = put(client.label, scope=scope)
    assert {done.outcome for done in again.changes} == {Outcome.ALREADY} and tree() == installed
    take(client.label, scope=scope)
    assert tree() == clean


@EVERY
def test_comments_survive(client: Client, scope: InstallScope) -> None:
    registration, path = settings_of(client, scope)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(commented(registration))
    put(client.label, scope=scope)
    assert all(word in path.read_bytes() for word in (b"top", b" keep\n"))


@EVERY
def test_an_entry_that_differs_is_updated_in_place(client: Client, scope: InstallScope) -> None:
    _, path = settings_of(client, scope)
    put(client.label, scope=scope)
    right = path.read_bytes()
    path.write_bytes(right.replace(b'"serve"', b'"old"'))
    assert put(client.label, scope=scope).changes[0].outcome is Outcome.UPDATED
    assert path.read_bytes() == right
    take(client.label, scope=scope)
    assert not path.exists()


def test_every_client_at_once_and_nothing_is_left(project: Path) -> None:
    clean = tree()
    for scope in InstallScope:
        install.run(InstallRequest(all=True, scope=scope))
    for scope in InstallScope:
        uninstall.run(InstallRequest(scope=scope))
    assert tree() == clean


def test_one_after_the_other_goes_and_nothing_is_left() -> None:
    clean = tree()
    install.run(InstallRequest(all=True))
    for client in launch.all_clients():
        take(client.label)
    assert tree() == clean


def test_edits_of_the_user_stay(project: Path) -> None:
    put("gemini", scope=InstallScope.PROJECT)
    path = project / ".gemini/settings.json"
    path.write_text(path.read_text().replace("{\n", '{\n  // mine\n  "theme": "dark",\n', 1))
    take("gemini", scope=InstallScope.PROJECT)
    assert path.read_text() == '{\n  // mine\n  "theme": "dark"\n}\n'
    assert not (project / "GEMINI.md").exists()


def test_a_dry_run_shows_a_diff_and_writes_nothing() -> None:
    clean = tree()
    response = put("codex", dry_run=True)
    assert tree() == clean
    assert "+[mcp_servers.satchel]" in response.diffs[0] and instructions.BEGIN in response.diffs[1]
    assert "nothing was written" in install.show(response, Style())


def test_a_diff_shows_no_secret() -> None:
    path = Path.home() / ".cursor/mcp.json"
    path.parent.mkdir()
    key = "AKIA" + "Q3EGRZPLM2WXT5VA"
    path.write_text(f'{{\n  "mcpServers": {{\n    "a": {{"env": {{"KEY": "{key}"}}}}\n  }}\n}}\n')
    (diff, _) = put("cursor", dry_run=True).diffs
    assert key not in diff and "satchel" in diff


def test_settings_that_cannot_be_read_are_named_and_nothing_is_written() -> None:
    path = Path.home() / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text('{\n  "a": 1\n  "b": 2\n}')
    clean = tree()
    with pytest.raises(ConfigError, match=r"settings\.json: line 3") as caught:
        put("codex", "gemini")
    assert caught.value.details == {"path": str(path)} and tree() == clean


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    real, path = tmp_path / "dotfiles.json", Path.home() / ".cursor/mcp.json"
    path.parent.mkdir()
    real.write_text("{}")
    path.symlink_to(real)
    put("cursor")
    assert path.is_symlink() and "satchel" in real.read_text()
    take("cursor")
    assert path.is_symlink() and real.read_text() == "{}"


def test_a_link_of_a_project_leads_nowhere_else(project: Path) -> None:
    target = Path.home() / "profile"
    target.write_text("mine")
    (project / "AGENTS.md").symlink_to(target)
    with pytest.raises(PathNotAllowed, match="AGENTS"):
        put("codex", scope=InstallScope.PROJECT)
    assert target.read_text() == "mine" and os.listdir(project) == ["AGENTS.md"]


def test_who_may_read_a_file_stays() -> None:
    path = Path.home() / ".claude.json"
    path.write_text("{}")
    path.chmod(0o600)
    put("claude-code")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_changes_meanwhile_is_not_overwritten() -> None:
    path = Path.home() / ".claude.json"
    path.write_text("{}")
    installer = Installer(launch.current_machine("."), InstallScope.USER)
    list(installer.install(launch.find_client("claude-code"), ["satchel"]))
    path.write_text('{"new": 1}')
    with pytest.raises(ConfigError, match="meanwhile"):
        installer.write()
    assert path.read_text() == '{"new": 1}'


def test_one_file_that_cannot_be_written_leaves_all_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    clean, replace = tree(), os.replace

    def refuse(source: str, target: str) -> None:
        if os.fspath(target).endswith("AGENTS.md"):
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(ConfigError, match="cannot be written"):
        put("cursor", "codex")
    assert tree() == clean


def test_only_the_clients_of_this_machine_are_taken() -> None:
    (Path.home() / ".codex").mkdir()
    response = install.run(InstallRequest())
    assert {done.client for done in response.changes} == {"codex"}


def test_a_client_is_found_by_its_program(tmp_path: Path) -> None:
    program = tmp_path / "programs" / "zed"
    program.parent.mkdir()
    program.touch(mode=0o755)
    assert {done.client for done in install.run(InstallRequest()).changes} == {"zed"}


def test_no_client_at_all_is_an_error_that_lists_them() -> None:
    with pytest.raises(InvalidRequest) as caught:
        install.run(InstallRequest())
    assert all(client.label in caught.value.hint for client in launch.all_clients())


def test_bad_requests_are_refused() -> None:
    with pytest.raises(Unsupported, match="nope"):
        put("nope")
    with pytest.raises(InvalidRequest, match="knows no projects"):
        put("claude-desktop", scope=InstallScope.PROJECT)
    with pytest.raises(InvalidRequest, match="together"):
        put("codex", all=True)
    with pytest.raises(ProjectNotFound):
        put("codex", segment="nowhere")


def test_without_instructions_only_the_server_is_written() -> None:
    assert [done.part.value for done in put("codex", no_instructions=True).changes] == ["server"]


def test_a_project_file_can_be_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    program = tmp_path / "programs" / "satchel"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(program.parent / "python"))
    put("claude-code", scope=InstallScope.PROJECT)
    entry = read_json((project / ".mcp.json").read_bytes())["mcpServers"]["satchel"]
    assert entry == {"type": "stdio", "command": "satchel", "args": ["serve", "mcp", "--segment", "."]}


def test_the_program_of_this_environment_is_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Path(launch.executable()[0]).is_file()
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    assert launch.executable() == [str(tmp_path / "python"), "-m", "satchel"]


def test_a_user_server_follows_the_project_unless_a_folder_is_named(project: Path) -> None:
    put("codex", "claude-desktop")
    codex = tomllib.loads((Path.home() / ".codex/config.toml").read_text())["mcp_servers"]["satchel"]
    assert codex["args"] == ["serve", "mcp"]
    desktop = read_json((Path.home() / ".config/Claude/claude_desktop_config.json").read_bytes())
    assert desktop["mcpServers"]["satchel"]["args"][-2:] == ["--segment", str(project)]
    put("codex", segment="..")
    codex = tomllib.loads((Path.home() / ".codex/config.toml").read_text())["mcp_servers"]["satchel"]
    assert codex["args"][-1] == str(project.parent)


def test_instructions_that_another_client_reads_stay(project: Path) -> None:
    put("codex", "zed", scope=InstallScope.PROJECT)
    kept = take("codex", scope=InstallScope.PROJECT).changes[1]
    assert kept.outcome is Outcome.KEPT and "zed" in kept.note and (project / "AGENTS.md").exists()
    take("zed", scope=InstallScope.PROJECT)
    assert not (project / "AGENTS.md").exists()


def test_instructions_hide_no_file_that_the_client_reads(project: Path) -> None:
    (project / "CLAUDE.md").write_text("# House rules")
    put("zed", scope=InstallScope.PROJECT)
    assert instructions.BEGIN in (project / "CLAUDE.md").read_text() and not (project / "AGENTS.md").exists()
    take("zed", scope=InstallScope.PROJECT)
    assert (project / "CLAUDE.md").read_text() == "# House rules"


def test_the_settings_that_are_there_are_taken(project: Path) -> None:
    (project / "opencode.jsonc").write_text("{} // mine\n")
    put("opencode", scope=InstallScope.PROJECT)
    assert not (project / "opencode.json").exists() and "// mine" in (project / "opencode.jsonc").read_text()


def test_a_lost_receipt_takes_out_the_entry_alone(project: Path) -> None:
    put("claude-code", scope=InstallScope.PROJECT)
    (Path.home() / ".config/satchel/installed.json").write_text("broken")
    take("claude-code", scope=InstallScope.PROJECT)
    assert read_json((project / ".mcp.json").read_bytes()) == {"mcpServers": {}}
    assert not (project / ".claude/skills/satchel/SKILL.md").exists()


def test_a_receipt_holds_nothing_of_the_user() -> None:
    path = Path.home() / ".claude.json"
    path.write_text('{"token": "s3cr3t"}')
    put("claude-code")
    assert "s3cr3t" not in (Path.home() / ".config/satchel/installed.json").read_text()


def test_uninstalling_what_is_not_there_says_so() -> None:
    response = uninstall.run(InstallRequest())
    assert not response.changes and "nothing" in response.notes[0]


def at(platform: str, **environment: str) -> Machine:
    return Machine(Path("/h"), Path("/p"), environment, platform)


def user_file(name: str, machine: Machine) -> str:
    registration = launch.find_client(name).user
    assert registration is not None
    return next(reversed(list(registration.settings.paths(machine)))).as_posix()


@pytest.mark.parametrize(
    ("name", "linux", "macos", "windows"),
    [
        ("claude-code", "/h/.claude.json", "/h/.claude.json", "/h/.claude.json"),
        ("codex", "/h/.codex/config.toml", "/h/.codex/config.toml", "/h/.codex/config.toml"),
        ("cursor", "/h/.cursor/mcp.json", "/h/.cursor/mcp.json", "/h/.cursor/mcp.json"),
        ("gemini", "/h/.gemini/settings.json", "/h/.gemini/settings.json", "/h/.gemini/settings.json"),
        (
            "vscode",
            "/x/Code/User/mcp.json",
            "/h/Library/Application Support/Code/User/mcp.json",
            "/a/Code/User/mcp.json",
        ),
        ("zed", "/x/zed/settings.json", "/h/.config/zed/settings.json", "/a/Zed/settings.json"),
        ("opencode", "/x/opencode/opencode.json", "/x/opencode/opencode.json", "/x/opencode/opencode.json"),
        (
            "claude-desktop",
            "/x/Claude/claude_desktop_config.json",
            "/h/Library/Application Support/Claude/claude_desktop_config.json",
            "/a/Claude/claude_desktop_config.json",
        ),
    ],
)
def test_each_system_has_its_folders(name: str, linux: str, macos: str, windows: str) -> None:
    found = [
        user_file(name, at(platform, XDG_CONFIG_HOME="/x", APPDATA="/a"))
        for platform in ("linux", "darwin", "win32")
    ]
    assert found == [linux, macos, windows]


def test_a_client_that_was_moved_is_followed() -> None:
    moved = at("linux", CODEX_HOME="/c", CLAUDE_CONFIG_DIR="/d", GEMINI_CLI_HOME="/g")
    assert user_file("codex", moved) == "/c/config.toml"
    assert user_file("claude-code", moved) == "/d/.claude.json"
    assert user_file("gemini", moved) == "/g/.gemini/settings.json"


def test_the_instructions_are_short_and_teach_the_four_steps() -> None:
    lines = instructions.BLOCK.splitlines()
    assert 15 <= len(lines) <= 25 and max(map(len, lines)) <= 110
    assert all(
        word in instructions.BLOCK
        for word in ("**search**", "**pack**", "**cite**", "**get**", "grep", "verify")
    )


def test_the_command_line_installs_and_answers_in_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["install", "--client", "codex", "--scope", "project", "--json"]) == 0
    answer = msgspec.json.decode(capfdbinary.readouterr().out, type=InstallResponse)
    assert [Path(done.path).name for done in answer.changes] == ["config.toml", "AGENTS.md"]
    assert main(["uninstall", "--client", "codex", "--scope", "project"]) == 0
    assert b"removed" in capfdbinary.readouterr().out
    assert os.listdir() == []


def test_the_page_about_clients_names_every_file() -> None:
    page = (Path(__file__).parents[2] / "docs" / "clients.md").read_text()
    where = Machine(Path("~"), Path("."), {}, "linux")
    for client, scope in PLACES:
        registration = client.registration(scope)
        assert registration is not None and f"`{registration.keys[0]}`" in page
        places = [
            registration.settings,
            *([registration.instructions.file] if registration.instructions else []),
        ]
        assert all(f"`{(place.folder.on(where) / place.new).as_posix()}`" in page for place in places)
