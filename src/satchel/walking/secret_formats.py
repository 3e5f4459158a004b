r"""The documented formats of secrets, as one table. `redaction` applies it.

Each format has words, one of which stands in every text that it can match, and a linear-time pattern whose
first group is the value. The words are searched for first, in one pass. There is no format for "anything that
looks random after `key =`": it would mostly find test fixtures and hashes.

A token is found wherever it is written: `\b` would miss it after `\n` in a string literal, after `%3D` in an
address and beside `_`. A prefix that no word ends with (`ghp_`, `xoxb-`) needs no border before it; a short
one (`key-`, `AKIA`) must follow `_START`. A value of a fixed length must be followed by `_STOP`. Both borders
are part of the match, because linear-time patterns cannot look around; the search continues right after the
value.

The file is long because it is one table.
"""

from __future__ import annotations

from dataclasses import dataclass

# What can be written before a token and ends with a letter or digit: `\n`, `\x22`, `\u003d`, `\042`, `%3D`,
# `%253D`, the `=3D` of mails, and colours of a terminal (`\033[31m`, whatever their escape character).
_ESCAPE = (
    r"\\[abefnrtv]|\\[0-7]{1,3}|\\[xX][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
    r"|(?:%|%25|=)[0-9A-Fa-f]{2}|\[[0-9;]{0,20}[mK]"
)
_START = rf"(?:^|[^A-Za-z0-9]|{_ESCAPE})"
_STOP = r"(?:[^A-Za-z0-9]|$)"
# Of a value that may hold `_` and `-` itself: one more of them is taken for Markdown, not for a longer name.
_STOP_OF_NAME = r"[_-]{0,2}(?:[^A-Za-z0-9_-]|$)"
_STOP_OF_BASE64 = r"(?:[^A-Za-z0-9+/=]|$)"

# How a name leads to its value: quotes, plain or escaped, stand on both sides of the sign between them.
_BESIDE = rf"""(?:\\{{0,4}}["'`]|&[a-z0-9#]{{2,6}};|{_ESCAPE}|[_*]|\x1b){{0,4}}"""
_SIGN = r"=|:|=>|:=|,|%3[AaDd]|\\u003[AaDdEe]|\\x3[AaDdEe]"
_ASSIGN = rf"{_BESIDE}[ \t]{{0,8}}(?:{_SIGN})[ \t]{{0,8}}{_BESIDE}"
# A key of AWS is exact by its name and its 40 characters, so all that can stand between them counts:
# `ENV NAME value`, `<name>value<`, `env["NAME"] || 'value'`, `get("NAME") or "value"`, JSON inside a string.
_LEADS_TO = rf"{_BESIDE}[\])]{{0,2}}[ \t]{{0,8}}(?:{_SIGN}|\|\||\?\?|>|&gt;|or|[ \t])[ \t]{{0,8}}{_BESIDE}"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"


@dataclass(frozen=True, slots=True)
class SecretFormat:
    """One kind of secret.

    `words` occur in every text that the pattern matches; they are compared as written, or in any case if
    `any_case` is set. A value counts if it has `variety` different characters after its prefix and matches
    `holds` somewhere. If the words are common in ordinary text (`cio`, `test_`), the short pattern `hint` is
    searched for in their place.
    """

    kind: str
    words: tuple[str, ...]
    pattern: str
    any_case: bool = False
    variety: int = 5
    holds: str = ""
    hint: str = ""


SECRET_FORMATS = (
    # Clouds and hosting
    SecretFormat(
        "aws-key",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        rf"{_START}((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}){_STOP}",
    ),
    SecretFormat("aws-key", ("A3T",), rf"{_START}(A3T[A-Z0-9][A-Z2-7]{{16}}){_STOP}"),
    SecretFormat(
        "aws-secret",
        ("secret_access_key", "secretaccesskey", "secret_key", "secretkey", "secret-access-key"),
        rf"(?i)(?:aws_?secret_?key|secret[_-]?access[_-]?key|aws_secret_access_key|aws[a-z_]{{0,20}}secret_key)"
        rf"{_LEADS_TO}([A-Za-z0-9/+]{{40}}){_STOP_OF_BASE64}",
        any_case=True,
    ),
    # The shortest session tokens take over two hundred characters; a call that fetches one takes far fewer.
    SecretFormat(
        "aws-session-token",
        ("session_token", "sessiontoken", "session-token"),
        rf"(?i)session[_-]?token{_LEADS_TO}([A-Za-z0-9/+=]{{100,}})",
        any_case=True,
    ),
    SecretFormat(
        "aws-session-token",
        ("x-amz-security-token",),
        rf"(?i)x-amz-security-token{_LEADS_TO}([A-Za-z0-9/+=%]{{100,}})",
        any_case=True,
    ),
    SecretFormat("aws-bedrock-key", ("ABSK",), rf"{_START}(ABSK[A-Za-z0-9+/]{{109,269}}={{0,2}})"),
    SecretFormat("aws-bedrock-key", ("bedrock-api-key-",), r"(bedrock-api-key-[A-Za-z0-9+/_-]{28,}={0,2})"),
    SecretFormat("alibaba-key", ("LTAI",), rf"{_START}(LTAI[A-Za-z0-9]{{20}}){_STOP}"),
    SecretFormat(
        "azure-key",
        ("AccountKey", "SharedAccessKey"),
        rf"(?:Account|SharedAccess)Key(?:=|%3[dD]){_BESIDE}([A-Za-z0-9+/]{{42,88}}={{0,2}})",
    ),
    SecretFormat("azure-signature", ("sig=",), r"[?&](?:amp;)?sig=([A-Za-z0-9%/+]{43,}(?:%3[dD]|=))"),
    SecretFormat(
        "azure-secret",
        ("Q~",),
        rf"{_START}([A-Za-z0-9_~.]{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{31,34}}){_STOP}",
    ),
    SecretFormat("google-api-key", ("AIza",), rf"{_START}(AIza[0-9A-Za-z_-]{{35}}){_STOP}"),
    SecretFormat("google-oauth-secret", ("GOCSPX-",), r"(GOCSPX-[A-Za-z0-9_-]{28})"),
    SecretFormat("google-access-token", ("ya29.",), r"(ya29\.[A-Za-z0-9_-]{40,})"),
    SecretFormat(
        "yandex-token",
        ("t1.",),
        rf"{_START}(t1\.[A-Za-z0-9_-]{{16,400}}={{0,2}}\.[A-Za-z0-9_-]{{86}}={{0,2}})",
        hint=r"t1\.[A-Za-z0-9_-]{16}",
    ),
    SecretFormat("yandex-key", ("AQVN",), rf"{_START}(AQVN[A-Za-z0-9_-]{{35,38}}){_STOP}"),
    SecretFormat(
        "yandex-key",
        ("yandex",),
        rf"(?i)yandex[a-z0-9_ .-]{{0,20}}{_ASSIGN}((?-i:YC)[A-Za-z0-9_-]{{38}}){_STOP_OF_NAME}",
        any_case=True,
    ),
    SecretFormat("digitalocean-token", ("_v1_",), rf"(do[opr]_v1_[a-f0-9]{{64}}){_STOP}"),
    SecretFormat(
        "cloudflare-origin-key", ("v1.0-",), rf"{_START}(v1\.0-[a-f0-9]{{24}}-[a-f0-9]{{146}}){_STOP}"
    ),
    SecretFormat(
        "cloudflare-token",
        ("cfk_", "cfut_", "cfat_"),
        rf"{_START}(cf(?:k|ut|at)_[A-Za-z0-9]{{44,60}}){_STOP}",
    ),
    SecretFormat(
        "vercel-token",
        ("vcp_", "vci_", "vca_", "vcr_", "vck_"),
        rf"{_START}(vc[piark]_[A-Za-z0-9]{{24,80}}){_STOP}",
        holds="[0-9]",
    ),
    SecretFormat("heroku-key", ("HRKU-",), r"(HRKU-[A-Za-z0-9_-]{36,})"),
    SecretFormat(
        "heroku-key",
        ("heroku",),
        rf"(?i)heroku[a-z0-9_ .-]{{0,20}}(?:key|token|secret){_ASSIGN}({_UUID}){_STOP}",
        any_case=True,
    ),
    SecretFormat(
        "fastly-token",
        ("fastly",),
        rf"(?i)fastly[a-z0-9_ .-]{{0,20}}(?:key|token){_ASSIGN}([A-Za-z0-9_-]{{32}}){_STOP_OF_NAME}",
        any_case=True,
    ),
    SecretFormat("fly-token", ("fo1_",), rf"{_START}(fo1_[A-Za-z0-9_-]{{43}}){_STOP}"),
    SecretFormat("fly-token", ("fm1", "fm2_"), r"(fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,}={0,3})"),
    SecretFormat("netlify-token", ("nfp_",), rf"{_START}(nfp_[A-Za-z0-9]{{36,40}}){_STOP}"),
    SecretFormat("scalingo-token", ("tk-us-",), rf"(tk-us-[A-Za-z0-9_-]{{48}}){_STOP}"),
    SecretFormat(
        "tailscale-key",
        ("tskey-",),
        r"(tskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,32}-[A-Za-z0-9]{20,64})",
    ),
    SecretFormat("defined-networking-key", ("dnkey-",), r"(dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52})"),
    SecretFormat("openshift-token", ("sha256~",), rf"(sha256~[A-Za-z0-9_-]{{43}}){_STOP}"),
    SecretFormat("docker-swarm-token", ("SWMTKN-1-",), r"(SWMTKN-1-[a-z0-9]{40,60}-[a-z0-9]{20,30})"),
    # Data stores
    SecretFormat("supabase-key", ("sbp_",), rf"{_START}(sbp_(?:oauth_)?[a-f0-9]{{40}}){_STOP}"),
    SecretFormat(
        "supabase-key", ("sb_secret_",), rf"(sb_secret_[A-Za-z0-9_-]{{22}}_[A-Za-z0-9_-]{{8}}){_STOP}"
    ),
    SecretFormat("planetscale-token", ("pscale_",), r"(pscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,64})"),
    SecretFormat("databricks-token", ("dapi",), rf"{_START}(dapi[a-f0-9]{{32}}(?:-[0-9])?){_STOP}"),
    SecretFormat("clickhouse-key", ("4b1d",), rf"{_START}(4b1d[A-Za-z0-9]{{38}}){_STOP}", holds="[G-Zg-z]"),
    SecretFormat(
        "dropbox-token",
        ("dropbox",),
        rf"{_START}([A-Za-z0-9]{{11}}A{{10}}[A-Za-z0-9_=-]{{43}}){_STOP}",
        any_case=True,
    ),
    SecretFormat(
        "dropbox-token", ("sl.",), rf"{_START}(sl\.[A-Za-z0-9_=-]{{130,}})", hint=r"sl\.[A-Za-z0-9_-]{16}"
    ),
    SecretFormat(
        "airtable-token",
        ("airtable",),
        rf"{_START}(pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}}){_STOP}",
        any_case=True,
    ),
    # `napi_` begins the names of an interface of Node.js, too.
    SecretFormat(
        "neon-key",
        ("napi_",),
        rf"{_START}(napi_[a-z0-9]{{64}}){_STOP}",
        hint=r"napi_[a-z0-9]{32}",
        holds="[0-9]",
    ),
    SecretFormat(
        "pinecone-key", ("pcsk_",), rf"{_START}(pcsk_[A-Za-z0-9]{{5,6}}_[A-Za-z0-9]{{60,68}}){_STOP}"
    ),
    SecretFormat("prefect-key", ("pnu_",), rf"{_START}(pnu_[A-Za-z0-9]{{36}}){_STOP}"),
    # Repositories, builds, packages
    SecretFormat(
        "github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"(gh[pousr]_[A-Za-z0-9]{36,255})"
    ),
    SecretFormat("github-token", ("github_pat_",), r"(github_pat_[A-Za-z0-9_]{36,255})"),
    SecretFormat(
        "gitlab-token",
        (
            *("glpat-", "gldt-", "glrt-", "glrtr-", "glptt-", "glcbt-", "glsoat-", "gloas-"),
            *("glft-", "glimt-", "glagent-", "glffct-"),
        ),
        r"(gl(?:pat|dt|rtr?|ptt|cbt|soat|oas|ft|imt|agent|ffct)-[A-Za-z0-9_.-]{20,300})",
    ),
    SecretFormat("gitlab-token", ("GR1348941",), rf"(GR1348941[A-Za-z0-9_-]{{20}}){_STOP}"),
    SecretFormat("gitlab-session", ("_gitlab_session",), rf"_gitlab_session{_ASSIGN}([0-9a-f]{{32}}){_STOP}"),
    SecretFormat("bitbucket-token", ("ATBB",), rf"{_START}(ATBB[A-Za-z0-9]{{32}}){_STOP}"),
    SecretFormat("atlassian-token", ("ATATT3", "ATCTT3"), r"(AT[AC]TT3[A-Za-z0-9_=-]{100,})"),
    SecretFormat(
        "sourcegraph-token",
        ("sgp_",),
        rf"{_START}(sgp_(?:(?:[a-fA-F0-9]{{16}}|local)_)?[a-fA-F0-9]{{40}}){_STOP}",
    ),
    SecretFormat("circleci-token", ("CCIP",), rf"(CCIP(?:AT|RJ)_[A-Za-z0-9]{{22}}_[a-f0-9]{{40}}){_STOP}"),
    SecretFormat("buildkite-token", ("bkua_",), rf"(bkua_[a-f0-9]{{40}}){_STOP}"),
    SecretFormat(
        "harness-token",
        ("pat.", "sat."),
        rf"{_START}([ps]at\.[A-Za-z0-9_-]{{22}}\.[A-Za-z0-9]{{24}}\.[A-Za-z0-9]{{20}}){_STOP}",
        hint=r"[ps]at\.[A-Za-z0-9_-]{16}",
    ),
    SecretFormat("octopus-key", ("API-",), rf"{_START}(API-[A-Z0-9]{{26}}){_STOP}", holds="[0-9]"),
    SecretFormat("sonarqube-token", ("sqp_", "squ_", "sqa_"), rf"(sq[pua]_[a-f0-9]{{40}}){_STOP}"),
    SecretFormat("npm-token", ("npm_",), rf"(npm_[A-Za-z0-9]{{36}}){_STOP}"),
    SecretFormat("npm-token", ("_authToken",), rf"_authToken{_BESIDE}=[ \t]?{_BESIDE}([A-Za-z0-9_-]{{20,}})"),
    SecretFormat(
        "npm-token",
        (":_password", ":_auth"),
        rf":_(?:password|auth)[ \t]?=[ \t]?{_BESIDE}([A-Za-z0-9+/]{{8,}}={{0,2}})"
        r"_{0,2}(?:[^A-Za-z0-9+/=_-]|$)",
    ),
    SecretFormat("pypi-token", ("pypi-AgE",), r"(pypi-AgE[A-Za-z0-9_-]{50,})"),
    SecretFormat("rubygems-key", ("rubygems_",), rf"(rubygems_[a-f0-9]{{48}}){_STOP}"),
    SecretFormat(
        "crates-token", ("cio",), rf"{_START}(cio[A-Za-z0-9]{{32}}){_STOP}", hint=r"cio[A-Za-z0-9]{12}"
    ),
    SecretFormat("clojars-token", ("CLOJARS_",), rf"(CLOJARS_[A-Za-z0-9]{{60}}){_STOP}"),
    SecretFormat("nuget-key", ("oy2",), rf"{_START}(oy2[a-z2-7]{{43}}){_STOP}", holds="[2-7]"),
    SecretFormat(
        "nuget-password",
        ("ClearTextPassword",),
        r"""ClearTextPassword["'][ \t]{1,8}value[ \t]?=[ \t]?["']([^"'\r\n]{8,200})["']""",
    ),
    SecretFormat("artifactory-key", ("AKCp",), rf"{_START}(AKCp[A-Za-z0-9]{{69}}){_STOP}"),
    # base64 of `reftkn:`
    SecretFormat("artifactory-key", ("cmVmdGtuO",), rf"{_START}(cmVmdGtuO[A-Za-z0-9]{{55}}){_STOP}"),
    SecretFormat("docker-token", ("dckr_",), r"(dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,})"),
    SecretFormat(
        "sidekiq-login",
        ("__contribsys__com",),
        rf"(?i)BUNDLE_(?:ENTERPRISE|GEMS)__CONTRIBSYS__COM{_ASSIGN}([a-f0-9]{{8}}:[a-f0-9]{{8}}){_STOP}",
        any_case=True,
    ),
    SecretFormat(
        "sidekiq-login",
        (".contribsys.com",),
        r"://([a-f0-9]{8}:[a-f0-9]{8})@(?:gems|enterprise)\.contribsys\.com",
    ),
    # Language models
    SecretFormat("anthropic-key", ("sk-ant-",), r"(sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{20,})"),
    SecretFormat("openai-key", ("sk-",), r"(sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,})"),
    SecretFormat("openai-key", ("T3BlbkFJ",), r"(sk-[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16,})"),
    SecretFormat("openai-key", ("sk-",), rf"{_START}(sk-[A-Za-z0-9]{{48}}){_STOP}"),
    SecretFormat("openrouter-key", ("sk-or-",), rf"(sk-or-v1-[a-f0-9]{{64}}){_STOP}"),
    SecretFormat("groq-key", ("gsk_",), rf"{_START}(gsk_[A-Za-z0-9]{{52}}){_STOP}"),
    SecretFormat("perplexity-key", ("pplx-",), rf"(pplx-[A-Za-z0-9]{{48}}){_STOP}"),
    SecretFormat("xai-key", ("xai-",), rf"{_START}(xai-[A-Za-z0-9_]{{80}}){_STOP}"),
    SecretFormat("nvidia-key", ("nvapi-",), r"(nvapi-[A-Za-z0-9_-]{60,})"),
    SecretFormat("replicate-token", ("r8_",), rf"{_START}(r8_[A-Za-z0-9]{{37}}){_STOP}"),
    SecretFormat(
        "tavily-key",
        ("tvly-",),
        rf"{_START}(tvly-(?:(?:dev|prod)-)?[A-Za-z0-9_-]{{28,60}}){_STOP}",
        holds="[0-9]",
    ),
    SecretFormat("firecrawl-key", ("fc-",), rf"{_START}(fc-[a-f0-9]{{32}}){_STOP}", hint=r"fc-[a-f0-9]{16}"),
    SecretFormat("jina-key", ("jina_",), rf"{_START}(jina_[a-f0-9]{{32}}[A-Za-z0-9_-]{{28}}){_STOP_OF_NAME}"),
    SecretFormat("e2b-key", ("e2b_",), rf"{_START}(e2b_[a-f0-9]{{40}}){_STOP}"),
    SecretFormat("apify-token", ("apify_api_",), rf"(apify_api_[A-Za-z0-9]{{36}}){_STOP}"),
    SecretFormat("langfuse-key", ("sk-lf-",), rf"{_START}(sk-lf-{_UUID}){_STOP}"),
    SecretFormat("langsmith-key", ("lsv2_",), rf"(lsv2_(?:pt|sk)_[a-f0-9]{{32}}_[a-f0-9]{{10}}){_STOP}"),
    SecretFormat(
        "huggingface-token", ("hf_",), rf"{_START}(hf_[A-Za-z0-9]{{34}}){_STOP}", hint=r"hf_[A-Za-z0-9]{10}"
    ),
    SecretFormat("huggingface-token", ("api_org_",), rf"{_START}(api_org_[A-Za-z]{{34}}){_STOP}"),
    # Messages Of a bot, of a user and of an application there are numbers in the token.
    SecretFormat("slack-token", ("xox",), r"(xox[abceoprs]-[0-9A-Za-z-]{12,500})", holds="[0-9]{6}"),
    SecretFormat("slack-token", ("xoxa-", "xoxr-"), r"(xox[ar]-(?:[0-9]-)?[0-9A-Za-z]{8,48})", holds="[0-9]"),
    SecretFormat("slack-token", ("xoxe",), r"(xoxe(?:\.xox[bp])?-[0-9]-[A-Za-z0-9]{40,250})"),
    SecretFormat("slack-token", ("xoxd-",), r"(xoxd-[A-Za-z0-9%+/=_-]{40,500})"),
    SecretFormat("slack-token", ("xapp-",), r"(xapp-[0-9]-[A-Z0-9]{6,}-[0-9]{6,}-[a-z0-9]{20,})"),
    SecretFormat(
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,})",
    ),
    SecretFormat(
        "teams-webhook",
        ("/IncomingWebhook/",),
        rf"\.office(?:365)?\.com/webhook(?:b2)?/({_UUID}@{_UUID}/IncomingWebhook/[0-9A-Za-z]{{32}}/[0-9A-Za-z/_-]{{36,}})",
    ),
    SecretFormat(
        "resend-key",
        ("re_",),
        rf"{_START}(re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{24}}){_STOP}",
        hint=r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{16}",
        holds="[0-9]",
    ),
    SecretFormat("sendgrid-key", ("SG.",), rf"{_START}(SG\.[A-Za-z0-9_-]{{22}}\.[A-Za-z0-9_-]{{43}})"),
    SecretFormat("brevo-key", ("sib-",), rf"(x(?:key|smtp)sib-[a-f0-9]{{64}}-[A-Za-z0-9]{{16}}){_STOP}"),
    SecretFormat("twilio-key", ("twilio",), rf"{_START}((?:SK|AC)[0-9a-f]{{32}}){_STOP}", any_case=True),
    SecretFormat("twilio-key", ("SK",), rf"{_START}(SK[0-9a-f]{{32}}){_STOP}", hint=r"SK[0-9a-f]{8}"),
    SecretFormat(
        "twilio-token",
        ("twilio",),
        rf"(?i)twilio[a-z0-9_ .-]{{0,20}}token{_ASSIGN}([0-9a-f]{{32}}){_STOP}",
        any_case=True,
    ),
    SecretFormat(
        "mailgun-key", ("key-",), rf"(?:{_START}|pub)(key-[0-9a-f]{{32}}){_STOP}", hint=r"key-[0-9a-f]{6}"
    ),
    SecretFormat(
        "mailgun-key",
        ("mailgun",),
        rf"{_START}([0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}){_STOP}",
        any_case=True,
    ),
    SecretFormat(
        "mailchimp-key",
        ("-us",),
        rf"{_START}([0-9a-f]{{32}}-us[0-9]{{1,2}}){_STOP}",
        hint=r"[0-9a-f]{4}-us[0-9]",
    ),
    SecretFormat("telegram-token", (":AA",), rf"{_START}([0-9]{{8,10}}:AA[A-Za-z0-9_-]{{33}}){_STOP}"),
    SecretFormat(
        "discord-token",
        ("discord",),
        rf"{_START}([MNO][A-Za-z0-9_-]{{23,27}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,38}}){_STOP}",
        any_case=True,
    ),
    SecretFormat(
        "discord-webhook", ("api/webhooks/",), r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/([\w-]{60,})"
    ),
    SecretFormat(
        "facebook-token",
        ("facebook",),
        rf"{_START}([0-9]{{15,16}}(?:\||%7[cC])[A-Za-z0-9_-]{{27}}){_STOP}",
        any_case=True,
    ),
    # base64 of small numbers starts with the same letters, and has few different ones
    SecretFormat(
        "facebook-token",
        ("EAA",),
        rf"{_START}(EAA[B-Z][A-Za-z0-9]{{100,}})",
        variety=30,
        holds="[0-9]",
        hint=r"EAA[B-Z][A-Za-z0-9]{16}",
    ),
    SecretFormat(
        "twitter-token",
        ("A" * 20,),
        rf"{_START}(A{{20,24}}[A-Za-z0-9%]{{20,60}}%3[dD][A-Za-z0-9]{{40,60}}){_STOP}",
    ),
    SecretFormat(
        "twitter-token", ("twitter",), rf"{_START}([0-9]{{15,20}}-[A-Za-z0-9]{{40}}){_STOP}", any_case=True
    ),
    SecretFormat(
        "beamer-key",
        ("beamer",),
        rf"(?i)beamer[a-z0-9_ .-]{{0,20}}{_ASSIGN}((?-i:b_)[A-Za-z0-9=_-]{{44}}){_STOP_OF_NAME}",
        any_case=True,
    ),
    # Payments, shops, parcels, travel
    SecretFormat(
        "stripe-key",
        ("sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"),
        rf"{_START}((?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{{16,250}})",
    ),
    SecretFormat("stripe-webhook", ("whsec_",), r"(whsec_[A-Za-z0-9+/=]{32,})"),
    SecretFormat("shopify-token", ("shp",), rf"(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{32}}){_STOP}"),
    SecretFormat("square-token", ("sq0",), rf"{_START}(sq0[a-z]{{3}}-[A-Za-z0-9_-]{{22,43}})"),
    SecretFormat(
        "square-token", ("EAAA",), rf"{_START}(EAAA[A-Za-z0-9_-]{{60}}){_STOP}", variety=20, holds="[0-9]"
    ),
    SecretFormat(
        "flutterwave-key", ("FLWSECK", "FLWPUBK"), rf"(FLW(?:SEC|PUB)K(?:_TEST)?-[a-hA-H0-9]{{32}}-X){_STOP}"
    ),
    SecretFormat("flutterwave-key", ("FLWSECK_TEST-",), r"(FLWSECK_TEST-[a-hA-H0-9]{12,32})"),
    SecretFormat(
        "plaid-token",
        ("access-sandbox-", "access-development-", "access-production-"),
        rf"(access-(?:sandbox|development|production)-{_UUID}){_STOP}",
    ),
    SecretFormat(
        "gocardless-token",
        ("gocardless",),
        rf"{_START}(live_[A-Za-z0-9_=-]{{40}}){_STOP_OF_NAME}",
        any_case=True,
    ),
    SecretFormat(
        "lob-key",
        ("live_", "test_"),
        rf"{_START}((?:live|test)_(?:[a-f0-9]{{35}}|pub_[a-f0-9]{{31}})){_STOP}",
        hint=r"(?:live|test)_(?:pub_)?[a-f0-9]{8}",
    ),
    SecretFormat(
        "freemius-key",
        ("secret_key",),
        r"""["']secret_key["'][ \t]{0,8}=>[ \t]{0,8}["'](sk_[^\s"']{29})["']""",
    ),
    SecretFormat("easypost-key", ("EZAK", "EZTK"), rf"{_START}(EZ[AT]K[A-Za-z0-9]{{54}}){_STOP}"),
    SecretFormat("shippo-token", ("shippo_",), rf"(shippo_(?:live|test)_[a-fA-F0-9]{{40}}){_STOP}"),
    SecretFormat("duffel-token", ("duffel_",), r"(duffel_(?:test|live)_[A-Za-z0-9_=-]{43})"),
    # Watching, logging, accounts, infrastructure
    SecretFormat(
        "dynatrace-token", ("dt0",), rf"(dt0[a-z][0-9]{{2}}\.[A-Za-z0-9]{{8,24}}\.[A-Za-z0-9]{{64}}){_STOP}"
    ),
    SecretFormat("grafana-token", ("glsa_",), rf"(glsa_[A-Za-z0-9]{{32}}_[a-fA-F0-9]{{8}}){_STOP}"),
    SecretFormat("grafana-token", ("glc_",), rf"{_START}(glc_[A-Za-z0-9+/]{{32,}}={{0,3}})"),
    # base64 of `{"k":"`
    SecretFormat("grafana-token", ("eyJrIjoi",), rf"{_START}(eyJrIjoi[A-Za-z0-9+/]{{40,400}}={{0,3}})"),
    SecretFormat(
        "posthog-key", ("phc_", "phx_"), rf"{_START}(ph[cx]_[A-Za-z0-9]{{40,60}}){_STOP}", holds="[0-9]"
    ),
    SecretFormat("newrelic-key", ("NRAK-",), rf"(NRAK-[A-Z0-9]{{27}}){_STOP}"),
    SecretFormat("newrelic-key", ("NRII-",), rf"(NRII-[A-Za-z0-9_-]{{32}}){_STOP}"),
    SecretFormat("newrelic-key", ("NRJS-",), rf"(NRJS-[a-f0-9]{{19}}){_STOP}"),
    SecretFormat("sentry-token", ("sntry",), r"(sntry[su]_[A-Za-z0-9_=+/-]{60,})"),
    SecretFormat(
        "sumologic-id",
        ("sumo",),
        rf"(?i)sumo[a-z0-9_ .-]{{0,20}}{_ASSIGN}((?-i:su)[A-Za-z0-9]{{12}}){_STOP}",
        any_case=True,
        holds="[0-9]",
    ),
    SecretFormat(
        "okta-token",
        ("okta",),
        rf"(?i)okta[a-z0-9_ .-]{{0,20}}{_ASSIGN}(00[A-Za-z0-9_=-]{{40}}){_STOP_OF_NAME}",
        any_case=True,
    ),
    SecretFormat(
        "authress-key",
        (".acc_", ".acc-"),
        rf"{_START}((?:sc|ext|scauth|authress)_[A-Za-z0-9]{{5,30}}\.[A-Za-z0-9]{{4,6}}\.acc[_-][A-Za-z0-9-]{{10,32}}\.[A-Za-z0-9+/_=-]{{30,120}})",
    ),
    SecretFormat("vault-token", ("hvs.", "hvb.", "hvr."), r"(hv[sbr]\.[A-Za-z0-9_-]{24,})"),
    SecretFormat(
        "vault-token",
        ("vault_token", "vault-token", "vaulttoken"),
        rf"(?i)vault[_-]?token{_LEADS_TO}(s\.[A-Za-z0-9]{{24}}){_STOP}",
        any_case=True,
    ),
    SecretFormat("terraform-token", (".atlasv1.",), r"([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,})"),
    SecretFormat("pulumi-token", ("pul-",), rf"{_START}(pul-[a-f0-9]{{40}}){_STOP}"),
    SecretFormat("infracost-key", ("ico-",), rf"{_START}(ico-[A-Za-z0-9]{{32}}){_STOP}"),
    SecretFormat(
        "settlemint-token",
        ("sm_aat_", "sm_pat_", "sm_sat_"),
        rf"{_START}(sm_[aps]at_[A-Za-z0-9]{{16}}){_STOP}",
    ),
    SecretFormat(
        "doppler-token",
        ("dp.",),
        rf"{_START}(dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?[A-Za-z0-9]{{40,44}}){_STOP}",
    ),
    SecretFormat("onepassword-token", ("ops_eyJ",), r"(ops_eyJ[A-Za-z0-9+/_-]{200,}={0,3})"),
    SecretFormat(
        "onepassword-key",
        ("A3-",),
        rf"{_START}(A3-[A-Z0-9]{{6}}-(?:[A-Z0-9]{{11}}|[A-Z0-9]{{6}}-[A-Z0-9]{{5}})(?:-[A-Z0-9]{{5}}){{3}}){_STOP}",
    ),
    SecretFormat(
        "age-key", ("AGE-SECRET-KEY-",), rf"(AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{{58}}){_STOP}"
    ),
    SecretFormat(
        "jwt", (".eyJ", ".eyA"), r"(ey[AJ][A-Za-z0-9_-]{8,}\.ey[AJ][A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,})"
    ),
    # A web token in base64, as in secrets of Kubernetes: its second part starts with `.ey`, which has three
    # spellings there.
    SecretFormat(
        "jwt",
        ("ZXlK", "ZXlB"),
        rf"{_START}(ZXl[BK][A-Za-z0-9+/]{{16,}}(?:LmV5|5leU|uZXl)[A-Za-z0-9+/]{{40,}}={{0,2}})",
    ),
    # Documents, design, maps, tasks
    SecretFormat("postman-key", ("PMAK-",), rf"(PMAK-[a-fA-F0-9]{{24}}-[a-fA-F0-9]{{34}}){_STOP}"),
    SecretFormat(
        "linear-key",
        ("lin_api_", "lin_oauth_"),
        rf"(lin_(?:api_[A-Za-z0-9]{{40}}|oauth_[a-f0-9]{{64}})){_STOP}",
    ),
    SecretFormat("notion-token", ("ntn_",), rf"{_START}(ntn_[A-Za-z0-9]{{46}}){_STOP}"),
    SecretFormat("figma-token", ("figd_",), r"(figd_[A-Za-z0-9_-]{40})"),
    SecretFormat("frameio-token", ("fio-u-",), r"(fio-u-[A-Za-z0-9_=-]{64})"),
    SecretFormat("readme-key", ("rdme_",), rf"(rdme_[a-z0-9]{{70}}){_STOP}"),
    SecretFormat("typeform-token", ("tfp_",), rf"{_START}(tfp_[A-Za-z0-9_.=-]{{59}})"),
    SecretFormat("adobe-secret", ("p8e-",), rf"{_START}(p8e-[A-Za-z0-9]{{32}}){_STOP}"),
    SecretFormat("intra42-secret", ("s-s4t2",), rf"(s-s4t2(?:ud|af)-[a-fA-F0-9]{{64}}){_STOP}"),
    SecretFormat("maxmind-key", ("_mmk",), rf"{_START}([A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk){_STOP}"),
    SecretFormat(
        "mapbox-token",
        ("sk.eyJ", "pk.eyJ"),
        rf"{_START}([ps]k\.eyJ[A-Za-z0-9_-]{{30,}}\.[A-Za-z0-9_-]{{20,30}}){_STOP}",
    ),
    SecretFormat("contentful-token", ("CFPAT-",), rf"(CFPAT-[A-Za-z0-9_-]{{43}}){_STOP_OF_NAME}"),
    SecretFormat("hubspot-token", ("pat-",), rf"{_START}(pat-(?:na|eu|ap)[0-9]-{_UUID}){_STOP}"),
    # A password may hold an `@`: the last one before the path leads to the host.
    SecretFormat(
        "url-password",
        ("://",),
        r"""[A-Za-z0-9+.-]{2}://[^\s:/?#"'`<>()\[\]{}\\]{0,80}:([^\s/?#"'`<>\[\]\\]{3,200})@[A-Za-z0-9\[_$%{<-]""",
    ),
)
