"""A token in the name of a file or folder is shown by nothing that lists paths."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from builders import SHOP, git, git_repo, run_cli
from test_pack_secrets import PLANTED, leaks

FORMATS = ("context", "markdown", "xml", "terminal", "json", "sections")
CODE = "def basket_total(items):\n    return sum(items)\n"


def named(root: Path) -> dict[str, Path]:
    """Paths with a token in a name, each of another kind."""
    unusual = {
        "control": root / f"a\n{PLANTED['sendgrid']}.py",
        "link": root / PLANTED["jwt"],
    }
    return {
        "file": root / "src" / f"{PLANTED['github']}.py",
        "folder": root / PLANTED["gitlab"] / "basket.py",
        "middle": root / "src" / f"basket_{PLANTED['aws']}_notes.md",
        "hidden": root / f".{PLANTED['npm']}",
        "ignored": root / f"{PLANTED['stripe']}.log",
        "key": root / f"{PLANTED['huggingface']}.pem",
        "binary": root / f"{PLANTED['slack']}.png",
        "large": root / f"{PLANTED['google']}.txt",
        **(unusual if os.name == "posix" else {}),
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose last state adds, renames, stages and removes files with tokens in their names."""
    made = git_repo(tmp_path_factory.mktemp("names"), {**SHOP, ".gitignore": "*.log\n"})
    paths = named(made)
    for kind, path in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            path.symlink_to(made / "src")
        else:
            path.write_text("x" * 3_000_000 if kind == "large" else CODE)
    removed = made / f"gone_{PLANTED['openai']}.py"
    removed.write_text(CODE + "# removed\n" * 9)
    moved = made / f"moved_{PLANTED['anthropic']}.py"
    moved.write_text(CODE + "# moved\n" * 9)
    git(made, "add", "-A")
    git(made, "commit", "-q", "-m", "basket: all of them")
    removed.unlink()
    moved.rename(made / "moved.py")
    paths["file"].write_text(CODE + "\n\ndef basket_again():\n    pass\n")
    git(made, "add", "-A")
    (made / f"new_{PLANTED['github']}.py").write_text(CODE)
    return made


SURFACES = [
    ("index",),
    ("search", "basket total"),
    ("search", "basket total", "--json"),
    *(("pack", "basket total", "--format", format) for format in FORMATS),
    ("pack", "--diff", "HEAD"),
    ("pack", "--diff", "HEAD~1..HEAD", "--format", "json"),
    ("pack", "--staged"),
    ("map",),
    ("symbols", "basket_total"),
    ("refs", "basket_total"),
    ("status", "--skipped"),
    ("status", "--skipped", "--json"),
    ("build",),
]


@pytest.mark.parametrize("arguments", SURFACES, ids=" ".join)
def test_no_token_in_a_name_is_shown(root: Path, arguments: tuple[str, ...]) -> None:
    done = run_cli(*arguments, "--segment", root)
    shown = (done.stdout + done.stderr).decode()
    assert leaks(shown) == [] and shown
    assert done.returncode == 0, shown
    if "--diff" in arguments or "--staged" in arguments:
        assert "«redacted:" in shown
    for output in (root / "_ctx").rglob("*.json") if (root / "_ctx").is_dir() else ():
        assert leaks(output.read_text()) == []


def test_status_says_what_was_left_out_for_a_token_in_its_name(root: Path) -> None:
    assert run_cli("index", "--segment", root).returncode == 0
    said = json.loads(run_cli("status", "--skipped", "--json", "--segment", root).stdout)
    left_out = {item["path"]: item["detail"] for item in said.get("data", said)["skipped"]}
    assert left_out["src/«redacted:github-token».py"] == "token-in-name"
    assert left_out["«redacted:gitlab-token»"].startswith("token-in-name")
    assert left_out["src/basket_«redacted:aws-key»_notes.md"] == "token-in-name"
    assert "moved.py" not in left_out


def test_the_pack_of_a_change_with_such_names_is_verified_without_them(root: Path, tmp_path: Path) -> None:
    pack = tmp_path / "pack.json"
    made = run_cli("pack", "--diff", "HEAD", "--format", "json", "--segment", root)
    pack.write_bytes(made.stdout)
    done = run_cli("verify", pack, "--segment", root)
    assert done.returncode == 0 and leaks((made.stdout + done.stdout + done.stderr).decode()) == []
    assert b"moved.py" in made.stdout
