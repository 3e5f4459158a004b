"""`satchel hook`: it speaks on questions about the code, is silent otherwise, and never fails its client."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from builders import make_tree, run_cli
from jsonc import read_json
from test_local_server import environment, serving  # noqa: F401 (a fixture)

from satchel import Engine, tokenizers
from satchel.rendering.packs import PACK_FORMATS
from satchel.serving.clients import HookSettings, InstallScope
from satchel.serving.installing import json_settings, launch
from satchel.serving.installing.installer import is_own_hook
from satchel.serving.verbs import install, uninstall
from satchel.serving.verbs.install import InstallRequest

QUESTION = "where does SessionStore.delete_expired remove the expired sessions of a user?"
FILES = {
    "src/sessions.py": (
        "class SessionStore:\n"
        '    """Keeps the sessions of users until they expire."""\n\n'
        "    def delete_expired(self, user):\n"
        '        """Remove the expired sessions of a user."""\n'
        "        self.sessions = [one for one in self.sessions if not one.expired]\n"
    ),
    "src/cookies.py": "def sign_cookie(value, secret):\n    return value + secret\n",
    "src/mail.py": "def send_mail(to, text):\n    return to, text\n",
    "docs/guide.md": "# Guide\n\nHow mail is sent, and how cookies are signed.\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = make_tree(tmp_path / "shop", FILES)
    (root / ".git").mkdir()
    with Engine.open(root) as engine:
        engine.refresh()
    return root


def hook(
    sent: object, *words: str, folder: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    text = sent if isinstance(sent, str) else json.dumps(sent)
    done = run_cli("hook", *words, cwd=folder, environment=env, given=text.encode())
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_question_about_the_code_is_answered_with_true_citations(shop: Path, tmp_path: Path) -> None:
    sent = {
        "prompt": QUESTION,
        "cwd": str(shop / "src"),
        "hook_event_name": "UserPromptSubmit",
        "session_id": "1",
    }
    done = hook(sent, "--strict", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "src/sessions.py:" in done.stdout
    assert tokenizers.get("o200k").count(done.stdout) <= 2_000
    assert PACK_FORMATS.get("context").read(done.stdout) is not None
    (shop / "pack.md").write_text(done.stdout)
    verify = [sys.executable, "-m", "satchel", "verify", "pack.md"]
    assert subprocess.run(verify, cwd=shop, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    "prompt", ["thanks, commit that", "run the tests again", "write a haiku", "continue", "", "{"]
)
def test_other_prompts_are_met_with_silence(prompt: str, shop: Path) -> None:
    done = hook({"prompt": prompt, "cwd": str(shop)}, "--strict", folder=shop)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_plain_prompt_is_understood(shop: Path) -> None:
    assert "src/sessions.py" in hook(QUESTION, folder=shop).stdout


def test_a_client_that_takes_json_gets_json(shop: Path) -> None:
    done = hook({"prompt": QUESTION, "cwd": str(shop), "hook_event_name": "BeforeAgent"}, folder=shop)
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert "src/sessions.py" in output["additionalContext"]


def test_without_an_index_nothing_is_said_and_none_is_built(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "bare", FILES)
    done = hook({"prompt": QUESTION, "cwd": str(root)}, "--strict", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (root / "_ctx").exists()


def test_a_file_that_changed_since_is_not_cited(shop: Path) -> None:
    path = shop / "src" / "sessions.py"
    path.write_text("# one line more\n" + path.read_text())
    stale = hook({"prompt": QUESTION, "cwd": str(shop)}, "--strict", folder=shop)
    assert "src/sessions.py" not in stale.stdout
    built = hook({"prompt": QUESTION, "cwd": str(shop)}, "--strict", "--build", folder=shop)
    assert "src/sessions.py:" in built.stdout


@pytest.mark.parametrize("sent", ['{"prompt": 3}', '{"prompt": "x"', "x" * 1_100_000])
def test_whatever_goes_wrong_the_client_goes_on(sent: str, shop: Path) -> None:
    done = hook(sent, folder=shop)
    assert (done.returncode, done.stdout) == (0, "")
    assert "satchel hook:" in done.stderr
    assert hook(sent, "--strict", folder=shop).returncode == 1


def test_a_damaged_index_is_told_and_left_alone(shop: Path) -> None:
    database = shop / "_ctx" / "context.db"
    database.write_bytes(b"not a database" * 100)
    before = database.read_bytes()
    done = hook({"prompt": QUESTION, "cwd": str(shop)}, folder=shop)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr
    assert database.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="no such sockets there")
def test_a_running_server_answers(shop: Path, environment: dict[str, str]) -> None:  # noqa: F811
    alone = hook({"prompt": QUESTION, "cwd": str(shop)}, folder=shop)
    with serving(["watch"], shop, environment):
        asked = hook({"prompt": QUESTION, "cwd": str(shop)}, folder=shop, env=environment)
    assert asked.stdout == alone.stdout != ""


def test_recall_of_several_folders_answers_from_all(shop: Path, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "other", {"src/queue.py": "def enqueue(job):\n    return job\n"})
    words = ["recall", QUESTION, "--json", "-s", str(shop), "-s", str(other)]
    done = subprocess.run(
        [sys.executable, "-m", "satchel", *words], capture_output=True, text=True, timeout=60
    )
    assert "src/sessions.py:" in json.loads(done.stdout)["text"], done.stderr


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


BEFORE = (
    None,
    b"{}\n",
    b'{"hooks": {"Stop": []}, "model": "x"}',
    b'{\n  "hooks": {\n    "UserPromptSubmit": [\n      {\n        "hooks": [{"type": "command", "command": "date"}]\n'
    b"      }\n    ] // mine\n  }\n}\n",
    b'{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "date"}]},]}}\n',
)


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("scope", list(InstallScope))
def test_the_hook_is_installed_beside_others_and_removed_alone(
    before: bytes | None, scope: InstallScope, home: Path
) -> None:
    path = (
        {InstallScope.USER: home, InstallScope.PROJECT: home / "project"}[scope] / ".claude" / "settings.json"
    )
    if before is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(before)
    asked = InstallRequest(clients=("claude-code",), scope=scope, hooks=True)
    install.run(asked)
    hooks = read_json(path.read_bytes())["hooks"]["UserPromptSubmit"]
    assert is_own_hook(hooks[-1])
    others = (read_json(before) if before else {}).get("hooks", {}).get("UserPromptSubmit", [])
    assert hooks[:-1] == others
    once = path.read_bytes()
    install.run(asked)
    assert path.read_bytes() == once
    uninstall.run(InstallRequest(clients=("claude-code",), scope=scope))
    assert (path.read_bytes() if path.exists() else None) == before


def test_hooks_are_opt_in_and_a_command_beside_ours_stays(home: Path) -> None:
    install.run(InstallRequest(clients=("claude-code",)))
    path = home / ".claude" / "settings.json"
    assert not path.exists()
    mixed = {
        "hooks": [{"type": "command", "command": "satchel hook"}, {"type": "command", "command": "date"}]
    }
    path.write_text(json.dumps({"hooks": {"UserPromptSubmit": [mixed]}}))
    before = path.read_bytes()
    uninstall.run(InstallRequest(clients=("claude-code",)))
    assert path.read_bytes() == before


def test_the_first_of_several_hooks_is_removed_alone() -> None:
    data = b'{"hooks": [{"hooks": [{"command": "satchel hook"}]}, {"hooks": [{"command": "date"}]}]}'
    left = json_settings.remove_element(data, ("hooks",), is_own_hook, json_settings.EditTrace())
    assert left == b'{"hooks": [{"hooks": [{"command": "date"}]}]}'


def test_every_client_with_hooks_names_a_list() -> None:
    hooks = [client.hooks for client in launch.all_clients() if client.hooks is not None]
    assert hooks
    assert all(isinstance(item, HookSettings) and item.keys for item in hooks)
