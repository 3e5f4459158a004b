"""`satchel library token create|list|revoke`: who may ask a served library, and for which repositories."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from satchel.errors import InvalidRequest
from satchel.library.catalogue import Catalogue, Token
from satchel.library.grants import Grant
from satchel.library.tokens import TokenBook, expiry
from satchel.rendering.style import Style


class TokenItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token: what it may see, since when and until when. `token` itself is there when it is made, once."""

    name: str
    state: str
    repositories: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    created: str = ""
    expires: str = ""
    revoked: str = ""
    last_used: str = ""
    token: str = ""


def run(
    catalogue: Catalogue, words: Sequence[str], grant: Grant, expires: str
) -> tuple[list[TokenItem], list[str]]:
    """Do what the words behind `token` say; return the tokens that it was done to, and what else to tell."""
    action, *names = words or ("list",)
    book = TokenBook(catalogue)
    if action == "list" and not names:
        return [token_item(token) for token in book.all()], []
    if action == "revoke" and names:
        return [token_item(token) for token in book.revoke(names)], []
    if action == "create" and len(names) == 1:
        secret, token = book.create(names[0], grant, expiry(expires))
        item = msgspec.structs.replace(token_item(token), token=secret)
        return [item], ["the token is shown this once: callers send it as Authorization: Bearer TOKEN"]
    raise InvalidRequest(
        f"satchel library token does not take {' '.join(words)!r}",
        hint="token create NAME --repo GLOB|--group NAME [--expires 90d], token list, token revoke NAME…",
    )


def token_item(token: Token) -> TokenItem:
    """Return a token as it is listed."""
    return TokenItem(
        name=token.name,
        state=token.state(time.time()),
        repositories=token.grant.repositories,
        groups=token.grant.groups,
        created=_written(token.created),
        expires=_written(token.expires),
        revoked=_written(token.revoked),
        last_used=_written(token.last_used),
    )


def show_token(item: TokenItem, style: Style) -> list[str]:
    """Return a token as lines for people."""
    scope = [f"repositories {', '.join(item.repositories)}"] if item.repositories else []
    scope += [f"groups {', '.join(item.groups)}"] if item.groups else []
    told = [item.state, *scope]
    told += [f"until {item.expires}"] if item.expires else []
    told += [f"last used {item.last_used}" if item.last_used else "never used"] if not item.token else []
    return [f"{style.name(item.name)}  {', '.join(told)}", *([item.token] if item.token else [])]


def _written(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds is not None else ""
