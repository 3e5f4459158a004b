"""The command line itself: exit codes, errors, pipes, locales, terminals, and a clean tree."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import SHOP, clean_environment, git, git_repo, make_tree, run_cli

from satchel import plugins
from satchel.serving import cli

SATCHEL = [sys.executable, "-m", "satchel"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_tree(tmp_path_factory.mktemp("work") / "shop", SHOP)
    assert run_cli("index", "--segment", root).returncode == 0
    return root


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("search", ""), 2, "invalid_query"),
        (("search", "x", "-k", "0"), 2, "invalid_request"),
        (("search", "x", "-k", "1001"), 2, "invalid_request"),
        (("search", "x", "--segment", "nowhere"), 3, "project_not_found"),
        (("get", "--ids", ","), 2, "invalid_request"),
        (("get", "README.md:1:1", "--mode", "loud"), 2, "invalid_request"),
        (("get", "README.md:1:1", "--budget", "0"), 2, "invalid_budget"),
        (("get", "README.md:1:1", "--tokenizer", "none"), 2, "unsupported"),
        (("map", "--budget-tokens", "0"), 2, "invalid_budget"),
        (("map", "--budget-tokens", "-5"), 2, "invalid_budget"),
        (("symbols", "Basket", "--limit", "0"), 2, "invalid_request"),
        (("refs", "zzz_nothing"), 3, "symbol_not_found"),
        (("refs", "Basket", "--label", "loves"), 2, "invalid_request"),
        (("validate", "--output", "nowhere.json"), 3, "file_not_found"),
        (("build", "--scope", "most"), 2, "invalid_request"),
    ],
)
def test_an_error_has_its_exit_code_and_its_envelope(
    shop: Path, arguments: tuple[str, ...], code: int, error: str
) -> None:
    as_json = run_cli(*arguments, "--json", cwd=shop)
    envelope = json.loads(as_json.stdout)
    assert (as_json.returncode, envelope["status"], envelope["error"]["code"]) == (code, "error", error)
    assert set(envelope["error"]) == {"code", "message", "details", "hint", "next_actions"}
    as_text = run_cli(*arguments, cwd=shop)
    assert as_text.returncode == code and as_text.stdout == b""
    assert as_text.stderr.startswith(b"satchel: ") and b"Traceback" not in as_text.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("search",),
        ("search", "x", "--no-such-flag"),
        ("search", "x", "-k", "many"),
        ("no-such-command",),
        ("--bad",),
    ],
)
def test_bad_flags_exit_with_two_and_say_why(arguments: tuple[str, ...]) -> None:
    done = run_cli(*arguments)
    assert done.returncode == 2 and done.stdout == b"" and b"Traceback" not in done.stderr and done.stderr


@pytest.mark.parametrize(
    "arguments", [("search", "x", "--no-such-flag"), ("search", "x", "-k", "many"), ("search",)]
)
def test_bad_flags_with_json_give_the_envelope_too(arguments: tuple[str, ...]) -> None:
    done = run_cli(*arguments, "--json")
    assert done.returncode == 2 and json.loads(done.stdout)["error"]["code"] == "invalid_request"


def test_an_unknown_command_names_the_known_ones() -> None:
    assert b"search" in run_cli("serach", "x").stderr


def test_without_arguments_the_help_is_shown() -> None:
    done = run_cli()
    assert done.returncode == 0 and b"usage: satchel" in done.stdout and b"search" in done.stdout


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_printed(flag: str) -> None:
    from satchel import __version__

    assert run_cli(flag).stdout.decode() == f"satchel {__version__}\n"


def test_flags_may_stand_before_the_query(shop: Path) -> None:
    done = run_cli("search", "--path-prefix", "src", "-k", "1", "basket", "--json", cwd=shop)
    assert json.loads(done.stdout)["hits"][0]["path"] == "src/basket.py"


def test_repeatable_flags_may_stand_before_the_query(shop: Path) -> None:
    done = run_cli("search", "--tag", "python", "basket", "--json", cwd=shop)
    assert done.returncode == 0 and json.loads(done.stdout)["query"] == "basket"


def test_repeatable_flags_repeat(shop: Path) -> None:
    done = run_cli("search", "basket", "--tag", "python", "--tag", "test", "--json", cwd=shop)
    assert {hit["path"] for hit in json.loads(done.stdout)["hits"]} == {"tests/test_basket.py"}


def test_a_query_that_looks_like_a_flag_can_be_given_after_a_dash(shop: Path) -> None:
    done = run_cli("search", "--json", "--", "--basket", cwd=shop)
    assert json.loads(done.stdout)["query"] == "--basket"


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {f"n{n}.md": f"# Basket {n}\n\n" + "basket\n" * 50 for n in range(300)})
    run_cli("index", "--segment", root)
    command = " ".join([*SATCHEL, "search", "basket", "-k", "1000", "--segment", str(root), "| head -1"])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        env=clean_environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == b"" and done.stdout.count(b"\n") == 1


def test_a_pipe_closed_at_once_ends_quietly(shop: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*SATCHEL, "search", "basket", "--segment", str(shop)],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=clean_environment(),
        check=False,
    )
    os.close(writing)
    assert done.stderr == b"" and done.returncode == 0


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_the_locale_changes_no_byte(tmp_path: Path, locale: dict[str, str], flags: tuple[str, ...]) -> None:
    root = make_tree(tmp_path, {"é/naïve.md": "# Grüße → 購物\n\nbasket “quoted” …\n"})
    expected = run_cli("search", "basket", *flags, cwd=root)
    done = run_cli("search", "basket", *flags, cwd=root, environment=locale)
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected.stdout and "Grüße → 購物".encode() in done.stdout


def test_an_error_in_a_poor_locale_is_still_an_error(tmp_path: Path) -> None:
    done = run_cli(
        "search", "x", "--segment", tmp_path / "grün", environment={"LC_ALL": "C", "PYTHONUTF8": "0"}
    )
    assert done.returncode == 3 and b"Traceback" not in done.stderr


def test_a_query_in_odd_bytes_is_answered(shop: Path) -> None:
    done = subprocess.run(
        [
            *map(os.fsencode, SATCHEL),
            b"search",
            b"basket \xff\xfe",
            b"--segment",
            os.fsencode(shop),
            b"--json",
        ],
        env=clean_environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hits"]


def on_a_terminal(arguments: list[str], environment: dict[str, str], *, screen: str) -> tuple[bytes, bytes]:
    """Run with one stream on a real pseudo-terminal; what came there, and what came by pipe."""
    ours, theirs = pty.openpty()
    streams = {screen: theirs, "stdout" if screen == "stderr" else "stderr": subprocess.PIPE}
    process = subprocess.Popen(
        [*SATCHEL, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=streams["stdout"],
        stderr=streams["stderr"],
        env=clean_environment({"TERM": "xterm-256color", **environment}),
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # what Linux says when the other side is closed
            break
        if not piece:
            break
        seen += piece
    rest = process.communicate(timeout=60)
    os.close(ours)
    return seen, b"".join(part for part in rest if part)


def test_colour_on_a_terminal_and_none_when_unwanted(shop: Path) -> None:
    arguments = ["search", "basket", "--segment", str(shop)]
    assert b"\x1b[" in on_a_terminal(arguments, {}, screen="stdout")[0]
    assert b"\x1b[" not in on_a_terminal(arguments, {"NO_COLOR": "1"}, screen="stdout")[0]
    assert b"\x1b[" not in on_a_terminal([*arguments, "--json"], {}, screen="stdout")[0]


def test_no_colour_when_not_a_terminal(shop: Path) -> None:
    assert b"\x1b" not in run_cli("search", "basket", "--segment", shop).stdout


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    files = {f"n{number}.md": f"# Note {number}\n" for number in range(300)}
    arguments = ["index", "--force", "--segment", str(make_tree(tmp_path, files))]
    assert b"indexing" in on_a_terminal(arguments, {}, screen="stderr")[0]
    assert run_cli(*arguments).stderr == b""


def test_text_of_a_repository_can_not_drive_the_terminal(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path, {"evil.md": "# Basket\n\nbasket \x1b]0;owned\x07\x1b[2J \u202e reversed \x9b1m\n"}
    )
    for arguments in (["search", "basket"], ["get", "evil.md:1:3"], ["prompt"]):
        shown = run_cli(*arguments, "--segment", root).stdout.decode()
        assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(shown)


def test_names_of_files_can_not_drive_the_terminal(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path, {"ok.md": "# Basket\n", "b\u202egnp.md": "# Basket two\n", "\x1b[2J.md": "# Basket\n"}
    )
    run_cli("index", "--segment", root)
    for arguments in (["search", "basket"], ["status", "--skipped"]):
        shown = run_cli(*arguments, "--segment", root).stdout.decode()
        assert not {"\x1b", "\u202e"} & set(shown)


def files_below(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if ".git/" not in str(path))


@pytest.mark.parametrize("how", ["flag", "home"])
def test_an_index_kept_elsewhere_leaves_the_tree_clean(tmp_path: Path, how: str) -> None:
    root = git_repo(tmp_path / "shop", SHOP)
    before = files_below(root)
    elsewhere = tmp_path / "elsewhere"
    flags = ("--index-dir", str(elsewhere)) if how == "flag" else ()
    environment = {"SATCHEL_HOME": str(elsewhere)} if how == "home" else {}
    for command in (("build",), ("search", "basket"), ("sync",), ("validate",), ("prompt",)):
        done = run_cli(*command, *flags, "--segment", root, environment=environment)
        assert done.returncode == 0, done.stderr
    assert files_below(root) == before and git(root, "status", "--porcelain") == ""
    assert list(elsewhere.rglob("context.db")) and list(elsewhere.rglob("context_pack.json"))


def test_one_home_keeps_segments_apart(tmp_path: Path) -> None:
    environment = {"SATCHEL_HOME": str(tmp_path / "home")}
    for name in ("one/tree", "two/tree"):
        make_tree(tmp_path / name, {"a.md": f"# Marker {name.replace('/', ' ')}\n"})
        run_cli("index", "--segment", tmp_path / name, environment=environment)
    done = run_cli(
        "search", "marker two", "--segment", tmp_path / "one/tree", "--json", environment=environment
    )
    assert [hit["name"] for hit in json.loads(done.stdout)["hits"]] == ["Marker one tree"]
    assert len(list((tmp_path / "home").iterdir())) == 2


def test_the_index_folder_keeps_git_clean(tmp_path: Path) -> None:
    root = git_repo(tmp_path, SHOP)
    assert run_cli("sync", "--segment", root).returncode == 0
    assert (root / "_ctx/context_pack.json").exists()
    assert git(root, "status", "--porcelain", "--untracked-files=all") == ""


def test_an_index_folder_inside_the_tree_never_indexes_itself(tmp_path: Path) -> None:
    root = git_repo(tmp_path, SHOP)
    for _ in range(3):
        run_cli("build", "--scope", "all", "--segment", root, "--index-dir", root / "kept")
    stats = json.loads(run_cli("stats", "--segment", root, "--index-dir", root / "kept", "--json").stdout)
    assert stats["files"] == len(SHOP)
    assert git(root, "status", "--porcelain", "--untracked-files=all") == ""


def test_bad_settings_are_a_typed_error(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"satchel.toml": "max_file_bytes = 'many'\n"})
    done = run_cli("index", "--segment", root, "--json")
    assert done.returncode == 6 and json.loads(done.stdout)["error"]["code"] == "config_error"
    assert run_cli("index", "--segment", tmp_path, environment={"SATCHEL_WORKERS": "x"}).returncode == 6


def test_a_project_file_can_not_take_in_what_the_user_left_out(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path, {"satchel.toml": "include_hidden = true\n", ".hidden/a.md": "# Basket\n", "b.md": "b\n"}
    )
    done = run_cli("search", "basket", "--segment", root, "--json")
    assert json.loads(done.stdout)["hits"] == []


def test_json_of_text_with_odd_characters_is_valid(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"odd.md": "# Basket\n\n\x00 \x7f \u2028 💡 \ufeff\n".replace("\x00", "\x01")})
    found = json.loads(run_cli("search", "basket", "--segment", root, "--json").stdout)
    assert "\x01" in found["hits"][0]["snippet"]


def test_an_interrupt_ends_with_its_usual_code_and_no_traceback(tmp_path: Path) -> None:
    import signal

    files = {f"n{number}.py": f"def f{number}():\n    pass\n" * 300 for number in range(200)}
    process = subprocess.Popen(
        [*SATCHEL, "index", "--segment", str(make_tree(tmp_path, files))],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment({"SATCHEL_WORKERS": "1"}),
    )
    time.sleep(0.8)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130) and b"Traceback" not in errors


@pytest.mark.parametrize("name", plugins.names("verb"))
def test_every_verb_that_takes_a_folder_takes_it_by_its_short_name(name: str) -> None:
    """As every command does."""
    fields = plugins.load("verb", name).request.__struct_fields__
    if "segment" in fields or "segments" in fields:
        assert "-s SEGMENT" in run_cli(name, "--help").stdout.decode()


@pytest.mark.skipif(os.name == "nt", reason="a shell closes the output")
def test_a_closed_output_is_no_defect(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    for words in ("index", "status"):
        program = f'exec "$0" -m satchel {words} --segment "$1" >&-'
        done = subprocess.run(["sh", "-c", program, sys.executable, str(root)], capture_output=True)
        assert done.returncode == 0 and b"internal" not in done.stderr, done.stderr


def test_a_defect_is_an_envelope_where_json_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> int:
        raise RuntimeError("broken")

    monkeypatch.setattr("satchel.serving.cli_run.run_command", fail)
    assert cli.main(["status", "--json"]) == 70
    assert json.loads(capfd.readouterr().out)["error"]["code"] == "internal"


def test_an_index_that_is_left_stale_is_said_to_be(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    run_cli("index", "--segment", root)
    fresh = run_cli("search", "basket", "--no-refresh", "--segment", root)
    make_tree(root, {"new.md": "# Basket\n"})
    stale = run_cli("search", "basket", "--no-refresh", "--segment", root)
    assert (fresh.stdout, fresh.stderr) == (stale.stdout, b"")
    assert b"note: the index is stale (filesystem_changed)" in stale.stderr
