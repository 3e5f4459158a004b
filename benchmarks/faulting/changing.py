"""A small project in several languages, and every kind of change that a working day brings to it."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from builders import git

_TEMPLATES: Mapping[str, str] = {
    ".py": (
        '"""The {name} of the shop."""\n\n\nclass {Name}{mark}:\n    """Keeps {name}."""\n\n'
        "    def open_{mark}(self, count):\n        # the {mark} of {name} is counted\n"
        "        return count_{mark}(count)\n\n\n"
        "def count_{mark}(count):\n    return count + {number}\n"
    ),
    ".ts": (
        "export function count_{mark}(count: number): number {{\n  return count + {number};\n}}\n\n"
        "/** Keeps {name}. */\nexport class {Name}{mark} {{\n  open(count: number) {{\n"
        "    return count_{mark}(count);\n  }}\n}}\n"
    ),
    ".go": (
        "package shop\n\n// count_{mark} counts {name}.\nfunc count_{mark}(count int) int {{\n"
        "\treturn count + {number}\n}}\n\nfunc open_{mark}() int {{\n\treturn count_{mark}(1)\n}}\n"
    ),
    ".rs": (
        "/// Counts {name}.\npub fn count_{mark}(count: u32) -> u32 {{\n    count + {number}\n}}\n\n"
        "pub fn open_{mark}() -> u32 {{\n    count_{mark}(1)\n}}\n"
    ),
    ".c": (
        "/* counts {name} */\nint count_{mark}(int count)\n{{\n    return count + {number};\n}}\n\n"
        "int open_{mark}(void)\n{{\n    return count_{mark}(1);\n}}\n"
    ),
    ".md": "# {Name}\n\nHow {name} is kept.\n\n## Counting {mark}\n\nCall count_{mark} with {number}.\n",
}
_NAMES = ("basket", "bank", "card", "till", "price", "stock", "order", "parcel", "refund", "invoice")


class ChangingProject:
    """A folder whose files are changed. Each file has a mark of its own, which shows how old an answer is."""

    def __init__(self, root: Path, seed: int, *, in_git: bool) -> None:
        self.root = root
        self._random = random.Random(seed)
        self._number = 0
        self.marks: dict[str, str] = {}  # the mark of each file that there is now
        for name in _NAMES:
            for suffix in _TEMPLATES:
                self.write(f"{'docs' if suffix == '.md' else 'src'}/{name}{suffix}")
        self.changes: dict[str, Callable[[], None]] = {
            "edit": self.edit,
            "edit of equal size": self.edit_of_equal_size,
            "edit of equal size and time": self.edit_of_equal_size_and_time,
            "lines put above": self.put_lines_above,
            "replaced by a rename": self.replace,
            "new file": self.add,
            "new folder": self.add_folder,
            "deleted file": self.delete,
            "renamed file": self.rename,
            "renamed folder": self.rename_folder,
        }
        if in_git:
            self._begin_history()
            self.changes |= {
                "branch switch": self.switch_branch,
                "checkout of all files": self.check_out_all,
                "stash": self.stash,
            }

    def text(self, path: str, mark: str) -> str:
        """The content of a file with a mark."""
        name = Path(path).stem.rstrip("0123456789_")
        fields = {"name": name, "Name": name.title(), "mark": mark, "number": len(mark)}
        return _TEMPLATES[Path(path).suffix].format(**fields)

    def new_mark(self) -> str:
        """A word that stands nowhere yet; all are of one length."""
        self._number += 1
        return f"zq{self._number:05d}x"

    def write(self, path: str) -> str:
        """Write a file with a new mark; return its text."""
        self.marks[path] = self.new_mark()
        text = self.text(path, self.marks[path])
        self._put(path, text)
        return text

    def any_path(self) -> str:
        return self._random.choice(sorted(self.marks))

    def edit(self) -> None:
        path = self.any_path()
        text = self.write(path)
        self._put(path, text + "\n" * self._random.randint(0, 3))

    def edit_of_equal_size(self) -> None:
        self.write(self.any_path())

    def edit_of_equal_size_and_time(self) -> None:
        path = self.any_path()
        before = (self.root / path).stat()
        self._put(path, self.text(path, self.marks[path]))
        self.write(path)
        os.utime(self.root / path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def put_lines_above(self) -> None:
        path = self.any_path()
        self._put(path, "\n" * self._random.randint(1, 40) + (self.root / path).read_text())

    def replace(self) -> None:
        path = self.any_path()
        self.marks[path] = self.new_mark()
        beside = self.root / f"{path}.tmp~"
        beside.write_text(self.text(path, self.marks[path]))
        os.replace(beside, self.root / path)

    def add(self) -> None:
        self.write(f"src/{self._random.choice(_NAMES)}_{self._number}{self._random.choice(list(_TEMPLATES))}")

    def add_folder(self) -> None:
        self.write(f"src/part_{self._number}/deeper/{self._random.choice(_NAMES)}.py")

    def delete(self) -> None:
        path = self.any_path()
        (self.root / path).unlink()
        del self.marks[path]

    def rename(self) -> None:
        path = self.any_path()
        target = f"src/{self._random.choice(_NAMES)}_{self._number}{Path(path).suffix}"
        self._number += 1
        (self.root / path).rename(self.root / target)
        self.marks[target] = self.marks.pop(path)

    def rename_folder(self) -> None:
        parts = sorted({path.split("/")[1] for path in self.marks if path.startswith("src/part_")})
        if not parts:
            self.add_folder()
            return
        old, new = f"src/{parts[0]}/", f"src/part_{self._number}_moved/"
        self._number += 1
        (self.root / old).rename(self.root / new)
        for path in [path for path in self.marks if path.startswith(old)]:
            self.marks[path.replace(old, new, 1)] = self.marks.pop(path)

    def switch_branch(self) -> None:
        """Commit what is there, change some files on a branch of their own and come back by a checkout."""
        self._commit()
        before = dict(self.marks)
        git(self.root, "checkout", "-q", "-b", f"topic-{self._number}")
        for _ in range(3):
            self.edit_of_equal_size()
        self._commit()
        git(self.root, "checkout", "-q", "main")
        self.marks = before

    def check_out_all(self) -> None:
        """Change every file on a branch, and check out the branch before and after."""
        self._commit()
        before = dict(self.marks)
        git(self.root, "checkout", "-q", "-b", f"mass-{self._number}")
        for path in sorted(self.marks):
            self.write(path)
        self._commit()
        after = dict(self.marks)
        git(self.root, "checkout", "-q", "main")
        self.marks = before
        if self._random.random() < 0.5:
            git(self.root, "merge", "-q", "--ff-only", "-")
            self.marks = after

    def stash(self) -> None:
        self._commit()
        before = dict(self.marks)
        self.edit_of_equal_size()
        self.edit()
        git(self.root, "stash", "-q")
        self.marks = before

    def _begin_history(self) -> None:
        (self.root / ".gitignore").write_text("*~\n")
        git(self.root, "init", "-q", "-b", "main", ".")
        self._commit()

    def _commit(self) -> None:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", f"State {self._number}")

    def _put(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def fresh_project(folder: Path, seed: int, *, in_git: bool) -> ChangingProject:
    """A project in an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return ChangingProject(folder, seed, in_git=in_git)
