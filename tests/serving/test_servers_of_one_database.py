"""Servers whose library is in PostgreSQL keep nothing that the others need."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from builders import SHOP, clean_environment, git, git_repo, make_tree, run_cli
from http_server import Server, serving
from mcp.client.stdio import StdioServerParameters
from mcp_clients import agent
from postgres_server import shared_server
from surfaces import OverGrpc, OverMcp
from surfaces import serving as serving_over

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


def test_a_cluster_writes_what_http_grpc_and_mcp_answer_from_alike(tmp_path: Path) -> None:
    place = shared_server().place(tmp_path / "books")
    till, shop = git_repo(tmp_path / "till", TILL), git_repo(tmp_path / "shop", SHOP)
    run_cli("library", "init", "--library", place)
    run_cli("library", "add", till.as_uri(), "--library", place)
    run_cli("library", "add", str(shop), "--ref", "main", "--library", place)
    done = run_cli("library", "sync", "--cluster", "local:2", "--json", "--library", place)
    assert [one["parsed"] for one in json.loads(done.stdout)["repositories"]] == [len(SHOP), len(TILL)]
    question = {"query": "who opens the drawer", "k": 3}
    with serving_over("grpc", None, "--library", place, "--workers", "1") as server:
        client = OverGrpc(server)
        told, _ = client.call("search", question)
        client.close()
    assert told["hits"][0]["path"] == "till/till.py"
    words = ["-m", "satchel", "serve", "mcp", "--library", place]
    with agent(StdioServerParameters(command=sys.executable, args=words, env=clean_environment())) as known:
        assert OverMcp(known).call("search", question)[0]["hits"] == told["hits"]
    with serving(None, "--library", place, "--workers", "1", "--cluster", "local:1") as server:
        answer = server.call("/v1/search", question)
        assert answer.json["data"] == told
