"""What does the page Status show of a library? Its repositories, what waits, and the tokens.

Everybody sees their own repositories and the last use of their own token. Where repositories come from, why a
sync failed and the other tokens are for the operator: they tell of the machine."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from satchel.errors import SatchelError
from satchel.library.grants import EVERYTHING, Caller
from satchel.library.joint_snapshot import SHORT_COMMIT
from satchel.library.library import Library
from satchel.library.pushes import PushQueue
from satchel.library.tokens import TokenBook
from satchel.serving.library_tokens import token_item


def library_status(served: Library, caller: Caller, pushes: PushQueue | None) -> dict[str, Any]:
    """Return the repositories that a caller may see, those of them that wait, and tokens."""
    library = served.seen_by(EVERYTHING if caller.grant is None else caller.grant)
    known = library.repositories()
    repositories = [
        {
            "name": one.name,
            "state": one.state.value,
            "refs": [(ref, one.commits.get(ref, "")[:SHORT_COMMIT]) for ref in one.refs],
            "freshness": "looked at before every answer" if one.is_live else "as it was synced",
            "origin": one.origin if caller.is_operator else "",
            "problem": one.problem if caller.is_operator else "",
        }
        for one in known
    ]
    names = {one.name for one in known}
    waiting = []
    with suppress(SatchelError):  # the queue may be in a database that does not answer
        waiting = [one for one in (pushes.waiting() if pushes is not None else ()) if one.name in names]
    tokens = [token_item(token) for token in TokenBook(library.catalogue).all()]
    own = [token for token in tokens if caller.is_operator or _is_own(token.name, caller)]
    return {"repositories": repositories, "waiting": waiting, "tokens": own, "operator": caller.is_operator}


def _is_own(name: str, caller: Caller) -> bool:
    return name == caller.name and not caller.is_person
