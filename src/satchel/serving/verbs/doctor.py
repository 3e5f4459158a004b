"""`doctor`: what is installed, linked and fresh, and what to do about the rest?"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Flag, Group
from satchel.rendering.style import Style
from satchel.rendering.visible import one_line
from satchel.serving.installing import checkup, launch
from satchel.serving.installing.checkup import Check, Level
from satchel.serving.verb import Verb


class DoctorRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    segment: Annotated[str, Meta(description="the folder to look at (default: .)"), Flag("-s")] = launch.HERE
    json: Annotated[bool, Meta(description="print the answer as JSON")] = False


class DoctorResponse(msgspec.Struct, frozen=True):
    """`ok` is false only where something keeps Satchel from working."""

    ok: bool
    checks: list[Check]


def run(request: DoctorRequest) -> DoctorResponse:
    """Say how this installation, the index of the folder and every agent client stand, and what to do next.

    Changes nothing, and makes no index. Exits with 1 when there is a problem; a warning is none.
    """
    where = launch.machine(request.segment)
    checks = [*checkup.installation(where), *checkup.segment(where)]
    for client in launch.clients():
        checks += checkup.of_client(client, where)
    return DoctorResponse(all(check.level is not Level.PROBLEM for check in checks), checks)


def show(response: DoctorResponse, style: Style) -> str:
    """The answer for a person."""
    colour = {Level.OK: style.dim, Level.WARN: style.name, Level.PROBLEM: style.error}
    rows = []
    for check in response.checks:
        level = colour[check.level](f"{check.level:<8}")
        rows.append(f"{level} {check.topic:<14} {one_line(check.detail)}")
        if check.next and check.level is not Level.OK:
            rows.append(f"{'':<8} {'':<14} {style.dim('→ ' + one_line(check.next))}")
    return "\n".join(rows) + "\n"


VERB = Verb("doctor", DoctorRequest, run, show, group=Group.CHECK)
