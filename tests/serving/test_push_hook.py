"""Which repository does a push name, and who may say so? The forms of three forges."""

from __future__ import annotations

import hmac
import json
from typing import Any

import pytest

from satchel.library.catalogue import Repository
from satchel.serving.http.push_hook import address_key, find_repository, is_genuine

SECRET = "the-secret-of-the-hooks"
KNOWN = [
    Repository(name="shop", origin="https://git.example.org/web/shop.git", refs=("HEAD",)),
    Repository(name="till", origin="git@git.example.org:core/till.git", refs=("main",)),
    Repository(name="deep", origin="ssh://git@git.example.org:2222/a/b/deep", refs=("main",)),
    Repository(name="live", origin="/srv/live"),
]
FORMS: dict[str, tuple[dict[str, Any], str]] = {
    "GitHub": (
        {
            "repository": {
                "clone_url": "https://git.example.org/web/shop.git",
                "html_url": "https://git.example.org/web/shop",
            }
        },
        "shop",
    ),
    "GitHub, added by SSH": ({"repository": {"clone_url": "https://git.example.org/core/till.git"}}, "till"),
    "GitLab": (
        {
            "object_kind": "push",
            "project": {
                "git_http_url": "https://git.example.org/core/till.git",
                "git_ssh_url": "git@git.example.org:core/till.git",
            },
            "repository": {"homepage": "https://git.example.org/core/till"},
        },
        "till",
    ),
    "Gitea": ({"repository": {"ssh_url": "ssh://git@git.example.org:2222/a/b/deep.git"}}, "deep"),
    "other letters": ({"repository": {"clone_url": "https://GIT.example.org/Web/Shop.git/"}}, "shop"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_push_names_a_repository_by_any_of_its_addresses(form: str) -> None:
    body, name = FORMS[form]
    found = find_repository(KNOWN, json.dumps(body).encode())
    assert found is not None and found.name == name


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"repository": "shop"}',
        b'{"repository": {"clone_url": 1, "name": "shop", "full_name": "web/shop"}}',
        b'{"repository": {"clone_url": "https://evil.example.org/web/shop.git"}}',
        b'{"repository": {"clone_url": "https://git.example.org/web/shop2.git"}}',
        b'{"repository": {"clone_url": "https://[/web/shop.git"}}',
        b'{"repository": {"clone_url": ""}}',
        b'{"repository": {"clone_url": "/srv/live"}}',  # the folder of a work tree is looked at anyway
        b'{"clone_url": "https://git.example.org/web/shop.git"}',
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
    ],
)
def test_anything_else_names_none(body: bytes) -> None:
    assert find_repository(KNOWN, body) is None


def test_an_address_is_the_same_however_it_is_written() -> None:
    written = (
        "https://u:p@h.org/a/b.git",
        "ssh://git@h.org:22/a/b",
        "git@h.org:a/b.git",
        "http://H.org/A/b/",
    )
    assert {address_key(one) for one in written} == {("h.org", "a/b")}
    assert address_key("file:///srv/A.git") == ("", "srv/A") != address_key("file:///srv/a.git")


def test_only_who_knows_the_secret_is_believed() -> None:
    body = b'{"x": 1}'
    right = hmac.new(SECRET.encode(), body, "sha256").hexdigest()
    wrong = hmac.new(b"another", body, "sha256").hexdigest()
    for headers in (
        {"x-hub-signature-256": f"sha256={right}"},
        {"x-gitea-signature": right},
        {"x-gitlab-token": SECRET},
    ):
        assert is_genuine(SECRET, headers, body)
        assert not is_genuine("", headers, body) and not is_genuine(SECRET + "x", headers, body)
        if "x-gitlab-token" not in headers:
            assert not is_genuine(SECRET, headers, body + b" ")
    for headers in (
        {},
        {"x-hub-signature-256": right},
        {"x-hub-signature-256": f"sha256={wrong}"},
        {"x-hub-signature-256": "sha256=é"},
        {"x-hub-signature": f"sha1={right[:40]}"},
        {
            "x-hub-signature-256": f"sha256={wrong}",
            "x-gitlab-token": SECRET,
        },  # a signature is not passed over
        {"x-gitlab-token": ""},
    ):
        assert not is_genuine(SECRET, headers, body)
    assert not is_genuine("", {"x-gitlab-token": ""}, body)
