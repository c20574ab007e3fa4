"""Secrets that stand at a known place of a format: keys, headers, addresses, hashes, command lines, settings."""

from __future__ import annotations

from picomem.policy.secret_rule import Rule, literals

_PEM_GLUE = r"""(?:\\{1,4}[nrt]|[\s"'+>|,:;→\\.-]|[0-9]{1,4}[\t→|:])"""

SECRET_FORMATS: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("private key",),
        r"-{4,5} ?BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
        rf"{_PEM_GLUE}{{0,30}}(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset)[^\n]{{0,120}}?(?:\n"
        rf"|\\n){_PEM_GLUE}{{0,30}}){{0,4}}"
        r"(?P<secret>[A-Za-z0-9+/=]{16,}(?:[^-]|-{1,2}[^-])*)",
        "pem",
    ),
    Rule(
        "private-key-body",  # PKCS 8 without its first line: an RSA or Ed25519 key, by the name of its algorithm
        ("kqhkig9w0baqefaasc", "mc4caqawbqydk2vwbciei"),
        r"(?P<secret>(?:MII[A-Za-z0-9+/]{1,10}ADANBgkqhkiG9w0BAQEFAASC|MC4CAQAwBQYDK2VwBCIEI)[A-Za-z0-9+/=]{30,}"
        r"(?:(?:\r?\n|\\n)[A-Za-z0-9+/=]{16,})*)",
        "varied",
    ),
    Rule(
        "putty-key",
        ("private-lines:",),
        r"Private-Lines: \d+\s+(?P<secret>(?:[A-Za-z0-9+/=]{4,64}\s+)*[A-Za-z0-9+/=]{4,64})(?:\s|$)",
        "varied",
    ),
    Rule(
        "ansible-vault",
        ("$ansible_vault;",),
        r"\$ANSIBLE_VAULT;\d\.\d;AES256(?:;[\w.-]{1,60})?(?:\s|\\[nr])+"
        r"(?P<secret>(?:[0-9a-f]{80}(?:\s|\\[nr])+)*[0-9a-f]{2,80})",
    ),
    Rule(
        "jwt",
        ("eyj",),
        r"(?:^|[^\w-]|\\[nrt]|%[0-9A-Fa-f]{2})"
        r"(?P<secret>eyJ[\w-]{8,}\.(?:eyJ[\w-]{4,}(?:\.[\w-]*)?|[\w-]*(?:\.[\w-]+){1,3}))",
        "varied",
    ),
    Rule(
        "url-password",
        ("://",),
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>`]{0,100}:(?P<secret>[^\s/\"'<>`]+)@[\w.\[$-]",
        "embedded",
    ),
    Rule("url-token", ("://",), r"https?://(?P<secret>[\w-]{20,})(?::x-oauth-basic)?@", "mixed"),
    Rule(
        "authorization",
        ("bearer", "authorization"),
        r"(?i)(?:\bbearer\s{1,4}|\bauthorization[\"']?\s{0,4}[:=,]\s{0,4}[\"'`]?"
        r"(?:(?:token|apikey|digest|key|bearer)[ :=]{1,4})?)"
        r"(?P<secret>[\w.~+/=:-]{12,})",
        "mixed",
    ),
    Rule("basic-auth", ("basic ",), r"(?i)\bbasic\s{1,4}(?P<secret>[A-Za-z0-9+/]{8,}={0,2})", "basic"),
    Rule(
        "cookie",
        ("cookie", "curl"),
        r"(?P<key>[\w.-]+)=(?P<secret>[^\s;\"',]{8,})",
        "cookie",
        within=r"(?i)\b(?:set-)?cookies?[\"']?\s{0,4}(?:[:=,]|\s)\s{0,4}[\"']?[^\n\"']{8,}"
        r"|\s-b\s{1,4}[\"'][^\n\"']{8,}",
    ),
    Rule(
        "session-id",
        ("sess", "connect.sid"),
        r"(?i)\b(?:phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|sessionid|session_token"
        r"|sessid)[\"']?\s{0,4}[=:]\s{0,4}[\"']?"
        r"(?P<secret>[\w%.+/~-]{16,})",
        "mixed",
    ),
    Rule(
        "signed-url",
        ("sig=", "signature="),
        r"(?i)[?&;](?:sig|x-amz-signature|x-goog-signature|signature)=(?P<secret>[\w%+/=-]{24,})",
        "varied",
    ),
    Rule("otp-secret", ("otpauth://",), r"otpauth://[^\s\"']{0,200}?secret=(?P<secret>[A-Za-z2-7]{8,})"),
    Rule(
        "otp-seed",
        ("otp", "2fa", "mfa", "authenticator", "two-factor", "oathtool"),
        r"(?i:otp|2fa|mfa|authenticator|two-factor|oathtool)[^\n]{0,40}?[^A-Za-z0-9\n]"
        r"(?P<secret>[A-Z2-7]{16,64}|(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4})(?:[^A-Za-z0-9]|$)",
        "drawn",
    ),
    Rule(
        "seed-phrase",
        ("phrase", "mnemonic", "seed", "wallet", "助记词"),
        r"(?i:(?:seed|recovery|backup|secret|wallet|mnemonic)[ _-]?(?:phrase|words?)|mnemonic|助记词)[\w\"'`]{0,12}"
        r"[^\n]{0,30}?(?:[:=：→]|\bis\b|\bare\b|\bwas\b|是|为)[\s\"'“`\[]{0,8}"
        r"(?P<secret>(?:(?:[0-9]{1,2}[.)]\s?)?[a-z]{3,8}[\s,\"']{1,4}){11,23}(?:[0-9]{1,2}[.)]\s?)?[a-z]{3,8})",
        "seed",
    ),
    Rule(
        "password-hash",
        literals(
            "$2 $1 $5 $6 $7 $y $gy $apr1 $argon2 $scrypt pbkdf2 scrypt: sha} md5} sha256} sha384} sha512}",
        ),
        r"(?P<secret>\$2[abxy]?\\{0,2}\$\d\d\\{0,2}\$[./A-Za-z0-9]{53}"
        r"|\$(?:[1567y]|gy|apr1)\\{0,2}\$(?:rounds=\d{1,9}\\{0,2}\$)?"
        r"(?:[./A-Za-z0-9]{1,60}\\{0,2}\$){1,2}[./A-Za-z0-9]{20,90}"
        r"|\$argon2(?:id|i|d)\$(?:v=\d{1,3}\$)?[mtp=,\d]{5,40}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,130}"
        r"|\$scrypt\$[a-z=,\d]{5,40}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,130}"
        r"|pbkdf2_sha\d{1,3}\$\d{1,8}\$[^\s$]{4,64}\$[A-Za-z0-9+/]{24,90}={0,2}"
        r"|(?:scrypt:\d{1,7}:\d{1,3}:\d{1,3}|pbkdf2:sha\d{1,3}(?::\d{1,8})?)\$[A-Za-z0-9]{4,32}\$[0-9a-f]{32,128}"
        r"|\{(?:S?SHA|S?MD5|SSHA(?:256|384|512)|SHA(?:256|384|512))\}[A-Za-z0-9+/]{20,120}={0,2})",
        "varied",
    ),
    Rule(
        "ntlm-hash",
        (":::",),
        r":\d{1,6}:(?P<secret>[0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::",
    ),
    Rule(
        "aws-secret",
        ("aws", "secret", "credential", "akia", "asia"),
        r"(?:(?i:aws|secret|credential)|A[KS]IA[A-Z0-9]{16})[^\n]{0,80}?[^A-Za-z0-9/+=\n](?P<secret>[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        "mixed-case",
    ),
    Rule("query-key", ("?key=", "&key="), r"[?&]key=(?P<secret>[\w-]{20,})", "mixed"),
    Rule(
        "jwk",
        ('"d"', '"k"', '"d\\', '"k\\'),
        r"\"[dk]\\{0,3}\"\s{0,3}:\s{0,3}\\{0,3}\"(?P<secret>[\w-]{40,})",
        "mixed",
    ),
    Rule(
        "docker-auth",
        ("auth",),
        r"(?i)(?:\b|_)auth\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}[\"']?(?P<secret>[A-Za-z0-9+/]{8,}={0,2})",
        "basic",
    ),
    Rule(
        "oracle-login",
        ("oracle:thin:", "sqlplus"),
        r"(?i)(?:oracle:thin:|\bsqlplus\s(?:-\w{1,6}\s){0,3})[^\s/@]{1,60}/(?P<secret>[^\s@]{3,})@",
        "embedded",
    ),
    Rule(
        "login-arguments",
        ("credential", "pdo(", "mysqli"),
        r"(?i)(?:credentials?\(|\bpdo\(|\bmysqli?(?:_connect)?\()\s{0,3}"
        r"(?:[\"'][^\"'\n]{0,100}[\"']\s{0,2},\s{0,3}){1,2}"
        r"[\"'](?P<secret>[^\"'\n]{3,80})[\"']",
        "embedded",
    ),
    Rule(
        "go-data-source", ("@tcp(", "@unix("), r"\b[\w.-]{1,40}:(?P<secret>[^\s@\"'/]{3,})@(?:tcp|unix)\(", "embedded"
    ),
    Rule("unseal-key", ("unseal key",), r"(?i)unseal key \d{1,2}: (?P<secret>[a-z0-9+/]{40,}={0,2})", "varied"),
    Rule(
        "kubeadm-token", ("--token", "kubeadm"), r"--token[ =](?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?:\s|$)", "varied"
    ),
    Rule("wifi-code", ("wifi:",), r"WIFI:[^\n]{0,100}?P:(?P<secret>[^;\n]{4,63});", "embedded"),
    Rule(
        "auth-pair",
        ("auth", "login("),
        r"(?i)(?:auth\s{0,2}=\s{0,2}\(|basic_?auth\w{0,20}\(|\blogin\()\s{0,3}[\"'][^\"'\n]{1,80}[\"']\s{0,2},\s{0,3}"
        r"[\"'](?P<secret>[^\"'\n]{3,80})[\"']",
        "embedded",
    ),
    Rule(
        "secure-string",
        ("securestring",),
        r"(?i)ConvertTo-SecureString\s{1,3}(?:-AsPlainText\s|-Force\s|-String\s){0,3}[\"']"
        r"(?P<secret>[^\"'\n]{3,})[\"']",
        "embedded",
    ),
    Rule(
        "terraform-default",
        ("variable",),
        r"\bvariable\s{1,3}\"(?P<key>\w{0,40}?(?:password|passwd|passphrase|secret|token|api_?key"
        r"|access_?key)\w{0,20})\""
        r"\s{0,3}\{[^{}]{0,300}?\bdefault\s{0,8}=\s{0,3}\"(?P<value>[^\"\n]{3,})\"",
        "paired",
    ),
    Rule(
        "named-secret",
        ("set -", "setx", "env ", "arg ", "configure set", "config set", "secret set", "setenvironmentvariable"),
        r"(?i)(?:\bset\s{1,3}-[a-z]{1,4}\s|\bsetx\s|\benv\s|\barg\s|\bconfigure set\s|\bconfig set\s|\bsecret set\s"
        r"|\bSetEnvironmentVariable\()\s{0,3}[\"']?"
        r"(?P<key>[\w.:/-]{0,60}?(?:password|passwd|passphrase|secret|token|api_?key|access_?key|_key|pwd"
        r"|pass)[\w.-]{0,20})"
        r"[\"']?[,\s]\s{0,3}(?:(?:--body|-b|--value)[\s=]{1,2})?[\"']?(?P<value>[^\s\"'<>]{3,})",
        "paired",
    ),
    Rule(
        "sql-password",
        ("password",),
        r"(?i)(?:\bwith\s(?:encrypted\s)?|\b(?:user|role|login)\s{1,3}\S{1,60}\s{1,3}(?:with\s{1,3})?|=\s{0,2})"
        r"password\s{0,2}(?:\(\s{0,2}|=\s{0,2}|\s|as\s){0,3}N?'(?P<secret>[^'\n]{3,})'",
        "embedded",
    ),
    Rule(
        "curl-user",
        ("curl", "--user", "http"),
        r"(?:\bcurl\b[^\n|]{0,300}?\s-u|--(?:proxy-)?user|\b(?:https?|xhs?)\s[^\n|]{0,200}?(?:-a|--auth)[ =])"
        r"[ =]{0,2}[\"']?[^\s:\"'/$]{1,80}:(?P<secret>[^\s\"']{2,})",
        "embedded",
    ),
    Rule(
        "client-password",
        (
            "mysql",
            "mariadb",
            "sshpass",
            "docker",
            "podman",
            "redis-cli",
            "az ",
            "ldap",
            "helm",
            "mongo",
            "7z",
            "zip",
            "ssh-keygen",
            "sqlcmd",
            "ansible-vault",
            "rdesktop",
            "freerdp",
            "snmp",
        ),
        r"\b(?:(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;]{0,200}?\s-p"
        r"|(?:sshpass|(?:docker|podman|helm registry|az) login|mongo|mongosh|mongodump|rdesktop|7z[a-z]?)\b"
        r"[^\n|;]{0,200}?\s-p\s{0,3}"
        r"|(?:(?:un)?zip|sqlcmd|ssh-keygen)\b[^\n|;]{0,200}?\s-[NP]\s{0,3}"
        r"|(?:redis-cli|ldap[a-z]{3,10}|snmp(?:walk|get|set|bulkwalk))\b[^\n|;]{0,200}?\s-[acw]\s{1,3}"
        r"|xfreerdp\d?\s[^\n|;]{0,80}?/p:|ansible-vault encrypt_string\s{1,3})"
        r"""(?:"(?P<double>[^"\n]+)"|'(?P<single>[^'\n]+)'|(?P<bare>[^\s"'-][^\s"']*))""",
        "typed",
    ),
    Rule(
        "sudo-password",
        ("sudo", "passwd", "login", "echo", "printf"),
        r"(?:(?:echo|printf)\s{1,3}(?:-\w\s)?[\"']?(?:[^\s:\"'|]{1,60}:"
        r"(?P<value>[^\s\"'|]{3,})[\"']?\s{0,3}\|\s{0,3}(?:sudo\s)?chpasswd"
        r"|(?P<secret>[^\s\"'|]{3,})[\"']?\s{0,3}\|\s{0,3}(?:sudo\s[^\n]{0,40}?-S"
        r"|(?:sudo\s)?passwd\s|(?:docker|podman|helm registry)\slogin))"
        r"|\bsudo\s[^\n]{0,40}?-S[^\n]{0,40}?<<<\s{0,2}[\"']?(?P<bare>[^\s\"']{3,}))",
        "embedded",
    ),
    Rule(
        "net-use",
        ("net use",),
        r"(?i)\bnet use\s{1,3}(?:[A-Z]:\s{1,3})?\\{2,4}\S{1,80}\s{1,3}(?:/user:\S{1,60}\s{1,3})?"
        r"(?P<secret>[^\s/*]\S{2,})",
        "embedded",
    ),
    Rule(
        "expect-script",
        ("assword:",),
        r"assword: ?[\"'][^\n]{0,20}\n\s{0,8}(?:exp_)?send\s{1,3}(?:--\s)?[\"'](?P<secret>[^\"'\n\\]{3,})",
        "embedded",
    ),
    Rule("snmp-community", ("snmp-server",), r"snmp-server community\s{1,3}(?P<secret>\S{3,})", "embedded"),
    Rule(
        "quoted-after-name",
        literals("password passwd passphrase"),
        r"(?i)(?P<key>[\w.-]{0,40}?(?:password|passwd|passphrase))(?:\s{1,3}|[({]\s{0,2}|,\s{1,3})@?[\"']"
        r"(?P<value>[^\"'\s]{4,80})[\"']",
        "told",
    ),
    Rule(
        "recovery-codes",
        ("recovery code", "backup code", "scratch code", "rescue code", "恢复码"),
        r"(?i:(?:recovery|backup|scratch|rescue) codes?|恢复码)(?:\s(?:is|are|was))?\s{0,2}[:：]?\s{0,3}[\"'`]?"
        r"(?P<secret>[A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,3}(?:[\s,]{1,3}[A-Za-z0-9]{3,8}"
        r"(?:-[A-Za-z0-9]{3,8}){1,3}){0,15})",
        "coded",
    ),
    Rule("openssl-pass", ("pass:",), r"-pass(?:in|out)?[ =]\"?pass:(?P<secret>[^\s\"']{3,})", "embedded"),
    Rule(
        "netrc",
        ("machine", "default login"),
        r"\b(?:machine\s{1,9}\S{1,200}|default)\s{1,9}login\s{1,9}\S{1,200}\s{1,9}password\s{1,9}(?P<secret>\S{3,})",
        "embedded",
    ),
    Rule(
        "pgpass",
        (":5432:", ":5433:", ":6432:", ":*:"),
        r"(?m)^[\w.*-]{1,100}:(?:5432|5433|6432|\*):[\w*.-]{1,63}:[\w*.@-]{1,63}:(?P<secret>[^\s:][^\s]{2,})$",
        "embedded",
    ),
)
