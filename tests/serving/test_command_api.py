"""The Command API: one envelope for whatever happens, and the freshness that was asked for."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from builders import SHOP, git, git_repo, make_tree, run_cli
from schema_checks import check_schema

from satchel import answer
from satchel.errors import ProjectNotFound
from satchel.library.library import Library
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Call, Request, decode, encode
from satchel.serving.error_table import ERRORS
from satchel.visible_json import compact


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return git_repo(tmp_path / "shop", SHOP)


def ask(root: Path, action: str = "search", **fields: Any) -> dict[str, Any]:
    payload = {"project": str(root), **({"query": "basket total"} if action == "search" else {})}
    payload.update(fields.pop("payload", {}))
    told = answer({"action": action, "payload": payload, **fields})
    check_schema(told, "command.response")
    return told


def test_an_answer_has_every_part_of_the_envelope(shop: Path) -> None:
    told = ask(shop)
    assert told["status"] == "ok" and told["data"]["hits"] and told["hints"] == told["next_actions"] == []
    assert set(told["meta"]) >= {"index_state", "duration_ms", "root_fingerprint"}
    check_schema(told["meta"]["index_state"], "index_state")


def test_an_error_has_every_part_as_well(shop: Path) -> None:
    told = ask(shop, payload={"query": " "})
    assert told["status"] == "error" and told["data"] is None
    assert set(told["error"]) == {"code", "message", "details", "hint", "next_actions"}
    assert told["error"]["code"] == "invalid_query"


@pytest.mark.parametrize(
    "request_",
    [
        {"action": "search", "payload": {"query": "basket \ud800"}},
        '{"action": "search", "payload": {"query": "\udfff"}}',
        {"action": "search", "payload": {"query": object()}},
        {"action": "search", "payload": {("a", "b"): 1}},
    ],
    ids=["a lone surrogate", "a lone surrogate in JSON", "no JSON value", "no JSON key"],
)
def test_what_json_has_no_form_for_is_an_invalid_request(request_: Any) -> None:
    assert answer(request_)["error"]["code"] == "invalid_request"


SMALL: list[tuple[str, dict[str, Any]]] = [
    ("context_pack", {"query": "basket", "limit": 3, "max_chars": 100}),
    ("build_context_pack", {"query": "basket", "mode": "edit_minimal", "budget_tokens": 5}),
    ("pack", {"query": "basket", "format": "xml", "max_chars": 5}),
    ("context_pack", {"query": "basket", "max_chars": 0}),
    ("context_pack", {"query": "basket", "budget_tokens": -3}),
    ("build_context_pack", {"query": "basket", "budget_tokens": 0}),
    ("build_context_pack", {"query": "basket", "budget_tokens": 4000, "max_chars": -1}),
    ("build_context_pack", {"query": "basket", "budget_tokens": 300_000}),
    ("pack", {"query": "basket", "format": "json", "budget_tokens": 0}),
    ("prompt", {"budget_tokens": 1}),
    ("get", {"ids": ["README.md"], "budget": 0}),
    ("batch", {"items": [{"id": "a", "action": "status"}], "max_chars": 5}),
    ("batch", {"items": [{"id": "a", "action": "status"}], "max_chars": 0}),
]


@pytest.mark.parametrize(("action", "payload"), SMALL)
def test_too_small_a_budget_gives_the_retry_that_works(
    shop: Path, action: str, payload: dict[str, Any]
) -> None:
    told = ask(shop, action, payload=payload)
    (retry,) = told["next_actions"]
    assert told["error"]["code"] == "invalid_budget" and told["error"]["next_actions"] == [retry]
    assert retry["tool"] == action and retry["args"].keys() == {"project", *payload}
    assert answer({"action": retry["tool"], "payload": retry["args"]})["status"] == "ok"


@pytest.mark.parametrize("tokens", [0, -7])
def test_no_budget_at_all_names_the_same_least_as_one_too_small(shop: Path, tokens: int) -> None:
    told, small = (
        ask(shop, "build_context_pack", payload={"query": "basket", "budget_tokens": number})["error"]
        for number in (tokens, 50)
    )
    assert told["details"] == small["details"] and str(tokens) in told["message"]


def test_the_retry_of_an_item_of_a_batch_names_the_project(shop: Path) -> None:
    item = {"id": "a", "action": "context_pack", "payload": {"query": "basket", "max_chars": 100}}
    (retry,) = ask(shop, "batch", payload={"items": [item]})["data"]["next_actions"]
    assert retry["tool"] == "context_pack" and retry["args"]["project"] == str(shop)
    assert answer({"action": retry["tool"], "payload": retry["args"]})["status"] == "ok"


def test_the_command_line_gives_the_retry_as_well(shop: Path) -> None:
    failed = run_cli("pack", "basket", "--segment", shop, "--json", "--max-chars", "5", "--tag", "test")
    (retry,) = json.loads(failed.stdout)["error"]["next_actions"]
    assert retry["args"].keys() == {"query", "max_chars", "format", "tags", "project"}
    assert answer({"action": retry["tool"], "payload": retry["args"]})["status"] == "ok"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ("{", "invalid_request"),
        ("[]", "invalid_request"),
        ('{"payload": {}}', "invalid_request"),
        ('{"action": "search", "more": 1}', "invalid_request"),
        ('{"action": "search", "options": {"stale_policy": "never"}}', "invalid_request"),
        ('{"action": "search", "options": {"max_reindex_ms": -1}}', "invalid_request"),
        ('{"action": "no_such"}', "unsupported"),
        ('{"action": "../search"}', "unsupported"),
        ('{"action": "search", "payload": {"query": "x", "no_such": 1}}', "invalid_request"),
        ('{"action": "search", "payload": {"query": 7}}', "invalid_request"),
        ('{"action": "search", "payload": {"query": "x", "project": 7}}', "invalid_request"),
        (
            '{"action": "search", "payload": {"query": "x", "project": "/no/such/folder"}}',
            "project_not_found",
        ),
        ('{"action": "search", "payload": {"query": "x"}, "config": {"profile": "best"}}', "config_error"),
        (
            '{"action": "search", "payload": {"query": "x"}, "config": {"include_hidden": true}}',
            "invalid_request",
        ),
        ('{"action": "stats", "config": {"ignore": ["docs"]}}', "config_error"),
        ('{"action": "search", "payload": {"query": "x", "response_mode": "loud"}}', "invalid_request"),
        ("\ufeff{}", "invalid_request"),
        ('{"action": "search", "payload": {"query": ' + "[" * 5000, "invalid_request"),
    ],
)
def test_bad_requests_get_typed_errors(
    request_: str, code: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    assert answer(request_)["error"]["code"] == code


def test_the_same_root_has_the_same_fingerprint_and_no_path_is_in_it(shop: Path, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "other", SHOP)
    prints = [ask(root)["meta"]["root_fingerprint"] for root in (shop, shop, other)]
    assert prints[0] == prints[1] != prints[2] and "shop" not in prints[0]


def test_auto_indexes_first_and_says_so(shop: Path) -> None:
    state = ask(shop)["meta"]["index_state"]
    assert state["reindex"]["result"] == "ok" and state["reindex"]["performed"] and not state["stale"]
    assert "reindex" not in ask(shop)["meta"]["index_state"]


@pytest.mark.parametrize("policy", ["auto", "warn", "fail"])
def test_a_missing_index_is_an_error_in_all_policies(shop: Path, policy: str) -> None:
    told = ask(shop, options={"stale_policy": policy, "max_reindex_ms": 0})
    assert told["error"]["code"] == "index_missing"
    (action,) = told["error"]["next_actions"]
    assert action["args"] == {"project": str(shop)}
    assert answer({"action": action["tool"], "payload": action["args"]})["status"] == "ok"


def stale(root: Path) -> None:
    ask(root, "index")
    (root / "src" / "money.py").write_text("def brand_new_name() -> int:\n    return 1\n")


def test_warn_answers_from_the_stale_index_and_says_so(shop: Path) -> None:
    stale(shop)
    told = ask(shop, options={"stale_policy": "warn"})
    assert told["status"] == "ok" and told["meta"]["index_state"]["stale_reasons"] == ["git_dirty_mismatch"]
    assert [hint["type"] for hint in told["hints"]] == ["warn"]


def test_fail_refuses_a_stale_index(shop: Path) -> None:
    stale(shop)
    error = ask(shop, options={"stale_policy": "fail"})["error"]
    assert error["code"] == "index_stale"
    assert error["next_actions"][0]["args"] == {"project": str(shop)}


def test_auto_without_time_answers_from_the_stale_index_and_says_so(shop: Path) -> None:
    stale(shop)
    told = ask(shop, options={"max_reindex_ms": 0})
    assert told["meta"]["index_state"]["reindex"]["result"] == "skipped" and told["hints"]


def test_auto_that_runs_out_of_time_loses_nothing(shop: Path) -> None:
    stale(shop)
    for number in range(400):
        (shop / "src" / f"more_{number}.py").write_text(f"def more_{number}() -> int:\n    return {number}\n")
    told = ask(shop, options={"max_reindex_ms": 1})
    assert told["status"] == "ok" and told["hints"][0]["type"] == "warn"
    assert told["meta"]["index_state"]["reindex"]["result"] == "budget_exceeded"
    assert ask(shop, payload={"query": "brand_new_name"})["data"]["hits"][0]["path"] == "src/money.py"


def test_heads_that_differ_are_said(shop: Path) -> None:
    ask(shop, "index")
    git(shop, "commit", "--allow-empty", "-qm", "empty")
    told = ask(shop, options={"stale_policy": "fail"})
    assert told["error"]["details"]["stale_reasons"] == ["git_head_mismatch"]


def garbage(index: Path) -> None:
    index.write_bytes(b"this is no database " * 500)


def broken_pages(index: Path) -> None:
    """It can be opened, and looks fresh; what it holds cannot be read."""
    data = bytearray(index.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle:] = b"\xa5" * (len(data) - middle)
    index.write_bytes(data)


@pytest.fixture(params=[garbage, broken_pages])
def corrupt(shop: Path, request: pytest.FixtureRequest) -> Path:
    ask(shop, "index")
    request.param(shop / "_ctx" / "context.db")
    return shop


@pytest.mark.parametrize(
    "options", [{"max_reindex_ms": 0}, {"stale_policy": "warn"}, {"stale_policy": "fail"}]
)
def test_an_index_that_cannot_be_read_is_an_error_where_no_reindex_is_allowed(
    corrupt: Path, options: dict[str, Any]
) -> None:
    before = (corrupt / "_ctx" / "context.db").read_bytes()
    told = ask(corrupt, options=options)
    assert told["error"]["code"] == "index_corrupt" and told["hints"] == []
    assert told["meta"]["index_state"]["stale_reasons"] == ["index_corrupt"]
    assert (corrupt / "_ctx" / "context.db").read_bytes() == before
    (action,) = told["next_actions"]
    assert action["tool"] == "index" and action["args"]["project"] == str(corrupt)
    assert answer({"action": "index", "payload": action["args"]})["status"] == "ok"
    assert ask(corrupt, options=options)["status"] == "ok"


def test_an_index_that_cannot_be_read_is_built_anew_within_the_budget_and_said(corrupt: Path) -> None:
    told = ask(corrupt)
    state = told["meta"]["index_state"]
    assert told["data"]["hits"] and state["reindex"]["result"] == "ok" and not state["stale"]
    assert [hint["type"] for hint in told["hints"]] == ["info"] and "set aside" in told["hints"][0]["text"]


def test_building_anew_ends_when_its_time_is_over(corrupt: Path) -> None:
    for number in range(400):
        (corrupt / "src" / f"more_{number}.py").write_text(f"def more_{number}() -> int:\n    return 1\n")
    told = ask(corrupt, options={"max_reindex_ms": 1})
    assert told["error"]["code"] in ("index_missing", "index_corrupt")
    assert told["meta"]["index_state"]["reindex"]["result"] == "budget_exceeded"


@pytest.mark.parametrize("command", [("search", "basket"), ("pack", "basket"), ("symbols", "Basket")])
def test_no_refresh_builds_no_index_anew(corrupt: Path, command: tuple[str, ...]) -> None:
    before = (corrupt / "_ctx" / "context.db").read_bytes()
    done = run_cli(*command, "--no-refresh", "--json", "--segment", corrupt)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"]) == (4, "index_corrupt")
    assert error["next_actions"][0]["args"]["project"] == str(corrupt)
    assert (corrupt / "_ctx" / "context.db").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root writes everywhere")
def test_where_no_index_can_be_kept_the_files_answer_if_that_is_allowed(shop: Path) -> None:
    shop.chmod(0o555)
    assert ask(shop)["error"]["code"] == "index_missing"
    told = ask(shop, options={"allow_filesystem_fallback": True})
    assert told["data"]["hits"] and "files themselves" in told["hints"][0]["text"]


def test_a_link_for_an_index_folder_is_never_followed_but_the_files_may_answer(
    shop: Path, tmp_path: Path
) -> None:
    (shop / "_ctx").symlink_to(tmp_path / "elsewhere")
    told = ask(shop, options={"allow_filesystem_fallback": True})
    assert not (tmp_path / "elsewhere").exists() and told["status"] in ("ok", "error")


def test_path_filters_of_the_call_are_added_to_those_of_the_payload(shop: Path) -> None:
    everything = {
        hit["path"] for hit in ask(shop, payload={"query": "basket price money", "k": 50})["data"]["hits"]
    }
    told = ask(
        shop,
        payload={"query": "basket price money", "k": 50, "exclude_paths": ["README.md"]},
        options={"exclude_paths": ["src/money.py"]},
        config={"ignore": ["tests"]},
    )
    left = {hit["path"] for hit in told["data"]["hits"]}
    assert left and left < everything
    assert not {path for path in left if path.startswith("tests/") or path in ("README.md", "src/money.py")}


def test_a_profile_of_one_call_is_not_that_of_the_next(shop: Path) -> None:
    dispatcher = Dispatcher([shop])
    fast = decode('{"action": "context_pack", "payload": {"query": "basket"}, "config": {"profile": "fast"}}')
    plain = decode('{"action": "context_pack", "payload": {"query": "basket"}}')
    assert [dispatcher.answer(one).data.profile for one in (fast, plain)] == ["fast", "quality"]
    dispatcher.close()


def test_minimal_leaves_the_state_out_and_full_has_a_trace(shop: Path) -> None:
    modes = {
        mode: ask(shop, "context_pack", payload={"query": "basket", "response_mode": mode})
        for mode in ("minimal", "facts", "full")
    }
    assert modes["minimal"]["meta"]["index_state"] is None is modes["minimal"]["data"]["meta"]["index_state"]
    assert modes["facts"]["data"]["meta"]["index_state"] and "trace" not in modes["facts"]["data"]["meta"]
    assert modes["full"]["data"]["meta"]["trace"]


# Context Pack v1 as older systems publish it: every object is closed.
_TEXT, _COUNT, _TEXTS = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "array", "items": {}}


def closed(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """The schema of an object with these fields and no others."""
    fields = {**required, **optional}
    return {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }


_ITEM = closed(
    {
        "id": _TEXT,
        "role": {"enum": ["primary", "related"]},
        "file": _TEXT,
        "start_line": _COUNT,
        "end_line": _COUNT,
        "score": {"type": "number"},
        "imports": _TEXTS,
        "content": _TEXT,
    },
    symbol=_TEXT,
    type=_TEXT,
    relationship=_TEXTS,
    distance=_COUNT,
)
_TRUST = closed(
    {},
    retrieval_mode={"enum": ["semantic", "hybrid", "lexical"]},
    fallback_used={"type": "boolean"},
    anchor_policy={"enum": ["auto", "off"]},
    anchor_detected={"type": "boolean"},
    anchor_kind={"enum": ["quoted", "path", "identifier"]},
    anchor_primary=_TEXT,
    anchor_hits=_COUNT,
    anchor_not_found={"type": "boolean"},
)
CONTEXT_PACK_V1 = closed(
    {
        "version": {"const": 1},
        "query": _TEXT,
        "model_id": _TEXT,
        "profile": _TEXT,
        "items": {"type": "array", "items": _ITEM},
        "budget": closed(
            {
                "max_chars": _COUNT,
                "used_chars": _COUNT,
                "truncated": {"type": "boolean"},
                "dropped_items": _COUNT,
            }
        ),
    },
    next_actions=_TEXTS,
    meta=closed({}, index_state={"type": "null"}, trust=_TRUST),
)


@pytest.mark.parametrize(
    "payload",
    [
        {"query": "basket total", "strategy": "deep"},
        {"query": "basket total", "budget_tokens": 900},
        {"query": "basket total", "budget_tokens": 900, "max_chars": 2_000, "trace": True},
        {"query": "basket total", "ref": "HEAD"},
        {"query": "where is no_such_identifier_here in the basket"},
        {"query": "zyzzyva"},
    ],
    ids=str,
)
def test_a_minimal_pack_has_no_key_beyond_context_pack_v1(shop: Path, payload: dict[str, Any]) -> None:
    strict = ask(shop, "context_pack", payload={**payload, "response_mode": "minimal"})["data"]
    jsonschema.validate(strict, CONTEXT_PACK_V1)
    assert strict["budget"]["used_chars"] == len(compact(strict))
    facts = ask(shop, "context_pack", payload=payload)["data"]
    if facts["items"]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(facts, CONTEXT_PACK_V1)


def test_a_minimal_pack_can_be_verified(shop: Path, tmp_path: Path) -> None:
    pack = ask(shop, "context_pack", payload={"query": "basket total", "response_mode": "minimal"})["data"]
    saved = tmp_path / "pack.json"
    saved.write_text(compact(pack))
    told = ask(shop, "verify", payload={"pack": str(saved)})["data"]
    assert told["ok"] and len(told["items"]) == len(pack["items"]) > 1


def test_anchors_can_be_turned_off(shop: Path) -> None:
    query = {"query": "no_such_identifier_here basket"}
    assert ask(shop, "context_pack", payload=query)["data"]["meta"]["trust"]["anchor_not_found"]
    off = ask(shop, "context_pack", payload=query, options={"anchor_policy": "off"})
    assert off["data"]["items"]


class TestServed:
    """A dispatcher that serves roots: only those, and no files of the machine."""

    def test_only_the_given_roots_are_served(self, shop: Path, tmp_path: Path) -> None:
        make_tree(tmp_path / "secret", {"a.py": "HIDDEN = 1\n"})
        dispatcher = Dispatcher([shop])
        for project in (str(tmp_path / "secret"), "..", "secret", "/", str(shop) + "/../secret"):
            told = dispatcher.answer(Request("search", {"query": "HIDDEN", "project": project}))
            assert told.error and told.error["code"] == "project_not_found"
        dispatcher.close()

    @pytest.mark.parametrize("name", ["", ".", "shop"])
    def test_a_root_is_named_by_its_folder_or_not_at_all(self, shop: Path, name: str) -> None:
        dispatcher = Dispatcher([shop])
        assert dispatcher.answer(Request("search", {"query": "basket", "project": name})).status == "ok"
        dispatcher.close()

    @pytest.mark.parametrize(
        ("action", "payload"),
        [
            ("verify", {"pack": "/etc/passwd"}),
            ("verify", {"pack": "-"}),
            ("verify", {"text": "x", "refresh": True, "output": "/tmp/out"}),
            ("eval", {"dataset": "/etc/passwd"}),
            ("eval", {"history": 1, "save": "/tmp/out"}),
            ("eval", {"history": 1, "plot": "/tmp/out"}),
            ("build", {"output": "/tmp/out"}),
            ("index", {"scip": ["/etc/passwd"]}),
            ("validate", {"output": "/etc/passwd"}),
            ("pack", {"query": "x", "tokenizer": "/etc/tokenizer.json"}),
            ("map", {"tokenizer": "../tokenizer.json"}),
            ("batch", {"items": [{"id": "a", "action": "verify", "payload": {"pack": "/etc/passwd"}}]}),
        ],
    )
    def test_a_caller_names_no_file_of_the_machine(
        self, shop: Path, action: str, payload: dict[str, Any]
    ) -> None:
        dispatcher = Dispatcher([shop])
        told = dispatcher.answer(Request(action, payload))
        error = told.data.items[0].error if action == "batch" else told.error
        assert error["code"] == "path_not_allowed"
        dispatcher.close()

    def test_a_cancelled_call_is_not_run(self, shop: Path) -> None:
        dispatcher, call = Dispatcher([shop]), Call()
        call.token.cancel()
        told = dispatcher.answer(Request("index"), call)
        assert (
            told.error and told.error["code"] == "cancelled" and not (shop / "_ctx" / "context.db").exists()
        )
        dispatcher.close()

    def test_a_call_whose_time_is_over_ends(self, shop: Path) -> None:
        dispatcher = Dispatcher([shop])
        told = dispatcher.answer(Request("index"), Call(seconds=-1))
        assert told.error and told.error["code"] == "timeout"
        dispatcher.close()

    def test_a_batch_is_about_one_project(self, shop: Path, tmp_path: Path) -> None:
        other = make_tree(tmp_path / "other", SHOP)
        items = [
            {"id": str(number), "action": "stats", "payload": {"project": str(root)}}
            for number, root in enumerate((shop, other))
        ]
        assert answer({"action": "batch", "payload": {"items": items}})["error"]["code"] == "invalid_request"
        assert (
            answer({"action": "batch", "payload": {"items": items[1:]}})["data"]["items"][0]["data"][
                "segment"
            ]
            == "other"
        )


def test_the_command_line_prints_the_envelope_and_its_code(shop: Path, tmp_path: Path) -> None:
    request = json.dumps({"action": "symbols", "payload": {"project": str(shop), "name": "no_such_name"}})
    (tmp_path / "request.json").write_text(request)
    for arguments in (("--json", request), ("--file", tmp_path / "request.json")):
        done = run_cli("command", *arguments)
        told = json.loads(done.stdout)
        assert told["error"]["code"] == "symbol_not_found"
        assert done.returncode == ERRORS["symbol_not_found"].exit
    assert run_cli("command").returncode == ERRORS["invalid_request"].exit


def test_every_error_code_is_in_the_table() -> None:
    from satchel import errors

    codes = {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.SatchelError)
    }
    assert codes == set(ERRORS)


def test_a_served_root_follows_its_project_file(shop: Path) -> None:
    dispatcher = Dispatcher([shop])
    add_money = Request("search", {"query": "add_money", "k": 50})
    assert any(hit.path == "src/money.py" for hit in dispatcher.answer(add_money).data.hits)
    (shop / "satchel.toml").write_text('ignore = ["src/money.py"]\n')
    assert not any(hit.path == "src/money.py" for hit in dispatcher.answer(add_money).data.hits)
    dispatcher.close()


def test_no_old_generation_is_held_while_nobody_asks(shop: Path) -> None:
    dispatcher = Dispatcher([shop])
    dispatcher.answer(Request("search", {"query": "basket"}))
    engine = dispatcher.engine_of(shop)
    assert engine is not None and engine._snapshot is not None
    engine.release_if_old()
    assert engine._snapshot is not None  # it is the newest
    (shop / "new.py").write_text("NEW = 1\n")
    answer({"action": "index", "payload": {"project": str(shop)}})
    engine.release_if_old()
    assert engine._snapshot is None
    dispatcher.close()


@pytest.mark.parametrize("opened_before", [True, False])
def test_a_server_does_not_say_where_a_folder_is_that_has_gone(shop: Path, opened_before: bool) -> None:
    server = Dispatcher([shop])
    request = Request("search", {"query": "basket total"})
    if opened_before:
        assert server.answer(request).status == "ok"
    shutil.rmtree(shop)
    told = encode(server.answer(request)).decode()
    assert '"status":"error"' in told and str(shop) not in told
    server.close()


def test_a_server_does_not_say_where_a_library_is_that_has_gone(tmp_path: Path) -> None:
    library = Library.open(tmp_path / "team")
    library.catalogue.create()
    server = Dispatcher(library=library)
    shutil.rmtree(tmp_path / "team")
    told = encode(server.answer(Request("search", {"query": "basket"}))).decode()
    assert "holds no library" in told and str(tmp_path) not in told
    server.close()


def test_an_error_names_what_is_served_and_not_its_place(shop: Path) -> None:
    server = Dispatcher([shop])
    error = server._as_told(
        ProjectNotFound(f"{str(shop)!r} is not a folder", hint=f"see {shop}", details={"root": str(shop)})
    )
    assert (error.message, error.hint, error.details) == (
        "'shop' is not a folder",
        "see shop",
        {"root": "shop"},
    )
    local = Dispatcher()._as_told(ProjectNotFound(f"{str(shop)!r} is not a folder"))
    assert str(shop) in local.message
