"""Secrets that a name or a sentence announces: assignments, flags, labels, and what people say.

The patterns offer a place; `secret_checks` splits the whole name, looks at the value, and decides.
"""

from __future__ import annotations

from picomem.policy.secret_rule import Rule, literals

# The word for a password in languages that do not borrow the English one, with the verb of “the password is”.
_FOREIGN = (
    r"wachtwoord|lösenord(?:et är|et)?|adgangskoden?|salasana(?: on)?|mật khẩu(?: là)?|kata sandi(?:nya)?|mdp"
    r"|hasł[oa](?: to| jest)?|heslo(?: je)?|jelszó|jelszava|şifre(?:si|niz|m)?|parola(?: este| è)?"
    r"|passord(?:et er|et)?|암호(?:는)?|лозинка|парола"
    r"|κωδικός(?: είναι)?|كلمة (?:المرور|السر)(?: هي)?|ה?סיסמה(?: היא)?|पासवर्ड|รหัสผ่าน"
)
_FOREIGN_GATES = (
    "hasł heslo jelsz şifre parola passord 암호 лозинка "
    "парола wachtwoord senord adgangskode salasana khẩu sandi mdp κωδικ كلمة סיסמה पासवर्ड รหัสผ่าน"
)
# “The password for …”, in the languages that the sentences of the rule “spoken” are in.
_PREPOSITIONS = (
    "for|to|of|on|at|in|that|which|we|i|you|für|fürs|von|vom|zum|zur|der|des|im|du|de|do|da|del|della|dello|dell|di|per"
    "|para|pour|au|aux|en|no|na|до|для|от|к|ко|на|в|till|voor|van"
)
# Words that make the key of an assignment a secret's name. `secret_checks` splits the whole key and looks again.
_KEYWORDS = (
    r"passw(?:or)?d|passphrase|passcode|passwort|senha|contraseña|pwd|pass|pw\b|secret|token|credentials?"
    r"|(?:api|access|account|auth|private|encryption|encrypt|signing|signature|session|master|license|app|application"
    r"|validation|decryption|client|consumer|service|storage|subscription|deploy|admin|webhook|hmac|jwt|aes"
    r"|openai|anthropic|secret|(?:pre[_-]?)?shared|shared[_-]?access|functions?)"
    r"[_-]?key|_auth|passwort|kennwort|psk|pepper|密码|密碼|口令|授权码|密钥|秘钥|私钥|令牌|пароль|" + _FOREIGN
)
_KEY_GATES = literals(
    "pwd pass pw secret token credential key _auth senha contrase kennwort psk pepper"
    " 密码 密碼 口令 授权码 密钥 秘钥 私钥 令牌 пароль " + _FOREIGN_GATES
)
_VALUE = (
    r"""(?:[@bBuULN]?\\{0,3}"(?P<double>[^"\n]+?)\\{0,3}(?:"|$)|[@bBuULN]?'(?P<single>[^'\n]+)'|`(?P<tick>[^`\n]+)`"""
    r"""|(?P<bare>[^\s"'`,;&<>(){}\[\]|\\][^\s"'`,;&<>(){}\[\]|\\]*))"""
)
# What Markdown and HTML put around a label or a value, and what stands between the two.
_EMPHASIS = r"(?:[*_`~]|</?(?:b|strong|em|i|code|kbd|t[dhr])>)"
_QUALIFIER = r"(?:\s{0,2}[(（\[][^()（）\[\]\n]{1,40}[)）\]]|\s(?:for|of|on|at|in)\s[^\n:：=|(*`]{1,40}?)"
_LABEL_SIGN = r"[|–—]|</t[dh]>\s{0,3}<td>|</(?:b|strong)>"
_LABEL_WORD = r":=|[:：=]|\b(?:is|was|ist)\b"
_LABEL_KEY = (
    r"passw(?:or)?d|pass[ -]?phrase|passcode|passwort|kennwort|contraseña|senha|mot de passe|pwd|psk|pass|pw|secret"
    r"|token|(?:api|access|secret|private|license|signing|encryption|master|service|account|auth|storage|deploy"
    r"|admin|webhook)"
    r"[ _-]?key|(?-i:_KEY)|密码|密碼|口令|密钥|秘钥|私钥|令牌|пароль|パスワード|パスフレーズ|비밀번호"
)
_WORD_CHAIN = r"[A-Za-z]{3,14}(?:[ .,_-][A-Za-z]{3,14}){1,9}(?:[ ._-]?[0-9]{1,4})?"

NAMED_SECRETS: tuple[Rule, ...] = (
    Rule(
        "flag",
        ("--", "-pass", "-token", "-secret", "-key", "pass ", "pass=", "-storepass", "-keypass", "-pwd"),
        r"(?i)(?:^|[\s\"'])--?(?P<key>[\w-]{0,30}?(?:passw(?:or)?d|passphrase|secret|token|(?:api|access|auth"
        r"|account)-?key|pwd|pass))"
        r"""(?:=|\s{1,3}|["'],\s{0,3})(?:"(?P<double>[^"\n]+)"|'(?P<single>[^'\n]+)'|(?P<bare>[^\s"'-][^\s"',]*))""",
        "typed",
    ),
    Rule(
        "paired-value",
        ("value",),
        r"(?i)(?:name|key|variable)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<key>[\w.:-]{0,40}?(?:passw(?:or)?d"
        r"|passphrase|secret|token|api_?key|access_?key|pwd)"
        r"[\w.:-]{0,20})[\"']?\s{0,3},?\s{0,40}[\"']?value[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<value>[^\s\"'<>]{3,})",
        "paired",
    ),
    Rule(
        "element",
        ("</",),
        r"(?i)<(?P<key>[\w:.-]{0,40}?(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key|pwd|pass))"
        r"(?:\s[^<>\n]{0,80})?>"
        r"(?P<value>[^<\s]{3,200})</",
        "paired",
    ),
    Rule(
        "environment",
        literals("pass passw pwd secret token key"),
        r"(?m)(?:^|[\s;&])(?P<key>[A-Z0-9_]{0,40}?(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|KEY)"
        r"(?:_[A-Z0-9_]{1,30})?)"
        r"=(?P<bare>[^\s\"'`$(){}<>\[\]][^\s\"'`]*)",
        "assigned",
    ),
    Rule(
        "assignment",
        _KEY_GATES,
        rf"(?i)(?P<key>{_KEYWORDS})(?P<rest>[\w-]{{0,40}})"
        r"(?P<close>[\"'`\]\\]{0,4})\s{0,8}(?P<op>:\s{0,2}[\w.\[\]&*<>']{1,30}(?:\s{0,2}\|\s{0,2}None)?\s{1,2}=|:=|=>|={1,3}|!==?|->|[:：=,])\s{0,8}"
        + _VALUE,
        "assigned",
    ),
    Rule(
        "variable",
        literals("pass passw pwd secret token key"),
        r"(?:^|[^A-Za-z0-9_])(?:[A-Z0-9_]{0,40}?_)?(?P<key>PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|KEY)"
        r"[\"'`]?\s{0,3}:\s{1,4}" + _VALUE,
        "assigned",
    ),
    Rule(
        "label",
        literals(
            "token secret passw passphrase passcode pwd pw pass psk key contrase senha kennwort"
            " 密码 密碼 口令 密钥 秘钥 私钥 令牌 пароль パスワード パスフレーズ 비밀번호"
        ),
        rf"(?i)(?P<key>{_LABEL_KEY})(?:[_-]\w{{1,30}})?"
        rf"(?:(?:{_EMPHASIS}{{1,6}}{_QUALIFIER}?|{_QUALIFIER}){_EMPHASIS}{{0,6}}\s{{0,3}}"
        rf"(?P<op>{_LABEL_SIGN}|{_LABEL_WORD}){_EMPHASIS}{{0,6}}\s{{0,3}}{_EMPHASIS}{{0,6}}"
        rf"|\s{{0,3}}(?:(?P<sign>{_LABEL_SIGN}){_EMPHASIS}{{0,6}}\s{{0,3}}{_EMPHASIS}{{0,6}}"
        rf"|(?P<plain>{_LABEL_WORD})(?:{_EMPHASIS}{{1,6}}\s{{0,3}}{_EMPHASIS}{{0,6}}|\s{{0,3}}{_EMPHASIS}{{1,6}})))"
        r"""(?:`(?P<tick>[^`\n]+)`|"(?P<double>[^"\n]+)"|'(?P<single>[^'\n]+)'|(?P<bare>[^\s"'`|<>][^\s"`|<>]+))""",
        "labelled",
    ),
    Rule(
        "passphrase",
        literals("passphrase passcode passw"),
        r"(?i)(?P<key>passphrase|password|passcode)(?:['’]s)?[*_`]{0,4}(?:\s(?:for|to|of|on)\s[^\n:;!?=|\"'`]{1,40}?)?"
        r"[*_`]{0,4}(?P<op>\s(?:is|was|now|ist|to)(?:\snow)?:?\s|\s?[:=|]\s?)[*_`\"'“‘]{0,4}"
        rf"\s{{0,2}}[*_`\"'“‘]{{0,4}}(?P<value>{_WORD_CHAIN})",
        "worded",
    ),
    *(
        Rule(
            f"password-{side}",
            ("pwd", "passphrase", "passcode", "passw"),
            r"(?i)(?:\b(?:chang|rotat|updat|reset|set|switch)\w{0,4}\s[^\n:;!?|]{0,40}?"
            r"(?:password|passphrase|passcode|passwd|pwd)[^\n;!?|]{0,40}?"
            r"|(?:password|passphrase|passcode|passwd|pwd)\s(?:[a-z]{2,8}\s){0,3}(?:changed|rotated|updated"
            r"|reset|switched))"
            r"\sfrom\s" + values,
            "told",
        )
        for side, values in (
            ("before", r"[`\"'“‘]?(?P<value>[^\s`\"'“”‘’]{4,80})[`\"'”’]?\sto\s"),
            ("after", r"\S[^\n;|]{0,80}?\sto\s[`\"'“‘]?(?P<value>[^\s`\"'“”‘’]{4,80})"),
        )
    ),
    Rule(
        "spoken",
        literals(
            "passw passphrase passcode pwd pw pass pin key token secret contrase clave chiave senha kennwort"
            " 密码 密碼 口令 授权码 密钥 秘钥 私钥 令牌 пароль パスワード パスフレーズ 비밀번호 " + _FOREIGN_GATES
        ),
        r"(?i)(?P<key>\b(?:password|passwd|passphrase|passcode|passwort|kennwort|pwd|pw|pass|pin(?: code)?|wi-?fi key"
        r"|(?:api|access|secret|private|license|signing|encryption|master|service|account) ?key"
        r"|(?:access |api |auth ?)?token|(?:client |aws |webhook )?secret"
        r"|contraseña|clave|chiave|mot de passe|senha|key)"
        rf"|{_FOREIGN}|密码|密碼|口令|授权码|密钥|秘钥|私钥|令牌|пароль|パスワード|パスフレーズ|비밀번호)"
        rf"(?P<has>['’]s(?:\sstill|\snow|\scurrently)?)?"
        rf"(?:(?P<gap>\s(?:{_PREPOSITIONS})\s(?:[^\n:;!?=\"']{{1,40}}?|[\w ]{{0,20}}'[^'\n]{{1,60}}'))?"
        r"(?P<op>\s{0,2}(?:\s(?:(?:was |is |has been |been )?(?:changed|set|reset|updated|rotated) to|to|is|was|now"
        r"|being|will be|ist|lautet|est|c['’]est|es|é|è|это)(?:\snow|\sstill|\scurrently|\sjetzt|\sora|\sahora)?"
        r"(?:\s?:|\s)|:\s|\s[—–]\s"
        r"|：|已?(?:改|换|換|设|設|更新|更改|变更|修改|重置|设置|就|都|还|仍)?(?:是|为|為|成)了?|は|が|を|는|은|คือ|->|=>|→))|\s)"
        r"\s{0,3}(?P<quote>[\"'“‘`「*]{0,3})(?P<value>[^\s\"“”‘’`「」，。、；]{3,})",
        "spoken",
    ),
    Rule(
        "command-secret",
        (*literals("identified requirepass masterauth setx env smbclient ::add-mask:: --secret-string"), "kv put"),
        r"(?i)(?:\bidentified\s{1,3}(?:with\s\S{1,40}\s)?by\s{1,3}['\"]|\b(?:requirepass|masterauth)\s{1,3}"
        r"|::add-mask::|--secret-string[ =]['\"]?|\bvault\s{1,3}kv\s{1,3}put\s[^\n|;=]{0,200}?\s[\w-]{1,40}=['\"]?"
        r"|\bsmbclient\b[^\n|;]{0,200}?\s-U\s{0,3}['\"]?[\w.\\/-]{1,60}%"
        r"|\b(?:setx|env)\s{1,3}\w{0,40}(?:password|passwd|secret|token|_key|pass)\s{1,3}['\"]?)"
        r"(?P<value>[^\s'\"]{3,})",
        "told",
    ),
    Rule(
        "login",
        (*literals("creds credentials zugangsdaten identifiants login logins user account"), "log in"),
        r"(?i)\b(?:(?:creds|credentials|zugangsdaten|identifiants|log ?ins?)\b:?(?:\s(?:are|is|with|as"
        r"|for\s\w{1,20}:?))?"
        r"\s{1,3}[\w.@+-]{2,60}\s?[/:,]\s?"
        r"|(?:user(?:name)?|login|account|e-?mail)\b[:=]?\s{0,3}[\w.@+-]{2,60}\s{0,2}[,;/]?\s{0,2}(?:and\s"
        r"|with\s){0,2}"
        r"(?:password|passwd|passphrase|pass|pw|pwd)\b(?:\sis)?[:=]?\s{0,3})"
        r"(?P<value>[^\s'\"/]{6,80})",
        "told",
    ),
    Rule(
        "spoken-as",
        ("as the pass", "as my pass", "as pass", "as your pass", "as a pass"),
        r"(?i)\b(?:use|using|set|type|enter|try|with)\s[\"'“‘`]?(?P<value>[^\s\"“”‘’`]{4,80})[\"'”’`]?\sas\s"
        r"(?:the\s|my\s|your\s|a\s)?(?P<key>pass(?:word|phrase|code))",
        "spoken",
    ),
    Rule(
        "spoken-as-chinese",
        literals("作为 作為 当 當 做"),
        r"(?:用|使用|拿|把)\s{0,2}[\"'“‘`「]?(?P<value>[^\s\"'“”‘’`「」，。、；一-鿿]{4,80})[\"'”’`」]?\s{0,2}(?:作为|作為|当作?|當作?|做)"
        r"\s{0,2}[^\s，。；]{0,8}?(?:密码|密碼|口令)(?:[\s，。；、！,.;!]|登|就|即|来|去|吧|了|$)",
        "told",
    ),
)
