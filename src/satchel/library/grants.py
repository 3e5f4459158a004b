"""Who may see which repositories? A grant says it; a library that is opened with one has no others."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from satchel.globs import any_glob, check_limits


class Grant(msgspec.Struct, frozen=True):
    """Which repositories somebody may see: those whose name matches a glob, and those of a group. A library
    that is opened with a grant answers as if there were no others."""

    repositories: tuple[str, ...] = ("*",)
    groups: tuple[str, ...] = ()

    def allows(self, name: str, groups: Sequence[str]) -> bool:
        """Return whether a repository of this name and these groups may be seen."""
        return matches_name(name, self.repositories) or bool(set(self.groups).intersection(groups))


EVERYTHING = Grant()
NOTHING = Grant(())


def matches_name(name: str, patterns: Sequence[str]) -> bool:
    """Return whether one of some globs, or of some names in any case of letters, means a repository."""
    check_limits({"repo": patterns})
    return any_glob([pattern.lower() for pattern in patterns])(name.lower())


class Caller(msgspec.Struct, frozen=True):
    """Somebody who asks a server: the name of their token or their subject, and what they may see. Without
    a grant it is the operator, who may see whatever is served."""

    name: str
    grant: Grant | None = None
    is_person: bool = False  # known by an identity provider

    @property
    def is_operator(self) -> bool:
        """Return whether everything that is served may be seen, also what is in no library."""
        return self.grant is None


CALLER = "satchel.caller"  # the key of the caller in the scope of a request over HTTP
OPERATOR = Caller("operator")
NOBODY = Caller("nobody", NOTHING)
