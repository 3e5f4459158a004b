"""What every page has: the values of its address, the commands it asks, and links to other pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from satchel.commands.session import CallOptions
from satchel.errors import InvalidRequest, SatchelError, error_from
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Call, Request

Values = Mapping[str, Sequence[str]]
_PASSING = ("index_missing", "index_busy", "timeout")


class CommandRefused(Exception):
    """A command answered with an error, which the page shows."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message", "")))
        self.error = error

    @property
    def is_passing(self) -> bool:
        """Return whether the same call works in a while, when there is an index."""
        return self.error.get("code") in _PASSING

    def as_error(self) -> SatchelError:
        """Return the error as one that the command line tells."""
        return error_from(self.error)


class PageQuery:
    """The values in the address of a page. A number that is none is a refusal, never a guess."""

    def __init__(self, values: Values) -> None:
        self._values = {name: [one for one in given if one.strip()] for name, given in values.items()}

    def text(self, name: str, usual: str = "") -> str:
        """Return the first value of that name."""
        given = self._values.get(name)
        return given[0].strip() if given else usual

    def many(self, name: str) -> list[str]:
        """Return all values of that name."""
        return [one.strip() for one in self._values.get(name, ())]

    def number(self, name: str, usual: int) -> int:
        """Return a value as a whole number."""
        written = self.text(name)
        if not written:
            return usual
        if not written.lstrip("-").isdecimal() or len(written) > 9:
            refused = InvalidRequest(f"{name} is {written[:40]!r}, it must be a number")
            raise CommandRefused(refused.as_dict())
        return int(written)

    def all(self) -> dict[str, list[str]]:
        """Return all values by name."""
        return {name: list(given) for name, given in self._values.items() if given}


class PageCalls:
    """Asks commands on behalf of one page, about one project. A page shows what they answer."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        project: str = "",
        call: Call | None = None,
        options: CallOptions | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._project = project
        self._call = call
        self._options = options
        self.notes: list[str] = []  # what the answers say beside their data: a stale index, above all

    def ask(self, action: str, **payload: Any) -> Any:
        """Return the data of an answer as plain values; raise CommandRefused for an error."""
        if self._project:
            payload["project"] = self._project
        response = self._dispatcher.answer(Request(action, payload, self._options), self._call)
        self.notes += [hint.text for hint in response.hints if hint.text not in self.notes]
        if isinstance(response.error, dict):
            raise CommandRefused(response.error)
        if isinstance(response.data, msgspec.Raw):
            return msgspec.json.decode(response.data)
        return msgspec.json.decode(msgspec.json.encode(response.data))

    def try_to_ask(self, action: str, **payload: Any) -> Any | None:
        """Return the data of an answer, or None where the command refuses."""
        try:
            return self.ask(action, **payload)
        except CommandRefused:
            return None


class PageLinks:
    """Writes the addresses of pages; each names the project where several are served."""

    def __init__(self, project: str = "") -> None:
        self._project = project

    def page(self, name: str, /, **values: Any) -> str:
        """Return the address of a page. A value that is empty is left out; a list is given several times."""
        given: dict[str, Any] = {**({"project": self._project} if self._project else {}), **values}
        kept = {key: value for key, value in given.items() if value not in ("", None, [], False)}
        written = urlencode(kept, doseq=True)
        return f"/{name}?{written}" if written else f"/{name}"

    def code(self, path: str, first: int = 0, last: int = 0, ref: str = "", **values: Any) -> str:
        """Return the address of lines of a file; a path that ends with `/` is a folder."""
        lines = "" if not first else (f"{first}-{last}" if last > first else str(first))
        known = "" if ref == "worktree" else ref
        anchor = f"#L{first}" if first else ""
        return self.page(f"code/{quote(path)}", lines=lines, ref=known, **values) + anchor


class Page(msgspec.Struct, frozen=True):
    """One page: its title, its template, and the function that asks for what the template shows."""

    name: str
    title: str
    template: str
    view: Callable[[PageCalls, PageQuery, PageLinks], dict[str, Any]]
