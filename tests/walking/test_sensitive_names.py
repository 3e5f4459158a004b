from __future__ import annotations

import pytest

from satchel.walking.sensitive_names import is_sensitive

SENSITIVE = """
.env .env.local .env.production deploy/.env .ENV .ssh/config
prod.env staging.env deploy/config.env .docker.env Production.ENV examples/app.env counterexample.env
home/.ssh/known_hosts .git/config .aws/credentials
id_rsa id_rsa.pub id_rsa_backup id_ed25519 server.pem server.key store.p12 cert.pfx release.jks debug.keystore
.npmrc .pypirc .netrc .pgpass credentials credentials.json credentials-prod.yml aws_credentials.ini
secrets.yaml secrets.json secrets.env secrets client_secrets.json password.txt db_passwords.csv passwords.kdbx
my-password.properties Passwords.XML .github/agents/a.md
a/.github/agents/b/c.md __pycache__/a.py x/__pycache__/b
mod.pyc SECRETS.YML .secrets credentialsbackup.json passwordlist.txt secrets.tf infra/passwords.hcl
"""

HARMLESS = """
tokenizer.py keyboard.md monkey.py token_bucket.go password_validation.py secrets.py secrets.go
secrets.test.ts credentialsprovider.go passwordreset.rb main.tf mycredentialstore.json secretservice.tf
credentials.rs passwordless.yaml key.py keys.go turkey.txt .env.example .env.sample
.env.template .env.dist example.env .sample.env app.example.env db-template.env prod.env.example env.py app.env.ts
.env.local.example environment.py .envrc src/env/index.ts idea.txt id_rsa.go-like/readme.md identity.py
secretary.json .github/workflows/ci.yml
agents/a.md docs/passwords.md pem.py keystore.go
git/config aws/config.json
password_reset.html npmrc.md
"""


@pytest.mark.parametrize("path", SENSITIVE.split())
def test_a_file_that_holds_secrets_by_its_name_is_sensitive(path: str) -> None:
    assert is_sensitive(path)


@pytest.mark.parametrize("path", HARMLESS.split())
def test_code_and_documents_of_similar_names_are_not(path: str) -> None:
    assert is_sensitive(path) is None


def test_the_rule_is_named() -> None:
    assert is_sensitive("a/.env") == "env-file"
    assert is_sensitive("id_ed25519") == "ssh-key"
