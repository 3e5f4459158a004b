"""What do the documented secret formats look like? Data only; `redaction` applies it.

Each rule has words one of which stands in every text it can match (they are looked for first, in one
pass) and a linear-time pattern whose first group is the value. There is no rule for "anything that
looks random after `key =`": it finds mostly test fixtures and hashes.
"""

from __future__ import annotations

from dataclasses import dataclass

_ASSIGN = r"""["']?[ \t]{0,8}(?:=|:|=>|:=|,)[ \t]{0,8}["']?"""  # how a name leads to its value
# A key of AWS is exact by its name and its 40 characters, so all that can stand between them counts:
# `ENV NAME value`, `<name>value<`, `env["NAME"] || 'value'`, `get("NAME") or "value"`, JSON inside a string.
_QUOTE = r"""(?:\\?["'`])?"""
_LEADS_TO = rf"{_QUOTE}[\])]{{0,2}}[ \t]{{0,8}}(?:=|:|=>|:=|,|\|\||\?\?|>|or|[ \t])[ \t]{{0,8}}{_QUOTE}"
_END = r"(?:[^A-Za-z0-9_+/=-]|$)"  # no look-ahead in linear-time patterns: the next character is matched
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of secret. `words` are matched as written, or in any case when `any_case` is set."""

    kind: str
    words: tuple[str, ...]
    pattern: str
    any_case: bool = False


FORMATS = (
    Format("aws-key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b"),
    Format(
        "aws-secret",
        ("secret_access_key", "secretaccesskey", "secret_key", "secretkey", "secret-access-key"),
        rf"(?i)(?:aws_?secret_?key|secret[_-]?access[_-]?key|aws_secret_access_key|aws[a-z_]{{0,20}}secret_key)"
        rf"{_LEADS_TO}([A-Za-z0-9/+]{{40}}){_END}",
        any_case=True,
    ),
    # The shortest session tokens take over two hundred characters; a call that fetches one takes far fewer.
    Format(
        "aws-session-token",
        ("session_token", "sessiontoken", "session-token"),
        rf"(?i)session[_-]?token{_LEADS_TO}([A-Za-z0-9/+=]{{100,}})",
        any_case=True,
    ),
    Format(
        "aws-session-token",
        ("x-amz-security-token",),
        rf"(?i)x-amz-security-token{_LEADS_TO}([A-Za-z0-9/+=%]{{100,}})",
        any_case=True,
    ),
    Format(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"\b(gh[pousr]_[A-Za-z0-9]{36,255})\b",
    ),
    Format("github-token", ("github_pat_",), r"\b(github_pat_[A-Za-z0-9_]{36,255})\b"),
    Format(
        "gitlab-token",
        (
            *("glpat-", "gldt-", "glrt-", "glrtr-", "glptt-", "glcbt-", "glsoat-", "gloas-"),
            *("glft-", "glimt-", "glagent-", "glffct-"),
        ),
        r"\b(gl(?:pat|dt|rtr?|ptt|cbt|soat|oas|ft|imt|agent|ffct)-[A-Za-z0-9_.-]{20,300})",
    ),
    Format("gitlab-token", ("GR1348941",), r"\b(GR1348941[A-Za-z0-9_-]{20})(?:[^A-Za-z0-9_-]|$)"),
    Format("slack-token", ("xox",), r"\b(xox[abceoprs]-[0-9A-Za-z-]*[0-9]{6,}[0-9A-Za-z-]{6,250})"),
    Format("slack-token", ("xoxe",), r"\b(xoxe(?:\.xox[bp])?-[0-9]-[A-Za-z0-9]{40,250})"),
    Format("slack-token", ("xoxd-",), r"\b(xoxd-[A-Za-z0-9%+/=_-]{40,500})"),
    Format("slack-token", ("xapp-",), r"\b(xapp-[0-9]-[A-Z0-9]{6,}-[0-9]{6,}-[a-z0-9]{20,})"),
    Format(
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,})",
    ),
    Format(
        "teams-webhook",
        ("/IncomingWebhook/",),
        rf"\.office(?:365)?\.com/webhook(?:b2)?/({_UUID}@{_UUID}/IncomingWebhook/[0-9A-Za-z]{{32}}/[0-9A-Za-z/_-]{{36,}})",
    ),
    Format("stripe-key", ("_live_", "_test_"), r"\b((?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,250})\b"),
    Format("stripe-webhook", ("whsec_",), r"\b(whsec_[A-Za-z0-9+/=]{32,})"),
    Format("google-api-key", ("AIza",), r"\b(AIza[0-9A-Za-z_-]{35})(?:[^0-9A-Za-z_-]|$)"),
    Format("google-oauth-secret", ("GOCSPX-",), r"\b(GOCSPX-[A-Za-z0-9_-]{28})"),
    Format("google-access-token", ("ya29.",), r"\b(ya29\.[A-Za-z0-9_-]{40,})"),
    Format("anthropic-key", ("sk-ant-",), r"\b(sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{20,})"),
    Format("openai-key", ("sk-",), r"\b(sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,})"),
    Format("openai-key", ("T3BlbkFJ",), r"\b(sk-[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16,})"),
    Format("openai-key", ("sk-",), r"\b(sk-[A-Za-z0-9]{48})\b"),
    Format("openrouter-key", ("sk-or-",), r"\b(sk-or-v1-[a-f0-9]{64})\b"),
    Format("groq-key", ("gsk_",), r"\b(gsk_[A-Za-z0-9]{52})\b"),
    Format("perplexity-key", ("pplx-",), r"\b(pplx-[A-Za-z0-9]{48})\b"),
    Format("xai-key", ("xai-",), r"\b(xai-[A-Za-z0-9_]{80})\b"),
    Format("replicate-token", ("r8_",), r"\b(r8_[A-Za-z0-9]{37})\b"),
    Format("langsmith-key", ("lsv2_",), r"\b(lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10})\b"),
    Format("huggingface-token", ("hf_",), r"\b(hf_[A-Za-z0-9]{34})\b"),
    Format("huggingface-token", ("api_org_",), r"\b(api_org_[A-Za-z]{34})\b"),
    Format("npm-token", ("npm_",), r"\b(npm_[A-Za-z0-9]{36})\b"),
    Format("npm-token", ("_authToken",), r"_authToken=([A-Za-z0-9_-]{20,})"),
    Format(
        "npm-token",
        (":_password", ":_auth"),
        r""":_(?:password|auth)[ \t]?=[ \t]?["']?([A-Za-z0-9+/]{8,}={0,2})(?:["'\s]|$)""",
    ),
    Format("pypi-token", ("pypi-AgE",), r"\b(pypi-AgE[A-Za-z0-9_-]{50,})"),
    Format("rubygems-key", ("rubygems_",), r"\b(rubygems_[a-f0-9]{48})\b"),
    Format("crates-token", ("cio",), r"\b(cio[A-Za-z0-9]{32})\b"),
    Format("clojars-token", ("CLOJARS_",), r"\b(CLOJARS_[a-f0-9]{60})\b"),
    Format("artifactory-key", ("AKCp",), r"\b(AKCp[A-Za-z0-9]{69})\b"),
    # base64 of `reftkn:`
    Format("artifactory-key", ("cmVmdGtuO",), r"\b(cmVmdGtuO[A-Za-z0-9]{55})\b"),
    Format("docker-token", ("dckr_",), r"\b(dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,})"),
    Format("sendgrid-key", ("SG.",), r"\b(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})"),
    Format("brevo-key", ("sib-",), r"\b(x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16})\b"),
    Format("twilio-key", ("twilio",), r"\b((?:SK|AC)[0-9a-f]{32})\b", any_case=True),
    Format(
        "twilio-token",
        ("twilio",),
        rf"(?i)twilio[a-z0-9_ .-]{{0,20}}token{_ASSIGN}([0-9a-f]{{32}})\b",
        any_case=True,
    ),
    Format("mailgun-key", ("key-",), r"\b(key-[0-9a-f]{32})\b"),
    Format("mailchimp-key", ("-us",), r"\b([0-9a-f]{32}-us[0-9]{1,2})\b"),
    Format("telegram-token", (":AA",), r"\b([0-9]{8,10}:AA[A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)"),
    Format(
        "discord-token",
        ("discord",),
        r"\b([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})(?:[^A-Za-z0-9_-]|$)",
        any_case=True,
    ),
    Format(
        "discord-webhook", ("api/webhooks/",), r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/([\w-]{60,})"
    ),
    Format("jwt", (".eyJ",), r"\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,})"),
    Format(
        "azure-key",
        ("AccountKey", "SharedAccessKey"),
        r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{42,88}={0,2})",
    ),
    Format("azure-signature", ("sig=",), r"[?&](?:amp;)?sig=([A-Za-z0-9%/+]{43,}(?:%3[dD]|=))"),
    Format(
        "azure-secret", ("Q~",), r"\b([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)"
    ),
    Format("heroku-key", ("HRKU-",), r"\b(HRKU-[A-Za-z0-9_-]{36,})"),
    Format(
        "heroku-key",
        ("heroku",),
        rf"(?i)heroku[a-z0-9_ .-]{{0,20}}(?:key|token|secret){_ASSIGN}"
        r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b",
        any_case=True,
    ),
    Format(
        "fastly-token",
        ("fastly",),
        rf"(?i)fastly[a-z0-9_ .-]{{0,20}}(?:key|token){_ASSIGN}([A-Za-z0-9_-]{{32}}){_END}",
        any_case=True,
    ),
    Format("digitalocean-token", ("_v1_",), r"\b(do[opr]_v1_[a-f0-9]{64})\b"),
    Format("vault-token", ("hvs.", "hvb.", "hvr."), r"\b(hv[sbr]\.[A-Za-z0-9_-]{24,})"),
    Format(
        "vault-token",
        ("vault_token", "vault-token", "vaulttoken"),
        rf"(?i)vault[_-]?token{_LEADS_TO}(s\.[A-Za-z0-9]{{24}}){_END}",
        any_case=True,
    ),
    Format("terraform-token", (".atlasv1.",), r"\b([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,})"),
    Format("pulumi-token", ("pul-",), r"\b(pul-[a-f0-9]{40})\b"),
    Format(
        "doppler-token",
        ("dp.",),
        r"\b(dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44})\b",
    ),
    Format("fly-token", ("fo1_",), r"\b(fo1_[A-Za-z0-9_-]{43})(?:[^A-Za-z0-9_-]|$)"),
    Format("fly-token", ("fm1", "fm2_"), r"\b(fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,}={0,3})"),
    Format(
        "tailscale-key",
        ("tskey-",),
        r"\b(tskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,32}-[A-Za-z0-9]{20,64})\b",
    ),
    Format("supabase-key", ("sbp_",), r"\b(sbp_(?:oauth_)?[a-f0-9]{40})\b"),
    Format(
        "supabase-key",
        ("sb_secret_",),
        r"\b(sb_secret_[A-Za-z0-9_-]{22}_[A-Za-z0-9_-]{8})(?:[^A-Za-z0-9_-]|$)",
    ),
    Format("planetscale-token", ("pscale_",), r"\b(pscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,64})"),
    Format("databricks-token", ("dapi",), r"\b(dapi[a-f0-9]{32}(?:-[0-9])?)\b"),
    Format("shopify-token", ("shp",), r"\b(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})\b"),
    Format("square-token", ("sq0",), r"\b(sq0[a-z]{3}-[A-Za-z0-9_-]{22,43})"),
    Format("grafana-token", ("glsa_",), r"\b(glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8})\b"),
    Format("grafana-token", ("glc_eyJ",), r"\b(glc_eyJ[A-Za-z0-9+/]{40,}={0,3})"),
    Format("newrelic-key", ("NRAK-",), r"\b(NRAK-[A-Z0-9]{27})\b"),
    Format("newrelic-key", ("NRII-",), r"\b(NRII-[A-Za-z0-9_-]{32})(?:[^A-Za-z0-9_-]|$)"),
    Format("sonarqube-token", ("sqp_", "squ_", "sqa_"), r"\b(sq[pua]_[a-f0-9]{40})\b"),
    Format("buildkite-token", ("bkua_",), r"\b(bkua_[a-f0-9]{40})\b"),
    Format("circleci-token", ("CCIP",), r"\b(CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[a-f0-9]{40})\b"),
    Format("postman-key", ("PMAK-",), r"\b(PMAK-[a-f0-9]{24}-[a-f0-9]{34})\b"),
    Format("linear-key", ("lin_api_",), r"\b(lin_api_[A-Za-z0-9]{40})\b"),
    Format("notion-token", ("ntn_",), r"\b(ntn_[A-Za-z0-9]{46})\b"),
    Format("figma-token", ("figd_",), r"\b(figd_[A-Za-z0-9_-]{40})"),
    Format("sentry-token", ("sntry",), r"\b(sntry[su]_[A-Za-z0-9_=+/-]{60,})"),
    Format("atlassian-token", ("ATATT3",), r"\b(ATATT3[A-Za-z0-9_=-]{100,})"),
    Format("bitbucket-token", ("ATBB",), r"\b(ATBB[A-Za-z0-9]{32})\b"),
    Format("onepassword-token", ("ops_eyJ",), r"\b(ops_eyJ[A-Za-z0-9+/_-]{200,}={0,3})"),
    Format(
        "mapbox-token",
        ("sk.eyJ",),
        r"\b(sk\.eyJ[A-Za-z0-9_-]{30,}\.[A-Za-z0-9_-]{20,30})(?:[^A-Za-z0-9_-]|$)",
    ),
    Format("hubspot-token", ("pat-",), rf"\b(pat-(?:na|eu|ap)[0-9]-{_UUID})\b"),
    # `pat` alone stands in nearly every file, as the beginning of `path`.
    Format("airtable-token", ("airtable",), r"\b(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})\b", any_case=True),
    Format("age-key", ("AGE-SECRET-KEY-",), r"\b(AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58})\b"),
    # A password may hold an `@`: the last one before the path leads to the host.
    Format(
        "url-password",
        ("://",),
        r"""\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/?#"'`<>()\[\]{}\\]{0,80}:([^\s/?#"'`<>\[\]\\]{3,200})@[A-Za-z0-9\[_$%{<-]""",
    ),
)
