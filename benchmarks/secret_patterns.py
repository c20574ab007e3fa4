"""Made-up secrets and look-alikes, drawn from patterns: no real credential stands in the project.

A pattern is text with fields such as `<B62:36>` (36 letters and digits) or `<HEX:32-64>`. Some fields make more than
characters: `<JWT>`, `<PEM:12>` (lines), `<SEED:12>` (words), `<BASIC>` (Base64 of a login), `<CARD>` (the number of a
payment card), `<PASS>` (a password that a person chose), `<NAME>`, `<HOST>`.
"""

from __future__ import annotations

import base64
import random
import re
import string
import uuid
from collections.abc import Callable

from picomem.light_dataclass import dataclass

_FIELD = re.compile(r"<([A-Z][A-Z0-9]*)(?::(\d+)(?:-(\d+))?)?>")
_LETTERS = string.ascii_letters
_ALPHABETS = {
    "DIG": string.digits,
    "LOW": string.ascii_lowercase,
    "UP": string.ascii_uppercase,
    "MIX": _LETTERS,
    "HEX": "0123456789abcdef",
    "HEXU": "0123456789ABCDEF",
    "B32": string.ascii_uppercase + "234567",
    "B36": string.ascii_lowercase + string.digits,
    "U36": string.ascii_uppercase + string.digits,
    "B58": "".join(c for c in _LETTERS + string.digits if c not in "0OIl"),
    "B62": _LETTERS + string.digits,
    "B64": _LETTERS + string.digits + "+/",
    "CRYPT": _LETTERS + string.digits + "./",
    "URL": _LETTERS + string.digits + "-_",
}
_PEOPLE = ("mia", "deploy", "root", "app_user", "svc-backup", "jens.krause", "admin", "zhang")
_HOSTS = ("db.internal", "10.0.3.17", "registry.example.org", "pg-1.prod.example.net", "localhost", "mq")
_WORDS = (
    "harbor lantern copper violet meadow thunder saddle orbit walnut pepper glacier canyon velvet anchor falcon ribbon "
    "sunset marble timber cactus puzzle hammer silver tiger mango planet rocket winter summer castle dragon purple "
    "monkey banana coffee window garden mirror bottle forest bridge candle pirate wizard shadow"
).split()
_SEED_WORDS = (
    "abandon ability able absorb acid acoustic across actor adapt addict aerobic agent album alcohol alert alien alley "
    "amateur anchor ankle april arctic arena armor artist aspect asthma atom august autumn awake bacon badge bamboo "
    "banner bargain basket beach because bicycle bitter blanket blossom border bracket bronze bubble burden cabbage "
    "canvas carbon cargo casino cereal chalk cherry chimney cinnamon clarify cliff cluster coconut copper coral crater "
    "cruise crystal cushion dawn debris deputy desert dinosaur dolphin donkey dragon dune eagle echo elbow ember "
    "engine erosion excess fabric fatigue ferry fiscal flame flavor fossil fragile galaxy garlic giraffe glimpse "
    "gravity hamster harvest hawk hybrid icon igloo inmate ivory jaguar jungle kangaroo ketchup kiwi ladder lemon "
    "liberty lizard lobster magnet maple maze meadow mimic mosquito mystery narrow nephew noodle oblige ocean olive "
    "orbit oyster panther parrot pelican pepper pigeon planet pottery puppy quantum rabbit radar raven rhythm ribbon "
    "saddle salmon satoshi scorpion shuffle siren sketch spider squirrel stadium sunset tackle tenant thunder tiger "
    "tobacco tornado trumpet tunnel umbrella unicorn vacuum velvet violin volcano walnut whale wizard zebra zoo"
).split()


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape of secret: how the secret is written, and the texts in which it stands as `@@`."""

    name: str
    secret: str
    frames: tuple[str, ...]
    hide: Callable[[random.Random, str], str] | None = None

    def draw(self, draw: random.Random) -> tuple[str, str]:
        """A text and the secret in it."""
        secret = fill(self.secret, draw)
        written = self.hide(draw, secret) if self.hide else secret
        return fill(draw.choice(self.frames), draw).replace("@@", written), secret


def fill(pattern: str, draw: random.Random) -> str:
    """The pattern with every field drawn."""
    return _FIELD.sub(lambda field: _drawn(field[1], field[2], field[3], draw), pattern)


def _drawn(kind: str, least: str | None, most: str | None, draw: random.Random) -> str:
    low = int(least or 1)
    count = draw.randint(low, int(most)) if most else low
    if kind in _ALPHABETS:
        return "".join(draw.choices(_ALPHABETS[kind], k=count))
    return _MAKERS[kind](draw, count)


def _password(draw: random.Random, _: int) -> str:
    """A password as people choose them: letters and digits, often a sign."""
    word = draw.choice(_WORDS)
    number = str(draw.randint(10, 9999))
    sign = draw.choice("!#*_-+?")
    return draw.choice(
        (
            f"{word.capitalize()}{number}{sign}",
            f"{word}{sign}{draw.choice(_WORDS)}{number}",
            f"{word.capitalize()}{draw.choice(_WORDS).capitalize()}{number}",
            word[:3] + number + word[3:].upper(),
            fill("<B62:7>", draw) + str(draw.randint(0, 9)) + sign + fill("<MIX:3>", draw),
        )
    )


def _mixed(draw: random.Random, count: int) -> str:
    """Letters of both cases, no digit."""
    text = "".join(draw.choices(_LETTERS, k=count))
    return text if text.lower() != text != text.upper() else _mixed(draw, count)


def _jwt(draw: random.Random, _: int) -> str:
    body = f'{{"sub":"{draw.randint(1000, 99999)}","iat":{draw.randint(1700000000, 1790000000)}}}'
    parts = (f'{{"alg":"{draw.choice(("HS256", "RS256", "ES256"))}","typ":"JWT"}}', body)
    return ".".join(
        [*(base64.urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in parts), fill("<URL:43>", draw)]
    )


def _pem(draw: random.Random, lines: int) -> str:
    return "\n".join([fill("<B64:64>", draw) for _ in range(lines)] + [fill("<B64:22>==", draw)])


def _pem_escaped(draw: random.Random, lines: int) -> str:
    return _pem(draw, lines).replace("\n", "\\n")


def _basic(draw: random.Random, _: int) -> str:
    return base64.b64encode(f"{draw.choice(_PEOPLE)}:{_password(draw, 1)}".encode()).decode()


def _base64_of_password(draw: random.Random, _: int) -> str:
    return base64.b64encode((_password(draw, 1) + fill("<B62:4>", draw)).encode()).decode()


def _base64_of_pem(draw: random.Random, lines: int) -> str:
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{_pem(draw, lines)}\n-----END RSA PRIVATE KEY-----\n"
    return base64.b64encode(key.encode()).decode()


def _card(draw: random.Random, _: int) -> str:
    """The number of a payment card in groups of four, its last digit the check digit of ISO/IEC 7812 (Luhn)."""
    number = draw.choice(("4", "51", "52", "53", "54", "55")).ljust(15, "x")
    digits = [draw.randrange(10) if sign == "x" else int(sign) for sign in number]
    doubled = sum(sum(divmod(2 * digit, 10)) if place % 2 == 0 else digit for place, digit in enumerate(digits))
    number = "".join(map(str, (*digits, -doubled % 10)))
    return " ".join(number[at : at + 4] for at in range(0, 16, 4))


_MAKERS: dict[str, Callable[[random.Random, int], str]] = {
    "PASS": _password,
    "MIXED": _mixed,
    "JWT": _jwt,
    "PEM": _pem,
    "PEMESC": _pem_escaped,
    "BASIC": _basic,
    "CARD": _card,
    "B64PASS": _base64_of_password,
    "B64PEM": _base64_of_pem,
    "UUID": lambda draw, _: str(uuid.UUID(int=draw.getrandbits(128), version=4)),
    "SEED": lambda draw, count: " ".join(draw.choices(_SEED_WORDS, k=count)),
    "NAME": lambda draw, _: draw.choice(_PEOPLE),
    "HOST": lambda draw, _: draw.choice(_HOSTS),
    "WORD": lambda draw, _: draw.choice(_WORDS),
    "WORDS": lambda draw, count: "-".join(draw.choices(_WORDS, k=count)),
    "UINT": lambda draw, _: str(draw.randint(1, 99_999)),
}

_UNSEEN = (
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u061c\u200e\u200f\u202a\u202c"
    "\u202e\u2066\u2069\u180e\ufe0f\ufe00\U000e0101"
)


def hidden(draw: random.Random, secret: str) -> str:
    """The secret with invisible characters between its own."""
    places = sorted(draw.sample(range(1, len(secret)), draw.randint(1, 5)), reverse=True)
    for place in places:
        secret = secret[:place] + draw.choice(_UNSEEN) + secret[place:]
    return secret


def hyphenated(draw: random.Random, secret: str) -> str:
    """The secret with one soft hyphen or zero-width space in it."""
    place = draw.randrange(1, len(secret))
    return secret[:place] + draw.choice("\u00ad\u200b") + secret[place:]


def tagged(draw: random.Random, secret: str) -> str:
    """The secret with tag characters between its own."""
    place = draw.randrange(1, len(secret))
    noise = "".join(chr(0xE0000 + ord(c)) for c in draw.choice(_WORDS))
    return secret[:place] + noise + secret[place:]


def spelled(_: random.Random, secret: str) -> str:
    """The secret in tag characters: a model reads it, a person sees nothing."""
    return "".join(chr(0xE0000 + ord(c)) for c in secret)


def broken(draw: random.Random, secret: str) -> str:
    """The secret, continued on the next line after a backslash."""
    place = draw.randrange(2, len(secret) - 1)
    return f"{secret[:place]}\\\n{draw.choice(('', '    '))}{secret[place:]}"


HIDING: dict[str, Callable[[random.Random, str], str]] = {
    way.__name__: way for way in (hidden, hyphenated, tagged, spelled, broken)
}
