"""Servers whose library is in PostgreSQL keep nothing that the others need."""

from __future__ import annotations

import json
import time
from pathlib import Path

from builders import git, git_repo, make_tree, run_cli
from http_server import Server, serving
from postgres_server import shared_server

from satchel.library.library import Library
from satchel.library.queue import SyncQueue

TILL = {"till.py": "def open_drawer():\n    return 'open'\n", "README.md": "# Till\n\nOpens.\n"}


def test_two_servers_heed_a_new_commit_and_a_revoked_token(tmp_path: Path) -> None:
    origin = git_repo(tmp_path / "till", TILL)
    library = Library.open(shared_server().place(tmp_path / "books"))
    library.catalogue.create()
    library.add(str(origin), refs=["main"], groups=["net"])
    SyncQueue(library).add(["till"])
    assert [one.problem for one in SyncQueue(library).work(once=True)] == [""]
    made = run_cli(
        "library", "token", "create", "ann", "--group", "net", "--json", "--library", library.catalogue.place
    )
    secret = json.loads(made.stdout)["tokens"][0]["token"]
    question = {"action": "search", "payload": {"query": "close drawer", "k": 1}}
    flags = ("--library", library.catalogue.place, "--workers", "1")
    with serving(None, *flags) as first, serving(None, *flags) as second:
        both = (first, second)

        def ask(one: Server) -> tuple[int, bytes]:
            answer = one.call("/v1/command", question, headers={"Authorization": f"Bearer {secret}"})
            return answer.status, answer.body

        assert [ask(one)[0] for one in both] == [200, 200]
        make_tree(origin, {"till.py": "def close_drawer():\n    return 'closed'\n"})
        git(origin, "commit", "-qam", "close")
        SyncQueue(library).add(["till"])
        assert [one.parsed for one in SyncQueue(library).work(once=True)] == [1]
        assert all(b"close_drawer" in ask(one)[1] for one in both)
        run_cli("library", "token", "revoke", "ann", "--library", library.catalogue.place)
        time.sleep(1)
        assert [ask(one)[0] for one in both] == [401, 401]
