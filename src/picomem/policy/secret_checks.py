"""Checks of a rule's match: is it a secret, and what is its exact position?

A pattern sees shapes only: `password = …` is as often code, a placeholder, a template or a word as it is a secret. A
rule names its check, a key of `CHECKS`. Most look at the value alone; those of the last part also at what stands around
it.

Most rest on two questions. `_is_blank`: is the value a stand-in for one (`<token>`, `${KEY}`, `xxxx`, `your-api-key`)?
`_is_random`: was it generated rather than written, so that letters, capitals and digits change more often than in words
and names? A password may be a word, so its rule checks instead how the value is written and what surrounds it.
"""

from __future__ import annotations

import binascii
import functools
import re
from collections.abc import Callable

from picomem.policy.secret_rules import words_of

Span = tuple[int, int]  # start and end, in characters
Match = re.Match[str]
Check = Callable[[str, Match], Span | None]

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VALUE_GROUPS = ("bare", "double", "secret", "value", "single", "tick")
_PIECE = r"[A-Za-z0-9]{8,}"
_BASE64 = r"[A-Za-z0-9+/]{12,}={1,2}|[A-Za-z0-9+/]{16,}"
_RUN = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_RUN_OR_SIGN = _RUN + "|[^A-Za-z0-9]"
_WITHOUT_SIGNS = str.maketrans("", "", "+/=")
_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_THREE_TURNS = r"\d+\D+\d+\D|\D+\d+\D+\d"  # from a digit to a letter or back
_CONSONANTS = r"(?i)[bcdfghjklmnpqrstvwxz]{5,}"
_TEMPLATE = (
    r"\$\{|\$\(|\{\{|\}\}|%\(|^%[sdr]$|^%\w+%$|<[^>]*>|\*{3}|\.{3}|…|•|^\$[A-Za-z_]\w*$|^\$env:|(?i:x{5})|\[redacted"
    r"|REDACTED|^[{<\[].*[}>\]]$|#\{|^@\w+@$|^__\w+__$"
)
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_HASH_OR_REFERENCE = (
    r"(?i:sha-?\d+|md5|base64|bcrypt|argon2\w*|pbkdf2|scrypt|utf-?8|aes-?\d*|rsa-?\d*|hs256|rs256)\b"
    r"|\$(?:2[aby]|argon2\w*|\d)\$"
    r"|!\w+$|(?:\.{1,2}/|~/)[\w./-]+$|(?:arn|projects|vault|op|ref|env|file|fd|ext)[:/+]|.*://|-----BEGIN"
)
_PATH = r"(?:~|\.{0,2})/[\w.~/@:-]*"
_IDENTIFIER = r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*[.?!]?"
_PEM_LINES = (
    r"[A-Za-z0-9+/=]{16,}(?:(?:[\s\"'+>|,:;→\\.]|\\[nrt]|[0-9]{1,4}[\t→|:])+[A-Za-z0-9+/=]{16,})*"
    r"(?:(?:\s|\\n)+[A-Za-z0-9+/=]{1,15}\s*$)?"
)
_PEM_END = r"-{4,5} ?END"
_LINE_ENDS = r"(?:\\+[nr]|\s)+$"
_SEED_LENGTHS = (24, 21, 18, 15, 12)
_KEY_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_TEST_NAME = r"Test[A-Z]|test_|Benchmark[A-Z]|Example[A-Z]|Fuzz[A-Z]"
_LONG_KEYS = frozenset({"password", "passwd", "apikey", "token", "secret", "pwd"})
_SIGNS_APART = frozenset("-_. ")
_PASSWORD = (
    r"(?i)pass|pw|psk|kennwort|senha|contrase|密码|密碼|口令|授权码|парол|パスワ|パスフ|비밀번호|wachtw|lösen|adgangs|salasana"
    r"|hasł|heslo|jelsz|şifre|parola|passord|암호|лозинк|парола|mật kh|sandi|mdp|κωδ|كلمة|סיסמ|पास|รหัส"
)
_FOREIGN_KEYS = ("heslo", "parola", "passord", "wachtwoord", "adgangskode", "salasana", "kata sandi", "mdp")
_WITH = r"(?i)\b(?:with|using|and) (?:the )?$"
_OWNER = r"(?i)\b(?:my|our|his|her|their|wi-?fi|guest|new|root|admin|sudo|router)\W*$"
_QUALITY = r"(?:ed|ing|able|ible|ly|ful|less)$"
_SENTENCE_END = r"[.!]*\s*(?:\n|$)"
_PHRASE_END = r"[\"'”’`*_]{0,4}(?:[ \t]*\||[.,;!]?(?:\s|$))"
_CELL_END = r"[*_`~]{0,3}[ \t]*(?:\||$|\n|</t)"
_CALL = r"[\w.]+[(\[]"
_MEASURE = r"\d+-(?:char|digit|byte|bit|day|hour)"
_LIMIT = r"(?i)(?:min|max|len|length|size|v|utf|char|rs|hs|es)?[\W_]{0,2}\d{1,5}(?:[-–]\d{1,5})?(?:[a-z]{1,5}|\|.*)?"
_SIGN = r"[^\w\-./:, ()]"
_ODD_SIGN = r"[@#$%^&*~+!?]"
_PLACE_SIGN = r"[./:\\<>{}()$=,;\[\]|]"
_LABELLED = r"[A-Za-z]+[-_][A-Z]?[a-z]*\d{1,3}"  # `client-A17`, a name with a number
_TWO_WORDS = r"[A-Za-z]{4,}[-_][A-Za-z]{4,}\d{3,}"
_WORD_ENDS = "[ .,_-]"
_CJK = "[\u2e80-\uffef]"
_EMPHASIS_MARKS = ("***", "**", "__", "~~", "*", "_")
_CLOSING = {'"': '"', "“": "”", "‘": "’", "`": "`", "「": "」"}
_LONGEST_QUOTED = 100  # characters


@functools.cache
def _regex(pattern: str) -> re.Pattern[str]:
    """Compiled when first used: two dozen patterns would cost a hook's start ten milliseconds."""
    return re.compile(pattern)


# --- what a value is ---


def _is_blank(value: str) -> bool:
    """A placeholder, a template or a name: nothing that opens anything."""
    if len(_SIGNS_APART.union(value.lower())) <= len(_SIGNS_APART) + 2 or _is_template(value):
        return True
    return _digits(value) < 2 and words_of("blank").issuperset(map(str.lower, _regex(_WORD).findall(value) or ("?",)))


def _is_template(value: str) -> bool:
    if value.isalnum():
        return "xxxxx" in value.lower() or "REDACTED" in value
    return _regex(_TEMPLATE).search(value) is not None


def _is_random(value: str) -> bool:
    """Drawn, not written: letters, capitals and digits change more often than in words and names."""
    if len(set(value)) < 6 or _is_blank(value):
        return False
    if any(map(_is_drawn, _regex(_PIECE).findall(value))):
        return True
    if not (_is_cased(value) and _regex(_BASE64).fullmatch(value) and (value[-1] == "=" or _digits(value))):
        return False
    # Base64 that its own signs cut into short pieces.
    return len(value) / len(_regex(_RUN_OR_SIGN).findall(value)) < 2.0 or _is_drawn(value.translate(_WITHOUT_SIGNS))


def _is_drawn(piece: str) -> bool:
    if _regex(_THREE_TURNS).match(piece):
        return True
    runs = _regex(_RUN).findall(piece)
    return len(piece) >= 12 and (len(piece) / len(runs) < 2.4 or _regex(_CONSONANTS).search(piece) is not None)


def _is_mixed(value: str) -> bool:
    return _digits(value) > 0 and _is_random(value) and not _is_uuid(value)


def _is_uuid(value: str) -> bool:
    return _regex(_UUID).fullmatch(value) is not None


def _is_cased(value: str) -> bool:
    return value.lower() != value != value.upper()


def _is_varied(value: str) -> bool:
    return len(set(value)) >= 8 and not _is_template(value)


def _is_embedded(value: str) -> bool:
    return value[0] not in "$%{<" and not _is_blank(value)


def _is_code(value: str) -> bool:
    """Codes that open an account without its second factor: drawn, not words."""
    parts = value.split("-")
    return _digits(value) > 0 or (len(parts[0]) >= 4 and len(set(map(len, parts))) == 1)


def _is_login(value: str) -> bool:
    """RFC 7617: Base64 of `user:password`."""
    try:
        plain = binascii.a2b_base64(value)
    except binascii.Error:
        return False
    return b":" in plain[1:] and all(32 <= byte < 127 or byte >= 160 for byte in plain)


def _is_wallet_key(value: str) -> bool:
    """A private key in the import format of wallets: the last four of its bytes are a checksum of the others."""
    from hashlib import sha256

    number = functools.reduce(lambda total, sign: total * 58 + _BASE58.index(sign), value, 0)
    key = number.to_bytes((number.bit_length() + 7) // 8)
    return key[:1] == b"\x80" and sha256(sha256(key[:-4]).digest()).digest()[:4] == key[-4:]


def _is_discord_token(value: str) -> bool:
    """A token of Discord, which begins with the number of its account in Base64."""
    account = value.partition(".")[0]
    try:
        number = binascii.a2b_base64(account + "=" * (-len(account) % 4))
    except binascii.Error:
        return False
    return number.isdigit() and 17 <= len(number) <= 20


def _is_card(value: str) -> bool:
    """The number of a payment card: its last digit follows from the others (ISO/IEC 7812, Luhn)."""
    digits = [int(sign) for sign in value if sign.isdigit()]
    total = sum(digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits)))
    return total % 10 == 0 and len(set(digits)) > 2


def _is_chain(value: str) -> bool:
    """Words that were picked at random, a number perhaps behind them: none of them says anything about a secret."""
    lists = ("blank", "said", "sentence", "neutral-after", "chain-breakers")
    return not any(word in words_of(name) for word in re.split(_WORD_ENDS, value.lower()) for name in lists)


def _is_odd(value: str) -> bool:
    """No word and no name: two of digits, both cases and signs, or several digits; and it names nothing."""
    digits = _digits(value)
    marks = (digits > 0) + _is_cased(value) + (_regex(_ODD_SIGN).search(value) is not None)
    return _has_letter(value) and (marks >= 2 or (digits >= 2 and len(value) >= 8)) and not _is_named(value)


def _is_chosen(value: str) -> bool:
    """A password as people and generators make them, where little else says that it is one: letters and digits, and
    capitals among small letters or a sign; no name of a file, a host or an image."""
    if len(value) < 6 or not _digits(value) or not _has_letter(value) or _regex(_PLACE_SIGN).search(value):
        return False
    mixed = _is_cased(value) and not _regex(_LABELLED).fullmatch(value)
    odd = mixed or _regex(_ODD_SIGN).search(value) or _regex(_TWO_WORDS).fullmatch(value)
    return bool(odd) and not _is_named(value)


def _is_named(value: str) -> bool:
    """It says what or where the secret is: a template, a path, a hash; or has a rule of its own."""
    return _is_blank(value) or _is_path(value) or _regex(_HASH_OR_REFERENCE).match(value) is not None


def _is_path(value: str) -> bool:
    """A path of names. Base64 may begin with a slash too, but no name mixes capitals, small letters and digits so."""
    return _regex(_PATH).fullmatch(value) is not None and not any(
        len(part) >= 6 and _is_cased(part) and len(part) / len(_regex(_RUN).findall(part)) < 2.6
        for part in value.split("/")
    )


def _digits(value: str) -> int:
    return len(_regex(r"\d").findall(value))


def _has_letter(value: str) -> bool:
    return _regex(r"[^\W\d_]").search(value) is not None


# --- what stands around it ---


def _value_of(match: Match) -> Span:
    """Where the value stands, however it is written."""
    return match.span(_way(match))


def _way(match: Match) -> str:
    if match.lastgroup in _VALUE_GROUPS:
        return match.lastgroup
    groups = match.groupdict()  # a pattern may go on after its value
    return next(name for name in _VALUE_GROUPS if groups.get(name) is not None)


def _by_value(accept: Callable[[str], bool], trim: str = "") -> Check:
    """A check of the value alone, without the signs of `trim` that end it."""

    def check(text: str, match: Match) -> Span | None:
        start, end = _value_of(match)
        value = text[start:end].rstrip(trim)
        return (start, start + len(value)) if value and accept(value) else None

    return check


def _seed(text: str, match: Match) -> Span | None:
    """The words of a wallet: twelve or more of three to eight letters, none of which holds sentences together."""
    words = list(re.compile(r"[a-z]+").finditer(text, *match.span("secret")))
    plain = next((at for at, word in enumerate(words) if word[0] in words_of("sentence")), len(words))
    length = next((length for length in _SEED_LENGTHS if length <= plain), 0)
    return (match.start("secret"), words[length - 1].end()) if length else None


def _pem(text: str, match: Match) -> Span | None:
    start, end = match.span("secret")
    if not _regex(_PEM_END).match(text, end):  # cut off: what follows the last line of the key is not the key
        lines = _regex(_PEM_LINES).match(text, start, end)
        end = lines.end() if lines else end
    body = _regex(_LINE_ENDS).sub("", text[start:end])
    return (start, start + len(body)) if len(set(body)) >= 8 else None


def _cookie(_text: str, match: Match) -> Span | None:
    key, value = match["key"].lower(), match["secret"]
    of_session = any(name in key for name in words_of("sessions")) and _digits(value) > 0
    kept = _is_blank(value) or not (of_session or (len(value) >= 20 and _is_random(value)))
    return None if kept else match.span("secret")


def _typed(text: str, match: Match) -> Span | None:
    """A password typed after a flag; in prose the word after `--token` is just a word."""
    start, end = _value_of(match)
    value = text[start:end]
    key = match.groupdict().get("key") or "pass"
    if _kind(key) != "password":
        return (start, end) if _is_random(value) and not _is_uuid(value) and not _is_neutral(key, "") else None
    if _is_named(value) or value[0] in "(|" or (value.isalpha() and value.islower() and text[start - 1] not in "=\"'p"):
        return None
    return start, end


def _paired(_text: str, match: Match) -> Span | None:
    return match.span("value") if _is_worth(_kind(match["key"]), match["value"], is_text=True) else None


def _assigned(text: str, match: Match) -> Span | None:
    """`key = value` in any language: the whole key decides, how the value is written, what follows it."""
    way = _way(match)
    start, end = match.span(way)
    key, (key_start, key_end) = match["key"], match.span("key")
    ahead = text[max(0, key_start - 60) : key_start]
    head = ahead[len(ahead.rstrip(_KEY_CHARACTERS)) :]
    if ahead.endswith("\\" + head):
        head = head[1:]  # of `\n` as it stands in JSON
    elif len(head) == 2 and head[0] == "-":
        head = ""  # of the flag in `-Dpassword=`
    middle = text[key_end:start]
    rest = middle[: len(middle) - len(middle.lstrip(_KEY_CHARACTERS))]
    if not _starts_word(head, key) or _goes_on(key, rest) or _is_neutral(head, rest):
        return None
    value = text[start:end]
    if not head and key == "PASS" and _regex(_TEST_NAME).match(value):
        return None  # as test runners print it
    kind = _kind(key)
    if way != "bare":
        listed, comma, _ = middle.partition(",")
        if comma and not (any(quote in listed for quote in "\"'`") and _digits(value)):
            return None  # the next item of a list, or an argument after one that is no name
        return (start, end) if _is_worth(kind, value, is_text=True) else None
    value = value.rstrip(".:?*!")
    end = start + len(value)
    if "," in middle or text[end : end + 1] in ("(", "[", "{", "<") or value[:1] in ("$", "%", "@", "*", "|"):
        return None
    operator = middle[len(rest) :]
    is_text = (head + key + rest).isupper() or (
        operator == "=" and text[key_start - len(head) - 1 : key_start - len(head)] in tuple("?&;")
    )
    return (start, end) if _is_worth(kind, value, is_text=is_text, is_quoted=False, is_tight=operator == "=") else None


@functools.lru_cache(256)  # of names, which are no secrets
def _kind(key: str) -> str:
    """The form that the value may have: a password may be a word, a token may be the UUID of something."""
    if _regex(_PASSWORD).search(key):
        return "password"
    return "token" if key.lower().endswith("token") else "secret"


def _starts_word(head: str, key: str) -> bool:
    """`pass` is no key in `compass`, but in `DB_PASS` and `dbPass`; a long word may end a longer one."""
    if not key[0].isascii() or not key[0].isalpha() or not head or not head[-1].isalpha():
        return True
    if key[0].isupper() and (head[-1].islower() or key.isupper()):
        return True
    return key.lower() in _LONG_KEYS and head[-1].islower() == key[0].islower()


def _goes_on(key: str, rest: str) -> bool:
    """`token` in `tokenizer`: the word is another one."""
    return rest[:1].isalpha() and rest[0].isupper() == key[-1].isupper()


def _is_neutral(head: str, rest: str) -> bool:
    """Return whether the words around a key's keyword say that it names something about the secret."""
    after = map(str.lower, _regex(_WORD).findall(rest)) if rest else ()
    before = map(str.lower, _regex(_WORD).findall(head.rpartition(".")[2])[-3:]) if head else ()
    return not words_of("neutral-after").isdisjoint(after) or not words_of("neutral-before").isdisjoint(before)


def _is_worth(kind: str, value: str, *, is_text: bool, is_quoted: bool = True, is_tight: bool = False) -> bool:
    """Is the value of a secret's key a secret? `is_text`: what stands around the value says that it is no code;
    `is_tight`: nothing is between it and its sign of equality."""
    is_quoted = is_quoted and is_text
    if len(value) < 4 or _is_named(value) or value in words_of("types"):
        return False
    words = value.split()
    is_name = _regex(_IDENTIFIER).fullmatch(value) is not None
    if not is_quoted and is_name and "." in value:
        return False
    if kind != "password":
        return len(value) >= 8 and len(words) == 1 and _is_random(value)
    digits = _digits(value)
    if len(words) > 1 or value != value.strip():
        return digits > 0 and len(words) <= 4
    if is_name and not is_text:
        return digits > 0 or (_is_cased(value[1:]) and value.isalpha() and (is_tight or _is_gibberish(value)))
    if digits or (_regex(_SIGN).search(value) and len(value) >= 6):
        return True
    return is_text and len(value) >= 5 and value.isalnum() and not value.isupper()


def _is_gibberish(value: str) -> bool:
    """Letters that no words are made of: capitals change too often, or too many consonants follow each other."""
    return len(value) / len(_regex(_RUN).findall(value)) < 3 or _regex(_CONSONANTS).search(value) is not None


def _spoken(text: str, match: Match) -> Span | None:
    """“my password is hunter2”: people say what a password is, and far more often what it is like."""
    start, end = match.span("value")
    value = _regex(_CJK).split(match["value"], 1)[0].rstrip(".,;:!?)*'\"]}")
    end = start + len(value)
    if len(value) < 4 or value.lower() in words_of("said") or _is_named(value):
        return None
    key, (key_start, key_end) = match["key"].lower(), match.span("key")
    if match["key"] == "PASS" and _regex(_TEST_NAME).match(value):
        return None
    groups = match.groupdict()
    ahead = text[max(0, key_start - 14) : key_start]
    operator = (groups.get("op") or groups.get("has") or "").strip()
    quote = groups.get("quote") or ""
    if key == "key" and (
        not operator.isalpha()
        or not (words_of("neutral-before") | words_of("other-keys")).isdisjoint(ahead.lower().split())
    ):
        return None  # “the key is …” of a map or a table
    if not (
        operator
        or start < key_end
        or _regex(_WITH).search(ahead)
        or (quote and _is_odd(value))
        or (_is_strong(key, value) and "\n" not in text[key_end:start])
    ):
        return None  # “password field”; but “with password hunter2” says it
    said = _is_said(key, value, operator)
    if not said and key.startswith("pass") and operator.isalpha():
        is_whole = quote or (_regex(_OWNER).search(ahead) and _regex(_SENTENCE_END).match(text[end : end + 8]))
        said = bool(is_whole) and value.isalpha() and not _regex(_QUALITY).search(value)
    if not said:
        return None
    closing = _CLOSING.get(quote[-1:], "\n")
    quoted = text[end : end + _LONGEST_QUOTED].partition(closing)
    if quoted[1] and quoted[0].startswith(" ") and "\n" not in quoted[0] and closing != "\n":
        end += len(quoted[0])  # the quoted value goes on behind a blank
    return start, end


def _is_strong(key: str, value: str) -> bool:
    """Is the value alone, right after its key, enough? A word may follow the key, but nothing drawn at random."""
    if not key.isascii() or key.startswith(_FOREIGN_KEYS):
        return len(value) >= 6 and _is_odd(value)
    return len(value) >= 16 and not ("." in value and _regex(_IDENTIFIER).fullmatch(value)) and _is_mixed(value)


def _is_said(key: str, value: str, operator: str) -> bool:
    """Return whether a value cannot be a word of the sentence: it holds digits, signs or capitals where words hold
    none."""
    if key.startswith("pin"):
        return value.isdigit() and len(value) <= 8 and operator != ""
    if key.endswith(("key", "token", "secret", "密钥", "秘钥", "私钥", "令牌")) and not key.startswith("wi"):
        return len(value) >= 8 and _is_random(value)
    if key in ("pass", "pw"):
        return _is_odd(value) and len(value) >= 6
    if not _has_letter(value):
        return value.isdigit() and len(value) >= 5
    if _regex(_CALL).match(value) or _regex(_MEASURE).match(value):
        return False
    return _digits(value) > 0 or _regex(_ODD_SIGN).search(value) is not None


def _labelled(text: str, match: Match) -> Span | None:
    """`**Password:** x`, `| token | x |`, “password (staging): x”: decoration between a label and its value."""
    way = _way(match)
    start, end = match.span(way)
    key_start, key_end = match.span("key")
    between = text[key_end:start]
    operator = match["op"] or match["sign"] or match["plain"]
    ahead = text[max(0, key_start - 90) : key_start].rpartition("\n")[2]
    qualifier = between.partition(operator)[0]
    if _is_neutral(ahead, qualifier.lower()):
        return None
    if way == "bare":
        value = text[start:end].rstrip(".,;:")
        mark = next((mark for mark in _EMPHASIS_MARKS if mark in between and value.endswith(mark)), "")
        end = start + len(value.removesuffix(mark))
        if operator in ("|", "–", "—") and not _regex(_CELL_END).match(text, end):
            return None  # the first word of a sentence
    value = text[start:end]
    kind = _kind(match["key"])
    if (kind == "token" and _is_uuid(value)) or (_regex(_CALL).match(value) and value.endswith((")", "]"))):
        return None  # the id of something, or a type, such as `varchar(255)`
    return (start, end) if _is_worth(kind, value, is_text=False) and not _regex(_LIMIT).fullmatch(value) else None


def _worded(text: str, match: Match) -> Span | None:
    """A passphrase: words that no sentence is made of, as many as a passphrase has, and nothing behind them."""
    start, end = match.span("value")
    value = text[start:end]
    spaced = " " in value or "," in value
    if spaced and (match["key"].lower() != "passphrase" or not _regex(_PHRASE_END).match(text, end)):
        return None
    words = [word for word in re.split(_WORD_ENDS, value) if not word.isdigit()]
    if len(words) < (4 if spaced and not _digits(value) else 3) or any(map(_regex(_QUALITY).search, words)):
        return None
    return (start, end) if _is_chain(value) else None


def _below(text: str, match: Match) -> Span | None:
    """A key that stands alone in the line below its name."""
    ahead = text[max(0, match.start("key") - 14) : match.start("key")]
    value = match["secret"]
    return None if _is_neutral(ahead, "") or not _is_mixed(value) or _is_path(value) else match.span("secret")


# By the name that a section of the rules gives: the text in which a pattern matched and the match, to the secret's
# place or None.
_END = ".,;:)"  # of a sentence
CHECKS: dict[str, Check] = {
    "plain": _by_value(bool),
    "varied": _by_value(_is_varied),
    "mixed": _by_value(_is_mixed),
    "mixed-case": _by_value(lambda value: _is_cased(value) and _digits(value) > 0 and not _is_path(value)),
    "cased": _by_value(lambda value: _is_random(value) and _is_cased(value + "1aA"[: _digits(value)])),
    "drawn": _by_value(lambda value: _digits(value) > 0 or _is_random(value)),
    "coded": _by_value(_is_code),
    "discord": _by_value(_is_discord_token),
    "wallet": _by_value(_is_wallet_key),
    "basic": _by_value(_is_login),
    "card": _by_value(_is_card),
    "chain": _by_value(_is_chain),
    "embedded": _by_value(_is_embedded),
    "told": _by_value(_is_odd, _END),
    "chosen": _by_value(_is_chosen, _END),
    "argument": _by_value(lambda value: (len(value) >= 16 and _is_mixed(value)) or _is_chosen(value)),
    "unguessable": _by_value(lambda value: _is_uuid(value) or (_digits(value) > 0 and _is_random(value))),
    "seed": _seed,
    "pem": _pem,
    "cookie": _cookie,
    "typed": _typed,
    "paired": _paired,
    "assigned": _assigned,
    "spoken": _spoken,
    "labelled": _labelled,
    "worded": _worded,
    "below": _below,
}
