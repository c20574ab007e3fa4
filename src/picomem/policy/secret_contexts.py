"""Secrets that neither their shape nor a name right before them gives away: what stands around them does."""

from __future__ import annotations

from picomem.policy.secret_rule import Rule, literals, token

_NAME_OF_SECRET = r"[\w.-]{0,40}?(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key|pwd)"
SECRET_CONTEXTS: tuple[Rule, ...] = (
    Rule(
        "sealed-key",
        ("ls0tls1crudjti",),
        r"(?P<secret>LS0tLS1CRUdJTi(?:BSU0EgUFJJ|BQUklWQVRF|BFQyBQUklW|BPUEVOU1NIIFBS|BEU0EgUFJJ|BFTkNSWVBURUQg"
        r"|BQR1AgUFJJ)"
        r"[A-Za-z0-9+/]{20,}={0,2})",
        "varied",
    ),
    token("paseto", "v1.local. v2.local. v3.local. v4.local.", r"v[1-4]\.local\.[\w-]{60,}(?:\.[\w-]+)?"),
    token(
        "vendor-key",
        "bbdc- sec-c- hcaik_ hcbik_ os_v2_app_ kgat_",
        r"(?:BBDC-[\w+/=-]{40,}|sec-c-[\w+/=-]{40,}|hc[ab]ik_[A-Za-z0-9]{40,}|os_v2_app_[A-Za-z0-9]{40,}"
        r"|KGAT_[A-Za-z0-9]{30,})",
        "mixed",
    ),
    token(
        "prefixed-key",
        "_live_ _sk_ _secret_ _pat_ _rw_ -secret- -live- _oat_ _priv_",
        r"[a-z][a-z0-9]{1,15}(?:_[a-z0-9]{2,8})?[_-](?:live|sk|secret|pat|rw|oat|priv)[_-][A-Za-z0-9]{24,}",
        "mixed",
    ),
    Rule("conda-token", ("conda.anaconda.org/t/",), r"conda\.anaconda\.org/t/(?P<secret>[\w-]{16,})", "varied"),
    Rule(
        "webhook-url",
        ("hook/", "hooks/", "webhook/"),
        r"://[^\s\"'<>]{3,120}?/(?:web)?hooks?/(?:[^\s\"'<>]{0,60}?[/=])?(?P<secret>[\w-]{20,})(?:[^\w/.-]|/?$"
        r"|/[^\w])",
        "unguessable",
    ),
    Rule(
        "node-url",
        literals("infura.io/ alchemy.com/ quiknode.pro/ ankr.com/"),
        r"(?:infura\.io|alchemy\.com|quiknode\.pro|ankr\.com)/(?:v\d/|[a-z_]{2,20}/)?(?P<secret>[\w-]{30,})",
        "mixed",
    ),
    Rule(
        "keyed-account",
        ('"key', '"secret', '"token'),
        r"(?i)\"(?:user(?:name)?|account|client_?id|id)\"\s{0,3}:\s{0,3}\"[^\"\n]{1,80}\"\s{0,3},\s{0,3}\"(?:key"
        r"|secret|token)\""
        r"\s{0,3}:\s{0,3}\"(?P<secret>[\w+/=-]{16,})\"",
        "mixed",
    ),
    Rule(
        "payment-card",
        literals("card visa amex credit cvv cvc 信用卡 银行卡 kredit carte tarjeta"),
        r"(?i)(?:card|visa|amex|credit|信用卡|银行卡|kredit|carte|tarjeta|pay)[^\n\d]{0,40}?"
        r"(?P<secret>(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6\d{3})(?:[ -]?\d{4}){3}|3[47]\d\d[ -]?\d{6}[ -]?\d{5})"
        r"(?:[^\w.-]|$|\.\s|\.$)",
        "card",
    ),
    Rule(
        "access-code",
        literals("code combination puk"),
        r"(?i)(?:\b(?:door|gate|alarm|safe|lock|unlock|locker|garage|entry|sim)(?:['’]s)?\s(?:pass)?(?:code"
        r"|combination)|\bPUK)"
        r"(?:\s(?:is|was)(?:\snow)?\s|\s?[:=]\s?|\s)[\"'`*]{0,3}(?P<secret>\d{4,10}|\d{1,3}(?:-\d{1,3}){2,4})"
        r"(?:[^\w-]|$)",
    ),
    Rule(
        "app-password",
        ("app password", "app_password", "app-password"),
        r"(?i:app[ _-]password)[\"'*`]{0,3}(?:\s(?:is|was)(?:\snow)?\s|\s{0,2}[:=]\s{0,2}|\s)[\"'`*]{0,3}"
        r"(?P<secret>[a-z]{4}(?: [a-z]{4}){3})\b",
        "chain",
    ),
    Rule(
        "licence-key",
        literals("licen product serial activation registration"),
        r"(?i:licen[cs]e|product|serial|activation|registration)(?:[ _-](?i:key|code|number|no\.?))?[\"'*`]{0,3}"
        r"(?:\sis\s|\s{0,2}[:=]\s{0,2}|\s)[\"'`*]{0,3}(?P<secret>[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,7})(?:[^\w-]|$)",
        "coded",
    ),
    Rule(
        "cookie-jar",
        ("true\t/", "false\t/", "true /", "false /"),
        r"[\t ](?:TRUE|FALSE)[\t ]/[^\t\n ]{0,80}[\t ](?:TRUE|FALSE)[\t ]\d{1,12}[\t ](?P<key>[^\t\n ]{1,60})[\t ]"
        r"(?P<secret>[^\s;\"',]{8,})",
        "cookie",
    ),
    Rule(
        "form-part",
        ('name="',),
        rf"(?i)name=\"(?P<key>{_NAME_OF_SECRET})\"\r?\n(?:Content-[^\n]{{0,80}}\n)?\r?\n(?P<value>[^\s]{{4,200}})",
        "paired",
    ),
    Rule(
        "encoded-quotes",
        ("%22", "&quot;", "&#34;", "u0022"),
        rf"(?i)(?:%22|&quot;|&#34;|\\u0022)(?P<key>{_NAME_OF_SECRET})(?:%22|&quot;|&#34;|\\u0022)(?:%20"
        rf"|\s)?(?:%3A|:)(?:%20|\s)?"
        r"(?:%22|&quot;|&#34;|\\u0022)(?P<value>[\w.~!*+/=@#?-]{4,200})",
        "paired",
    ),
    Rule(
        "block-scalar",
        ("|\n", ">\n", "|-", ">-", "|+", ">+", "|\r", ">\r"),
        rf"(?i)(?:^|[^\w.-])(?P<key>{_NAME_OF_SECRET})[\"']?:[ \t]{{0,3}}[|>][+-]?[ \t]{{0,3}}\r?\n[ \t]{{0,16}}"
        rf"(?P<value>\S{{4,200}})[ \t]{{0,8}}(?:\r?\n|$)",
        "paired",
    ),
    Rule(
        "tagged-scalar",
        (": &", ": !!str"),
        rf"(?i)(?:^|[^\w.-])(?P<key>{_NAME_OF_SECRET})[\"']?:[ \t]{{1,3}}"
        r"(?:(?:&[\w-]{1,40}|!!str)[ \t]{1,3}){1,2}[\"']?(?P<value>[^\s\"']{4,200})",
        "paired",
    ),
    Rule(
        "login-flags",
        (" -p", "/p:", "/rp", " -xp", " -ap"),
        r"\s[-/][arxARX]?[uUlL](?:ser)?[ =:]{0,2}[\"']?[\w.@\\-]{1,60}[\"']?\s(?:[^\n|;]{0,60}?\s)?"
        r"[-/][arxARX]?[pP][ =:]{0,2}[\"']?(?P<value>[^\s\"']{6,80})",
        "chosen",
    ),
    Rule(
        "tool-password",
        ("wpa_passphrase", "htpasswd", "openssl", "lftp", "insecure-password", "stats auth", "obscure ", "nmcli"),
        r"(?:\bnmcli\s[^\n|;]{1,120}?\spassword\s{1,3}|\bwpa_passphrase\s{1,3}(?:\"[^\"\n]{1,60}\"|\S{1,60})\s{1,3}"
        r"|\bhtpasswd\s{1,3}-[a-zA-Z]{0,6}n[a-zA-Z]{0,6}\s{1,3}\S{1,80}\s{1,3}"
        r"|\bhtpasswd\s{1,3}-[a-mo-zA-Z]{1,8}\s{1,3}\S{1,80}\s{1,3}\S{1,80}\s{1,3}"
        r"|\bopenssl\s{1,3}[\w-]{2,30}\s[^\n|;]{0,200}?-[kK]\s{1,3}|\brclone\s{1,3}obscure\s{1,3}"
        r"|\blftp\b[^\n|;]{0,200}?\s-u\s{0,2}[\"']?[^\s,\"']{1,60},|\binsecure-password\s{1,3}"
        r"|\bstats auth\s{1,3}[^\s:]{1,60}:)"
        r"[\"']?(?P<value>[^\s\"']{4,80})",
        "told",
    ),
    Rule(
        "target-login",
        ("@",),
        r"\b[A-Za-z][\w.-]{0,40}/[\w.-]{1,40}:[\"']?(?P<secret>[^\s@:/\"'<>`]{6,80})[\"']?@(?:\d{1,3}\."
        r"|[A-Za-z][\w-]{0,60}(?:\.|\s|$))",
        "embedded",
    ),
    Rule(
        "relay-login",
        (":587", ":465", ":25", ":2525", "smtp"),
        r"(?m)^\[?[\w.-]{3,80}\]?:(?:587|465|25|2525)[ \t]{1,8}[\w.@+-]{1,80}:(?P<value>\S{6,80})$",
        "told",
    ),
    Rule(
        "secrets-line",
        ('psk "', 'eap "', 'xauth "', '" *', "\t*", " *"),
        r"(?m):\s{0,3}(?:PSK|EAP|XAUTH)\s{1,3}\"(?P<double>[^\"\n]{4,80})\"|^\"?[\w.@-]{1,60}\"?[ \t]{1,8}(?:\*"
        r"|[\w.-]{1,40})[ \t]{1,8}"
        r"\"?(?P<secret>[^\s\"]{6,80})\"?[ \t]{1,8}\*[ \t]{0,3}$",
        "told",
    ),
    Rule(
        "service-login",
        ("identify ", "auth ", "setuser ", "user "),
        r"(?i:nickserv)\s:?(?i:identify)\s(?:\S{1,40}\s)?(?P<secret>[^\s\"']{6,80})(?:\s|$)|>\s(?i:auth)\s"
        r"(?:\S{1,40}\s)?(?P<single>[^\s\"']{6,80})(?:\s|$)"
        r"|\b(?i:setuser|user)\s\S{1,60}\s(?:on|off|reset|\s){1,4}>(?P<double>[^\s\"']{4,80})",
        "told",
    ),
    Rule(
        "secret-literal",
        ("--from-literal",),
        r"--from-literal[ =][\"']?[\w.-]{1,60}=[\"']?(?P<value>[^\s\"']{4,80})",
        "told",
        within=r"\bcreate\s{1,3}secret\s[^\n]{0,400}",
    ),
    Rule(
        "setting",
        literals("password passwd passphrase secret rootpw bindpw -key key-string isakmp"),
        r"(?m)^[ \t]{0,12}(?:(?:enable|set|user(?:name)?[ \t]\S{1,40}|privilege[ \t]\d{1,2}|neighbor[ \t]\S{1,40}"
        r"|(?:tacacs|radius)-server|host[ \t]\S{1,60}|ppp[ \t]chap|ip[ \t]ftp)[ \t]{1,4}){0,4}"
        r"(?:password|passwd|passphrase|secret|rootpw|bindpw|pre-shared-key|key-string|crypto isakmp key)"
        r"[ \t]{1,8}(?:\d{1,2}[ \t]{1,4})?[\"']?(?P<value>[^\s\"']{6,80})[\"']?[ \t]{0,4}(?:address[ \t]|\r?$)",
        "chosen",
    ),
    Rule(
        "dialogue-login",
        ("pass ", "login "),
        r"(?m)^(?:C:|[-=]{0,4}>)[ ]{0,2}PASS[ ](?P<value>\S{6,80})\s{0,3}$"
        r"|^(?:C:[ ]{0,2})?[A-Za-z]{0,3}\d{1,6}[ ]LOGIN[ ]\S{1,80}[ ]\"?(?P<secret>[^\s\"]{6,80})\"?\s{0,3}$",
        "chosen",
    ),
    Rule(
        "password-list",
        ("chpasswd:",),
        r"(?m)^\s{0,12}(?:- )?[\w-]{1,40}:(?P<secret>[^\s\"'|]{4,80})$",
        "told",
        within=r"chpasswd:\s[^;{}]{0,300}",
    ),
    Rule(
        "positional-password",
        literals(
            "connect( connection( auth( authentication( begin( client( hmac( hmac.new( sign( encode( verify( sslauth("
        ),
        r",\s{0,3}(?:\w{1,12}\(\s{0,2})?[bNruU@]{0,2}[\"'](?P<secret>[^\"'\s]{8,120})[\"']",
        "argument",
        within=r"(?i)(?:connect|connection|auth|authentication|begin|client|hmac|hmac\.new|jwt\.(?:sign|encode"
        r"|verify))\([^;\n]{2,240}",
    ),
    Rule(
        "key-argument",
        literals("hmac.new( fernet( aes.new( secretkeyspec("),
        r"(?i:hmac\.new|fernet|aes\.new|secretkeyspec)\(\s{0,2}b?[\"'](?P<secret>[^\"'\s]{16,120})[\"']",
        "argument",
    ),
    Rule(
        "table-column",
        literals("passw passphrase pwd passwort kennwort contrase senha 密码 пароль"),
        r"\|[ \t]{0,8}[`*_]{0,3}(?P<secret>[^\s|`]{5,79}[^\s|`*_])[`*_]{0,3}[ \t]{0,8}",
        "chosen",
        within=r"(?i)\|[ \t*_`]{0,6}(?:\w{1,20} )?(?:passw(?:or)?d|passphrase|pwd|passwort|kennwort|contraseña"
        r"|senha|密码|пароль)[ \t*_`]{0,6}\|[^\n]{0,200}\n"
        r"[ \t]{0,4}\|[ \t:|-]{3,200}\n(?:[ \t]{0,4}\|[^\n]*\n?){1,60}",
    ),
    Rule(
        "told-before",
        ("password", "passphrase", "passcode"),
        r"(?i)(?:^|[\s\"'“‘`(])(?P<secret>[^\s\"'“”‘’`(]{6,80})[\"'”’`]?\s(?:is|was)\s(?:now\s)?(?:the|my|our"
        r"|your|his|her|their)\s(?:[\w-]{1,20}\s){0,2}?"
        r"(?:password|passphrase|passcode)\b",
        "told",
    ),
    Rule(
        "told-aside",
        ("the password)", "my password)", "your password)"),
        r"(?i)(?:^|[\s\"'“‘`])(?P<secret>[^\s\"'“”‘’`(]{6,80})[\"'”’`]?\s\((?:this is |that's |it is )?(?:the|my"
        r"|your)\s(?:[\w-]{1,20}\s)?password\)",
        "told",
    ),
    Rule(
        "key-below",
        ("key", "token", "secret"),
        r"(?i)(?P<key>(?:api[ _-]?key|access[ _-]?key|secret(?: key)?|token"
        r"|key))[ \t*_]{0,4}[:：]?[ \t*_]{0,4}\r?\n\s{0,8}(?:```[a-z]{0,10}\r?\n[ \t]{0,8})?"
        r"`?(?P<secret>[\w+/=.-]{20,200})`?[ \t]{0,8}(?:\r?\n|$)",
        "below",
    ),
    Rule(
        "password-below",
        literals("password passphrase passwort 密码"),
        r"(?i)\b(?:password|passphrase|passwort)[ \t*_`]{0,4}[:：]?[ \t*_`]{0,4}\r?\n\s{0,8}[`*_]{0,3}"
        r"(?P<secret>[^\s`]{6,80}?)[`*_]{0,3}[ \t]{0,8}(?:\r?\n|$)",
        "told",
    ),
    Rule(
        "announced-below",
        ("password", "passphrase", "token", "secret"),
        r"(?i)(?P<key>password|passphrase|token|secret)[ \t][^\n:：]{3,60}[:：][ \t]*\r?\n\s{0,8}`?"
        r"(?P<secret>[\w+/=.-]{16,200})`?[ \t]{0,8}(?:\r?\n|$)",
        "below",
    ),
)
