"""`satchel doctor`: check the installation, the index and the agent clients, and say what to do next."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Flag, Group
from satchel.rendering.style import Style
from satchel.rendering.visible import one_line
from satchel.serving.installing import doctor_checks, launch
from satchel.serving.installing.doctor_checks import CheckLevel, DoctorCheck
from satchel.serving.verbs import Verb


class DoctorRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `satchel doctor`."""

    segment: Annotated[str, Meta(description="the folder to look at (default: .)"), Flag("-s")] = (
        launch.DEFAULT_SEGMENT
    )
    json: Annotated[bool, Meta(description="print the answer as JSON")] = False


class DoctorResponse(msgspec.Struct, frozen=True):
    """The results of all checks; `ok` is false if one of them is a problem."""

    ok: bool
    checks: list[DoctorCheck]


def run(request: DoctorRequest) -> DoctorResponse:
    """Say how this installation, the index of the folder and every agent client stand, and what to do next.

    Changes nothing, and makes no index. Exits with 1 when there is a problem; a warning is none.
    """
    machine = launch.current_machine(request.segment)
    checks = [*doctor_checks.check_installation(machine), *doctor_checks.check_index(machine)]
    for client in launch.all_clients():
        checks += doctor_checks.check_client(client, machine)
    return DoctorResponse(all(check.level is not CheckLevel.PROBLEM for check in checks), checks)


def show(response: DoctorResponse, style: Style) -> str:
    """Return the checks as lines for people."""
    colour = {CheckLevel.OK: style.dim, CheckLevel.WARN: style.name, CheckLevel.PROBLEM: style.error}
    rows = []
    for check in response.checks:
        level = colour[check.level](f"{check.level:<8}")
        rows.append(f"{level} {check.topic:<14} {one_line(check.detail)}")
        if check.next and check.level is not CheckLevel.OK:
            rows.append(f"{'':<8} {'':<14} {style.dim('→ ' + one_line(check.next))}")
    return "\n".join(rows) + "\n"


VERB = Verb("doctor", DoctorRequest, run, show, group=Group.CHECK)
