"""What of a change is not in its pack, and what is to be known besides: said as hints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from satchel.walking.changes import ChangedFile, Status

_MOST_NAMED = 4  # files or names in one hint


class Notes(msgspec.Struct, frozen=True, kw_only=True):
    """What a review found beside its items."""

    files: Sequence[ChangedFile]
    outside: Mapping[str, str]  # changed files that are not in the index, and why
    no_files: Mapping[str, str]  # changed links and submodules, and which of them each is
    filtered: int  # changed files that the filters leave out
    left_names: Sequence[str]  # removed names that are still used
    untested: Sequence[str]  # changed names that no test speaks of
    kept: Sequence[str]  # files that a program keeps, of which only some lines are shown
    sweeping: int  # files that are changed like many others


def hints(notes: Notes, missing: Sequence[str], wanted: str) -> tuple[str, ...]:
    """What to say, most needed first. `missing` are the files of which nothing is shown, `wanted`
    is the flag that would give room to all; it is empty if there is none."""
    if not notes.files and not notes.filtered:
        return tuple(_no_files(notes.no_files)) or ("nothing is changed here",)
    if not notes.files:
        left_out = f"the filters leave out all {_counted(notes.filtered, 'changed file')}"
        return (left_out, *_no_files(notes.no_files))
    said = [
        *_not_in_clone(notes.files),
        *_still_used(notes.left_names),
        *_not_shown(missing, len(notes.files), wanted),
        *_outside(notes.outside),
        *_no_files(notes.no_files),
        *_moved(notes.files),
        *_without_lines(notes),
    ]
    if notes.kept:
        said.append(f"only the first changed lines are shown of {_listed(notes.kept)}")
    if notes.untested:
        said.append(f"no test in the index speaks of {_listed(notes.untested)}")
    if notes.sweeping:
        said.append(
            f"{_counted(notes.sweeping, 'file')} changed in the same way as others shown or named here"
        )
    if notes.filtered:
        said.append(f"the filters leave out {_counted(notes.filtered, 'changed file')}")
    return tuple(said)


def _not_in_clone(files: Sequence[ChangedFile]) -> Iterator[str]:
    torn = [file.path for file in files if not file.in_clone]
    if torn:
        yield (
            f"which lines changed is not known of {_counted(len(torn), 'file')}, because this clone does not"
            f" have both sides: {_listed(torn)}"
        )


def _still_used(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"defined no more but still used: {_listed(names)}"


def _not_shown(missing: Sequence[str], count: int, wanted: str) -> Iterator[str]:
    files = f"{len(missing)} of {count} changed files are not shown: {_listed(missing)}; " if missing else ""
    if wanted:
        yield f"{files}{wanted} would hold all that was left out"
    elif missing:
        yield f"{files}they are too many for any budget, --include FOLDER narrows the review"


def _outside(outside: Mapping[str, str]) -> Iterator[str]:
    if outside:
        named = [f"{path} ({why})" for path, why in sorted(outside.items())]
        yield f"{_counted(len(named), 'changed file')} not in the index: {_listed(named)}"


def _no_files(no_files: Mapping[str, str]) -> Iterator[str]:
    if no_files:
        named = [f"{path} ({kind})" for path, kind in sorted(no_files.items())]
        yield f"changed, but no file: {_listed(named)}"


def _moved(files: Sequence[ChangedFile]) -> Iterator[str]:
    renamed = [f"{file.old_path} to {file.path}" for file in files if file.status is Status.RENAMED]
    if renamed:
        yield f"renamed: {_listed(renamed)}"
    deleted = [_size(file) for file in files if file.status is Status.DELETED]
    if deleted:
        yield f"deleted: {_listed(deleted)}"


def _without_lines(notes: Notes) -> Iterator[str]:
    bare = [
        file.path
        for file in notes.files
        if not file.hunks
        and file.in_clone
        and file.status is not Status.RENAMED
        and file.path not in notes.outside
    ]
    if bare:
        yield f"changed, but no line of it: {_listed(bare)}"


def _size(file: ChangedFile) -> str:
    return f"{file.path} ({_counted(file.old_line_count, 'line')})" if file.old_line_count else file.path


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
