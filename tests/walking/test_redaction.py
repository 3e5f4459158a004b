from __future__ import annotations

import random
import re
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.lines import split_lines
from satchel.walking.redaction import redact
from satchel.walking.secret_formats import SECRET_FORMATS

_CHOOSE = random.Random(7)


def letters(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(_CHOOSE.choice(alphabet) for _ in range(count))


def hexes(count: int) -> str:
    return letters(count, "0123456789abcdef")


# Planted values are put together here, so that this file itself holds none.
PLANTED = {
    "aws-key": ("id = '{}'", "AKIA" + letters(16, string.ascii_uppercase + "234567")),
    "aws-secret": ('aws_secret_access_key = "{}"', letters(40)),
    "github-token": ("token: {}", "ghp_" + letters(36)),
    "gitlab-token": ("{}", "glpat-" + letters(20)),
    "slack-token": ("{}", "xoxb-" + letters(12, string.digits) + "-" + letters(24)),
    "slack-webhook": ("https://hooks.slack.com/services/{}", f"T{letters(8)}/B{letters(8)}/{letters(24)}"),
    "stripe-key": ("key={}", "sk_live_" + letters(24)),
    "google-api-key": ("'{}'", "AIza" + letters(35)),
    "google-oauth-secret": ("{}", "GOCSPX-" + letters(28)),
    "anthropic-key": ("{}", "sk-ant-api03-" + letters(93)),
    "openai-key": ("{}", "sk-proj-" + letters(60)),
    "npm-token": ("{}", "npm_" + letters(36)),
    "pypi-token": ("password = {}", "pypi-AgEIcHlwaS5vcmc" + letters(80)),
    "sendgrid-key": ("{}", f"SG.{letters(22)}.{letters(43)}"),
    "twilio-key": ("twilio = '{}'", "SK" + hexes(32)),
    "mailgun-key": ("{}", "key-" + hexes(32)),
    "telegram-token": ("bot {}", letters(9, string.digits[1:]) + ":AA" + letters(33)),
    "discord-token": ("DISCORD={}", f"M{letters(23)}.{letters(6)}.{letters(27)}"),
    "jwt": ("Bearer {}", f"eyJ{letters(20)}.eyJ{letters(30)}.{letters(43)}"),
    "azure-key": ("AccountName=a;AccountKey={};", letters(86) + "=="),
    "heroku-key": ("HEROKU_API_KEY={}", f"{hexes(8)}-{hexes(4)}-{hexes(4)}-{hexes(4)}-{hexes(12)}"),
    "digitalocean-token": ("{}", "dop_v1_" + hexes(64)),
    "vault-token": ("{}", "hvs." + letters(90)),
    "databricks-token": ("{}", "dapi" + hexes(32)),
    "huggingface-token": ("{}", "hf_" + letters(34)),
    "shopify-token": ("{}", "shpat_" + hexes(32)),
    "square-token": ("{}", "sq0atp-" + letters(22)),
    "fastly-token": ('fastly_api_token: "{}"', letters(32)),
    "age-key": ("{}", "AGE-SECRET-KEY-1" + letters(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
    "url-password": ("postgres://app:{}@db.internal:5432/x", "h7Gq" + letters(8)),
}


PREFIXED = [
    ("slack-token", "xoxc-" + "-".join(letters(12, string.digits) for _ in range(3)) + "-" + hexes(64)),
    ("slack-token", "xoxd-" + letters(60) + "%2F" + letters(40) + "%3D%3D"),
    ("slack-token", "xoxe.xoxp-1-" + letters(163)),
    ("slack-token", "xoxe-1-" + letters(146)),
    ("gitlab-token", "glft-" + letters(20)),
    ("gitlab-token", "glimt-" + letters(25)),
    ("gitlab-token", "glagent-" + letters(50)),
    ("gitlab-token", "glffct-" + letters(20)),
    ("gitlab-token", "GR1348941" + letters(20)),
    ("brevo-key", f"xkeysib-{hexes(64)}-{letters(16)}"),
    ("replicate-token", "r8_" + letters(37)),
    ("perplexity-key", "pplx-" + letters(48)),
    ("xai-key", "xai-" + letters(80)),
    ("supabase-key", "sbp_" + hexes(40)),
    ("supabase-key", f"sb_secret_{letters(22)}_{letters(8)}"),
    ("planetscale-token", "pscale_tkn_" + letters(43)),
    ("doppler-token", "dp.pt." + letters(43)),
    ("doppler-token", "dp.st.dev." + letters(43)),
    ("pulumi-token", "pul-" + hexes(40)),
    ("buildkite-token", "bkua_" + hexes(40)),
    ("grafana-token", "glc_eyJ" + letters(90) + "="),
    ("newrelic-key", "NRII-" + letters(32)),
    ("bitbucket-token", "ATBB" + letters(32)),
    ("circleci-token", f"CCIPAT_{letters(22)}_{hexes(40)}"),
    ("tailscale-key", f"tskey-auth-{letters(12)}CNTRL-{letters(32)}"),
    ("onepassword-token", "ops_eyJ" + letters(600)),
    ("artifactory-key", "AKCp" + letters(69)),
    ("artifactory-key", "cmVmdGtuO" + letters(55)),
    ("sonarqube-token", "sqp_" + hexes(40)),
    ("clojars-token", "CLOJARS_" + hexes(60)),
    ("langsmith-key", f"lsv2_pt_{hexes(32)}_{hexes(10)}"),
    ("fly-token", "fo1_" + letters(43)),
    ("fly-token", "fm2_" + letters(300) + "=="),
    ("mapbox-token", f"sk.eyJ{letters(60)}.{letters(22)}"),
    ("mapbox-token", f"pk.eyJ{letters(60)}.{letters(22)}"),
    ("cloudflare-token", "cfut_" + letters(48)),
    ("vercel-token", "vcp_" + letters(56)),
    ("vercel-token", "vck_" + letters(60)),
    ("neon-key", "napi_" + letters(64, string.ascii_lowercase + string.digits)),
    ("pinecone-key", f"pcsk_{letters(6)}_{letters(63)}"),
    ("tavily-key", "tvly-" + letters(32)),
    ("tavily-key", "tvly-dev-" + letters(32)),
    ("firecrawl-key", "fc-" + hexes(32)),
    ("jina-key", "jina_" + hexes(32) + letters(28)),
    ("e2b-key", "e2b_" + hexes(40)),
    ("apify-token", "apify_api_" + letters(36)),
    ("langfuse-key", f"sk-lf-{hexes(8)}-{hexes(4)}-{hexes(4)}-{hexes(4)}-{hexes(12)}"),
    ("resend-key", f"re_{letters(8)}_{letters(24)}"),
    ("posthog-key", "phc_" + letters(43)),
    ("posthog-key", "phx_" + letters(47)),
    ("contentful-token", "CFPAT-" + letters(43)),
    ("hubspot-token", f"pat-na1-{hexes(8)}-{hexes(4)}-{hexes(4)}-{hexes(4)}-{hexes(12)}"),
]


@pytest.mark.parametrize(("kind", "value"), PREFIXED, ids=[value[:10] for _, value in PREFIXED])
@pytest.mark.parametrize("line", ["{}", 'token = "{}";', "TOKEN={}\n", "Bearer {}, next"])
def test_a_token_with_a_documented_prefix_is_redacted_wherever_it_stands(
    kind: str, value: str, line: str
) -> None:
    assert redact(line.format(value)).text == line.format(f"«redacted:{kind}»")


NAMED = [
    ("aws_session_token = {}", "aws-session-token", "IQoJb3JpZ2luX2Vj/+" + letters(300) + "=="),
    ('"SessionToken": "{}",', "aws-session-token", "FwoGZXIvYXdz" + letters(200)),
    (
        "https://b.s3.amazonaws.com/k?X-Amz-Security-Token={}&x=1",
        "aws-session-token",
        "IQoJ%2F" + letters(200),
    ),
    ("//registry.npmjs.org/:_password={}", "npm-token", "aDdHcTlrTDI="),
    ('//npm.example.com/:_auth = "{}"', "npm-token", "dXNlcjpoN0dxOWtMMg=="),
    ("export VAULT_TOKEN={}", "vault-token", "s." + letters(24)),
    ("X-Vault-Token: {}", "vault-token", "s." + letters(24)),
    ("AIRTABLE_KEY={}", "airtable-token", f"pat{letters(14)}.{hexes(64)}"),
]


@pytest.mark.parametrize(("line", "kind", "value"), NAMED)
def test_a_token_without_a_telling_prefix_is_redacted_after_its_name(
    line: str, kind: str, value: str
) -> None:
    assert redact(line.format(value)).text == line.format(f"«redacted:{kind}»")


def test_the_secret_part_of_a_teams_webhook_is_redacted() -> None:
    uuid = f"{hexes(8)}-{hexes(4)}-{hexes(4)}-{hexes(4)}-{hexes(12)}"
    url = "https://contoso.webhook.office.com/webhookb2/{}"
    value = f"{uuid}@{uuid}/IncomingWebhook/{hexes(32)}/{uuid}"
    assert redact(url.format(value)).text == url.format("«redacted:teams-webhook»")


@pytest.mark.parametrize("kind", sorted(PLANTED))
@pytest.mark.parametrize("around", ["{}", "x = 1\r\n  {}\r\ny = 2", "«ü»\n{} # é\n"])
def test_every_documented_format_is_redacted_and_nothing_else(kind: str, around: str) -> None:
    line, value = PLANTED[kind]
    text = around.format(line)
    clean = redact(text.format(value))
    assert clean.text == text.format(f"«redacted:{kind}»")
    assert clean.lines == (len(split_lines(text[: text.index("{")] + "x")),)


@pytest.mark.parametrize(
    "line",
    [
        "{{ 'aws_secret_access_key' : `{}` }}",
        "os.environ.AWS_SECRET_ACCESS_KEY || '{}'",
        "process.env['AWS_SECRET_ACCESS_KEY'] ?? \"{}\"",
        'os.environ.get("AWS_SECRET_ACCESS_KEY") or "{}"',
        "ENV AWS_SECRET_ACCESS_KEY {}",
        "RUN aws configure set aws_secret_access_key {}",
        "<secretAccessKey>{}</secretAccessKey>",
        '"{{\\"SecretAccessKey\\": \\"{}\\"}}"',
        "awsSecretKey={}",
    ],
)
def test_a_secret_key_of_aws_is_redacted_however_its_name_leads_to_it(line: str) -> None:
    assert redact(line.format(letters(40))).text == line.format("«redacted:aws-secret»")


@pytest.mark.parametrize(
    ("url", "password"),
    [
        ("postgres://bob:{}@db.example.com/x", "%24uperS3cretPw9"),
        ("smtp://me@gmail.com:{}@smtp.gmail.com:587", "hunter2zz9"),
        ("postgres://bob:{}@db.example.com/x", "$ecr3tPw9xx"),
        ("postgresql://svc:{}@db.example.com/x", "pa(ren)Pw9"),
        ("postgres://app:{}@db/x", "pa55@word99"),
        ("postgres://app:{}@db", "p@ssgQjwjf"),
        ("amqp://app:{}@mq/x?reply=me@example.com", "@t@h7Gq@"),
        ("mongodb://app:{}@one:27017,two:27017/x", "h7Gq@kk2"),
    ],
)
def test_a_password_in_a_url_is_redacted_with_its_odd_characters(url: str, password: str) -> None:
    assert redact(f'a = "{url.format(password)}"').text == f'a = "{url.format("«redacted:url-password»")}"'


@pytest.mark.parametrize(
    "text",
    [
        "postgres://$user:$password@localhost/db",
        "postgres://$DB_USER:$DB_PASSWORD_1@$host/db",
        "postgres://u:$(cat secret)@h",
        "postgres://$1:$2@h postgres://$a1:$b2@h",
        "http://%6d:%6D@host/%6d",
        "postgres://%(user)s:%(password)s@h",
        "AWS_SECRET_ACCESS_KEY or the shared credentials file in the home folder",
        "postgres://user:password@localhost/db",
        "https://user:pass@example.org",
        "redis://:${REDIS_PASSWORD}@redis",
        "mysql://root:<password>@host",
        "amqp://guest:guest@localhost",
        "postgres://me:p@ssw0rd@localhost",
        "http://foo:bar@baz@example.com http://:password@@host/path",
        "url = f'postgres://{user}:{password}@{host}'",
        "postgres://u:%s@h' % password",
        "token = 'sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "export GITHUB_TOKEN=${TOKEN}",
        "npm_config_registry npm_lifecycle_event",
        "//registry.npmjs.org/:_password=${NPM_PASSWORD}",
        "//registry.npmjs.org/:_auth=BASE64_OF_USER_AND_PASSWORD",
        "session_token = self.get_session_token(request_of_this_user)",
        "VAULT_TOKEN=s.replace(old_value_of_token, other)",
        "sb_secret_of_the_super_block_when_mounted = r8_intermediate_value_of_register",
        "dp.st.copy_of_the_state_of_a_deployment_pipeline pul-request fo1_value",
        "hf_hub_download(some_argument_that_is_rather_long_)",
        'api_key = "8f14e45fceea167a5a36dedd4bea2543"',
        "sha256-" + "A1b2" * 11,
        "http://localhost:8080/path@2x.png",
        "see https://a.b:443/c and mail me@example.org",
        'if "-----BEGIN RSA PRIVATE KEY-----" in text and "-----END RSA PRIVATE KEY-----" in text:',
    ],
)
def test_placeholders_variables_and_hashes_stay(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).lines == ()


def test_the_example_keys_of_documentation_are_redacted_to_be_safe() -> None:
    assert redact("AKIA" + "IOSFODNN7EXAMPLE").lines == (1,)


def key_block(end: str) -> tuple[str, list[str]]:
    body = [letters(64) for _ in range(5)] + [letters(7) + "="]
    lines = ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----", "after = 1", ""]
    return end.join(lines), body


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_private_key_loses_its_material_and_keeps_its_lines(end: str) -> None:
    text, body = key_block(end)
    clean = redact(text)
    assert split_lines(clean.text)[0] == split_lines(text)[0] and clean.text.endswith(f"after = 1{end}")
    assert clean.lines == (2, 3, 4, 5, 6, 7)
    assert not any(line in clean.text for line in body)


def test_a_private_key_on_one_line_of_json_is_redacted_between_its_escapes() -> None:
    text, body = key_block("\\n")
    clean = redact(f'{{"private_key": "{text}"}}')
    assert not any(line in clean.text for line in body)
    assert clean.text.count("\\n") == text.count("\\n")


def test_a_private_key_that_is_cut_off_is_redacted_up_to_the_code_after_it() -> None:
    body = letters(64)
    clean = redact(
        f"-----BEGIN PRIVATE KEY-----\n{body}\n{body}\ndef compute_everything(argument):\n    pass\n"
    )
    assert body not in clean.text and "def compute_everything(argument):" in clean.text


def test_a_private_key_that_is_cut_off_inside_a_string_is_redacted_between_its_escapes() -> None:
    body = [letters(64) for _ in range(3)]
    lines = "\\n".join(["-----BEGIN PRIVATE KEY-----", *body])
    clean = redact(f'key = "{lines}"\nimport os\n').text
    assert not any(part in clean for part in body) and clean.endswith('"\nimport os\n')


@pytest.mark.parametrize("line", ["{}", '    "{}\\n"', "# {}"])
def test_an_encrypted_private_key_that_is_cut_off_is_redacted_after_its_headers(line: str) -> None:
    body = [letters(64) for _ in range(3)]
    headers = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123456789ABCDEF", ""]
    lines = ["-----BEGIN RSA PRIVATE KEY-----", *headers, *body]
    clean = redact("\n".join(line.format(part) for part in lines) + "\nimport os\n").text
    assert not any(part in clean for part in body)
    assert "DEK-Info: AES-128-CBC,0123456789ABCDEF" in clean and clean.endswith("\nimport os\n")


def test_the_headers_of_a_private_key_stay() -> None:
    body = letters(64)
    headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n"
    text = "-----BEGIN RSA PRIVATE KEY-----\n{}\n{}\n-----END RSA PRIVATE KEY-----\n"
    assert redact(text.format(headers, body)).text == text.format(headers, "«redacted:private-key»")


def test_certificates_and_public_keys_are_no_secrets() -> None:
    text = f"-----BEGIN CERTIFICATE-----\n{letters(64)}\n-----END CERTIFICATE-----\n"
    assert redact(text).text == text


def test_values_on_one_line_are_counted_each() -> None:
    value = "ghp_" + letters(36)
    assert redact(f"\n{value} {value}\n").lines == (2, 2)


VALUES = st.sampled_from([line.format(value) for line, value in PLANTED.values()] + [key_block("\n")[0]])


@given(
    st.lists(st.one_of(st.text(), VALUES, st.sampled_from(["\n", "\r", "\r\n", "\x0b", "\u2028"]))).map(
        "".join
    )
)
def test_line_ends_are_never_touched(text: str) -> None:
    clean = redact(text)
    assert re.findall(r"\r\n|\r|\n", clean.text) == re.findall(r"\r\n|\r|\n", text)
    assert list(clean.lines) == sorted(clean.lines)
    assert len(clean.lines) == clean.text.count("«redacted:") - text.count("«redacted:")


@given(st.text(alphabet="\ud800\udfffa\n:/@", max_size=40))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert isinstance(redact(text).text, str)


def test_redacting_twice_changes_nothing() -> None:
    once = redact("\n".join(line.format(value) for line, value in PLANTED.values())).text
    assert redact(once).text == once


def test_every_kind_has_a_plain_name_and_a_word_to_look_for() -> None:
    assert all(re.fullmatch(r"[a-z0-9-]+", rule.kind) and rule.words for rule in SECRET_FORMATS)
    assert all(word == word.lower() for rule in SECRET_FORMATS if rule.any_case for word in rule.words)


@pytest.mark.parametrize(
    "piece",
    [
        "://a",
        "ghp_",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----" + "+" * 32_000 + "!",
        "eyJ.eyJ",
        "xoxb-1234567",
        "aws_secret_key=",
    ],
)
def test_time_grows_with_the_length_of_hostile_text_and_not_faster(piece: str) -> None:
    redact(piece * 10)
    start = time.process_time()
    redact(piece * (400_000 // len(piece)))
    assert time.process_time() - start < 4


BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
LONG = "aB3dEfGhIj" * 6
KEY_LIKE = {
    "only beginnings": f"{BEGIN}\n",
    "beginnings of anything": "-----BEGIN ",
    "names that do not end": "-----BEGIN " + "A " * 20,
    "dashes": "-" * 1000,
    "base64": f"{BEGIN}\n" + "aB3+" * 8000,
    "short lines": f"{BEGIN}\n" + "aBcd\n" * 6000 + f"{LONG}\n{END}\n",
    "short words on one line": BEGIN + "aB " * 8000 + LONG + END,
    "headers": f"{BEGIN}\n" + "Ab: c\n" * 5000 + f"{LONG}\n{END}\n",
    "headers without an end": f"{BEGIN}\n" + "Version: c\n" * 2500 + f"{LONG}\n",
    "a header that does not end": f"{BEGIN}\nA" + "b-" * 15_000 + f"\n{END}",
    "escaped line ends": BEGIN + "\\n" * 10_000 + END,
    "quotes": f"{BEGIN}\n" + "+" * 30_000 + "\n",
}


@pytest.mark.parametrize("kind", KEY_LIKE)
def test_a_megabyte_that_looks_like_keys_is_read_in_linear_time(kind: str) -> None:
    piece = KEY_LIKE[kind]
    redact(piece)

    def seconds(size: int) -> float:
        text = "PRIVATE KEY " + piece * (size // len(piece) + 1)
        start = time.process_time()
        redact(text)
        return time.process_time() - start

    half, whole = seconds(500_000), seconds(1_000_000)
    assert whole < 1.5 and whole < 3 * half + 0.1
