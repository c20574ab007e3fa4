"""Checks of a rule's match: is it a secret, and what is its exact position?

A pattern sees shapes only: `password = …` is as often code, a placeholder, a template or a word as it is a secret. A
check is a pure function of the text and the groups of one match; it returns the secret's position, or None. A rule of
`secret_rules` names its check, a key of `CHECKS`.

Most checks rest on two questions. `_is_blank`: is the value a stand-in for one (`<token>`, `${KEY}`, `xxxx`,
`your-api-key`)? `_is_random`: was it generated rather than written, so that letters, capitals and digits change more
often than in words and names? A password may be a word, so its rule checks instead how the value is written and what
surrounds it.
"""

from __future__ import annotations

import binascii
import functools
import re
from collections.abc import Callable
from typing import Protocol

from picomem.policy.secret_words import (
    ABBREVIATIONS,
    CHAIN_BREAKERS,
    CODE_TYPES,
    NEUTRAL_BEFORE,
    NEUTRAL_REST,
    NOT_SAID,
    OTHER_KEYS,
    SENTENCE_WORDS,
    SESSION_NAMES,
    VOCABULARY,
)

Span = tuple[int, int]  # start and end, in characters


class Groups(Protocol):
    """A match, its places counted in characters: what checks use of `re.Match`."""

    @property
    def lastgroup(self) -> str | None:
        """The name of the group that ends last."""
        ...

    def span(self, group: str | int, /) -> Span:
        """The span of a group; (-1, -1) if it did not match. Raises IndexError if the pattern has no such group."""
        ...


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_KEY_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_PIECE = r"[A-Za-z0-9]{8,}"
_PADDED = r"[A-Za-z0-9+/]{12,}={1,2}"
_WITHOUT_SIGNS = str.maketrans("", "", "+/=")
_RUN_OR_SIGN = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]"
_RUN = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_THREE_TURNS = r"\d+\D+\d+\D|\D+\d+\D+\d"  # from a digit to a letter or back
_CONSONANTS = r"(?i)[bcdfghjklmnpqrstvwxz]+"
_TEMPLATE = (
    r"\$\{|\$\(|\{\{|\}\}|%\(|^%[sdr]$|^%\w+%$|<[^>]*>|\*{3}|\.{3}|…|•|^\$[A-Za-z_]\w*$|^\$env:|(?i:x{5})|\[redacted|REDACTED"
    r"|^[{<\[].*[}>\]]$|#\{|^@\w+@$|^__\w+__$"
)
_TEMPLATE_SIGN = r"[${}%<*…•\[#@]"  # nearly every template holds one; `_is_template` names the others
_BEGINNING = 8  # characters that mostly show that a value is not repetitive
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_HASH_OR_REFERENCE = (
    r"(?i:sha-?\d+|md5|base64|bcrypt|argon2\w*|pbkdf2|scrypt|utf-?8|aes-?\d*|rsa-?\d*|hs256|rs256)\b"
    r"|\$(?:2[aby]|argon2\w*|\d)\$"
    r"|!\w+$|(?:\.{1,2}/|~/)[\w./-]+$|(?:arn|projects|vault|op|ref|env|file|fd|ext)[:/+]"
)
# Letters and two digits, neither repetitive nor the name of an algorithm: most passwords that were drawn.
_CLEARLY_DRAWN = (
    r"(?=[A-Za-z]*[0-9][A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])(?!(?i:sha|md|base|bc|argon|pbk|scr|utf|aes|rsa|[hr]s))"
    r"([A-Za-z0-9])(?i:(?!\1))([A-Za-z0-9])(?i:(?!\1|\2))[A-Za-z0-9]{4,}"
)
_IDENTIFIER = r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*[.?!]?"
_CJK = "[\u2e80-\uffef]"
_LINE_ENDS = r"(?:\\+[nr]|\s)+$"
_PEM_LINES = (
    r"[A-Za-z0-9+/=]{16,}(?:(?:[\s\"'+>|,:;→\\.]|\\[nrt]|[0-9]{1,4}[\t→|:])+[A-Za-z0-9+/=]{16,})*"
    r"(?:(?:\s|\\n)+[A-Za-z0-9+/=]{1,15}\s*$)?"
)
_TEST_NAME = r"Test[A-Z]|test_|Benchmark[A-Z]|Example[A-Z]|Fuzz[A-Z]"
_LETTER_FLAG = r"-[A-Z]"
_CAMEL = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_VOWEL = r"(?i)[aeiouy]"
_DECLARED = r"(?:^|[^\w-])(?:const|let|var|await|return|self|this)\b[^\n]{0,40}$"
_CODE_OPERATORS = (":=", "=>", "==", "!=", "->")
_NEXT_FIELD = r";\s?[A-Za-z][\w .]{1,30}="
_CHANGED = r"(?i)\b(?:chang|set|reset|updat|rotat)\w*\s"
_SEED_LENGTHS = (24, 21, 18, 15, 12)
_PEM_END = r"-{4,5} ?END"
_OPERATORS = r"[+*?|=!]|.*[|+]"
_CALL = r"[\w.]+[(\[]"
_MEASURE = r"\d+-(?:char|digit|byte|bit|day|hour)"
_WITH = r"(?i)\b(?:with|using|and) (?:the )?$"
_OWNER = r"(?i)\b(?:my|our|his|her|their|wi-?fi|guest|new|root|admin|sudo|router)\W*$"
_QUALITY = r"(?:ed|ing|able|ible|ly|ful|less)$"
_SENTENCE_END = r"[.!]*\s*(?:\n|$)"
_OPENERS = frozenset("([{<")
_BRACKETS = frozenset("([{")
_CLOSERS = (")", "]")
_EMPHASIS_MARKS = ("***", "**", "__", "~~", "*", "_")
_TABLE_ROW = r"^[ \t>]*\|[^\n]*$"
_CELL_END = r"[*_`~]{0,3}[ \t]*(?:\||$|\n|</t)"
_LABEL_OPERATORS = ("op", "sign", "plain")
_LIMIT = r"(?i)(?:min|max|len|length|size|v|utf|char|rs|hs|es)?[\W_]{0,2}\d{1,5}(?:[-–]\d{1,5})?(?:[a-z]{1,5}|\|.*)?"
_PHRASE_END = r"[\"'”’`*_]{0,4}(?:[ \t]*\||[.,;!]?(?:\s|$))"
_PASSWORD = (
    r"(?i)pass|pw|psk|kennwort|senha|contrase|密码|密碼|口令|授权码|парол|パスワ|パスフ|비밀번호|wachtw|lösen|adgangs|salasana"
    r"|hasł|heslo|jelsz|şifre|parola|passord|암호|лозинк|парола|mật kh|sandi|mdp|κωδ|كلمة|סיסמ|पास|รหัส"
)
_FOREIGN_KEYS = ("heslo", "parola", "passord", "wachtwoord", "adgangskode", "salasana", "kata sandi", "mdp")
_CHAIN_SIGNS = r"[ .,_-]"
_NEAR_LABEL = 90  # characters before a label that tell whether it stands in a table
_SIGNS_APART = frozenset("-_. ")
_SIGN = r"[^\w\-./:, ()]"
_PLACE_SIGN = r"[./:\\<>{}()$=,;\[\]|]"
_LABELLED = r"[A-Za-z]+[-_][A-Z]?[a-z]*\d{1,3}"  # `client-A17`, a name with a number
_TWO_WORDS = r"[A-Za-z]{4,}[-_][A-Za-z]{4,}\d{3,}"
_ODD_SIGN = r"[@#$%^&*~+!?]"
_ANY_DIGIT = r"\d"
_TWO_DIGITS = r"\d\D*\d"
_ANY_LETTER = r"[^\W\d_]"
_DASHES = ("—", "–")
_SIGILS = frozenset("$%@*|")
_AFTER_CODE = frozenset(",;)]}.")
_LONG_KEYS = frozenset({"password", "passwd", "apikey", "token", "secret", "pwd"})
_QUOTED, _VARIABLE, _FIELD, _TIGHT, _LOOSE, _CODE = range(6)  # where a value stands: as text, … a name in code
_LITERAL = (_QUOTED, _VARIABLE, _FIELD)
_VALUE_GROUPS = ("bare", "double", "secret", "value", "single", "tick")


@functools.cache
def _regex(pattern: str) -> re.Pattern[str]:
    """Compiled when first used: two dozen patterns would cost a hook's start ten milliseconds."""
    return re.compile(pattern)


def _value(groups: Groups) -> Span:
    return _written(groups)[1]


def _written(groups: Groups) -> tuple[str, Span]:
    """Return how the value is written (the group's name), and where."""
    way = groups.lastgroup
    if way not in _VALUE_GROUPS:  # a pattern may go on after its value
        way = next(name for name in _VALUE_GROUPS if _optional(groups, name))
    return way, groups.span(way)


def _optional(groups: Groups, name: str) -> Span | None:
    """The span of a group that may not have matched, or that not every rule with this check has."""
    try:
        span = groups.span(name)
    except IndexError:
        return None
    return span if span[0] >= 0 else None


def _is_blank(value: str) -> bool:
    """A placeholder, a template or a name: nothing that opens anything."""
    if _is_repetitive(value) or _is_template(value):
        return True
    if _regex(_TWO_DIGITS).search(value):
        return False
    words = _regex(_WORD).findall(value)
    return bool(words) and VOCABULARY.issuperset(map(str.lower, words))


def _is_repetitive(value: str) -> bool:
    """Two characters at most, in either case, beside the signs that separate words."""
    if len(_SIGNS_APART.union(value[:_BEGINNING])) > len(_SIGNS_APART) + 4:
        return False
    return len(_SIGNS_APART.union(value.lower())) <= len(_SIGNS_APART) + 2


def _is_template(value: str) -> bool:
    if (
        value.isalnum()
        or (value.isidentifier() and not value.startswith("__"))
        or not (_regex(_TEMPLATE_SIGN).search(value) or "..." in value or value.startswith("__"))
    ):
        return _is_masked(value)
    return _regex(_TEMPLATE).search(value) is not None


def _is_masked(value: str) -> bool:
    return "xxxxx" in value.lower() or "REDACTED" in value


def _is_random(value: str) -> bool:
    """Drawn, not written: letters, capitals and digits change more often than in words and names."""
    return not _is_blank(value) and _is_varied(value)


def _is_varied(value: str) -> bool:
    """What `_is_random` says of a value that is no stand-in for one."""
    if len(set(value)) < 6:
        return False
    if any(map(_is_drawn, _regex(_PIECE).findall(value))) or _is_dense(value):
        return True
    return _regex(_PADDED).fullmatch(value) is not None and _is_drawn(value.translate(_WITHOUT_SIGNS))


def _is_dense(value: str) -> bool:
    """Base64 that its own signs cut into short pieces: every kind of character, and few in a row."""
    if len(value) < 16 or "." in value or not (_has_digit(value) and value.lower() != value != value.upper()):
        return False
    return len(value) / len(_regex(_RUN_OR_SIGN).findall(value)) < 2.0


def _is_drawn(piece: str) -> bool:
    if len(piece) >= 8 and _regex(_THREE_TURNS).match(piece):
        return True
    if len(piece) < 12:
        return False
    consonants = max(map(len, _regex(_CONSONANTS).findall(piece)), default=0)
    return len(piece) / len(_regex(_RUN).findall(piece)) < 2.4 or consonants >= (6 if len(piece) < 20 else 5)


def _plain(_text: str, groups: Groups) -> Span | None:
    return _value(groups)


def _mixed_case(text: str, groups: Groups) -> Span | None:
    """Base64 of both cases with digits: no hash in hexadecimal, no path."""
    start, end = _value(groups)
    value = text[start:end]
    mixed = value.lower() != value != value.upper() and _has_digit(value)
    return (start, end) if mixed and _is_random(value) and not _is_path(value) else None


def _cased(text: str, groups: Groups) -> Span | None:
    """Drawn from both cases, with digits or without: no name of a module or a constant."""
    start, end = _value(groups)
    value = text[start:end]
    return (
        (start, end) if _is_random(value) and (_has_digit(value) or value.lower() != value != value.upper()) else None
    )


def _drawn(text: str, groups: Groups) -> Span | None:
    """A seed in Base32, perhaps in groups of four; not a word in capitals."""
    start, end = _value(groups)
    value = re.sub("[ -]", "", text[start:end])
    odd = _has_digit(value) or _is_random(value)
    return (start, end) if odd and len(set(value)) >= 6 else None


def _coded(text: str, groups: Groups) -> Span | None:
    """Codes that open an account without its second factor: drawn, not words."""
    start, end = _value(groups)
    value = text[start:end]
    parts = value.split("-")
    even = len(parts[0]) >= 4 and len(set(map(len, parts))) == 1
    return (start, end) if even or _has_digit(value) or any(map(_is_gibberish, parts)) else None


def _discord(text: str, groups: Groups) -> Span | None:
    """A token of Discord, which begins with the number of its account in Base64."""
    start, end = groups.span("account")
    try:
        account = binascii.a2b_base64(text[start:end] + "=" * (-(end - start) % 4))
    except binascii.Error:
        return None
    return groups.span("secret") if account.isdigit() and 17 <= len(account) <= 20 else None


def _wallet(text: str, groups: Groups) -> Span | None:
    """A private key in the import format of wallets: the last four of its bytes are a checksum of the others."""
    from hashlib import sha256

    start, end = groups.span("secret")
    number = functools.reduce(lambda total, sign: total * 58 + _BASE58.index(sign), text[start:end], 0)
    key = number.to_bytes((number.bit_length() + 7) // 8)
    payload, checksum = key[:-4], key[-4:]
    genuine = payload[:1] == b"\x80" and sha256(sha256(payload).digest()).digest()[:4] == checksum
    return (start, end) if genuine else None


def _seed(text: str, groups: Groups) -> Span | None:
    """The words of a wallet: twelve or more of three to eight letters, none of which holds sentences together."""
    start, _ = groups.span("secret")
    words = list(_regex(r"[a-z]+").finditer(text, *groups.span("secret")))
    plain = next((at for at, word in enumerate(words) if word[0] in SENTENCE_WORDS), len(words))
    for length in _SEED_LENGTHS:
        if length <= plain:
            return start, words[length - 1].end()
    return None


def _varied(text: str, groups: Groups) -> Span | None:
    span = _value(groups)
    value = text[slice(*span)]
    return span if len(set(value)) >= 8 and not _is_template(value) else None


def _mixed(text: str, groups: Groups) -> Span | None:
    span = _value(groups)
    value = text[slice(*span)]
    return span if _has_digit(value) and _is_random(value) and not _regex(_UUID).fullmatch(value) else None


def _pem(text: str, groups: Groups) -> Span | None:
    start, end = groups.span("secret")
    if not _regex(_PEM_END).match(text, end):  # cut off: what follows the last line of the key is not the key
        lines = _regex(_PEM_LINES).match(text, start, end)
        end = lines.end() if lines else end
    body = _regex(_LINE_ENDS).sub("", text[start:end])
    return (start, start + len(body)) if len(set(body)) >= 8 else None


def _embedded(text: str, groups: Groups) -> Span | None:
    start, end = _value(groups)
    value = text[start:end]
    return None if len(value) < 3 or value[0] in "$%{<" or _is_blank(value) else (start, end)


def _basic(text: str, groups: Groups) -> Span | None:
    """RFC 7617: Base64 of `user:password`."""
    start, end = groups.span("secret")
    try:
        plain = binascii.a2b_base64(text[start:end])
    except binascii.Error:
        return None
    return (start, end) if b":" in plain[1:] and all(32 <= byte < 127 or byte >= 160 for byte in plain) else None


def _cookie(text: str, groups: Groups) -> Span | None:
    key, value = text[slice(*groups.span("key"))].lower(), text[slice(*groups.span("secret"))]
    secretive = any(name in key for name in SESSION_NAMES) and _has_digit(value)
    kept = _is_blank(value) or not (secretive or (len(value) >= 20 and _is_random(value)))
    return None if kept else groups.span("secret")


def _typed(text: str, groups: Groups) -> Span | None:
    """A password typed after a flag; in prose the word after `--token` is just a word."""
    start, end = _value(groups)
    value = text[start:end]
    key = text[slice(*(_optional(groups, "key") or (0, 0)))].lower() or "pass"
    if _is_named(value) or value[0] in "$%{<(|" or len(value) < 3:
        return None
    if _kind(key) != "password":
        nameless = _regex(_UUID).fullmatch(value) or _is_neutral(key, "")
        return (start, end) if len(value) >= 8 and _is_random(value) and not nameless else None
    if value.isalpha() and value.islower() and text[start - 1] not in "=\"'p":
        return None
    return None if _is_path(value) else (start, end)


def _paired(text: str, groups: Groups) -> Span | None:
    key, span = text[slice(*groups.span("key"))], groups.span("value")
    return span if _is_worth(_kind(key), text[slice(*span)], _QUOTED) else None


def _assigned(text: str, groups: Groups) -> Span | None:
    """`key = value` in any language: the whole key decides, how the value is written, what follows it."""
    way, (start, end) = _written(groups)
    key_start, key_end = groups.span("key")
    key, middle = text[key_start:key_end], text[key_end:start]
    head = rest = ""
    if text[key_start - 1 : key_start] in _KEY_CHARACTERS:
        ahead = text[max(0, key_start - 60) : key_start]
        head = _head(ahead[len(ahead.rstrip(_KEY_CHARACTERS)) :], ahead)
    if middle[0] in _KEY_CHARACTERS:
        rest = middle[: len(middle) - len(middle.lstrip(_KEY_CHARACTERS))]
    if (head or rest) and (not _starts_word(head, key) or _goes_on(key, rest) or _is_neutral(head, rest)):
        return None
    value = text[start:end]
    quoted = way != "bare"
    if not head and _is_test_result(key, value):
        return None
    if quoted:
        listed, comma, _ = middle.partition(",")
        if comma and not (any(quote in listed for quote in "\"'`") and _has_digit(value)):
            return None  # the next item of a list, or an argument after one that is no name
    else:
        value = value.rstrip(".:?*!")
        end = start + len(value)
        if "," in middle or text[end : end + 1] in _OPENERS or value[:1] in _SIGILS:
            return None
    kind = _kind(key)
    if kind == "password" and _is_plain_password(value):
        return start, end
    if quoted:
        place = _QUOTED
    elif (head + key + rest).isupper():
        place = _VARIABLE
    elif kind == "password":
        place = _place(text, key_start - len(head), middle[len(rest) :], end)
    else:
        place = _LOOSE  # of other kinds it only counts whether they are quoted
    return (start, end) if _is_worth(kind, value, place) else None


def _is_test_result(key: str, value: str) -> bool:
    """`PASS: TestLogin`, as test runners print it."""
    return key == "PASS" and _regex(_TEST_NAME).match(value) is not None


def _head(head: str, ahead: str) -> str:
    """Return what stands before the keyword in a key, without what belongs to no key: `\\n` of an escape, `-D` of a
    flag."""
    if head.startswith(("n", "r", "t")) and ahead.endswith("\\" + head):
        return head[1:]
    return "" if _regex(_LETTER_FLAG).fullmatch(head) else head


def _is_plain_password(value: str) -> bool:
    """Letters with a digit: what `_is_worth` lets pass as a password whatever stands around it."""
    if _regex(_CLEARLY_DRAWN).fullmatch(value):
        return not _is_masked(value)
    return (
        len(value) >= 6
        and value.isalnum()
        and value.isascii()
        and not (value.isalpha() or value.isdigit())
        and not _is_named(value)
    )


def _place(text: str, key_start: int, operator: str, end: int) -> int:
    """The span of a value without quotes, by its surroundings."""
    before, after = text[key_start - 1 : key_start], text[end : end + 1]
    if operator == "=" and (before in ("?", "&", ";") or _regex(_NEXT_FIELD).match(text, end)):
        return _FIELD
    line = text[max(0, key_start - 40) : key_start]
    if (after and after in _AFTER_CODE) or (
        operator != "=" and (any(sign in operator for sign in _CODE_OPERATORS) or operator.count(" ") > 2)
    ):
        return _CODE
    if _regex(_DECLARED).search(line) or text.startswith(("self.", "this."), key_start):
        return _CODE
    return _TIGHT if operator == "=" else _LOOSE


@functools.lru_cache(256)  # of names, which are no secrets
def _kind(key: str) -> str:
    """The form that the value may have: a password may be a word, a token may be the UUID of something."""
    if _regex(_PASSWORD).search(key):
        return "password"
    return "token" if key.lower().endswith("token") else "secret"


def _starts_word(head: str, key: str) -> bool:
    """`pass` is no key in `compass`, but in `DB_PASS` and `dbPass`; a long word may end a longer one."""
    if not key.isascii() or not key[0].isalpha() or not head or not head[-1].isalpha():
        return True
    if key[0].isupper() and (head[-1].islower() or key.isupper()):
        return True
    return key.lower() in _LONG_KEYS and head[-1].islower() == key[0].islower()


def _goes_on(key: str, rest: str) -> bool:
    """`token` in `tokenizer`: the word is another one."""
    return bool(rest) and rest[0].isalpha() and rest[0].isupper() == key[-1].isupper()


def _is_neutral(head: str, rest: str) -> bool:
    after = [word.lower() for word in _regex(_WORD).findall(rest)] if rest else ()
    ahead = [word.lower() for word in _regex(_WORD).findall(head.rpartition(".")[2])][-3:] if head else ()
    return not NEUTRAL_REST.isdisjoint(after) or not NEUTRAL_BEFORE.isdisjoint(ahead)


def _is_worth(kind: str, value: str, place: int) -> bool:
    """Is the value of a secret's key a secret? `place`: how far the text around it says that it is text, not code."""
    if len(value) < 4 or _is_named(value) or value in CODE_TYPES:
        return False
    quoted = place == _QUOTED
    identifier = ("." in value or kind == "password") and _regex(_IDENTIFIER).fullmatch(value)
    if not quoted and ((value.isdigit() and len(value) < 6) or ("." in value and identifier)):
        return False
    if kind != "password":
        return len(value) >= 8 and len(value.split()) == 1 and (_is_varied(value) or (quoted and _is_jumble(value)))
    digits, letters = _has_digit(value), _has_letter(value)
    symbols = _regex(_SIGN).search(value) is not None
    if len(value.split()) > 1 or value[0].isspace() or value[-1].isspace():
        return digits and len(value.split()) <= 4 and not value.endswith((".", ":", "?"))
    if identifier and place not in _LITERAL:
        return _is_no_name(value, place)
    if digits or (symbols and letters and len(value) >= 6 and not _regex(_OPERATORS).match(value)):
        return True
    return place in _LITERAL and len(value) >= 5 and value.isalnum() and not value.isupper()


def _is_jumble(value: str) -> bool:
    """Digits, letters and signs in one."""
    return _has_digit(value) and _has_letter(value) and _regex(_SIGN).search(value) is not None


def _is_no_name(value: str, place: int) -> bool:
    """Return whether a value that looks like the name of a variable is a password all the same."""
    digits = _digits(value)
    mixed = value[1:].lower() != value[1:] and value.upper() != value
    if len(value) < 6 or (value.startswith("_") and place == _CODE):
        return False
    if digits:
        return "." not in value and ("_" not in value or (place != _CODE and (digits >= 2 or mixed)))
    return mixed and value.isalpha() and (place == _TIGHT or (place == _LOOSE and _is_gibberish(value)))


def _is_gibberish(value: str) -> bool:
    """Letters that no words are made of: capitals change too often, or a word has no vowel."""
    words = _regex(_CAMEL).findall(value)
    return len(value) / len(words) < 3 or any(
        (len(word) >= 3 and not _regex(_VOWEL).search(word) and word.lower() not in ABBREVIATIONS)
        or max(map(len, _regex(_CONSONANTS).findall(word)), default=0) >= 5
        for word in words
    )


def _is_named(value: str) -> bool:
    """It says what or where the secret is: a template, a path, a hash; or has a rule of its own."""
    if _is_blank(value):
        return True
    if not value.isalnum() and ("://" in value or value.startswith("-----BEGIN") or _is_path(value)):
        return True
    return _regex(_HASH_OR_REFERENCE).match(value) is not None


def _is_path(value: str) -> bool:
    """A path of names. Base64 may begin with a slash too, but no name mixes capitals, small letters and digits so."""
    if not value.startswith(("/", "./", "../", "~/")):
        return False
    parts = value.split("/")
    return _regex(r"[\w.~/@:-]+").fullmatch(value) is not None and not any(
        len(part) >= 6 and part.lower() != part != part.upper() and _is_mixed_up(part) for part in parts
    )


def _is_mixed_up(part: str) -> bool:
    """Letters of both cases (and digits) that change as no name does."""
    return len(part) / len(_regex(_RUN_OR_SIGN).findall(part)) < 2.6


def _has_digit(value: str) -> bool:
    return _regex(_ANY_DIGIT).search(value) is not None


def _has_letter(value: str) -> bool:
    return _regex(_ANY_LETTER).search(value) is not None


def _digits(value: str) -> int:
    return len(_regex(_ANY_DIGIT).findall(value))


def _spoken(text: str, groups: Groups) -> Span | None:
    """“my password is hunter2”: people say what a password is, and far more often what it is like."""
    start, end = groups.span("value")
    value = _regex(_CJK).split(text[start:end], maxsplit=1)[0].rstrip(".,;:!?)*'\"]}")
    end = start + len(value)
    key_start, key_end = groups.span("key")
    key, ahead = text[key_start:key_end].lower(), text[max(0, key_start - 14) : key_start]
    if len(value) < 4 or _is_named(value) or value.lower() in NOT_SAID:
        return None
    if _is_test_result(text[key_start:key_end], value):
        return None
    operator = text[slice(*(_optional(groups, "op") or _optional(groups, "has") or (0, 0)))].strip()
    quote = _optional(groups, "quote") or (0, 0)
    quoted = quote[0] < quote[1]
    gap = _optional(groups, "gap")
    between = text[slice(*gap)].lower() if gap else ""
    if "'" in between and "\n" in text[key_end:start]:
        return None  # a prompt for a key's passphrase, and the next line
    if ". " in between or not NEUTRAL_REST.isdisjoint(between.split()):
        return None  # the next sentence, or “the password of that length is 12”
    if key == "key" and (len(value) < 20 or not operator.isalpha() or not OTHER_KEYS.isdisjoint(ahead.lower().split())):
        return None  # “the key is …” of a map or a table; but a long random one is a secret
    if operator in _DASHES and key.isascii():
        return None
    if operator == "to" and not _regex(_CHANGED).search(text, max(0, key_start - 60), key_start):
        return None
    if start > key_end and not (
        operator
        or _regex(_WITH).search(ahead)
        or (quoted and _is_odd(value))
        or (_is_strong(key, value) and "\n" not in text[key_end:start])
    ):
        return None  # “password field”; but “with password hunter2” says it
    said = _is_pin(value, operator) if key.startswith("pin") else _is_said(key, value)
    if not said and key.startswith("pass") and operator.isalpha():
        after = text[end : end + 8]
        said = (
            value.isalpha()
            and not _regex(_QUALITY).search(value)
            and (quoted or bool(_regex(_OWNER).search(ahead) and _regex(_SENTENCE_END).match(after)))
        )
    if not said or text[end : end + 1] in _OPENERS:
        return None
    return (start, _quote_ends(text, end, text[quote[0] : quote[1]]) if quoted else end)


def _quote_ends(text: str, end: int, quote: str) -> int:
    """Return where a quoted value ends that goes on behind a blank: at the closing quote of its line, if that is
    near."""
    closing = _CLOSING.get(quote[-1:], "")
    if not closing or text[end : end + 1] != " ":
        return end
    at = text.find(closing, end, end + _LONGEST_QUOTED)
    return at if at >= 0 and "\n" not in text[end:at] and len(text[end:at].split()) < _MOST_WORDS_QUOTED else end


_CLOSING = {'"': '"', "“": "”", "‘": "’", "`": "`", "「": "」"}
_LONGEST_QUOTED = 100  # characters
_MOST_WORDS_QUOTED = 8


def _labelled(text: str, groups: Groups) -> Span | None:
    """`**Password:** x`, `| token | x |`, “password (staging): x”: decoration between a label and its value."""
    way, (start, end) = _written(groups)
    key_start, key_end = groups.span("key")
    between = text[key_end:start]
    key = text[key_start:key_end]
    operator = next(text[slice(*span)] for name in _LABEL_OPERATORS if (span := _optional(groups, name)))
    ahead = text[max(0, key_start - _NEAR_LABEL) : key_start].rpartition("\n")[2]
    if not _starts_word(ahead.rpartition(" ")[2], key):
        return None
    qualifier = between.partition(operator)[0]
    if _is_neutral(ahead, "") or not NEUTRAL_REST.isdisjoint(_regex(_WORD).findall(qualifier.lower())):
        return None
    if operator == "|" and not _regex(_TABLE_ROW).match(ahead):
        return None  # a pipe of a shell, a union of types
    if way == "bare":
        end = start + len(_undecorated(text[start:end], between))
        if operator in ("|", "–", "—") and not _regex(_CELL_END).match(text, end):
            return None  # the first word of a sentence
        if text[end : end + 1] in _BRACKETS:
            return None
    value = text[start:end]
    kind = _kind(key)
    if _regex(_CALL).match(value) and value.endswith(_CLOSERS):
        return None  # a type, such as `varchar(255)`
    if kind == "token" and _regex(_UUID).fullmatch(value):
        return None
    said = _is_worth(kind, value, _LOOSE) and not _regex(_LIMIT).fullmatch(value)
    return (start, end) if said else None


def _undecorated(value: str, before: str) -> str:
    """The value without the emphasis that was opened before it, and without the end of its sentence."""
    value = value.rstrip(".,;:")
    for mark in _EMPHASIS_MARKS:
        if mark in before and value.endswith(mark):
            return value.removesuffix(mark)
    return value


def _worded(text: str, groups: Groups) -> Span | None:
    """A passphrase: words that no sentence is made of, as many as a passphrase has, and nothing behind them."""
    start, end = groups.span("value")
    value = text[start:end]
    key = text[slice(*groups.span("key"))].lower()
    spaced = " " in value or "," in value
    if spaced and (key != "passphrase" or not _regex(_PHRASE_END).match(text, end)):
        return None
    return (start, end) if _is_word_chain(value, 4 if spaced and not _has_digit(value) else 3) else None


def _is_word_chain(value: str, least: int = 3) -> bool:
    """Words that were picked at random, a number perhaps behind them: none of them says anything about a secret."""
    words = [word.lower() for word in _regex(_CHAIN_SIGNS).split(value) if not word.isdigit()]
    return len(words) >= least and not any(_is_said_of_secrets(word) or _regex(_QUALITY).search(word) for word in words)


def _is_said_of_secrets(word: str) -> bool:
    """Return whether a word holds sentences about secrets together."""
    return any(word in words for words in (VOCABULARY, NOT_SAID, SENTENCE_WORDS, NEUTRAL_REST, CHAIN_BREAKERS))


def _told(text: str, groups: Groups) -> Span | None:
    """A login told in passing (“bob / Summer2024!”): only what no ordinary word looks like."""
    start, end = _value(groups)
    value = text[start:end].rstrip(".,;:)")
    return (start, start + len(value)) if _is_odd(value) and not _is_named(value) else None


def _is_odd(value: str) -> bool:
    """No word and no name: two of digits, both cases and signs, or several digits."""
    digits = _digits(value)
    marks = bool(digits) + (value.lower() != value != value.upper()) + bool(_regex(_ODD_SIGN).search(value))
    return _has_letter(value) and (marks >= 2 or (digits >= 2 and len(value) >= 8))


def _is_strong(key: str, value: str) -> bool:
    """Is the value alone, right after its key, enough? A word may follow the key, but nothing drawn at random."""
    if not key.isascii() or key.startswith(_FOREIGN_KEYS):
        return len(value) >= 6 and _is_odd(value)
    if "." in value and _regex(_IDENTIFIER).fullmatch(value):
        return False
    return len(value) >= 16 and _has_digit(value) and _is_random(value) and not _regex(_UUID).fullmatch(value)


def _is_pin(value: str, operator: str) -> bool:
    return value.isdigit() and len(value) <= 8 and operator != ""


def _is_said(key: str, value: str) -> bool:
    """Return whether a value cannot be a word of the sentence: it holds digits, signs or capitals where words hold
    none."""
    if key.endswith(("key", "token", "secret", "密钥", "秘钥", "私钥", "令牌")) and not key.startswith("wi"):
        return len(value) >= 8 and _is_random(value)
    if key in ("pass", "pw"):
        return _is_odd(value) and len(value) >= 6
    if not _has_letter(value):
        return value.isdigit() and len(value) >= 5
    if _regex(_CALL).match(value) or _regex(_MEASURE).match(value):
        return False
    return _has_digit(value) or any(c in "@#$%^&*~+!?" for c in value)


def _chosen(text: str, groups: Groups) -> Span | None:
    """A password as people and generators make them, where little else says that it is one."""
    start, end = _value(groups)
    value = text[start:end].rstrip(".,;:)")
    end = start + len(value)
    return (start, end) if _is_chosen(value) else None


def _is_chosen(value: str) -> bool:
    """Letters and digits, and capitals among small letters or a sign; no name of a file, a host or an image."""
    if len(value) < 6 or not _has_digit(value) or not _has_letter(value) or _regex(_PLACE_SIGN).search(value):
        return False
    mixed = value.lower() != value != value.upper() and not _regex(_LABELLED).fullmatch(value)
    odd = mixed or _regex(_ODD_SIGN).search(value) or _regex(_TWO_WORDS).fullmatch(value)
    return bool(odd) and not _is_named(value)


def _argument(text: str, groups: Groups) -> Span | None:
    start, end = groups.span("secret")
    value = text[start:end]
    drawn = len(value) >= 16 and _has_digit(value) and _is_random(value) and not _regex(_UUID).fullmatch(value)
    return (start, end) if drawn or _is_chosen(value) else None


def _unguessable(text: str, groups: Groups) -> Span | None:
    """The part of an address that nobody may know: random, or the UUID of a hook."""
    span = groups.span("secret")
    value = text[slice(*span)]
    return span if _regex(_UUID).fullmatch(value) or (_has_digit(value) and _is_random(value)) else None


def _below(text: str, groups: Groups) -> Span | None:
    """A key that stands alone in the line below its name."""
    key_start, _ = groups.span("key")
    span = groups.span("secret")
    value = text[slice(*span)]
    ahead = text[max(0, key_start - 14) : key_start].lower()
    if _regex(_UUID).fullmatch(value) or not NEUTRAL_BEFORE.isdisjoint(_regex(_WORD).findall(ahead)):
        return None
    return span if _has_digit(value) and _is_random(value) and not _is_path(value) else None


def _card(text: str, groups: Groups) -> Span | None:
    """The number of a payment card: its last digit follows from the others (ISO/IEC 7812, Luhn)."""
    span = groups.span("secret")
    digits = [int(sign) for sign in text[slice(*span)] if sign.isdigit()]
    total = sum(digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits)))
    return span if total % 10 == 0 and len(set(digits)) > 2 else None


def _chain(text: str, groups: Groups) -> Span | None:
    """Groups of letters, none of them a word of a sentence."""
    span = groups.span("secret")
    return None if any(map(_is_said_of_secrets, text[slice(*span)].split())) else span


# By the name that a rule gives: the text in which its pattern matched and the groups, to the secret's place or None.
CHECKS: dict[str, Callable[[str, Groups], Span | None]] = {
    "": _plain,
    "varied": _varied,
    "mixed": _mixed,
    "mixed-case": _mixed_case,
    "cased": _cased,
    "drawn": _drawn,
    "discord": _discord,
    "wallet": _wallet,
    "coded": _coded,
    "seed": _seed,
    "pem": _pem,
    "embedded": _embedded,
    "basic": _basic,
    "cookie": _cookie,
    "typed": _typed,
    "paired": _paired,
    "assigned": _assigned,
    "spoken": _spoken,
    "told": _told,
    "labelled": _labelled,
    "worded": _worded,
    "chosen": _chosen,
    "argument": _argument,
    "unguessable": _unguessable,
    "below": _below,
    "card": _card,
    "chain": _chain,
}
