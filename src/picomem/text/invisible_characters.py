"""The characters that a reader does not see, as ranges for a character class of a regular expression."""

# Soft hyphen; combining grapheme joiner; Hangul and Khmer fillers; Mongolian variation selectors; zero-width space;
# invisible operators and deprecated format characters; the byte order mark; annotation marks; shorthand and musical
# format characters; tag characters, which spell hidden ASCII. None of them has a use in which it should be kept.
INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # they choose how a font draws the character before
JOINERS = "\u200c\u200d"  # they join emoji and spell Persian and Indic words
OPENING, CLOSING = "\u202a\u202b\u2066\u2067\u2068", "\u202c\u2069"  # changes of direction that end
OVERRIDES = "\u202d\u202e"  # changes of direction that show a text in another order than it has
MARKS = "\u061c\u200e\u200f"  # characters without width that have a direction
