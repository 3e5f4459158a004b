"""Every documented token is found beside whatever can be written before and after it."""

from __future__ import annotations

import string

import pytest
from test_redaction import NAMED, PLANTED, PREFIXED, hexes, letters

from satchel.walking.redaction import redact
from satchel.walking.secret_formats import SECRET_FORMATS

UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"


def uuid() -> str:
    return "-".join(hexes(count) for count in (8, 4, 4, 4, 12))


# (line, value), put together here so that this file itself holds none
SAMPLES = [
    ("{}", "A3TX" + letters(16, BASE32)),
    ("{}", "ABSK" + letters(120) + "=="),
    ("{}", "bedrock-api-key-" + letters(60)),
    ("{}", "LTAI" + letters(20)),
    ("https://a.blob.core.windows.net/c?sv=1&sig={}", letters(43) + "%3D"),
    ("{}", f"{letters(3)}8Q~{letters(34)}"),
    ("{}", "ya29." + letters(60)),
    ("{}", f"t1.{letters(100)}.{letters(86)}"),
    ("{}", "AQVN" + letters(36)),
    ("YANDEX_KEY={}", "YC" + letters(38)),
    ("{}", f"v1.0-{hexes(24)}-{hexes(146)}"),
    ("{}", "HRKU-AA" + letters(58)),
    ("{}", "nfp_" + letters(40)),
    ("{}", "tk-us-" + letters(48)),
    ("{}", f"dnkey-{letters(26)}-{letters(52)}"),
    ("{}", "sha256~" + letters(43)),
    ("{}", f"SWMTKN-1-{letters(50, string.ascii_lowercase + string.digits)}-{hexes(25)}"),
    ("{}", "4b1dZ" + letters(37)),
    ("dropbox {}", letters(11) + "A" * 10 + letters(43)),
    ("{}", "sl." + letters(135)),
    ("{}", "pnu_" + letters(36)),
    ("{}", "github_pat_" + letters(22) + "_" + letters(59)),
    ("_gitlab_session={}", hexes(32)),
    ("{}", "ATATT3" + letters(186)),
    ("{}", f"sgp_{hexes(16)}_{hexes(40)}"),
    ("{}", "sgp_local_" + hexes(40)),
    ("{}", "sgp_" + hexes(40)),
    ("{}", f"pat.{letters(22)}.{letters(24)}.{letters(20)}"),
    ("{}", "API-7" + letters(25, UPPER)),
    ("//registry.npmjs.org/:_authToken={}", uuid()),
    ("{}", "rubygems_" + hexes(48)),
    ("{}", "cio" + letters(32)),
    ("{}", "oy2a5" + letters(41, string.ascii_lowercase + "234567")),
    ('<add key="ClearTextPassword" value="{}" />', "h7Gq" + letters(12)),
    ("{}", "dckr_pat_" + letters(27)),
    ("BUNDLE_GEMS__CONTRIBSYS__COM={}", f"{hexes(8)}:{hexes(8)}"),
    ("https://{}@gems.contribsys.com/", f"{hexes(8)}:{hexes(8)}"),
    ("{}", "sk-" + letters(20) + "T3BlbkFJ" + letters(20)),
    ("{}", "sk-" + letters(48)),
    ("{}", "sk-or-v1-" + hexes(64)),
    ("{}", "gsk_" + letters(52)),
    ("{}", "nvapi-" + letters(64)),
    ("{}", "api_org_" + letters(34, string.ascii_letters)),
    ("{}", "xoxr-7" + letters(30)),
    ("{}", f"xapp-1-A{letters(9, UPPER)}-{letters(13, string.digits)}-{hexes(64)}"),
    ("{}", "SK" + hexes(32)),
    ("twilio {}", "AC" + hexes(32)),
    ("TWILIO_AUTH_TOKEN={}", hexes(32)),
    ("mailgun {}", f"{hexes(32)}-{hexes(8)}-{hexes(8)}"),
    ("{}", hexes(32) + "-us12"),
    ("https://discord.com/api/webhooks/" + letters(18, string.digits) + "/{}", letters(68)),
    ("facebook {}", letters(16, string.digits) + "|" + letters(27)),
    ("{}", "EAAC7" + letters(180)),
    ("{}", "A" * 21 + letters(30) + "%3D" + letters(50)),
    ("twitter {}", letters(19, string.digits) + "-" + letters(40)),
    ("BEAMER_KEY={}", "b_" + letters(44)),
    ("{}", "whsec_" + letters(32)),
    ("{}", "EAAA7" + letters(59)),
    ("{}", f"FLWSECK-{hexes(32)}-X"),
    ("{}", f"FLWPUBK_TEST-{hexes(32)}-X"),
    ("{}", "FLWSECK_TEST-" + hexes(12)),
    ("{}", "access-production-" + uuid()),
    ("gocardless {}", "live_" + letters(40)),
    ("{}", "test_" + hexes(35)),
    ("{}", "live_pub_" + hexes(31)),
    ("'secret_key' => '{}'", "sk_" + letters(29)),
    ("{}", "EZAK" + letters(54)),
    ("{}", "EZTK" + letters(54)),
    ("{}", "shippo_live_" + hexes(40)),
    ("{}", "duffel_test_" + letters(43)),
    ("{}", f"dt0c01.{letters(24, UPPER)}.{letters(64, UPPER)}"),
    ("{}", f"glsa_{letters(32)}_{hexes(8)}"),
    ("{}", "eyJrIjoi" + letters(80) + "=="),
    ("{}", "NRAK-" + letters(27, UPPER)),
    ("{}", "NRJS-" + hexes(19)),
    ("{}", "sntryu_" + hexes(64)),
    ("{}", f"sntrys_eyJpYXQiO{letters(90)}_{letters(43)}"),
    ("sumo_access_id = {}", "su7" + letters(11)),
    ("OKTA_TOKEN={}", "00" + letters(40)),
    ("{}", f"scauth_{hexes(12)}.{hexes(5)}.acc_{hexes(20)}.{letters(64)}"),
    ("{}", f"{letters(14)}.atlasv1.{letters(67)}"),
    ("{}", "ico-" + letters(32)),
    ("{}", "sm_pat_" + letters(16)),
    ("{}", "A3-" + "-".join(letters(count, UPPER) for count in (6, 11, 5, 5, 5))),
    ("{}", "A3-" + "-".join(letters(count, UPPER) for count in (6, 6, 5, 5, 5, 5))),
    ("{}", f"ZXlK{letters(40)}LmV5{letters(120)}=="),
    ("{}", f"PMAK-{hexes(24)}-{hexes(34)}"),
    ("{}", "lin_api_" + letters(40)),
    ("{}", "lin_oauth_" + hexes(64)),
    ("{}", "ntn_" + letters(46)),
    ("{}", "figd_" + letters(40)),
    ("{}", "fio-u-" + letters(64)),
    ("{}", "rdme_" + letters(70, string.ascii_lowercase + string.digits)),
    ("{}", "tfp_" + letters(59)),
    ("{}", "p8e-" + letters(32)),
    ("{}", "s-s4t2ud-" + hexes(64)),
    ("{}", f"{letters(6)}_{letters(29)}_mmk"),
    *((line, value) for line, value in PLANTED.values()),
    *(("{}", value) for _, value in PREFIXED),
    *((line, value) for line, _, value in NAMED),
    (
        "https://a.webhook.office.com/webhookb2/{}",
        f"{uuid()}@{uuid()}/IncomingWebhook/{hexes(32)}/{uuid()}",
    ),
]
# fmt: off
BEFORE = [
    "", " ", '"', "`", "=", "(", ">", "*", "_", "__", "session_", "ü", "\t", "\r\n", r"\n", r"\t", r"\r", r"\\n", r"\"",
    r"\u003d", r"\U0000003d", r"\x22", r"\042", "%3D", "%20", "%22", "%253D", "=3D", "&quot;",
    "\x1b[31m", "\x1b[0m", r"\033[0m", r"\x1b[1;31m", r"\e[0m", r"\u001b[32m",
]
AFTER = [
    "", " ", '"', "`", ",", ";", ".", "...", ")", "<", "*", "_", "__", "_ ", "_*", "ü", "\t", "\r\n", r"\n", r"\\n",
    r"\"", r"\u0026", r"\x22", "%20", "%22", "%253D", "&quot;", "\x1b[0m", r"\033[0m", r"\e[0m",
]
# fmt: on
# What can stand between the sign after a name and the value.
BETWEEN = [
    *(
        "",
        '"',
        "'",
        "`",
        "*",
        "_",
        "__",
        r"\n",
        r"\t",
        r"\"",
        r"\u0022",
        r"\x22",
        r"\042",
        "%20",
        "%22",
        "%27",
    ),
    *("&quot;", "&#39;", "\x1b[31m", r"\033[1;31m", r"\x1b[0m", r"\e[0m", '\x1b[31m"'),
]
IN_QUOTES_OR_ADDRESSES = ("<add key=", "'secret_key'", "://")  # such a value has no neighbours of its own


def leaking(lines: list[str], value: str) -> list[str]:
    """The lines that show a part of the value."""

    def shows(text: str) -> bool:
        clean = redact(text).text
        return value in clean or value[-10:] in clean or value[8:18] in clean

    return [line for line in lines if shows(line)] if shows("\n".join(lines)) else []


@pytest.mark.parametrize(("line", "value"), SAMPLES, ids=[f"{line[:12]}{v[:9]}" for line, v in SAMPLES])
def test_no_token_is_readable_beside_an_escape_a_colour_or_an_underscore(line: str, value: str) -> None:
    whole = line.format(value)
    assert leaking([left + whole + right for left in BEFORE for right in AFTER], value) == []
    if not any(part in line for part in IN_QUOTES_OR_ADDRESSES):
        inside = [line.format(left + value + right) for left in BETWEEN for right in AFTER]
        assert leaking(inside, value) == []


UNMISTAKABLE = [value for _, value in SAMPLES if redact(f"a{value}").lines]


def test_a_prefix_that_is_no_word_is_known_after_letters() -> None:
    known = " ".join(value[:8] for value in UNMISTAKABLE)
    for prefix in (
        "ghp_",
        "glpat-",
        "xoxb-",
        "npm_",
        "pypi-AgE",
        "sk-ant-",
        "hvs.",
        "shpat_",
        "eyJ",
        "dt0c01.",
    ):
        assert prefix in known
    for value in UNMISTAKABLE:
        lines = [left + value + right for left in ("tok", "x9", "session_tok") for right in AFTER]
        assert leaking(lines, value) == []


def test_every_row_of_the_table_finds_one_of_the_samples() -> None:
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    texts = [line.format(value).encode() for line, value in SAMPLES]
    unused = [
        (rule.kind, rule.words)
        for rule in SECRET_FORMATS
        if not any(re2.search(rule.pattern.encode(), text, options) for text in texts)
    ]
    assert unused == []


def test_tokens_that_share_their_edge_are_all_found() -> None:
    first, second = "hf_" + letters(34), "AKIA" + letters(16, BASE32)
    assert redact(f"{first} {first}\\n{second} {second}_{first}").lines == (1,) * 5
