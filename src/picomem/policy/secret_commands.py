"""Secrets in the commands, forms and replies of single programs, which no name right before them gives away."""

from __future__ import annotations

from picomem.policy.secret_rule import Rule, literals

_SECRET_NAME = r"[\w$.-]{0,40}(?:password|passwd|passphrase|passwort|secret|token|api_?key|access_?key)\w{0,12}"

SECRET_COMMANDS: tuple[Rule, ...] = (
    Rule(
        "otp-migration",
        ("otpauth-migration://",),
        r"otpauth-migration://offline\?data=(?P<secret>[A-Za-z0-9+/%=_-]{20,})",
    ),
    Rule(
        "openvpn-key",
        ("openvpn static key",),
        r"-----BEGIN OpenVPN Static key V1-----\s{1,4}(?P<secret>[0-9a-fA-F][0-9a-fA-F\s]{30,900}[0-9a-fA-F])",
        "varied",
    ),
    Rule(
        "recovery-key",
        literals("bitlocker recovery 恢复密钥 wiederherstellung"),
        r"(?:^|[^\d-])(?P<secret>\d{6}(?:-\d{6}){7})(?:[^\d-]|$)",
    ),
    Rule("windows-hash", ("ntlm", "sha1"), r"\*\s{1,3}(?:NTLM|SHA1)\s{0,8}:\s{0,3}(?P<secret>[0-9a-f]{32,40})\b"),
    Rule(
        "named-before-value",
        (*literals("setenv #define"), "set ", "let ", "export -x "),
        rf"(?i)(?:^|[^\w.-])(?:setenv|#define|set(?: -[a-z]{{1,3}})?|let|export -x)\s{{1,3}}{_SECRET_NAME}"
        r"\s{1,3}(?:to\s{1,3})?[\"']?(?P<value>[^\s\"'=]{6,80})",
        "told",
    ),
    Rule(
        "typed-in-test",
        literals("password passwort passwd"),
        r"(?i)pass(?:word|wd|wort)[\w-]{0,20}[\"'\])]{1,3}\.(?:fill|type|send_?keys|set_value)\(\s{0,2}[\"']"
        r"(?P<value>[^\s\"']{6,80})|\binput (?:text|password)\s{2,8}\S{0,40}pass\S{0,40}\s{2,8}(?P<secret>\S{6,80})",
        "told",
    ),
    Rule(
        "here-document",
        ("<<",),
        rf"(?i)(?:^|[^\w.-]){_SECRET_NAME}[\"']?\s{{0,3}}[:=]\s{{0,3}}<<[-~]?[\"']?[A-Z_]{{2,20}}[\"']?\r?\n"
        r"[ \t]{0,16}(?P<value>\S{6,200})[ \t]{0,8}\r?\n",
        "told",
    ),
    Rule(
        "nested-password",
        ("password>",),
        r"(?i)<\w{0,40}password>\s{0,20}<value>(?P<value>[^<\s]{4,200})</value>",
        "told",
    ),
    Rule(
        "command-login",
        (
            *literals("http-basic. setcookie rootpw keymaterial= psexec"),
            *("net user", "net localgroup", "pulumi config set", "bundle config", "osql ", "zip ", "7z "),
        ),
        r"(?:\bnet (?:user|localgroup)\s{1,3}[\w.\\$-]{1,60}\s{1,3}"
        r"|\bhttp-basic\.[\w.-]{1,80}\s{1,3}\S{1,80}\s{1,3}"
        r"|\bbundle config (?:set )?(?:--\w+ )?[\w.:/-]{3,80}\s{1,3}[\w.@-]{1,60}:"
        r"|-setcookie\s{1,3}|\bkeyMaterial=|\brootpw\s{1,3}(?:--(?:plaintext|allow-ssh)\s{1,3}){0,2}"
        r"|\bpulumi config set\s[^\n|;]{1,120}?\s|\b(?:osql|psexec)\s[^\n|;]{0,120}?\s-[pP]\s{0,2}"
        r"|\bzip\s[^\n|;]{0,120}?-P\s{0,2}|\b7z[ar]?\s[^\n|;]{0,120}?\s-p)"
        r"[\"']?(?P<value>[^\s\"'/-][^\s\"']{5,80})",
        "told",
    ),
    Rule(
        "piped-secret",
        ("echo", "printf"),
        r"\b(?:echo|printf)(?:\s{1,3}-\w{1,3}){0,2}\s{1,3}[\"']?(?P<value>[^\s\"'|]{6,80})[\"']?\s{0,3}"
        r"\|\s{0,3}(?:sudo\s{1,3})?(?:cryptsetup|gcloud secrets|docker (?:secret|login)|podman (?:secret|login)|passwd"
        r"|chpasswd|smbpasswd|gpg\s|kubectl create secret|gh auth|vault (?:kv|write)|helm registry)",
        "told",
    ),
)
