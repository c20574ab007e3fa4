"""Synthetic secrets in the shapes that transcripts hold, and benign lines that only look like them.

Every secret is drawn from a seeded generator, so no real credential and nothing that a push scanner would
stop stands in the file. `HELD_OUT` was written before the rules and is not consulted when they are changed;
`TUNED` may be. A case is (text, secret): the secret must be gone, and the rest of the text must stay.
"""

from __future__ import annotations

import base64
import random
from hashlib import sha256
from typing import NamedTuple

DIGITS = "0123456789"
LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = LOWER.upper()
HEX = DIGITS + "abcdef"
B36 = LOWER + DIGITS
U36 = UPPER + DIGITS
B62 = LOWER + UPPER + DIGITS
B64 = B62 + "+/"
URL64 = B62 + "-_"
B32 = UPPER + "234567"
BASE58 = "".join(c for c in DIGITS + UPPER + LOWER if c not in "0OIl")  # in the order of its digits
B58 = "".join(c for c in B62 if c not in "0OIl")
CRYPT = B62 + "./"


class Half(NamedTuple):
    positives: tuple[tuple[str, str], ...]
    benign: tuple[str, ...]


class _Forge:
    """Draws fake secrets, the same ones in every run."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, alphabet: str, length: int, head: str = "", tail: str = "") -> str:
        return head + "".join(self._random.choices(alphabet, k=length)) + tail

    def uuid(self) -> str:
        raw = self(HEX, 32)
        return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-a{raw[17:20]}-{raw[20:]}"

    def pem_body(self, lines: int, newline: str = "\n") -> str:
        return newline.join([self(B64, 64) for _ in range(lines)] + [self(B64, 21, tail="==")])

    def discord_token(self) -> str:
        account = base64.urlsafe_b64encode(self(DIGITS, 17, head="1").encode()).decode().rstrip("=")
        return f"{account}.{self(URL64, 6)}.{self(B62, 38)}"

    def wallet_key(self) -> str:
        """A private key in the import format of wallets: a version, 32 bytes, and a checksum, in Base58."""
        payload = b"\x80" + bytes.fromhex(self(HEX, 64)) + b"\x01"
        number = int.from_bytes(payload + sha256(sha256(payload).digest()).digest()[:4])
        digits = ""
        while number:
            number, digit = divmod(number, 58)
            digits = BASE58[digit] + digits
        return digits

    def jwt(self) -> str:
        head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
        body = base64.urlsafe_b64encode(b'{"sub":"4711","iat":1714730000}').decode().rstrip("=")
        return f"{head}.{body}.{self(URL64, 43)}"


def _filled(template: str, secret: str) -> tuple[str, str]:
    return template.replace("@@", secret), secret


def _held_out() -> Half:
    forge = _Forge(20260503)
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    positives = [
        _filled("git remote set-url origin https://oauth2:@@@gitlab.internal/team/app.git", forge(B62, 22)),
        _filled("remote: using @@ for the push", forge(B62, 36, "ghp_")),
        _filled('{"tool":"bash","output":"GITHUB_TOKEN=@@\\n"}', forge(B62, 36, "gho_")),
        _filled("SLACK=@@", forge(DIGITS, 12, "xoxb-") + forge(B62, 24, "-")),
        _filled("stripe listen --api-key @@ --forward-to :4242", forge(B62, 32, "sk_live_")),
        _filled("client = OpenAI(api_key='@@')", forge(URL64, 60, "sk-proj-")),
        _filled("I exported ANTHROPIC_API_KEY=@@ and it works", forge(URL64, 90, "sk-ant-api03-")),
        _filled("aws configure set aws_access_key_id @@", forge(UPPER + "234567", 16, "AKIA")),
        _filled("aws_secret_access_key = @@", forge(B64, 40)),
        _filled('"secretAccessKey": "@@",', forge(B64, 40)),
        _filled("curl -H 'X-Api-Key: @@' https://api.example.org/v1", forge(HEX, 32)),
        _filled("curl -sS -u admin:@@ https://jenkins.local/api/json", "Tr0ub4dor&3"),
        _filled("curl https://maps.example/geocode?key=@@&q=Berlin", forge(URL64, 35, "AIza")),
        _filled("Authorization: Bearer @@", forge(B62, 40)),
        _filled("-H 'Authorization: Basic @@'", base64.b64encode(b"deploy:Sommer-2025!").decode()),
        _filled("id_token was @@ in the log", forge.jwt()),
        _filled("DATABASE_URL=postgresql://app:@@@db.internal:5432/prod", "k9-Lm_2vQx"),
        _filled("mongodb+srv://root:@@@cluster0.ab1cd.mongodb.net/test", "Pa55w0rdX"),
        _filled("redis://:@@@10.0.0.4:6379/0", forge(B62, 24)),
        _filled("Server=sql01;Database=crm;User Id=sa;Password=@@;Encrypt=true", "Winter!2024x"),
        _filled(
            "DefaultEndpointsProtocol=https;AccountName=blobs;AccountKey=@@;EndpointSuffix=core.windows.net",
            forge(B64, 86, tail="=="),
        ),
        _filled("spring.datasource.password=@@", "q7!mZr2Kp"),
        _filled("  password: '@@'", "correct9horse"),
        _filled("DB_PASS=@@ docker compose up -d", "zX8-1mno"),
        _filled("export PGPASSWORD='@@'", "s3cr3t#pg"),
        _filled("mysql -h db -u root -p@@ shop < dump.sql", "mY5qlr00t"),
        _filled("sshpass -p '@@' ssh root@10.1.1.5", "Fr1day!pm"),
        _filled("docker login -u bob -p @@ registry.local", forge(B62, 18)),
        _filled("machine api.example.org login bob password @@", "netRC-pw-77"),
        _filled("//registry.npmjs.org/:_authToken=@@", forge(B62, 36, "npm_")),
        _filled("db.example.org:5432:prod:app:@@", "pgp4ss-x1"),
        _filled("password = pypi-token\npassword = @@", forge(URL64, 120, "pypi-AgEIcHlwaS5vcmc")),
        _filled('"client_secret": "@@"', forge(URL64, 28, "GOCSPX-")),
        _filled("client_secret: @@", forge(B62, 40)),
        _filled('config.set("jwtSecret", "@@")', forge(B62, 32)),
        _filled("const stripeWebhookSecret = '@@';", forge(B62, 32, "whsec_")),
        _filled("Cookie: theme=dark; sessionid=@@; lang=en", forge(B36, 32)),
        _filled("Set-Cookie: connect.sid=@@; Path=/; HttpOnly", forge(B62, 40, "s%3A")),
        _filled(f"{begin}\n@@\n{end}", forge.pem_body(12)),
        _filled(
            '"private_key": "-----BEGIN PRIVATE KEY-----\\n@@\\n-----END PRIVATE KEY-----\\n"',
            forge.pem_body(10, "\\n"),
        ),
        _filled(f"cat id_rsa\n{begin}\n@@", forge.pem_body(5)),
        _filled("Hi, my password is @@, please reset it", "Blue42Sky"),
        _filled("the wifi password is @@", "kaffee-und-kuchen-77"),
        _filled("The door pin is @@.", "48213"),
        _filled("user: bob\npassword: @@", "hunter22"),
        _filled("log in as admin with password @@ on the staging box", "N1ghtOwl!"),
        _filled("数据库密码是 @@，别外传", "Abc@2024db"),
        _filled("登录口令：@@", "qwe#9981"),
        _filled("Das Passwort lautet @@", "Regen_Bogen7"),
        _filled("<password>@@</password>", "xml-P4ss"),
        _filled('<add key="SmtpPassword" value="@@" />', "m4il3r!x"),
        _filled("- name: REDIS_PASSWORD\n  value: @@", "r3dis-pw-9"),
        _filled("huggingface-cli login --token @@", forge(B62, 34, "hf_")),
        _filled("SENDGRID: @@", forge(URL64, 22, "SG.") + forge(URL64, 43, ".")),
        _filled(
            "https://hooks.slack.com/services/@@",
            "T0" + forge(U36, 8) + "/B0" + forge(U36, 8) + "/" + forge(B62, 24),
        ),
        _filled("bot token: @@", forge(DIGITS, 9, "7") + ":AA" + forge(URL64, 33)),
        _filled('os.environ.get("ADMIN_TOKEN", "@@")', forge(HEX, 40)),
        _filled("VAULT_TOKEN=@@ vault kv get x", forge(B62, 90, "hvs.")),
        _filled("az login --service-principal -u 11 -p @@ --tenant x", forge(B62, 3) + "8Q~" + forge(URL64, 34)),
        _filled("tailscale up --authkey=@@", forge(B62, 17, "tskey-auth-k") + forge(B62, 32, "-")),
        _filled("password: str = '@@'", "D3fault!pw"),
        _filled("echo '@@' | sudo -S apt update", "Adm1n-sud0"),
        _filled("encryption_key=@@", forge(HEX, 64)),
        _filled("redis-cli -h cache -a @@ ping", forge(B62, 20)),
    ]
    benign = [
        "def login(user: str, password: str) -> Token:",
        "token = get_token()",
        'secret = os.environ["CLIENT_SECRET"]',
        "password = getpass.getpass('Password: ')",
        "api_key = settings.api_key",
        "api_key: Optional[str] = None",
        "API_KEY=<your-api-key>",
        "export OPENAI_API_KEY=$OPENAI_API_KEY",
        "password: ${DB_PASSWORD}",
        "password: {{ vault_db_password }}",
        "token: xxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
        "max_tokens=4096, token_count: 123456",
        f"commit {forge(HEX, 40)}",
        f"request id {forge.uuid()} took 12 ms",
        f'"integrity": "sha512-{forge(B64, 86)}==",',
        f"sha256:{forge(HEX, 64)}",
        f"![img](data:image/png;base64,{forge(B64, 300)})",
        f"ssh-ed25519 {forge(B62, 60, 'AAAAC3NzaC1lZDI1NTE5AAAAI')} bob@host",
        "-----BEGIN PUBLIC KEY-----",
        'if "-----BEGIN PRIVATE KEY-----" in text: return True',
        "the password is required",
        "The password is stored as a bcrypt hash.",
        "your password is incorrect, please try again",
        "What is the password policy? Passwords must be at least 12 characters.",
        "password reset link expires in 24 hours",
        "The token is expired or malformed.",
        "The secret of good code is small functions.",
        "密码长度至少8位",
        "请输入密码：",
        "密码是必填字段",
        "secret_name: prod/db/credentials",
        "password_file: /run/secrets/db_password",
        "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
        "next_token = tokens[i + 1]",
        'label="Password" type="password" name="password"',
        "PASSWORD_HASHERS = ['django.contrib.auth.hashers.Argon2PasswordHasher']",
        "assert response.json()['token'] == expected_token",
        "self.secret = secret",
        "token=token, secret=secret, password=password",
        "http://user:password@example.com/",
        "https://example.com/path:8080/@scope/package",
        "npm install @scope/package@1.2.3 --save-dev",
        "basic authentication is used for the internal service",
        "Bearer authentication-scheme-of-rfc6750",
        "cookie: the user accepted it",
        "keyboard shortcut: ctrl+shift+p",
        "primary_key=True, foreign_key='users.id'",
        "public_key = load_pem_public_key(data)",
        "Cookie settings: session cookies are deleted after 30 minutes",
        "sort(key=lambda item: item.token_length)",
        "const TOKEN_TYPES = { accessToken: 'access', refreshToken: 'refresh' };",
        "password: yup.string().required('Password is required')",
        "git checkout 3f9c2ab && git push origin HEAD:refs/heads/fix-token-refresh",
        'Error: "token": "unexpected end of input" at line 3',
        "sk-learn is imported as sklearn; sk-image likewise",
        "PIN diode attenuator, pin 13 is the LED",
        "the passenger count: 12345678",
        "compass: north-north-west2",
        "secret: kubernetes.io/service-account-token",
        "mysql -u root -p shop",
        "curl -u $USER:$PASS https://host/",
        "docker run -p 8080:80 nginx",
        "mkdir -p build && cp -p a b",
    ]
    return Half(tuple(positives), tuple(benign))


HELD_OUT = _held_out()


def _vendor_tokens(forge: _Forge) -> list[str]:
    """One token of every shape that a vendor's prefix or suffix gives away."""
    uuid = forge.uuid
    return [
        forge(U36, 16, "ASIA"),
        forge(B64, 100, "ABSK", "=="),
        forge(URL64, 35, "AIza"),
        forge(URL64, 28, "GOCSPX-"),
        forge(URL64, 80, "ya29.a0"),
        forge(B62, 3) + forge(URL64, 34, "8Q~"),
        forge(B62, 52) + forge(B62, 26, "JQQJ99"),
        forge(B62, 76) + forge(B62, 4, "AZDO"),
        forge(B62, 20, "LTAI5t"),
        forge(B62, 32, "AKID"),
        forge(HEX, 64, "dop_v1_"),
        forge.uuid().join(("HRKU-", "")),
        forge(B62, 60, "fm2_lJPE"),
        forge(B62, 24, "vcp_"),
        forge(B62, 36, "nfp_"),
        forge(B62, 28, "rnd_"),
        forge(HEX, 24, "v1.0-") + forge(HEX, 146, "-"),
        forge(B62, 11, "tskey-api-k", "CNTRL-") + forge(B62, 20),
        forge(U36, 17, "SCW"),
        "ApiKey-" + uuid(),
        forge(B62, 36, "ghs_"),
        forge(B62, 22, "github_pat_") + forge(B62, 59, "_"),
        forge(URL64, 20, "glpat-"),
        forge(URL64, 20, "GR1348941"),
        forge(B62, 32, "ATBB"),
        forge(B62, 180, "ATATT3xFfGF0", "=1A2B3C4D"),
        forge(HEX, 16, "sgp_") + forge(HEX, 40, "_"),
        forge(B62, 22, "CCIPAT_") + forge(HEX, 40, "_"),
        forge(HEX, 40, "bkua_"),
        forge(HEX, 40, "sqp_"),
        forge(U36, 26, "API-"),
        forge(DIGITS, 12, "xoxp-") + forge(HEX, 32, "-"),
        forge(U36, 11, "xapp-1-A") + forge(DIGITS, 13, "-") + forge(HEX, 64, "-"),
        forge(DIGITS, 10) + ":AA" + forge(URL64, 33),
        forge(HEX, 32, "SK"),
        forge(B62, 24, "rk_test_"),
        forge(B64, 32, "whsec_"),
        forge(URL64, 22, "sq0atp-"),
        forge(B36, 16, "access_token$production$") + forge(HEX, 32, "$"),
        forge(B62, 14, "rzp_live_"),
        forge(HEX, 32, "shpat_"),
        forge(HEX, 32, "FLWSECK-", "-X"),
        forge(B62, 32, "live_"),
        "access-production-" + uuid(),
        forge(B62, 54, "EZAK"),
        forge(URL64, 43, "duffel_live_"),
        forge(HEX, 40, "shippo_live_"),
        forge(URL64, 95, "sk-ant-api03-", "AA"),
        forge(URL64, 90, "sk-proj-"),
        forge(HEX, 64, "sk-or-v1-"),
        forge(HEX, 32, "sk-"),
        "sk-lf-" + uuid(),
        forge(B62, 34, "hf_"),
        forge(B62, 37, "r8_"),
        forge(B62, 52, "gsk_"),
        forge(B62, 80, "xai-"),
        forge(B62, 48, "pplx-"),
        forge(B62, 24, "fw_"),
        forge(URL64, 64, "nvapi-"),
        forge(HEX, 32, "lsv2_pt_") + forge(HEX, 10, "_"),
        forge(HEX, 48, "sk_"),
        forge(B36, 48, "csk-"),
        forge(URL64, 43, "pa-"),
        forge(URL64, 60, "jina_"),
        forge(B62, 32, "tvly-dev-"),
        forge(HEX, 32, "fc-"),
        forge(B62, 60, "pcsk_"),
        forge(HEX, 40, "e2b_"),
        forge(U36, 44, "rpa_"),
        forge(B62, 48, "llx-"),
        forge(B62, 36, "apify_api_"),
        forge(B62, 40, "m0-"),
        forge(URL64, 43, "tgp_v1_"),
        forge(B62, 28, "BSA"),
        forge(B62, 60, "sk.eyJ1Ijoi") + forge(B62, 22, "."),
        forge(B62, 36, "npm_"),
        forge(URL64, 150, "pypi-AgEIcHlwaS5vcmcC"),
        forge(HEX, 48, "rubygems_"),
        forge(B62, 32, "cio"),
        forge(B36, 43, "oy2"),
        forge(URL64, 27, "dckr_pat_"),
        forge(B62, 69, "AKCp"),
        forge(B36, 60, "CLOJARS_"),
        forge(U36, 27, "NRAK-"),
        forge(B62, 32, "glsa_") + forge(HEX, 8, "_"),
        forge(HEX, 64, "sntryu_"),
        forge(U36, 24, "dt0c01.") + forge(U36, 64, "."),
        forge(B62, 43, "phx_"),
        forge(B62, 40, "pylf_v1_us_"),
        "sdk-" + uuid(),
        "xaat-" + uuid(),
        forge(URL64, 90, "hvs.CAES"),
        forge(B62, 14) + ".atlasv1." + forge(B62, 67),
        forge(B62, 43, "dp.pt."),
        forge(HEX, 40, "pul-"),
        forge(B62, 200, "ops_eyJ"),
        "-".join(("A3", forge(U36, 6), forge(U36, 6), *(forge(U36, 5) for _ in range(4)))),
        forge(U36, 58, "AGE-SECRET-KEY-1"),
        forge(URL64, 43, "pscale_tkn_"),
        forge(B36, 60, "napi_"),
        forge(HEX, 40, "sbp_"),
        forge(HEX, 32, "dapi"),
        forge(URL64, 19, "AVNS_"),
        forge(B62, 38, "4b1d"),
        forge(URL64, 40, "mdb_sa_sk_"),
        forge(URL64, 22, "SG.") + forge(URL64, 43, "."),
        forge(HEX, 32, "key-"),
        forge(HEX, 32, tail="-us14"),
        forge(HEX, 64, "xkeysib-") + forge(B62, 16, "-"),
        forge(B62, 8, "re_") + forge(B62, 24, "_"),
        forge(HEX, 64, "mlsn."),
        forge(B62, 14, "pat") + forge(HEX, 64, "."),
        forge(B62, 43, "ntn_"),
        forge(B62, 40, "lin_api_"),
        forge(URL64, 40, "figd_"),
        "pat-na1-" + uuid(),
        forge(HEX, 24, "PMAK-") + forge(HEX, 34, "-"),
        forge(B62, 120, "EAAG"),
        forge(URL64, 44, "tfp_"),
        forge(URL64, 43, "CFPAT-"),
        forge(B62, 36, "pnu_"),
        forge(B36, 70, "rdme_"),
        forge(URL64, 135, "sl."),
        forge(URL64, 40, "SSWS 00"),
        "A" * 22 + forge(B62, 80),
    ]


def _tuned() -> Half:
    forge = _Forge(7)
    frames = ("@@", "it was @@, then", 'bot.run("@@")', '{"out":"line\\n@@\\nend"}', "- found @@ here")
    vendor = [_filled(frames[i % len(frames)], token) for i, token in enumerate(_vendor_tokens(forge))]
    begin, end = "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"
    shapes = [
        _filled('bot.run("@@")', ".".join((forge(B62, 23, "MT"), forge(B62, 6), forge(B62, 38)))),
        _filled(
            "post to https://hooks.slack.com/services/@@ now",
            "T" + forge(U36, 9) + "/B" + forge(U36, 9) + "/" + forge(B62, 24),
        ),
        _filled("https://discord.com/api/webhooks/123456789012345678/@@", forge(URL64, 68)),
        _filled(
            f"https://acme.webhook.office.com/webhookb2/{forge.uuid()}@{forge.uuid()}/IncomingWebhook/@@",
            forge(HEX, 32) + "/" + forge.uuid(),
        ),
        _filled(f"{begin}\n@@\n{end}\nand then", forge.pem_body(24)),
        _filled(f"     1\t{begin}\n     2\t@@", forge.pem_body(1)),
        _filled(f"key: |\n  {begin}\n  @@\n  {end}", forge.pem_body(6, "\n  ")),
        _filled(
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,A1B2C3\n\n@@\n"
            "-----END RSA PRIVATE KEY-----",
            forge.pem_body(6),
        ),
        _filled(f'{{"k":"{begin}\\\\n@@\\\\n{end}\\\\n"}}', forge.pem_body(6, "\\\\n")),
        _filled("PuTTY\nPrivate-Lines: 3\n@@\nPrivate-MAC: 00", "\n".join(forge(B64, 64) for _ in range(3))),
        _filled("jwt=@@;", forge.jwt()),
        _filled("clone https://bob:@@@git.example.org/x.git", "hunter2-x"),
        _filled("amqp://guest:@@@mq:5672/%2f", "gu3st!pw"),
        _filled("mysql+pymysql://u:@@@db/x?charset=utf8", "p@ss#w0rd"),
        _filled("git clone https://@@@git.example.org/x.git", forge(B62, 40)),
        _filled('"Authorization": "Bearer @@"', forge(URL64, 50)),
        _filled("authorization: token @@", forge(HEX, 40)),
        _filled("Proxy-Authorization: Basic @@", base64.b64encode(b"bob:Passw0rd!").decode()),
        _filled("cookie: lang=de; auth_token=@@; theme=x", forge(HEX, 40)),
        _filled("curl -b 'sid=@@' https://x", forge(B62, 26)),
        _filled("PHPSESSID=@@", forge(B36, 26)),
        _filled("https://b.blob.core.windows.net/c?sv=2022&sig=@@&se=2027", forge(B62, 43, tail="%3D")),
        _filled("otpauth://totp/acme:bob?secret=@@&issuer=acme", forge(UPPER + "234567", 16)),
        _filled("curl -u bob:@@ https://x.example", "pa55-word"),
        _filled("mysql -uroot -p@@ -e 'select 1'", "S3cret!x"),
        _filled("docker login -u bob --password-stdin; podman login -p @@ reg", "R3g!stry9"),
        _filled("echo @@ | sudo -S reboot", "0ldP4ss!"),
        _filled("openssl rsa -passin pass:@@ -in k.pem", "0pen-Sesame"),
        _filled("machine ftp.example.org\n  login bob\n  password @@\n", "f7p-pa55"),
        _filled("localhost:5432:*:postgres:@@", "pg-S3cret"),
        _filled("backup --user bob --password @@ --all", "bkp!2024"),
        _filled("deploy --token=@@", forge(B62, 32)),
        _filled('["--api-key", "@@"]', forge(HEX, 32)),
        _filled('{"name": "DB_PASSWORD", "value": "@@"}', "ecs-t4sk!"),
        _filled("<apiKey>@@</apiKey>", forge(B62, 32)),
        _filled("export ADMIN_PASSWORD=@@", "a,b;c&d!9"),
        _filled("SECRET_KEY=@@", forge(B62 + "!@#%^*", 50)),
        _filled('password = "@@"', "hunter2!"),
        _filled('"password":"@@"', "correcthorse1"),
        _filled('{\\"password\\": \\"@@\\"}', "Esc4ped!pw"),
        _filled("db_password: @@", "yaml-P4ss"),
        _filled("passphrase: '@@'", "four words and 4"),
        _filled("const apiKey = `@@`;", forge(B62, 40)),
        _filled("apiKey: '@@',", forge(HEX, 32)),
        _filled("_auth=@@", base64.b64encode(b"bob:npm-Passw0rd").decode()),
        _filled("MASTER_KEY: @@", forge(HEX, 32)),
        _filled('if token == "@@":', forge(B62, 32)),
        _filled("https://api.example/v1?access_token=@@&page=2", forge(B62, 40)),
        _filled("api_key='@@'", forge(LOWER, 32)),
        _filled("ALTER USER x IDENTIFIED BY '@@'", "abcDEF123"),
        _filled("requirepass @@", "abcDEF123"),
        _filled("creds: bob / @@", "Summer2024!"),
        _filled("pw: @@", "Frosty!42"),
        _filled("the admin password was set to @@ yesterday", "Frosty!42"),
        _filled("my password is @@!", "hunter2"),
        _filled("My wifi password is @@.", "sunflower"),
        _filled("the root password is @@", "swordfish"),
        _filled("By the way, the router password is @@.", "sunflower"),
        _filled("@@", forge.discord_token()),
        _filled("it prints @@ and exits", forge.wallet_key()),
        _filled("the password for the router: @@", "r0uter-x"),
        _filled("the new passphrase is “@@”", "swordfish"),
        _filled("try it with password @@ please", "Qwerty99"),
        _filled("PIN: @@", "4821"),
        _filled("my api key is @@", forge(B62, 32)),
        _filled("wifi的密码是 @@", "12345678"),
        _filled("口令：@@", "sesame!9"),
        _filled("use @@ as the password", "Zebra_99"),
        _filled("😀 café密码:@@ 😀", "naïve-1234"),
        _filled("importprivkey @@ label", forge(B58, 51, "K")),
        _filled("the wallet: @@", forge(B58, 107, "xprv")),
        _filled("my 2FA seed is @@", forge(B32, 32)),
        _filled("seed phrase: @@", "cliff ocean zebra maple tiger orbit canvas ladder echo velvet saddle ivory"),
        _filled("mia:@@:19500:0:99999:7:::", forge(CRYPT, 16, "$6$", "$") + forge(CRYPT, 86)),
        _filled("Administrator:500:@@:::", "aad3b435b51404eeaad3b435b51404ee:" + forge(HEX, 32)),
        _filled("AWS credentials: the id you have / @@", forge(B64, 40)),
        _filled("https://maps.example/api?key=@@&q=Berlin", forge(URL64, 39)),
        _filled('{"kty": "EC", "crv": "P-256", "d": "@@"}', forge(URL64, 43)),
        _filled('{"auths": {"ghcr.io": {"auth": "@@"}}}', base64.b64encode(b"mia:ghcr-Passw0rd").decode()),
        _filled("jdbc:oracle:thin:mia/@@@//db:1521/XE", "Tig3r-oracle"),
        _filled("WIFI:S:home;T:WPA;P:@@;;", "r0uter-x!"),
        _filled("requests.get(url, auth=('mia', '@@'))", "B4sic!pw"),
        _filled("$x = ConvertTo-SecureString '@@' -AsPlainText -Force", "P0wer!shell"),
        _filled('variable "db_password" {\n  type = string\n  default = "@@"\n}', "t3rra-form"),
        _filled("set -gx DB_PASSWORD @@", "f1sh_and_chips"),
        _filled("net use Z: \\\\nas\\x /user:mia @@", "N3t-use!"),
        _filled('expect "assword:"\nsend "@@\\r"', "3xpect-me"),
        _filled("snmp-server community @@ RO", "c0mm-unity"),
        _filled("storePassword '@@'", "gr4dle-Sign"),
        _filled("backup codes: @@", "8f3kd-29dkx 77qpm-x1x2c"),
        _filled("APP_KEY=@@", forge(B64, 43, "base64:", "=")),
        _filled("docker swarm join --token @@ m:2377", forge(B36, 50, "SWMTKN-1-") + forge(B36, 25, "-")),
        _filled("cloudflared service install @@", forge(B62, 150, "eyJhIjoi")),
        _filled("https://api.telegram.org/bot@@/getMe", forge(DIGITS, 9, "7") + forge(URL64, 35, ":")),
        _filled("new NetworkCredential('mia', '@@')", "N3twork!pw"),
        _filled('sql.Open("mysql", "mia:@@@tcp(db:3306)/x")', "g0-Source"),
        _filled("Unseal Key 1: @@", forge(B64, 44)),
        _filled("kubeadm join m:6443 --token @@ --x", "a1b2c3.d4e5f6a7b8c9d0e1"),
        _filled("ALTER ROLE app PASSWORD '@@'", "R0le-pass!"),
        _filled("**Password:** `@@`", "Tr0ub4dor&ujO"),
        _filled("| DB_PASSWORD | @@ |", "hunter2Xy9!"),
        _filled("password (staging): @@", "Tr0ub4dor&ujO"),
        _filled("MAPS_KEY: @@", forge(B62, 32)),
        _filled("The passphrase of my key is @@", "purple monkey dishwasher 9"),
        _filled("I changed the password from @@ to the one in the vault", "Abc123!x"),
        _filled("the password was changed from the old one to @@", "Tr0ub4dor&ujO"),
        _filled("パスワードは@@です", "Tr0ub4dor&ujO"),
        _filled("tls.key: @@", forge(B62, 120, "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1")),
        _filled("minted @@ today", forge(URL64, 90, "v4.local.")),
        _filled("the runner has @@", forge(B62, 58, "hcaik_01")),
        _filled("set up with @@", forge(B62, 32, "zenlytics_live_")),
        _filled("https://conda.anaconda.org/t/@@/acme/linux-64", "aa-3fa9c1d2-77b1-4c1e-9d2e-0a1b2c3d4e5f"),
        _filled("https://chat.example.org/hooks/@@", forge(B36, 26)),
        _filled("https://mainnet.infura.io/v3/@@", forge(HEX, 32)),
        _filled('{"username":"mia","key":"@@"}', forge(HEX, 32)),
        _filled("my visa is @@, valid to 04/29", "4111 1111 4555 1142"),
        _filled("the door code is @@.", "482913"),
        _filled("Google app password is @@", "kxjq wfht zmrp vbnd"),
        _filled("license key: @@", "K3X9Q-7PWJ2-RT5VD-8HZ4M-QN6BC"),
        _filled(".example.org\tTRUE\t/\tTRUE\t1790000000\tsession\t@@", forge(URL64, 50)),
        _filled('form-data; name="password"\r\n\r\n@@\r\n--x', "Harbor1648!"),
        _filled("q=%22password%22%3A%22@@%22%7D", "Harbor1648"),
        _filled("password: >-\n  @@", "Harbor1648!"),
        _filled("cqlsh -u cassandra -p @@ db", "Harbor1648!"),
        _filled("htpasswd -bc .htpasswd mia @@", "Harbor1648!"),
        _filled("psexec.py corp/mia:@@@10.0.0.5", "Harbor1648"),
        _filled("[smtp.example.org]:587 mia:@@", "Harbor1648!"),
        _filled('%any : PSK "@@"', "Harbor1648!"),
        _filled("/msg NickServ IDENTIFY @@", "Harbor1648!"),
        _filled("chpasswd:\n  list: |\n    root:@@", "Harbor1648!"),
        _filled("$ANSIBLE_VAULT;1.1;AES256\n@@\n\nnext", "\n".join((forge(HEX, 80), forge(HEX, 80), forge(HEX, 46)))),
        _filled('{"out":"$ANSIBLE_VAULT;1.2;AES256;prod\\n@@\\n"}', forge(HEX, 80) + "\\n" + forge(HEX, 34)),
        _filled("kubectl create secret generic db --from-literal=smtp=@@", "Harbor1648!"),
        _filled("enable secret 5 @@", "Harbor1648!"),
        _filled("a1 LOGIN mia@example.org @@\r\n", "Harbor1648!"),
        _filled('{"out":"user=mia\\npassword=@@"}', "Harbor1648"),
        _filled("mvn deploy -Dpassword=@@", "Harbor1648"),
        _filled('pymysql.connect("db", "mia", "@@", "shop")', "Harbor1648!"),
        _filled("Fernet(b'@@')", forge(B64, 43, tail="=")),
        _filled("| user | password |\n|---|---|\n| mia | @@ |", "Harbor1648!x"),
        _filled("@@ is my new password", "Harbor1648!"),
        _filled("it's @@ (the password)", "Harbor1648!"),
        _filled("Access token\n```\n@@\n```", forge(B62, 32)),
        _filled("**Password**\n`@@`", "Harbor1648!"),
        _filled("huggingface: @@", forge(LOWER + UPPER, 34, "hf_")),
        _filled("@@", forge(B64, 64, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ")),
        _filled('The password is "@@"', "hunter2 Hunter x"),
    ]
    benign = [
        "password: str",
        "password: Optional[str] = None,",
        "def f(token: str = '', secret: bytes | None = None): ...",
        "token = get_token()",
        "token = await client.fetch_token(user)",
        'secret = os.environ["X"]',
        "password = os.getenv('DB_PASSWORD')",
        "password=self.password,",
        "const secret = process.env.SECRET;",
        "API_KEY=${API_KEY}",
        "api_key: YOUR_API_KEY",
        'api_key = "your-api-key-here"',
        "password: '********'",
        "token: <token>",
        'password = "password"',
        '"token": {"type": "string"}',
        "PASSWORD_RESET_TIMEOUT_DAYS = 3",
        "max_tokens: 8192",
        '"completion_tokens": 1234, "total_tokens": 56789',
        "token_endpoint: https://example.com/oauth/token",
        'id="password" placeholder="Enter your password"',
        "raise ValueError('Invalid token: expected 3 parts')",
        "The access token is sent in the header.",
        "My password is not working, can you help?",
        "the password is at least 12 characters long",
        "The password is base64-encoded before it is sent.",
        "my password is expired",
        *(
            f"the {account} password is {word}"
            for account in ("root", "admin", "router", "sudo")
            for word in (
                "required wrong stored hashed mandatory blank below above unchanged confidential gone disabled yours "
                "ours elsewhere compulsory rotated ready unset locked next".split()
            )
        ),
        "L" + forge(B58, 51),  # the checksum of a wallet's key is missing
        f"MTIz{forge(B62, 20)}.{forge(B62, 6)}.{forge(B62, 38)}",  # no account of Discord is in it
        "Set a pin to protect the app; the pin is optional",
        "密码是加密存储的",
        "密码: 必填",
        f"index 3f2a1b9..{forge(HEX, 7)} 100644",
        f"trace_id={forge.uuid()}",
        f"etag: {forge(HEX, 32)}",
        f"resolved sha1-{forge(B64, 27)}=",
        f'hash = "{forge(HEX, 64)}"',
        f"sha256-{forge(B64, 43)}=",
        f"docker pull app@sha256:{forge(HEX, 64)}",
        f'url("data:font/woff2;base64,{forge(B64, 200)}")',
        f"-----BEGIN CERTIFICATE-----\n{forge.pem_body(3)}\n-----END CERTIFICATE-----",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "grep -rn 'BEGIN RSA PRIVATE KEY' .",
        "sk-learn, sk-image and sk-someverylongpackagename",
        "test_that_the_token_of_a_user_is_refreshed_when_it_expires",
        "import_access_token_from_environment_v2 = 1",
        "http://localhost:8080/@vite/client",
        "git@github.com:acme/app.git",
        "ssh://git@github.com:22/acme/app.git",
        "postgres://user:password@localhost/db",
        "postgres://$USER:$PGPASS@localhost/db",
        "f'https://{user}:{password}@{host}'",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        'headers["Authorization"] = f"Bearer {token}"',
        "Basic usage information follows",
        "Cookie: name=value; name2=value2; name3=value3",
        "--password PASSWORD  the password to use",
        "the --token option takes a value",
        "tar -xzpf a.tgz -p",
        "secretsmanager:GetSecretValue",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf",
        "key: value",
        "cache_key = f'{user_id}:{page}'",
        "KeyError: 'password'",
        "password_hash = '$2b$12$abcdefghijklmnopqrstuv'",
        "Password: ",
        "passed=123 failed=4",
        "tokens = re.findall(r'\\w+', text)",
        'token = "user_refresh_token"',
        "[redacted:github-token:0a1b2c3d]",
        "password: [redacted:assignment:0a1b2c3d]",
    ]
    return Half(tuple(vendor + shapes), tuple(benign))


TUNED = _tuned()
