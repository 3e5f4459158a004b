"""Tag a file by its path alone: test, docs, config, … The conventions of many languages are one table."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS_BY_TAG = {
    "test": "test tests testing __tests__ spec specs testdata test-data fixtures e2e __mocks__ androidtest",
    "docs": "doc docs documentation man wiki",
    "example": "example examples sample samples demo demos tutorial tutorials",
    "build": "cmake bazel scripts build-tools buildsrc",
    "ci": ".github .circleci .gitlab .buildkite",
    "config": "config configs conf settings .config",
}
_FOLDERS = {word: tag for tag, words in _WORDS_BY_TAG.items() for word in words.split()}

_NAMES = tuple(
    (tag, re.compile(pattern, re.IGNORECASE))
    for tag, pattern in (
        (
            "test",
            r"^tests?\.\w+$|^test_.+|^conftest\.py$|[-_.](?:test|tests|spec|specs|e2e)\.\w+$|_(?:test|spec)\.\w+$"
            r"|^(?:jest|vitest|playwright|karma|pytest|phpunit)(?:\.config)?\.\w+$",
        ),
        (
            "docs",
            r"^(?:readme|changelog|changes|history|contributing|authors|code_of_conduct|security|license|copying"
            r"|news|install|upgrading|architecture)(?:\..+)?$|\.(?:md|mdx|markdown|rst|adoc|org)$",
        ),
        (
            "ci",
            r"^\.(?:gitlab-ci|travis|cirrus|drone|appveyor)\.ya?ml$|^(?:jenkinsfile|azure-pipelines\.ya?ml"
            r"|appveyor\.yml|bitbucket-pipelines\.yml|cloudbuild\.ya?ml)$",
        ),
        (
            "build",
            r"^(?:makefile|gnumakefile|dockerfile|containerfile|justfile|rakefile|cmakelists\.txt|meson\.build"
            r"|build|build\.bazel|workspace|module\.bazel|vagrantfile|procfile|configure\.ac|setup\.py|build\.rs"
            r"|build\.gradle(?:\.kts)?|build\.sbt|build\.zig|gulpfile\..+|gruntfile\..+|kconfig|kbuild|noxfile\.py)$"
            r"|^(?:webpack|rollup|vite|esbuild|babel|tsup)\.config\.\w+$|^dockerfile\.|^makefile\.|\.dockerfile$"
            r"|\.(?:mk|cmake|bazel|bzl|gradle|sbt|csproj|vcxproj|fsproj|sln)$|^docker-compose.*\.ya?ml$",
        ),
        (
            "dependency",
            r"^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|pyproject\.toml|setup\.cfg"
            r"|pipfile(?:\.lock)?|poetry\.lock|uv\.lock|cargo\.(?:toml|lock)|go\.(?:mod|sum|work)|gemfile(?:\.lock)?"
            r"|composer\.(?:json|lock)|pom\.xml|build\.gradle(?:\.kts)?|mix\.(?:exs|lock)|package\.swift"
            r"|pubspec\.(?:yaml|lock)|build\.zig\.zon|stack\.yaml|environment\.ya?ml|vcpkg\.json|conanfile\..+"
            r"|podfile(?:\.lock)?|setup\.py|deps\.edn|project\.clj|rebar\.config)$"
            r"|^(?:requirements|constraints)[\w.-]*\.(?:txt|in)$|\.(?:gemspec|cabal|rockspec|csproj|nuspec)$",
        ),
        (
            "config",
            r"^(?:config|settings|configuration|appsettings|application)(?:[-_.][\w-]+)*\.\w+$|\.config\.\w+$"
            r"|^(?:tsconfig|jsconfig)[\w.-]*\.json$|^(?:tox|pytest|mypy)\.ini$|^setup\.cfg$|^\.[\w-]+rc(?:\.\w+)?$"
            r"|^\.(?:editorconfig|pre-commit-config\.yaml|gitattributes|readthedocs\.ya?ml|clang-format|flake8)$",
        ),
    )
)
_CONFIG_LANGUAGES = frozenset({"toml", "yaml", "ini", "properties", "dotenv", "hcl"})
_PROSE_LANGUAGES = frozenset({"markdown", "restructuredtext", "rst", "asciidoc"})
_CAMEL_TEST = re.compile(
    r"^(?:Test[A-Z]\w*|\w+(?:Test|Tests|TestCase|Spec|IT))\.(?:java|kt|scala|cs|php|swift|groovy)$"
)


def path_tags(path: str, language: str) -> tuple[str, ...]:
    """Return the tags of a path, sorted. The language itself is not a tag."""
    *folders, name = path.split("/")
    tags = {_FOLDERS[part] for folder in folders if (part := folder.lower()) in _FOLDERS}
    tags.update(_name_tags(name))
    if language in _PROSE_LANGUAGES:
        tags.add("docs")
    if language in _CONFIG_LANGUAGES and not tags:
        tags.add("config")
    return tuple(sorted(tags))


@lru_cache(maxsize=4_096)  # many files share a name, such as `__init__.py`
def _name_tags(name: str) -> tuple[str, ...]:
    tags = tuple(tag for tag, pattern in _NAMES if pattern.search(name))
    return (*tags, "test") if _CAMEL_TEST.search(name) else tags
