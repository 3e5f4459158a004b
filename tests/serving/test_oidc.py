"""Tokens of an identity provider, with real keys: what is believed, and everything that is not."""

from __future__ import annotations

import base64
import hmac
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from satchel.errors import ConfigError, Unauthorized
from satchel.library.catalogues import open_catalogue
from satchel.library.grants import Caller, Grant
from satchel.serving import oidc
from satchel.serving.access import make_access
from satchel.serving.oidc import OidcVerifier
from satchel.serving.rights import Rights
from satchel.settings import OidcSettings

ISSUER, AUDIENCE = "https://id.example.org", "satchel"
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
WEAK_KEY = rsa.generate_private_key(public_exponent=65537, key_size=1024)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
OTHER_KEY = ec.generate_private_key(ec.SECP256R1())


def public(key: Any, name: str, **others: Any) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    told: dict[str, Any] = kind.to_jwk(key.public_key(), as_dict=True)
    told.pop("key_ops", None)
    return {**told, "kid": name, **others}


KEYS = {
    "keys": [
        public(RSA_KEY, "rsa", use="sig", alg="RS256"),
        public(EC_KEY, "ec"),
        public(WEAK_KEY, "weak"),
        public(OTHER_KEY, "for-encryption", use="enc"),
        {"kty": "oct", "kid": "shared", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTMy"},
        {"kty": "EC", "kid": "broken", "crv": "P-256"},
    ]
}


def token(key: Any = RSA_KEY, name: str | None = "rsa", algorithm: str = "RS256", **claims: Any) -> str:
    now = time.time()
    usual = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "ada",
        "exp": now + 300,
        "iat": now,
        "groups": ["core", "web"],
    }
    given = {key: value for key, value in {**usual, **claims}.items() if value is not None}
    return jwt.encode(given, key, algorithm, headers={"kid": name} if name else {})


@pytest.fixture
def verifier(tmp_path: Path) -> OidcVerifier:
    (tmp_path / "keys.json").write_text(json.dumps(KEYS))
    return OidcVerifier(OidcSettings(ISSUER, AUDIENCE, str(tmp_path / "keys.json")))


def test_a_person_is_known_by_subject_and_groups(verifier: OidcVerifier) -> None:
    expected = Caller("ada", Grant((), ("core", "web")), is_person=True)
    assert verifier.caller(token()) == expected
    assert verifier.caller(token(EC_KEY, "ec", "ES256")) == expected
    assert verifier.caller(token(groups="core")).grant == Grant((), ("core",))
    assert verifier.caller(token(groups=None)).grant == Grant(())
    assert verifier.caller(token(groups=[1, {"a": 2}, "web"])).grant == Grant((), ("web",))
    assert verifier.caller(token(aud=["other", AUDIENCE])) == expected


def test_groups_may_be_inside_another_claim(verifier: OidcVerifier, tmp_path: Path) -> None:
    nested = OidcVerifier(OidcSettings(ISSUER, AUDIENCE, str(tmp_path / "keys.json"), "realm_access.roles"))
    assert nested.caller(token(realm_access={"roles": ["core"]})).grant == Grant((), ("core",))
    assert nested.caller(token(realm_access=["roles"])).grant == Grant(())


def test_clocks_may_differ_by_a_minute(verifier: OidcVerifier) -> None:
    now = time.time()
    assert verifier.caller(token(exp=now - 50)) and verifier.caller(token(nbf=now + 50, iat=now + 50))
    for claims in ({"exp": now - 70}, {"nbf": now + 90}):
        with pytest.raises(Unauthorized):
            verifier.caller(token(**claims))


def unsigned(algorithm: str) -> str:
    _, body, _ = token().split(".")
    return f"{part({'alg': algorithm, 'typ': 'JWT', 'kid': 'rsa'})}.{body}."


def part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def confused() -> str:
    """A token signed with the public key as if it were a shared secret."""
    pem = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    body = token().split(".")[1]
    signed = f"{part({'alg': 'HS256', 'typ': 'JWT', 'kid': 'rsa'})}.{body}"
    mac = base64.urlsafe_b64encode(hmac.new(pem, signed.encode(), "sha256").digest()).rstrip(b"=").decode()
    return f"{signed}.{mac}"


def tampered() -> str:
    head, _, signature = token().split(".")
    return f"{head}.{token(sub='eve').split('.')[1]}.{signature}"


NOT_BELIEVED = {
    "another audience": lambda: token(aud="other"),
    "no audience": lambda: token(aud=None),
    "another issuer": lambda: token(iss="https://evil.example.org"),
    "expired": lambda: token(exp=time.time() - 3600),
    "no end": lambda: token(exp=None),
    "no subject": lambda: token(sub=None),
    "unknown key": lambda: token(OTHER_KEY, "unknown", "ES256"),
    "no name of several keys": lambda: token(name=None),
    "a key of the same name": lambda: token(OTHER_KEY, "ec", "ES256"),
    "a key for encryption": lambda: token(OTHER_KEY, "for-encryption", "ES256"),
    "a weak key": lambda: token(WEAK_KEY, "weak"),
    "a shared secret in the key set": lambda: token(b"secret-secret-secret-secret-32", "shared", "HS256"),
    "unsigned": lambda: unsigned("none"),
    "unsigned, in other letters": lambda: unsigned("nOnE"),
    "the public key as a secret": confused,
    "another algorithm of the same kind": lambda: token(algorithm="RS512"),
    "the kind of another key": lambda: token(RSA_KEY, "ec", "RS256"),
    "other claims": tampered,
    "critical extension": lambda: jwt.encode(
        {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": time.time() + 300},
        RSA_KEY,
        "RS256",
        headers={"kid": "rsa", "crit": ["x"], "x": 1},
    ),
    "nothing": lambda: "",
    "no token": lambda: "a.b.c",
    "too long": lambda: "x" * 20_000,
}


@pytest.mark.parametrize("case", NOT_BELIEVED)
def test_what_is_not_believed_is_refused_alike(case: str, verifier: OidcVerifier) -> None:
    with pytest.raises(Unauthorized) as refused:
        verifier.caller(NOT_BELIEVED[case]())
    assert refused.value.message == "the token is not valid here"


def test_keys_that_change_are_read_again(verifier: OidcVerifier, tmp_path: Path) -> None:
    with pytest.raises(Unauthorized):
        verifier.caller(token(OTHER_KEY, "new", "ES256"))
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [public(OTHER_KEY, "new")]}))
    assert verifier.caller(token(OTHER_KEY, "new", "ES256")).name == "ada"
    assert verifier.caller(token(OTHER_KEY, None, "ES256")).name == "ada"  # the only key there is
    with pytest.raises(Unauthorized):
        verifier.caller(token())
    (tmp_path / "keys.json").write_text("{")
    assert verifier.caller(token(OTHER_KEY, "new", "ES256")).name == "ada"  # the last that could be read


@pytest.fixture
def provider() -> Iterator[tuple[HTTPServer, list[str]]]:
    fetched: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        keys: dict[str, Any] = KEYS

        def do_GET(self) -> None:
            fetched.append(self.path)
            if self.path == "/elsewhere":
                self.send_response(302)
                self.send_header("location", "/keys")
                self.end_headers()
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(KEYS).encode())

        def log_message(self, *_: Any) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server, fetched
    server.shutdown()
    server.server_close()


def test_keys_of_a_url_are_fetched_once_and_not_for_every_unknown_one(
    provider: tuple[HTTPServer, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, fetched = provider
    verifier = OidcVerifier(OidcSettings(ISSUER, AUDIENCE, f"http://127.0.0.1:{server.server_port}/keys"))
    assert verifier.caller(token()) == verifier.caller(token(EC_KEY, "ec", "ES256"))
    for number in range(5):
        with pytest.raises(Unauthorized):
            verifier.caller(token(OTHER_KEY, f"unknown-{number}", "ES256"))
    assert len(fetched) == 1
    monkeypatch.setattr(oidc, "_REFRESH_SECONDS", 0.0)
    with pytest.raises(Unauthorized):
        verifier.caller(token(OTHER_KEY, "unknown", "ES256"))
    assert len(fetched) == 2


def test_keys_come_from_where_the_operator_said(
    provider: tuple[HTTPServer, list[str]], tmp_path: Path
) -> None:
    server, _ = provider
    for place in (
        f"http://127.0.0.1:{server.server_port}/elsewhere",
        "http://127.0.0.1:1/keys",
        str(tmp_path / "none"),
    ):
        with pytest.raises(ConfigError, match="cannot be read"):
            OidcVerifier(OidcSettings(ISSUER, AUDIENCE, place)).caller(token())
    for place in ("http://id.example.org/keys", "ftp://127.0.0.1/keys", "file:///etc/keys"):
        with pytest.raises(ConfigError, match="not fetched"):
            OidcVerifier(OidcSettings(ISSUER, AUDIENCE, place))


def test_a_served_library_takes_both_kinds_of_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_catalogue(tmp_path / "books").create()
    (tmp_path / "keys.json").write_text(json.dumps(KEYS))
    for name, value in (("ISSUER", ISSUER), ("AUDIENCE", AUDIENCE), ("JWKS", str(tmp_path / "keys.json"))):
        monkeypatch.setenv(f"SATCHEL_OIDC_{name}", value)
    rights = Rights(open_catalogue(tmp_path / "books"))
    secret, _ = rights.tokens.create("ci", Grant(("shop",)))
    access = make_access("0.0.0.0", public=True, token="", hosts=(), origins=(), rights=rights)
    assert access.caller(f"Bearer {token()}").is_person
    assert access.caller(f"bearer {secret}") == Caller("ci", Grant(("shop",)))
    for header in (
        None,
        "",
        f"Basic {secret}",
        f"Bearer {token(aud='other')}",
        "Bearer",
        f"Bearer {secret}x",
    ):
        with pytest.raises(Unauthorized):
            access.caller(header)
    monkeypatch.delenv("SATCHEL_OIDC_JWKS")
    with pytest.raises(ConfigError, match="SATCHEL_OIDC_JWKS is not set"):
        Rights(open_catalogue(tmp_path / "books"))


def test_an_open_library_is_guarded_from_its_first_token_on(tmp_path: Path) -> None:
    open_catalogue(tmp_path / "books").create()
    rights = Rights(open_catalogue(tmp_path / "books"))
    with pytest.raises(ConfigError, match="needed"):
        make_access("0.0.0.0", public=True, token="", hosts=(), origins=(), rights=rights)
    access = make_access("127.0.0.1", public=False, token="", hosts=(), origins=(), rights=rights)
    assert access.caller(None).is_operator
    rights.tokens.create("ci", Grant(("*",)))
    rights.tokens.revoke(["ci"])
    time.sleep(0.6)
    with pytest.raises(Unauthorized):
        access.caller(None)
    # Nor does a catalogue without tokens open the server again, such as a copy of an earlier day.
    (tmp_path / "books" / "catalogue.db").unlink()
    open_catalogue(tmp_path / "books").create()
    time.sleep(0.6)
    with pytest.raises(Unauthorized):
        access.caller(None)
