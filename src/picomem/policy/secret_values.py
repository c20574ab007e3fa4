"""What a value looks like that may be a secret: drawn at random, a template, a path, a card number. Pure."""

from __future__ import annotations

import binascii
import functools
import re

from picomem.policy.secret_rules import words_of

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
PIECE = r"[A-Za-z0-9]{8,}"
BASE64 = r"[A-Za-z0-9+/]{12,}={1,2}|[A-Za-z0-9+/]{16,}"
RUN = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
RUN_OR_SIGN = RUN + "|[^A-Za-z0-9]"
WITHOUT_SIGNS = str.maketrans("", "", "+/=")
WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
THREE_TURNS = r"\d+\D+\d+\D|\D+\d+\D+\d"  # from a digit to a letter or back
CONSONANTS = r"(?i)[bcdfghjklmnpqrstvwxz]{5,}"
TEMPLATE = (
    r"\$\{|\$\(|\{\{|\}\}|%\(|^%[sdr]$|^%\w+%$|<[^>]*>|\*{3}|\.{3}|…|•|^\$[A-Za-z_]\w*$|^\$env:|(?i:x{5})|\[redacted"
    r"|REDACTED|^[{<\[].*[}>\]]$|#\{|^@\w+@$|^__\w+__$"
)
UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
HASH_OR_REFERENCE = (
    r"(?i:sha-?\d+|md5|base64|bcrypt|argon2\w*|pbkdf2|scrypt|utf-?8|aes-?\d*|rsa-?\d*|hs256|rs256)\b"
    r"|\$(?:2[aby]|argon2\w*|\d)\$"
    r"|!\w+$|(?:\.{1,2}/|~/)[\w./-]+$|(?:arn|projects|vault|op|ref|env|file|fd|ext)[:/+]|.*://|-----BEGIN"
)
PATH = r"(?:~|\.{0,2})/[\w.~/@:-]*"
IDENTIFIER = r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*[.?!]?"
SIGNS_APART = frozenset("-_. ")
ODD_SIGN = r"[@#$%^&*~+!?]"
PLACE_SIGN = r"[./:\\<>{}()$=,;\[\]|]"
LABELLED = r"[A-Za-z]+[-_][A-Z]?[a-z]*\d{1,3}"  # `client-A17`, a name with a number
TWO_WORDS = r"[A-Za-z]{4,}[-_][A-Za-z]{4,}\d{3,}"
WORD_ENDS = "[ .,_-]"


@functools.cache
def regex(pattern: str) -> re.Pattern[str]:
    """Compiled when first used: two dozen patterns would cost a hook's start ten milliseconds."""
    return re.compile(pattern)


def is_blank(value: str) -> bool:
    """A placeholder, a template or a name: nothing that opens anything."""
    if len(SIGNS_APART.union(value.lower())) <= len(SIGNS_APART) + 2 or is_template(value):
        return True
    return count_digits(value) < 2 and words_of("blank").issuperset(
        map(str.lower, regex(WORD).findall(value) or ("?",))
    )


def is_template(value: str) -> bool:
    if value.isalnum():
        return "xxxxx" in value.lower() or "REDACTED" in value
    return regex(TEMPLATE).search(value) is not None


def is_random(value: str) -> bool:
    """Drawn, not written: letters, capitals and digits change more often than in words and names."""
    if len(set(value)) < 6 or is_blank(value):
        return False
    if any(map(is_drawn, regex(PIECE).findall(value))):
        return True
    if not (is_cased(value) and regex(BASE64).fullmatch(value) and (value[-1] == "=" or count_digits(value))):
        return False
    # Base64 that its own signs cut into short pieces.
    return len(value) / len(regex(RUN_OR_SIGN).findall(value)) < 2.0 or is_drawn(value.translate(WITHOUT_SIGNS))


def is_drawn(piece: str) -> bool:
    if regex(THREE_TURNS).match(piece):
        return True
    runs = regex(RUN).findall(piece)
    return len(piece) >= 12 and (len(piece) / len(runs) < 2.4 or regex(CONSONANTS).search(piece) is not None)


def is_mixed(value: str) -> bool:
    return count_digits(value) > 0 and is_random(value) and not is_uuid(value)


def is_uuid(value: str) -> bool:
    return regex(UUID).fullmatch(value) is not None


def is_cased(value: str) -> bool:
    return value.lower() != value != value.upper()


def is_varied(value: str) -> bool:
    return len(set(value)) >= 8 and not is_template(value)


def is_embedded(value: str) -> bool:
    return value[0] not in "$%{<" and not is_blank(value)


def is_code(value: str) -> bool:
    """Codes that open an account without its second factor: drawn, not words."""
    parts = value.split("-")
    return count_digits(value) > 0 or (len(parts[0]) >= 4 and len(set(map(len, parts))) == 1)


def is_login(value: str) -> bool:
    """RFC 7617: Base64 of `user:password`."""
    try:
        plain = binascii.a2b_base64(value)
    except binascii.Error:
        return False
    return b":" in plain[1:] and all(32 <= byte < 127 or byte >= 160 for byte in plain)


def is_wallet_key(value: str) -> bool:
    """A private key in the import format of wallets: the last four of its bytes are a checksum of the others."""
    from hashlib import sha256  # noqa: PLC0415 - it loads OpenSSL, which most texts do not need

    number = functools.reduce(lambda total, sign: total * 58 + BASE58.index(sign), value, 0)
    key = number.to_bytes((number.bit_length() + 7) // 8)
    return key[:1] == b"\x80" and sha256(sha256(key[:-4]).digest()).digest()[:4] == key[-4:]


def is_discord_token(value: str) -> bool:
    """A token of Discord, which begins with the number of its account in Base64."""
    account = value.partition(".")[0]
    try:
        number = binascii.a2b_base64(account + "=" * (-len(account) % 4))
    except binascii.Error:
        return False
    return number.isdigit() and 17 <= len(number) <= 20


def is_card(value: str) -> bool:
    """The number of a payment card: its last digit follows from the others (ISO/IEC 7812, Luhn)."""
    digits = [int(sign) for sign in value if sign.isdigit()]
    total = sum(digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits)))
    return total % 10 == 0 and len(set(digits)) > 2


def is_chain(value: str) -> bool:
    """Words that were picked at random, a number perhaps behind them: none of them says anything about a secret."""
    lists = ("blank", "said", "sentence", "neutral-after", "chain-breakers")
    return not any(word in words_of(name) for word in re.split(WORD_ENDS, value.lower()) for name in lists)


def is_odd(value: str) -> bool:
    """No word and no name: two of digits, both cases and signs, or several digits; and it names nothing."""
    digits = count_digits(value)
    marks = (digits > 0) + is_cased(value) + (regex(ODD_SIGN).search(value) is not None)
    return has_letter(value) and (marks >= 2 or (digits >= 2 and len(value) >= 8)) and not is_named(value)


def is_chosen(value: str) -> bool:
    """A password as people and generators make them, where little else says that it is one: letters and digits, and
    capitals among small letters or a sign; no name of a file, a host or an image."""
    if len(value) < 6 or not count_digits(value) or not has_letter(value) or regex(PLACE_SIGN).search(value):
        return False
    mixed = is_cased(value) and not regex(LABELLED).fullmatch(value)
    odd = mixed or regex(ODD_SIGN).search(value) or regex(TWO_WORDS).fullmatch(value)
    return bool(odd) and not is_named(value)


def is_named(value: str) -> bool:
    """It says what or where the secret is: a template, a path, a hash; or has a rule of its own."""
    return is_blank(value) or is_path(value) or regex(HASH_OR_REFERENCE).match(value) is not None


def is_path(value: str) -> bool:
    """A path of names. Base64 may begin with a slash too, but no name mixes capitals, small letters and digits so."""
    return regex(PATH).fullmatch(value) is not None and not any(
        len(part) >= 6 and is_cased(part) and len(part) / len(regex(RUN).findall(part)) < 2.6
        for part in value.split("/")
    )


def count_digits(value: str) -> int:
    return len(regex(r"\d").findall(value))


def has_letter(value: str) -> bool:
    return regex(r"[^\W\d_]").search(value) is not None
