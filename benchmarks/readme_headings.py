"""Does the fast heading scanner find what a full CommonMark parser finds, on real READMEs?

    python benchmarks/readme_headings.py --out benchmarks/results/readme_headings.txt

Package archives are downloaded once into a cache outside the repository, their READMEs are read
from inside the archives, and top-level headings (line, level, title) are compared with markdown-it-py.
The two may differ for one reason only: front matter, which CommonMark does not know.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

from satchel.chunking.markdown import chunk_markdown, find_headings, front_matter_end

PYPI_PACKAGES = """
aiohttp anyio apscheduler argcomplete asgiref attrs autoflake bandit beautifulsoup4 black bleach blinker
boto3 build cachetools cattrs certifi cffi charset-normalizer click cloudpickle colorama commitizen coverage
cryptography dacite databases deepdiff diskcache distro dnspython docopt-ng duckdb dynaconf email-validator
fastapi fastjsonschema filelock fire flask flit-core freezegun fsspec furl gitpython gql graphene greenlet
gunicorn h11 h2 hatch hatchling hishel httpcore httptools httpx huggingface-hub hypercorn hypothesis idna
importlib-metadata inflect iniconfig invoke isort itsdangerous jinja2 jmespath joblib jsonpatch jsonschema
keyring lark litestar loguru mako markdown markdown-it-py markupsafe marshmallow mashumaro mdformat mkdocs
mkdocs-material more-itertools msgspec mypy narwhals nbconvert nbformat networkx nox numpy openai openpyxl
orjson packaging paramiko pathspec pdm peewee pendulum pexpect pip pipdeptree pipx platformdirs pluggy
poetry polars pre-commit prettytable prompt-toolkit psutil psycopg pydantic pydantic-settings pyflakes
pygments pyinstaller pyjwt pylint pynacl pyparsing pypdf pytest pytest-asyncio pytest-benchmark pytest-cov
pytest-xdist python-dateutil python-dotenv pyyaml questionary rapidfuzz redis requests respx rich ruff
schedule scikit-learn sentry-sdk shellingham simplejson sniffio sqlglot sqlmodel starlette stevedore
streamlit structlog tabulate tenacity textual thefuzz tiktoken tinydb tokenizers tomlkit toolz tox tqdm trio
twine typeguard typer typing-extensions tzdata ujson urllib3 uv uvicorn virtualenv watchfiles wcwidth
websockets werkzeug wheel xmltodict yamllint zipp
"""
NPM_PACKAGES = """
acorn ajv ansi-styles async autoprefixer ava axios bluebird body-parser boxen cac chai chalk cheerio
chokidar classnames clsx color commander concurrently cookie cors cosmiconfig cross-env cross-spawn cssnano
csv-parse date-fns dayjs debug deepmerge dotenv ejs enquirer esbuild eslint esm eventemitter3 execa express
fast-glob fastify fast-json-stringify find-up form-data formik fs-extra fuse.js glob globby got handlebars
helmet highlight.js husky immer immutable inquirer ioredis jest joi js-yaml jsdom jsonwebtoken kleur knex
koa kysely lint-staged lodash lru-cache luxon markdown-it marked memfs micromatch minimatch minimist mkdirp
mobx mocha moment mongoose morgan ms multer nanoid nock nodemailer nodemon nyc open ora p-limit p-map
p-queue passport path-to-regexp pino pm2 postcss preact prettier prisma prompts qs ramda react
react-hook-form react-router redux remark resolve rimraf rollup rxjs semver sharp shelljs sinon socket.io
sortablejs superagent supertest svelte swr terser through2 tsup tsx uuid valibot vite vitest vue webpack
winston ws yargs yup zod zustand
"""
REASON_FRONT_MATTER = "front matter"
_PARSER = MarkdownIt("commonmark")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One README: how many headings the scanner found, and why the parser's differ (empty: equal)."""

    name: str
    headings: int
    difference: str


def download(cache: Path) -> None:
    """Fill the cache with one archive per package; a package that cannot be had is left out."""
    for name in PYPI_PACKAGES.split():
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary",
            ":all:",
            "-d",
            ".",
        ]
        _fetch([*command, name], cache / "pypi" / name)
    for name in NPM_PACKAGES.split():
        _fetch(["npm", "pack", "--silent", name], cache / "npm" / name)


def _fetch(command: list[str], folder: Path) -> None:
    if folder.exists():
        return
    folder.mkdir(parents=True)
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        print(f"not downloaded: {folder.name}", file=sys.stderr)


def readmes(cache: Path) -> Iterator[tuple[str, str]]:
    """(package, text) of every Markdown README in the cached archives, in a fixed order."""
    for path in sorted(cache.glob("pypi/*/*.whl")):
        if text := _wheel_description(path):
            yield f"pypi:{path.parent.name}", text
    for path in sorted(cache.glob("npm/*/*.tgz")):
        if text := _npm_readme(path):
            yield f"npm:{path.parent.name}", text


def _wheel_description(path: Path) -> str:
    """The long description: all that follows the first blank line of METADATA, when it is Markdown."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        fields, _, description = archive.read(names[0]).decode("utf-8", "replace").partition("\n\n")
    return description if "description-content-type: text/markdown" in fields.lower() else ""


def _npm_readme(path: Path) -> str:
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            _, _, name = member.name.partition("/")
            if name.lower() in {"readme.md", "readme.markdown"} and (file := archive.extractfile(member)):
                return file.read().decode("utf-8", "replace")
    return ""


def parser_headings(text: str) -> list[tuple[int, int, str]]:
    """(line, level, title) of the top-level headings by markdown-it-py; a byte order mark is no text."""
    tokens = _PARSER.parse(text.removeprefix("\ufeff"))
    return [
        (token.map[0] + 1, int(token.tag[1]), inline.content)
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map is not None
    ]


def compare(name: str, text: str) -> Comparison:
    """Compare one README; below front matter the two must agree again for it to be the reason."""
    ours = [(heading.line, heading.level, heading.title) for heading in find_headings(text)]
    if ours == parser_headings(text):
        return Comparison(name, len(ours), "")
    skipped = front_matter_end(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    below = [
        (line + skipped, level, title) for line, level, title in parser_headings("\n".join(lines[skipped:]))
    ]
    return Comparison(name, len(ours), REASON_FRONT_MATTER if skipped and ours == below else "UNEXPLAINED")


def speeds(texts: list[str]) -> list[str]:
    """Megabytes of UTF-8 a second, the best of five passes (one pass for the parser)."""
    size = sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6
    jobs: list[tuple[str, Callable[[str], object], int]] = [
        ("find_headings", find_headings, 5),
        ("chunk_markdown", chunk_markdown, 5),
        ("markdown-it-py", _PARSER.parse, 1),
    ]
    rows = []
    for label, job, passes in jobs:
        best = min(_seconds(job, texts) for _ in range(passes))
        rows.append(f"{label:<16}{size / best:8.1f} MB/s")
    return rows


def _seconds(job: Callable[[str], object], texts: list[str]) -> float:
    begin = time.perf_counter()
    for text in texts:
        job(text)
    return time.perf_counter() - begin


def report(comparisons: list[Comparison]) -> list[str]:
    """The table: counts first, then one line per README that differs."""
    different = [comparison for comparison in comparisons if comparison.difference]
    rows = [
        f"READMEs         {len(comparisons):8}",
        f"headings        {sum(comparison.headings for comparison in comparisons):8}",
        f"equal           {len(comparisons) - len(different):8}",
        f"different       {len(different):8}",
    ]
    return rows + [f"  {comparison.name}: {comparison.difference}" for comparison in different]


def main() -> int:
    """Download what is missing, compare, print and write the table; 1 when a difference is unexplained."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--out", type=Path, required=True, help="the text file to write")
    options.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "satchel-bench")
    arguments = options.parse_args()
    download(arguments.cache)
    texts = list(readmes(arguments.cache))
    comparisons = [compare(name, text) for name, text in texts]
    rows = [*report(comparisons), "", "speed on these READMEs", *speeds([text for _, text in texts])]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print("\n".join(rows))
    return int(any(comparison.difference == "UNEXPLAINED" for comparison in comparisons))


if __name__ == "__main__":
    sys.exit(main())
