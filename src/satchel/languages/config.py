"""Settings, build and lock files whose format has no grammar here: windows, known as configuration."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

_SETTINGS = (
    ".ini",
    ".cfg",
    ".conf",
    ".cnf",
    ".properties",
    ".editorconfig",
    ".service",
    ".timer",
    ".desktop",
)
_TEMPLATES = (".env.example", ".env.sample", ".env.template", ".env.dist")  # a real .env is a secret
_BUILD = (".gradle", ".cmake", ".sbt", ".cabal", ".bazel", ".tf", ".tfvars", ".hcl", ".lock")
_XML = (".xml", ".xsd", ".plist", ".csproj", ".fsproj", ".vbproj", ".props", ".targets", ".sln")
_LOCKS = ("go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml")
_MANIFESTS = ("go.mod", "go.work", "CMakeLists.txt", "meson.build", "meson_options.txt", "Kconfig")
_PYTHON = ("MANIFEST.in", "constraints.txt", ".flake8", ".coveragerc", ".pylintrc", ".python-version")
_REQUIREMENTS = (
    *("requirements.txt", "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt"),
    *("requirements-test.txt", "requirements_test.txt", "test-requirements.txt", "requirements-docs.txt"),
)
_TOOLS = (
    *(".gitignore", ".gitattributes", ".gitmodules", ".dockerignore", ".npmignore", ".eslintignore"),
    *(".prettierignore", ".nvmrc", ".ruby-version", ".tool-versions", ".browserslistrc", ".htaccess"),
    *("Procfile", "CODEOWNERS"),
)

LANGUAGE = Language(
    name="config",
    suffixes=(*_SETTINGS, *_TEMPLATES, *_BUILD, *_XML),
    filenames=(*_LOCKS, *_MANIFESTS, *_PYTHON, *_REQUIREMENTS, *_TOOLS),
    chunker="windows",
    module_kind=ChunkKind.CONFIG,
    line_comment="#",
)
