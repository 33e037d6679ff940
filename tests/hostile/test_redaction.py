"""However a stream comes, what is stored of it has the same bytes, and no secret that the rules know."""

import json
import tomllib
from importlib import resources
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sightline.redact.hiding import LINE_BYTES, OVERLAP_BYTES, Redaction, StreamHider
from sightline.redact.rules import Match, SecretRule, SecretRules, check_pattern, load_rules, spans_of
from tests.each import each
from tests.examples import examples
from tests.hostile.shapes import in_bounded_time

KNOWN = load_rules(True, ())
OWN = load_rules(False, (r"hunter(\d+)", r"pass=\S+"))


def _made(*parts: str) -> bytes:
    """A secret's text, put together only here: nothing that looks for leaked ones finds it in the file."""
    return "".join(parts).encode()


TOKEN = _made("ghp_", "a1B2" * 9)
KEY = _made(
    "-----BEGIN RSA PRIVATE",
    " KEY-----\n",
    "MIIEow+/" * 8,
    "\n",
    "abcd" * 16,
    "\nq0==\n",
    "-----END RSA PRIVATE KEY-----\n",
)
EXAMPLES: dict[str, tuple[str, ...]] = {
    "aws-access-key-id": ("AKIA", "IOSFODNN7EXAMPLE"[:16].replace("1", "2").replace("7", "2")),
    "aws-secret-key": ("aws_secret_access_key = ", "wJalr/+UtnFEMI" * 3),
    "github-token": ("github_pat_", "1" * 22, "_", "b" * 59),
    "gitlab-token": ("glpat-", "x" * 20),
    "slack-token": ("xoxb-", "1234567890-abcdef"),
    "slack-webhook": ("https://hooks.slack.com/services/", "T000/B000/XXXXXXXXXXXXXXXXXXXX"),
    "stripe-key": ("sk_live_", "x" * 24),
    "google-api-key": ("AIza", "x" * 35),
    "google-oauth-token": ("ya29.", "x" * 40),
    "openai-key": ("sk-proj-", "x" * 40),
    "anthropic-key": ("sk-ant-", "api03-", "x" * 93),
    "hugging-face-token": ("hf_", "x" * 34),
    "npm-token": ("npm_", "x1" * 18),
    "pypi-token": ("pypi-AgE", "x" * 60),
    "rubygems-key": ("rubygems_", "a" * 48),
    "docker-token": ("dckr_pat_", "x" * 27),
    "digitalocean-token": ("dop_v1_", "a" * 64),
    "vault-token": ("hvs.", "x" * 24),
    "terraform-token": ("x" * 14, ".atlasv1.", "x" * 60),
    "databricks-token": ("dapi", "a" * 32),
    "sendgrid-key": ("SG.", "x" * 22, ".", "x" * 43),
    "shopify-token": ("shpat_", "a" * 32),
    "atlassian-token": ("ATATT3", "x" * 186),
    "linear-key": ("lin_api_", "x" * 40),
    "grafana-token": ("glsa_", "x" * 32, "_", "a" * 8),
    "sentry-token": ("sntryu_", "a" * 64),
    "postman-key": ("PMAK-", "a" * 24, "-", "a" * 34),
    "new-relic-key": ("NRAK-", "X" * 27),
    "age-key": ("AGE-SECRET-KEY-1", "Q" * 58),
    "telegram-token": ("123456789", ":AA", "x" * 33),
    "json-web-token": ("eyJ", "x" * 20, ".eyJ", "x" * 20, ".", "x" * 20),
    "authorization-header": ("Authorization: ", "Bearer ", "x" * 30),
    "aws-bedrock-key": ("ABSK", "QmVk" * 32),
    "azure-shared-key": ("AccountName=x;AccountKey=", "Ab1+" * 21, "Ab=="),
    "azure-client-secret": ("Abc8", "Q~", "x" * 34),
    "azure-shared-access-signature": ("https://x.blob.core.windows.net/c?sv=2024&sig=", "Ab%2B" * 10 + "%3D"),
    "client-secret": ("clientSecret: '", "s3cr3t" * 4),
    "openai-legacy-key": ("sk-" + "x" * 20, "T3Blbk", "FJ" + "x" * 20),
    "openrouter-key": ("sk-or-v1-", "0a" * 32),
    "groq-key": ("gsk_", "x" * 52),
    "xai-key": ("xai-", "x" * 80),
    "perplexity-key": ("pplx-", "x" * 48),
    "replicate-token": ("r8_", "x" * 37),
    "crates-io-token": ("cio", "x" * 32),
    "fly-token": ("fm2_", "lJPE" * 30),
    "heroku-token": ("HRKU-AA", "x" * 58),
    "heroku-key": ("HEROKU_API_KEY=", "01234567-89ab-4cde-8f01-", "23456789abcd"),
    "planetscale-token": ("pscale_tkn_", "x" * 43),
    "supabase-key": ("sbp_", "0a" * 20),
    "doppler-token": ("dp.pt.", "x" * 43),
    "tailscale-key": ("tskey-auth-", "kabcdef1CNTRL-", "x" * 32),
    "brevo-key": ("xkeysib-", "0a" * 32 + "-" + "x" * 16),
    "shippo-token": ("shippo_live_", "0a" * 20),
    "notion-token": ("ntn_", "12345678901" + "x" * 35),
    "airtable-token": ("pat" + "x" * 14, ".", "0a" * 32),
    "figma-token": ("figd_", "x" * 40),
    "discord-token": ("DISCORD_TOKEN=", "x" * 24 + ".", "x" * 6 + "." + "x" * 38),
    "discord-webhook": ("https://discord.com/api/webhooks/123456789012345678/", "x" * 68),
    "dynatrace-token": ("dt0c01.", "X" * 24 + "." + "X" * 64),
    "pulumi-token": ("pul-", "0a" * 20),
    "prefect-key": ("pnu_", "x" * 36),
    "readme-key": ("rdme_", "x" * 70),
    "1password-token": ("ops_eyJ", "x" * 250),
    "kubernetes-client-key": ("client-key-data: ", "LS0t" * 40),
    "alibaba-key": ("LTAI", "x1" * 10),
    "artifactory-key": ("AKC", "x1" * 33),
    "clickhouse-key": ("4b1d", "x1" * 19),
    "clojars-token": ("CLOJARS_", "x1" * 30),
    "cloudflare-key": ("v1.0-", "0a" * 12 + "-" + "0a" * 73),
    "dropbox-token": ("sl.", "x1" * 70),
    "duffel-token": ("duffel_live_", "x" * 43),
    "easypost-key": ("EZAK", "x1" * 27),
    "facebook-token": ("EAAB", "x1" * 60),
    "firebase-token": (":APA91b", "x1" * 60),
    "flutterwave-key": ("FLWSECK-", "0a" * 16 + "-X"),
    "frameio-token": ("fio-u-", "x1" * 32),
    "google-refresh-token": ("1//0", "x1" * 30),
    "harness-token": ("pat.", "x" * 22 + ".", "x" * 24 + ".", "x" * 20),
    "infracost-token": ("ico-", "x1" * 16),
    "intra42-secret": ("s-s4t2ud-", "0a" * 32),
    "mailchimp-key": ("0a" * 16 + "-us12",),
    "mailgun-key": ("key-", "0a" * 16),
    "mapbox-token": ("sk.eyJ", "x1" * 30 + "." + "x" * 22),
    "maxmind-key": ("x" * 6 + "_" + "x" * 29 + "_mmk",),
    "teams-webhook": ("https://x.webhook.office.com/webhookb2/", "0a" * 40),
    "octopus-key": ("API-", "X1" * 13),
    "openshift-token": ("sha256~", "x" * 43),
    "plaid-token": ("access-sandbox-", "01234567-89ab-4cde-8f01-", "23456789abcd"),
    "scalingo-token": ("tk-us-", "x" * 48),
    "settlemint-token": ("sm_pat_", "x" * 16),
    "sonar-token": ("sqp_", "0a" * 20),
    "square-token": ("sq0csp-", "x" * 43),
    "sourcegraph-token": ("sgp_local_", "0a" * 20),
    "twilio-key": ("SK", "0a" * 16),
    "twitter-token": ("A" * 22, "x" * 40 + "%3D" + "x" * 43),
    "typeform-token": ("tfp_", "x" * 59),
    "yandex-key": ("AQVN", "x" * 35),
    "1password-key": ("A3-", "X1" * 3 + "-", "X" * 6 + "-XXXXX-XXXXX-XXXXX-XXXXX"),
    "adafruit-key": ("aio_", "x1" * 14),
    "adobe-secret": ("p8e-", "x1" * 16),
    "sk-key": ("sk-", "x1Y2z3W4" * 4),
    "ai-key": ("nvapi-", "x1" * 32),
    "elevenlabs-key": ("sk_", "0a" * 24),
    "buildkite-token": ("bkua_", "0a" * 20),
    "circleci-token": ("CCIPAT_", "x" * 22 + "_", "0a" * 20),
    "contentful-token": ("CFPAT-", "x" * 43),
    "definednetworking-key": ("dnkey-", "x" * 26 + "-", "x" * 52),
    "hubspot-token": ("pat-na1-", "01234567-89ab-4cde-8f01-", "23456789abcd"),
    "neon-key": ("napi_", "x1" * 32),
    "netlify-token": ("nfp_", "x1" * 18),
    "posthog-key": ("phx_", "x" * 43),
    "razorpay-key": ("rzp_live_", "x" * 14),
    "resend-key": ("re_", "x" * 8 + "_", "x" * 24),
    "render-key": ("rnd_", "x" * 32),
    "trello-token": ("ATTA", "0a" * 32),
    "vercel-token": ("vcp_", "x1" * 28),
    "gitlab-session": ("_gitlab_session=", "0a" * 16),
    "django-key": ("django-insecure-", "x1(" * 16),
    "wireguard-key": ("PrivateKey = ", "Ab1" * 14 + "A="),
    "password-hash": ("$6$saltsalt$", "x" * 86),
    "docker-auth": ('{"auth": "', 'dXNlcjpwYXNzd29yZDE="}'),
    "api-key-header": ("X-Api-Key: ", "Ab1Cd2Ef3Gh4Jk5Lm6Np7"),
    "cookie": ("Set-Cookie: sid=", "Ab1Cd2Ef3Gh4Jk5Lm6Np7"),
    "session-cookie": ("sessionid=", "Ab1Cd2Ef3Gh4Jk5Lm6Np7"),
    "curl-user": ("curl -u me:", "secret"),
    "netrc-password": ("machine host.example login me password ", "secret"),
    "password-line": ("password ", "Ab1Cd2Ef3Gh4Jk5Lm6Np7\n"),
    "named-secret": ("DB_TOKEN=", "Ab1Cd2Ef3Gh4Jk5Lm6Np7"),
    "named-camel-key": ("signingKey: ", "Ab1Cd2Ef3Gh4Jk5Lm6Np7"),
    "named-key": ("MAILGUN_KEY=", "Ab1Cd2Ef3Gh4Jk5Lm6Np7"),
    "option": ("tool --api-key ", "Ab1Cd2Ef3Gh4Jk5Lm6Np7"),
    "bearer-token": ("is Bearer ", "Ab1Cd2Ef3Gh4Jk5Lm6Np7"),
    "cookies": ("Cookie: a=b; session=", "Ab1Cd2Ef3Gh4Jk5Lm6Np7"),
    "private-key-base64": ("LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBL", "RVkt" + "x1" * 40),
    "azure-key": ("x" * 76, "+ASt", "x1x1Q=="),
    "salesforce-token": ("00D" + "x" * 12, "!", "x1" * 45),
    "zapier-webhook": ("https://hooks.zapier.com/hooks/catch/", "123456/abcdef1"),
    "new-relic-license": ("0a" * 16, "FFFFNRAL"),
    "service-token": ("fc-", "0a" * 16),
    "stripe-client-secret": ("pi_" + "x1" * 12, "_secret_", "x1" * 12),
    "shadow-hash": ("root:", "x1Y2z3W4q5R6t:19700:0:99999:7:::"),
    "authress-key": ("sc_" + "x1" * 5, ".abcd", ".acc_" + "x1" * 8, "." + "x1" * 20),
    "encoded-web-token": ("ZXlK", "x1" * 60),
    "packagist-token": ("packagist_", "out_" + "0a" * 34),
    "docker-config": (".dockerconfigjson: ", "eyJ" + "x1" * 20),
    "connection-password": ("Server=db;Pwd=", "secret;"),
    "environment-password": ("DB_PASSWORD=", "hunter2"),
    "htpasswd": ("conf/.htpasswd:3:me:", "x1Y2z3W4q5R6t"),
    "sidekiq-credentials": ("BUNDLE_ENTERPRISE__CONTRIBSYS__COM=", "0a1b2c3d:4e5f6a7b"),
    "terraform-output": ('{"a":{"sensitive":true,"type":"string","value":"', 'correct"}}'),
    "password-element": ("<password>", "hunter2", "</password>"),
    "service-key": ("live_", "x1Y2z" * 8),
    "url-password": ("postgres://user", ":", "secret", "@host/db"),
    "private-key": ("-----BEGIN ", "PRIVATE KEY-----", r"\n", "MIIE" * 20, r"\n-----END PRIVATE KEY-----"),
}


def hidden(data: bytes, cuts: tuple[int, ...] = (), rules: object = KNOWN) -> bytes:
    hider, at, out = StreamHider(rules), 0, b""
    for cut in (*sorted(cuts), len(data)):
        out += hider.feed(memoryview(data)[at:cut])
        at = max(at, cut)
    return out + hider.finish()


@each("name", EXAMPLES)
def test_each_format_is_hidden_and_what_is_around_it_stays(name: str) -> None:
    secret = _made(*EXAMPLES[name])
    told = hidden(b"before " + secret + b" after\nnext\n")
    assert b"[redacted: " + name.encode() + b"]" in told
    assert (
        _made(EXAMPLES[name][-1])[:16]
        not in told.replace(b"-----END", b"").replace(b"@host/db", b"").replace(b"</password>", b"")
        or name == "url-password"
    )
    assert told.startswith(b"before ")
    assert told.endswith(b" after\nnext\n")


@each("name", EXAMPLES)
@each("codec", ["utf-16-le", "utf-16-be"])
def test_each_format_is_hidden_in_utf_16_as_in_ascii(name: str, codec: str) -> None:
    line = b"before " + _made(*EXAMPLES[name]) + b" after\nnext\n"
    assert hidden(line.decode().encode(codec)) == hidden(line).decode().encode(codec)


@each("before", ["\\n", "\\t", "\\u000a", "\x1b[32m", "\x1b[m", '"', "=", "Bearer "])
@each("name", ["github-token", "aws-access-key-id", "google-api-key", "npm-token", "json-web-token"])
def test_what_an_escape_or_a_colour_ends_with_is_no_part_of_the_secret(name: str, before: str) -> None:
    assert b"[redacted: " + name.encode() in hidden(before.encode() + _made(*EXAMPLES[name]) + b"\n")


def test_each_format_of_the_list_has_an_example() -> None:
    listed = tomllib.loads(resources.files("sightline.redact").joinpath("tokens.toml").read_text())
    assert set(listed) == set(EXAMPLES)


@each(
    "line",
    [
        b"commit 3f786850e387550fdab836ed7e6dc881de23001b",
        b"ghp_short",
        b"sha256-" + b"Ab1+" * 11,
        b"https://host:8080/path@2x.png",
        b"import { AIzaButton } from './ui'",
        b"the PRIVATE KEY is elsewhere",
        b"user@example.org: hello",
        b"eyJ is how they begin",
        b"ssh://git@example.org/repo.git",
        b"ratio 16:9 at http://example.org:80/x",
        b"http://localhost:8080/@scope/pkg@1.0",
        b"docker://alpine:latest@sha256:0123",
        b"postgres://user:$PASS@host/db",
        b"postgres://user:${DB_PASS:-x}@host/db",
        b"postgres://user:{password}@host/db",
        b"postgres://user:***@host/db",
        b"Authorization: Bearer undefined",
        b"Authorization: bearer null.",
        b"Authorization: Bearer YOUR_API_KEY",
        b"authorization: basic authentication",
        b"Authorization: token required",
        b"Authorization: Bearer ${TOKEN}",
        b"Authorization: Bearer $PASS",
        b"SessionToken: github.com/aws/aws-sdk-go/service/sts/session/token/provider",
        b"SessionToken: com/amazonaws/services/securitytoken/model/SessionToken",
        b"SessionToken: internal/auth/providers/session/SessionTokenProvider",
        b"SecretAccessKey: src/main/java/com/example/aws/v2/SecretAccessKeyProvider.java",
        b"client_secret: process.env.OAUTH2_CLIENT_SECRET",
        b"clientSecret = your-client-secret-here",
        b"pattern precious discord dapifoo",
        b"fig_leaf secret_santa gsk_short r8_x",
        b'"NextToken": "eyJuZXh0VG9rZW4iOiBudWxsLCAiYm90b190cn"',
        b'"ClientToken": "2ca1a304-32b3-4f5f-bc4c-111112b3c4d5"',
        b"arn:aws:secretsmanager:us-west-2:123456789012:secret:TestDatabase1-d4e5f6",
        b"password = get_password2(user)",
        b"token = self.tokenizer2.next_token",
        b'secret_key = "your-example-Ab1Cd2Ef3Gh4"',
        b"DB_PASSWORD=${DB_PASSWORD_2:-x1y2z3}",
        b"TOKEN=$(cat /run/secrets/a1b2c3d4)",
        b"token_count=a1b2c3d4e5f6g7h8",
        b"password: changeme",
        b'"socks5h://<username>:<password>@proxy-host"',
        b"token: getUserTokenByIdentifier",
        b"secret = internationalization",
        b"API_TOKEN=yourVeryOwnApplicationName",
        b"htpasswd -c /etc/nginx/.htpasswd admin",
        b'"sensitive": true, "type": "string"',
        b"private_key: Ed25519PrivateKey",
        b"param_key = Py27UniStr(name)",
        b"cache_key=9f8e7d6c5b4a39281706f5e4d3c2b1a0",
        b"PUBLIC_KEY=Ab1Cd2Ef3Gh4Jk5Lm6Np7",
        b"aws list --next-token 9f4d9f69-275a-41fe-b58e-2b837bd9ba48",
        b"for (i = 0; name=a1B2c3D4e5F6g7H8i9J0; i++)",
        b"docker run -u 1000:1000 x && curl https://host.example",
        b"hook session_id=0b1052ad-3d3d-43a8-8d65-13a0d1e2dcf5",
        b"trying to login with password at 10:30",
        b"s/(a)(b)/$1$2$3/ costs $5$ or $6$",
        b"https://git@github.example/x.git",
        b"sk-learn sk-toggleable__content-arrow sk-estimator-doc-link",
        b"\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m",
    ],
)
def test_what_only_looks_alike_stays(line: bytes) -> None:
    assert hidden(line + b"\n") == line + b"\n"


ENCRYPTED = _made(
    "-----BEGIN RSA PRIVATE",
    " KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C3D4E5F60718293A4B5C6D7E8F9\n\n",
    ("MIIEow+/" * 8 + "\n") * 3,
    "q0==\n-----END RSA PRIVATE KEY-----\n",
)
PGP = _made(
    "-----BEGIN PGP PRIVATE",
    " KEY BLOCK-----\nVersion: GnuPG v2.0.22 (GNU/Linux)\nComment: of nobody\n\n",
    ("MIIEow+/" * 8 + "\n") * 3,
    "q0==\n=Ab3d\n-----END PGP PRIVATE KEY BLOCK-----\n",
)
PUTTY = _made(
    "PuTTY-User-Key-File-3: ssh-ed25519\nComment: me\nPublic-Lines: 1\nAAAAC3Nz\nPrivate-Li",
    "nes: 2\n",
    "MIIEow+/" * 8,
    "\nq0==\nPrivate-MAC: 0a1b2c\n",
)


def _numbered(text: bytes, before: bytes = b"%d:") -> bytes:
    return b"".join(before.replace(b"%d", b"%d" % n) + line + b"\n" for n, line in enumerate(text.splitlines(), 1))


_SHOWN = {
    "as it is": lambda key: key,
    "grep -n": _numbered,
    "grep -nH": lambda key: _numbered(key, b"keys/id.pem:%d:"),
    "grep -nHA9": lambda key: _numbered(key, b"keys/my-id.pem-%d-"),
    "git blame": lambda key: _numbered(key, b"^a1b2c3d keys/id.pem (J. Doe 2024-01-02 03:04:05 +0000 %d) "),
    "docker logs -t": lambda key: _numbered(key, b"2024-01-02T03:04:05.00000000%dZ "),
    "cat -A": lambda key: key.replace(b"\n", b"$\n"),
    "grep -n in colour": lambda key: _numbered(key, b"\x1b[32m\x1b[K%d\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K"),
    "cat -n": lambda key: _numbered(key, b"     %d\t"),
    "indented": lambda key: _numbered(key, b"    "),
    "diff": lambda key: _numbered(key, b"+"),
    "in JSON": lambda key: json.dumps({"key": key.decode(), "other": 1}).encode() + b"\n",
    "in JSON in JSON": lambda key: json.dumps({"text": json.dumps({"key": key.decode()})}).encode() + b"\n",
    "joined by blanks": lambda key: b"KEY='" + key.rstrip().replace(b"\n", b" ") + b"' make\n",
}


@each("shown", _SHOWN)
@each("key", [KEY, ENCRYPTED, PGP])
def test_each_kind_of_private_key_is_hidden_however_it_is_shown(key: bytes, shown: str) -> None:
    after = b"all is well()\nabcd" + b"efgh" * 8 + b"\n"
    data = _SHOWN[shown](key) + after
    told = hidden(data)
    assert b"MII" not in told
    assert b"q0==" not in told
    assert told.endswith(after)
    assert hidden(data, tuple(range(0, len(data), 7))) == told


@each("key", [KEY, ENCRYPTED, PGP])
@each("codec", ["utf-16-le", "utf-16-be"])
def test_a_private_key_in_utf_16_is_hidden(key: bytes, codec: str) -> None:
    data = key + b"all is well()\nabcd" + b"efgh" * 8 + b"\n"
    assert hidden(data.decode().encode(codec)) == hidden(data).decode().encode(codec)


def test_a_key_of_putty_is_hidden() -> None:
    told = hidden(PUTTY + b"next\n")
    assert b"MII" not in told
    assert b"q0==" not in told
    assert told.endswith(b"Private-MAC: 0a1b2c\nnext\n")


@pytest.mark.parametrize("between", [b"\\n", b"\\\\n", b""])
@pytest.mark.parametrize("lines", [300, 1500, 4000])
def test_a_key_whose_lines_were_joined_is_hidden_however_long_it_is(lines: int, between: bytes) -> None:
    for before in (b'{"key": "', b". " * 30_000):
        data = before + _BEGINS + between.join([b"", *[b"MIIEow+/" * 8] * lines, b""]) + _ENDS + b'"}\nnext\n'
        told = hidden(data)
        assert b"MII" not in told
        assert told.startswith(before + _BEGINS)
        assert told.endswith(_ENDS + b'"}\nnext\n')
        assert hidden(data, tuple(range(0, len(data), 30_011))) == told


FORMS: dict[str, str] = {
    "bare": "%s",
    "shell": "export MY_TOKEN=%s",
    "JSON": '{"MY_TOKEN": "%s", "b": 1}',
    "JSON in JSON": '{"output": "{\\"MY_TOKEN\\": \\"%s\\"}"}',
    "YAML": "  MY_TOKEN: %s",
    "URL": "https://api.example/v1?a=1&MY_TOKEN=%s&b=2",
    "grep -n": "config/app.env:12:MY_TOKEN=%s",
    "colours": "\x1b[34mMY_TOKEN\x1b[0m=\x1b[32m%s\x1b[0m",
    "HCL": '  MY_TOKEN   = "%s"',
    ".netrc": "machine api.example login me password %s",
    "header": "Authorization: Bearer %s",
    "own header": "X-Api-Key: %s",
    "diff": "+MY_TOKEN=%s",
    "Python": "MY_TOKEN = '%s'",
    "XML": "<MY_TOKEN>%s</MY_TOKEN>",
    "settings": '<add key="MY_TOKEN" value="%s"/>',
    "cookie": "Set-Cookie: sid=%s; Path=/",
    "curl": "curl -su me:x -u me:%s https://api.example",
    "user of a URL": "https://%s@git.example/x.git",
}
WHOLE = [name for name, parts in EXAMPLES.items() if KNOWN.matches(_made(*parts))[0][1:3] == (0, len(_made(*parts)))]
"""Formats whose mark is a part of the secret, so that nothing around it matters."""


@each("form", FORMS)
@each("name", WHOLE)
def test_a_secret_of_a_known_format_is_hidden_in_each_form(name: str, form: str) -> None:
    secret = _made(*EXAMPLES[name])
    assert secret[6:] not in hidden(FORMS[form].encode().replace(b"%s", secret) + b"\n")


@each("form", [form for form in FORMS if form != "bare"])
@each("secret", ["Ab1Cd2Ef3Gh4Jk5Lm6Np7", "9f8e7d6c5b4a39281706f5e4d3c2b1a0"])
def test_a_secret_that_only_its_name_shows_is_hidden_in_each_form(form: str, secret: str) -> None:
    assert secret.encode()[4:] not in hidden(FORMS[form].replace("%s", secret).encode() + b"\n")


@pytest.mark.parametrize(
    "line",
    [
        "DB_PASSWORD=%s",
        "SECRET_KEY_BASE: %s",
        'SECRET_KEY = "%s"',
        "API_TOKEN=%s",
        '  secret_key = "%s"',
        'db_password = "%s"',
        "X-Vault-Token: %s",
        "PRIVATE-TOKEN: %s",
        '{"auths": {"r.example": {"password": "%s"}}}',
        "TWILIO_AUTH_TOKEN=%s",
        "//registry.example/:_authToken=%s",
        "mailgun.key=%s",
        "SENTRY_KEY: %s",
        "Cookie: theme=dark; session=%s",
        "kubeadm join 10.0.0.1:6443 --token %s",
        "AZURE_DEVOPS_EXT_PAT=%s",
        "API_TOKEN=17|%s",
        "&lt;password&gt;%s&lt;/password&gt;",
        "<password>%s</password>",
        "{&quot;api_key&quot;:&quot;%s&quot;}",
        "Endpoint=https://x.example;Id=x;Secret=%s;",
        "curl --user 'a/b:%s' https://api.example",
        "htpasswd -cb .htpasswd me %s",
        "grep -n me .htpasswd; .htpasswd:3:me:%s",
        '{"text": "{\\"sensitive\\": true, \\"type\\": \\"string\\", \\"value\\": \\"%s\\"}"}',
    ],
)
def test_names_of_secrets_are_known(line: str) -> None:
    secret = "Ab1Cd2Ef3Gh4Jk5Lm6Np7"
    told = hidden((line % secret).encode() + b"\n")
    assert b"[redacted: " in told
    assert secret.encode() not in told


@each("secret", ["xkqzvbtrwmhdjgfp", "QzKvXbTrWmHdJgFpLc", "c9839284301632ea1b9aa102", "deadbeef01234567"])
def test_a_value_with_a_sure_name_is_hidden_without_digits_or_changes(secret: str) -> None:
    assert secret.encode() not in hidden(f"export KUCOIN_TOKEN={secret}\n".encode())


AWS = "wJalr/+UtnFEMI" * 3


@pytest.mark.parametrize(
    "line",
    [
        '{"SecretAccessKey": "%s"}',
        '{"text": "{\\"SecretAccessKey\\": \\"%s\\"}"}',
        '{"a": "{\\"b\\": \\"{\\\\\\"SecretAccessKey\\\\\\": \\\\\\"%s\\\\\\"}\\"}"}',
        "secretAccessKey: '%s',",
        "AWS_SECRET_ACCESS_KEY=%s",
        "aws-secret-access-key: %s",
        "<SecretAccessKey>%s</SecretAccessKey>",
        "|  SecretAccessKey |  %s  |",
        "\x1b[34mAWS_SECRET_ACCESS_KEY\x1b[0m=\x1b[33m%s\x1b[0m",
        '\x1b[1;34m"SecretAccessKey"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m"%s"\x1b[0m',
        '{"out": "\\u001b[34mSecretAccessKey\\u001b[0m: \\u001b[33m%s\\u001b[0m"}',
        "Secret\x1b[01;31m\x1b[KAccess\x1b[m\x1b[KKey=%s",
        '"sessionToken": "%s"',
    ],
)
def test_a_named_secret_is_found_in_each_spelling(line: str) -> None:
    told = hidden((line % AWS).encode() + b" after\n")
    assert b"[redacted: aws-secret-key]" in told
    assert b"UtnFEMI" not in told
    assert told.endswith(b" after\n")


@pytest.mark.parametrize("at", [2, 4, 9, 30])
def test_a_secret_that_colours_part_is_hidden(at: int) -> None:
    for code in (b"\x1b[01;31m\x1b[K", b"\x1b[m", b"\\u001b[31m"):
        told = hidden(b"x " + TOKEN[:at] + code + TOKEN[at:] + b" y\n")
        assert told == b"x [redacted: github-token] y\n"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgres://user~p@ss@host/db", "postgres://user~[redacted: url-password]@host/db"),
        ("postgres://user~pa/ss/wd@host/db", "postgres://user~[redacted: url-password]@host/db"),
        ("postgres://user~p@ss/w#rd?@host:5432/db", "postgres://user~[redacted: url-password]@host:5432/db"),
        ("https:\\/\\/user~se\\/cret@host\\/x", "https:\\/\\/user~[redacted: url-password]@host\\/x"),
        ("redis://~12345@host a@b", "redis://~[redacted: url-password]@host a@b"),
        ("a://u~sec1@h,b://u~sec2@h", "a://u~[redacted: url-password]@h,b://u~[redacted: url-password]@h"),
    ],
)
def test_the_password_of_a_url_may_have_any_sign(url: str, told: str) -> None:
    url, told = (text.replace("~", ":") for text in (url, told))
    assert hidden(f"x {url} y\n".encode()) == f"x {told} y\n".encode()


_PIECES = st.sampled_from(
    (
        b" " + TOKEN + b" ",
        KEY,
        TOKEN[:20],
        KEY[:70],
        b"pass=x",
        b"hunter42",
        b"\n",
        b"\r\n",
        b" ",
        b"x" * 50,
        b"\xff\x00",
        b"-----END ",
        ENCRYPTED,
        KEY.rstrip().replace(b"\n", b"\\n"),
        b"\x1b[31m",
        TOKEN[20:],
        b"Authorization\x1b[0m: ",
        b"Bearer 12345678",
        b"a://u:p@",
        b"-eyJ",
    )
)
_STREAMS = st.lists(_PIECES | st.binary(max_size=8), max_size=14).map(b"".join)


@settings(max_examples=examples(40), deadline=None)
@given(_STREAMS, st.lists(st.integers(0, 600), max_size=8), st.sampled_from((KNOWN, OWN)))
def test_any_split_gives_the_same_bytes(data: bytes, cuts: list[int], rules: object) -> None:
    whole = hidden(data, (), rules)
    assert hidden(data, tuple(min(cut, len(data)) for cut in cuts), rules) == whole
    assert hidden(data, tuple(range(len(data))), rules) == whole
    assert rules is OWN or b" " + TOKEN + b" " not in whole
    assert whole.count(b"\n") == data.count(b"\n")


@settings(max_examples=examples(12), deadline=None)
@given(
    st.integers(-len(TOKEN) - 3, 3),
    st.sampled_from((LINE_BYTES - OVERLAP_BYTES, LINE_BYTES, 2 * LINE_BYTES - OVERLAP_BYTES)),
    st.lists(st.integers(0, 3 * LINE_BYTES), max_size=6),
)
def test_a_secret_anywhere_on_an_endless_line_is_found(shift: int, edge: int, cuts: list[int]) -> None:
    data = b"." * (edge + shift) + TOKEN + b"." * LINE_BYTES
    assume(all(cut <= len(data) for cut in cuts))
    whole = hidden(data)
    assert whole == data.replace(TOKEN, b"[redacted: github-token]")
    assert hidden(data, tuple(cuts)) == whole


@pytest.mark.parametrize(
    "name", ["aws-secret-key", "slack-webhook", "authorization-header", "url-password", "private-key", "own"]
)
def test_a_secret_is_found_wherever_it_and_its_name_lie_on_an_endless_line(name: str) -> None:
    rules, secret = (
        (KNOWN, _made(*EXAMPLES[name])) if name in EXAMPLES else (load_rules(False, (r"pin=(\d+)",)), b"pin=12345")
    )
    before, behind = b". " * (LINE_BYTES // 2), b" ." * (OVERLAP_BYTES // 2)
    told = hidden(b" " + secret + b" ", (), rules)
    assert b"[redacted: " in told
    for begins in range(LINE_BYTES - OVERLAP_BYTES - len(secret) - 2, LINE_BYTES - OVERLAP_BYTES + 2, 3):
        data = before[:begins] + b" " + secret + b" " + behind
        assert hidden(data, (), rules) == before[:begins] + told + behind


@pytest.mark.parametrize(
    ("pattern", "secret", "told"),
    [
        (r"(?<=pin=)\d+", b"pin=12345", b"pin=[redacted: pattern 1]"),
        (r"^\d+|(?<!\.)\b\d+", b".12345", b".12345"),
    ],
)
def test_a_pattern_may_look_back_anywhere_on_an_endless_line(pattern: str, secret: bytes, told: bytes) -> None:
    rules, cut = load_rules(False, (pattern,)), LINE_BYTES - OVERLAP_BYTES
    for begins in [*range(cut - len(secret) - 2, cut + 3), *range(2 * cut - len(secret) - 2, 2 * cut + 3)]:
        before = b"." * begins
        data = before + secret + b"." * LINE_BYTES
        assert hidden(data, (), rules) == before + told + b"." * LINE_BYTES
        assert hidden(data + b"\n", (cut, begins, len(data)), rules) == before + told + b"." * LINE_BYTES + b"\n"


@pytest.mark.parametrize(
    ("patterns", "secret"),
    [((r"(?<=(\d{4})\d{4})x", r"\d{8}"), b"12345678x"), ((r"(?<=(\d{4})tok123)x", r"tok\d+"), b"1234tok123x")],
)
def test_a_group_that_stands_before_what_was_passed_on_brings_nothing_back(
    patterns: tuple[str, ...], secret: bytes
) -> None:
    rules, cut = load_rules(False, patterns), LINE_BYTES - OVERLAP_BYTES
    for begins in range(cut - len(secret) - 2, cut + 3):
        told = hidden(b"." * begins + secret + b"." * LINE_BYTES, (), rules)
        assert b"678" not in told.replace(b"12345678", b"") or b"12345678" in told
        assert b"tok123" not in told
        assert told.count(b".") == begins + LINE_BYTES


def test_what_is_hidden_beside_it_does_not_take_the_name_of_a_secret_away() -> None:
    rules, cut = load_rules(True, (r"foo\S+",)), LINE_BYTES - OVERLAP_BYTES
    secret = b"0123456789abcdef" * 3
    for begins in range(cut - 90, cut + 2, 2):
        data = b". " * (begins // 2) + b"fooAuthorization: Bearer " + secret + b" ." * LINE_BYTES
        assert secret[:16] not in hidden(data, (), rules)


def _whole(data: bytes, rules: SecretRules) -> bytes:
    """A line with its secrets hidden, looked at as one."""
    for start, end, name in reversed(spans_of(rules.matches(data), data)):
        data = data[:start] + b"[redacted: " + name + b"]" + data[end:]
    return data


_CHAIN = b"Authorization: Bearer " + b"A" * 8 + b"SecretAccessKey: " + b"B" * 40
_LINKS = st.lists(
    st.sampled_from(
        (
            _CHAIN,
            b"Authorization: Bearer " + b"Ab1" * 1500,
            b"Authorization: Bearer ",
            b"foo" + b"x" * 3000,
            b"foo",
            b" for user ",
            b"key=" + b"z" * 20,
            b"key=",
            b"12345678",
            TOKEN,
            b"[redacted: a]",
            b" ",
            b".",
        )
    ),
    min_size=1,
    max_size=8,
).map(b"".join)
_TANGLED = (r"foo\S+", r"\w+ for user (\w+)", r"key=(\S+)", r"\d{8}")


@given(st.lists(st.tuples(st.integers(0, 400), _LINKS), min_size=1, max_size=3), st.sampled_from(((), *zip(_TANGLED))))
def test_a_long_line_is_hidden_as_if_it_were_looked_at_as_one(
    places: list[tuple[int, bytes]], patterns: tuple[str, ...]
) -> None:
    rules, data = load_rules(True, patterns), b""
    for before, links in places:  # each near where a window may be cut
        edge = (len(data) // (LINE_BYTES - OVERLAP_BYTES) + 1) * (LINE_BYTES - OVERLAP_BYTES)
        data += b". " * ((edge - len(data) - before) // 2) + links + b" "
    data += b" ." * (LINE_BYTES // 2)
    assert hidden(data, (), rules) == _whole(data, rules)


@pytest.mark.parametrize("size", [LINE_BYTES + 4, 2 * LINE_BYTES + 928])
def test_secrets_that_name_each_other_without_end_take_no_longer_than_others(size: int) -> None:
    looked = 0

    class Counting(SecretRules):
        def matches(self, text: bytes, begin: int = 0, look: int = 0) -> list[Match]:
            nonlocal looked
            looked += 1
            return super().matches(text, begin, look)

    hider = StreamHider(Counting(load_rules(True, ()).rules))
    data = (_CHAIN * (size // len(_CHAIN) + 1))[:size]
    told = hider.feed(data) + hider.finish()
    assert b"A" * 8 not in told
    assert b"B" * 40 not in told
    assert looked <= 2 * (size // (LINE_BYTES - OVERLAP_BYTES) + 1)


@pytest.mark.parametrize("length", range(OVERLAP_BYTES - 84, OVERLAP_BYTES + 1, 7))
def test_a_long_secret_does_not_take_the_name_of_the_next_along(length: int) -> None:
    rules = load_rules(True, (r"foo\S+",))
    for begins in (0, LINE_BYTES - OVERLAP_BYTES - 1, LINE_BYTES - length):
        foo = b"foo" + b"x" * (length - 17) + b"Authorization:"
        data = b". " * (begins // 2) + b"." * (begins % 2) + foo + b" Bearer mysecrettoken0123" + b" ." * LINE_BYTES
        assert b"mysecret" not in hidden(data, (), rules)


def test_what_a_secret_that_fills_windows_ends_with_may_name_the_next() -> None:
    rules = load_rules(True, (r"foo\S+",))
    for filled in range(LINE_BYTES - 40, LINE_BYTES + 1):
        told = hidden(b"foo" + b"x" * (filled - 3) + KEY, (), rules)
        assert b"MIIE" not in told
        assert b"q0==" not in told
    for length in range(LINE_BYTES - 40, LINE_BYTES + 1, 4):
        data = b"foo" + b"x" * (length - 17) + b"Authorization:" + b" Bearer mysecrettoken0123" + b" ." * LINE_BYTES
        assert b"mysecret" not in hidden(data, (), rules)


@settings(max_examples=examples(30), deadline=None)
@given(_STREAMS)
def test_what_was_hidden_once_stays_as_it_is(data: bytes) -> None:
    for rules in (KNOWN, OWN):
        once = hidden(data, (), rules)
        assert hidden(once, (), rules) == once or b"[redacted" in data


@pytest.mark.parametrize("before", [b"", b"    ", b"key.pem:", b"   12\t", b'  "', b"key.pem:7:"])
def test_a_private_key_is_hidden_line_by_line_however_it_is_shown(before: bytes) -> None:
    shown = b"".join(before + line + b"\n" for line in KEY.splitlines())
    told = hidden(shown + b"all is well()\nabcd" + b"efgh" * 8 + b"\n")
    assert b"MIIE" not in told
    assert b"q0==" not in told
    assert told.count(b"\n") == shown.count(b"\n") + 2
    assert told.endswith(b"all is well()\nabcd" + b"efgh" * 8 + b"\n")


_BEGINS, _ENDS = _made("-----BEGIN RSA PRIVATE", " KEY-----"), b"-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize("step", [997, 1 << 20])
@pytest.mark.parametrize(
    ("line", "patterns"),
    [
        (_BEGINS + b"\\nQUJD\\n" + _ENDS + b" " + _BEGINS, ()),
        (b"x" * (LINE_BYTES - len(_BEGINS)) + _BEGINS, ("x.*",)),
        (_BEGINS + b" and more" * 10_000, ()),
        (b" " * (LINE_BYTES - OVERLAP_BYTES - 10) + _BEGINS + b" " * LINE_BYTES, ()),
        (_BEGINS + b" " * LINE_BYTES + _ENDS + b" " * LINE_BYTES + _BEGINS, ()),
    ],
    ids=["the second of two", "behind a cut", "long before the end", "across a cut", "another, long after"],
)
def test_a_private_key_that_begins_anywhere_on_a_line_is_hidden_from_the_next_on(
    line: bytes, patterns: tuple[str, ...], step: int
) -> None:
    told = hidden(
        line + KEY[KEY.index(b"\n") :] + b"all is well()\n",
        tuple(range(step, 3 * LINE_BYTES, step)),
        load_rules(True, patterns),
    )
    assert b"MIIE" not in told
    assert b"q0==" not in told
    assert told.endswith(b"\nall is well()\n")


def test_no_key_goes_on_behind_its_end_on_a_long_line() -> None:
    rest = b"\n" + b"abcd" * 10 + b"\n"
    line = _BEGINS + b" " * LINE_BYTES + _ENDS + b" " * LINE_BYTES
    assert hidden(line + rest).endswith(rest)


def test_blanks_behind_the_beginning_of_a_key_can_be_read_in_one_way_only() -> None:
    lines = (_BEGINS + b" " * 60 + b"\n") * 400  # where they can be read in many, it takes a quarter of an hour
    assert hidden(lines) == lines


_KEY_UNITS = [
    b"Version: ",
    b"Version: a ",
    b"Version: a  \t",
    b"Hash: a\\n",
    b"A" * 40 + b" ",
    b"A" * 39 + b"  ",
    b"\\\\n",
]


@pytest.mark.parametrize("way", ["match", "search", "fullmatch"])
@pytest.mark.parametrize("unit", [*_KEY_UNITS, *(b" " + unit for unit in _KEY_UNITS), b" ", b"A", _BEGINS])
def test_what_may_follow_the_beginning_of_a_key_can_be_read_in_one_way_only(unit: bytes, way: str) -> None:
    """Where a part can be read in two ways, each further one doubles the time, in the ways that look for an end."""
    pattern = next(rule.pattern for rule in KNOWN.rules if rule.name == b"private-key")
    for end in (b"", b"!"):
        with in_bounded_time(f"{way} {unit!r}"):
            getattr(pattern, way)(_BEGINS + unit * 2_000 + end)


def test_a_key_with_headers_on_its_line_is_hidden() -> None:
    for between in (b" ", b"\t", b"\\n"):
        headers = between.join((b"Version: Any 1", b"Comment: made up  for this", b"Hash: SHA1"))
        told = hidden(_BEGINS + between + headers + between * 2 + b"MIIEow+/" * 8 + between + _ENDS + b"\n")
        assert b"MIIE" not in told


def test_a_line_of_a_private_key_is_hidden_however_long_it_is() -> None:
    told = hidden(_BEGINS + b"\n" + b"MIIEow+/" * 20_000 + b"\nq0==\n" + _ENDS + b"\nall is well()\n")
    assert b"MII" not in told
    assert b"q0==" not in told
    assert told.endswith(b"\nall is well()\n")


@pytest.mark.parametrize("between", [b" ", b"\r", b"\r\r", b"\\n", b"  "])
def test_a_private_key_whose_lines_were_joined_is_hidden(between: bytes) -> None:
    told = hidden(b"echo " + KEY.rstrip(b"\n").replace(b"\n", between) + b" and done\n")
    assert b"MIIE" not in told
    assert b"abcd" not in told
    assert b"q0==" not in told
    assert told.endswith(_ENDS + b" and done\n")


def test_words_behind_the_name_of_a_key_stay() -> None:
    prose = _BEGINS + b" is how such a file begins and the rest of it follows on further lines, of letters and digits\n"
    assert hidden(prose) == prose


@pytest.mark.parametrize("before", [1, 7, LINE_BYTES - 40, LINE_BYTES, 2 * LINE_BYTES + 70])
def test_the_last_line_of_a_private_key_may_have_its_end(before: int) -> None:
    told = hidden(_BEGINS + b"\n" + b"Ab3+" * before + _ENDS + b" x\n" + b"abcd" * 10 + b"\n")
    assert b"Ab3" not in told
    assert told.endswith(_ENDS + b" x\n" + b"abcd" * 10 + b"\n")


@pytest.mark.parametrize("sign", [b"+", b"-", b"  12: ", b"key "])
def test_what_stands_before_the_end_of_a_private_key_stays_if_it_is_none_of_it(sign: bytes) -> None:
    assert hidden(_BEGINS + b"\nMIIEow+/\n" + sign + _ENDS + b"\n").endswith(b"\n" + sign + _ENDS + b"\n")


def test_no_word_of_a_rule_hides_another_ones() -> None:
    """At each place the first word that fits is taken: no other rule may match where it does."""
    words = [(word, rule) for rule in KNOWN.rules for word in rule.words]
    for word, rule in words:
        for other, hidden_rule in words:
            if hidden_rule is not rule and word.startswith(other):
                assert not list(hidden_rule.search(word + b"x" * 200, 0))


@each("name", EXAMPLES)
def test_each_example_is_found_behind_every_word(name: str) -> None:
    secret = _made(*EXAMPLES[name])
    words = b" ".join(word for rule in KNOWN.rules for word in rule.words)
    assert b"[redacted: " + name.encode() + b"]" in hidden(words + b" " + secret)


def test_the_names_of_a_value_are_hidden_and_tell_what_they_name() -> None:
    redaction = Redaction(KNOWN)
    value = {
        TOKEN.decode(): [TOKEN.decode()],
        TOKEN.decode() + " ": 1,
        "SecretAccessKey": AWS,
        "inner": {"authorization": "Bearer " + "0123456789", 3: None},
    }
    marked = "[redacted: github-token]"
    assert redaction.value(value) == {
        marked: [marked],
        f"{marked} ": 1,
        "SecretAccessKey": "[redacted: aws-secret-key]",
        "inner": {"authorization": "Bearer [redacted: authorization-header]", 3: None},
    }
    assert redaction.value({TOKEN.decode(): 1, TOKEN.decode().swapcase(): 2, marked: 3}).keys() >= {
        marked,
        f"{marked} 2",
    }


@each("name", EXAMPLES)
def test_no_rule_goes_beyond_its_line(name: str) -> None:
    rule = next(rule for rule in KNOWN.rules if rule.name == name.encode())
    secret = _made(*EXAMPLES[name])
    for at in range(1, len(secret)):
        broken = secret[:at] + b"\n" + secret[at:]
        assert not any(b"\n" in match[0] for match in rule.pattern.finditer(broken))


class Counted(SecretRule):
    """A rule that counts how often its pattern is used."""

    tries = 0

    @property
    def pattern(self) -> Any:
        self.tries += 1
        return SecretRule.pattern.func(self)


def counted_rules() -> list[Counted]:
    return [Counted(one.name, one._pattern, one.words, begins=one.begins) for one in KNOWN.rules]


@pytest.mark.parametrize(
    "run", [b"-eyJ", b"-eyJ.", b"ghp_", b"glpat-", b"://a:", b"Authorization: ", b"AKIA", b"secret_"]
)
def test_a_run_of_beginnings_is_tried_no_more_often_than_it_has_of_them(run: bytes) -> None:
    for times in (1_000, 10_000):
        with_words = counted_rules()
        SecretRules(with_words).matches(run * times)
        assert sum(one.tries for one in with_words) <= 3 * times
    with_words = counted_rules()
    SecretRules(with_words).matches(b"no word of any rule " * 1_000)
    assert not any(one.tries for one in with_words)


@each("name", [rule.name.decode() for rule in KNOWN.rules])
def test_a_run_of_a_rule_s_own_words_is_searched_in_bounded_time(name: str) -> None:
    """A value that may be long, and holds its own name again, would be read again for each."""
    rule = next(rule for rule in KNOWN.rules if rule.name == name.encode())
    for word in rule.words[:2]:
        for unit in (word, word + b"=", word + b"a1B2"):
            with in_bounded_time(f"{unit!r}", 0.2):
                hidden((unit * 20_000)[: 1 << 17])


_BEGUN = [rule for rule in KNOWN.rules if rule.begins and rule.name.decode() in EXAMPLES]


@settings(max_examples=examples(60), deadline=None)
@given(st.data(), st.sampled_from(_BEGUN))
def test_rules_whose_words_a_text_is_full_of_find_the_same(data: st.DataObject, rule: SecretRule) -> None:
    secret = _made(*EXAMPLES[rule.name.decode()])
    cut = data.draw(st.integers(1, len(secret)))
    piece = st.sampled_from(
        (*rule.words, secret, secret[:cut], b"x", b"9", b" ", b"\n", b"\\n", b"\x1b[32m", b"@a", b"?")
    )
    text = b"".join(data.draw(st.lists(piece, max_size=30))) + b" " + b"; ".join(rule.words) * 400
    used = SecretRules(KNOWN.rules)
    used.matches(b" ".join(rule.words) * 2_000)
    begin = data.draw(st.integers(0, 40))
    assert used.matches(text, begin, begin) == SecretRules(KNOWN.rules).matches(text, begin, begin)


@pytest.mark.parametrize("run", [b"ghp_", b"AKIA", b"https://a:"])
def test_words_that_a_stream_is_full_of_are_not_tried_one_by_one(run: bytes) -> None:
    counted = counted_rules()
    rules = SecretRules(counted)
    rules.matches(run * 2_000)
    before = sum(one.tries for one in counted)
    rules.matches(run * 10_000)
    assert sum(one.tries for one in counted) - before < 100


def test_secrets_are_counted() -> None:
    redaction = Redaction(KNOWN)
    redaction.feed("out", TOKEN + b" " + TOKEN + b"\n" + KEY)
    redaction.feed("err", TOKEN)
    assert redaction.count == 3
    redaction.finish()
    assert redaction.count == 4


@pytest.mark.parametrize("pattern", ["(", "x*", "", "\ud800"])
def test_a_pattern_that_cannot_be_meant_is_refused(pattern: str) -> None:
    assert check_pattern(pattern)
