"""Removes what hosts add around the words of a conversation. Pure functions, linear in the length of the text.

In order: invisible characters are removed first, so that they cannot hide a tag; then blocks in tags that a host, a
hook or a memory wrote; then white space is collapsed.

Blocks are found in one pass over all known tags. Every closing tag is paired with the nearest open tag of its name,
and everything between them is removed. A host does not escape the content of a block, so a command can print the tag
that closes the block and continue as if the user spoke. Therefore a closing tag without an open one extends the
previous block of its name; the output of commands, whichever tags it stands in, reaches from the first opening tag to
the last closing one, and so does a text that begins and ends with the same tag. An opening tag without a closing one
is only removed itself, because the words after it may be a person's; but an unclosed `<private>` hides everything to
the end. `has_open_block` tells whether such words may be the host's, so that they are not taken for a statement of
the user.
"""

from __future__ import annotations

import re

from picomem.text.visible_text import normalized

_TAGS = (
    # Claude Code: slash commands, shell commands, background tasks, hooks, the editor's state
    *"system-reminder command-name command-message command-args command-contents local-command-stdout".split(),
    *"local-command-stderr local-command-caveat bash-input bash-stdout bash-stderr task-notification".split(),
    *"user-prompt-submit-hook session-start-hook ide_opened_file ide_selection ide_diagnostics".split(),
    # Codex
    *"environment_context user_instructions turn_aborted".split(),
    # what memories inject: stored again, they would grow with every session
    *"relevant-memories relevant_memories hindsight_memories claude-mem-context picomem-memory picomem".split(),
)
# What a command printed. No host puts a person's words between two of these blocks.
_OUTPUT = frozenset(
    "local-command-stdout local-command-stderr bash-input bash-stdout bash-stderr task-notification".split()
)
_OF_COMMANDS = ""  # the one block that all of them make
_PRIVATE = "private"
_ARGUMENTS = "command-args"
_WORDS_OF_A_REQUEST = 3  # `/model opus` is a setting; `/plan add a cache to the loader` is something a person said

_MENTIONED = 30  # characters behind a tag that somebody may write who only names it

_LAYERS = 8  # removing a block can join the halves of another tag; text that does so over and over is an attack

_TAG = re.compile(rf"<\s{{0,4}}(/?)\s{{0,4}}({_PRIVATE}|{'|'.join(_TAGS)})(?![\w-])[^<>]*>", re.IGNORECASE)
_REMARKS = re.compile(
    r"^[ \t]*Caveat: The messages below were generated[^\n]*$|\[Request interrupted by user[^\]\n]{0,40}\]",
    re.MULTILINE,
)
# picomem's own block, should its tag be lost: the heading and the list under it, up to the first line of
# prose.
_CONTEXT = re.compile(
    r"^[ \t]*## Memory Context[ \t]*$(?:\n(?:[ \t]*(?:(?:[-*>•]|###|\d{1,3}[.)])[^\n]*)?$))*", re.MULTILINE
)
# Controls but tab and line breaks; soft hyphen; zero-width and joining marks; direction marks, embeddings
# and isolates; invisible operators; the byte order mark; "tag" characters, which spell hidden ASCII.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_TERMINAL = re.compile(r"\x1b\[[0-9;?]{0,32}[A-Za-z]")
_BREAKS = re.compile(r"\r\n?|[\x85\u2028\u2029]")
_SPACES = re.compile(r"[^\S\n]+")
_LINE_EDGES = re.compile(r" ?\n ?")
_BLANK_LINES = re.compile(r"\n{3,}")


def clean(text: str) -> str:
    """The words of `text` without the host's markup, in normal form; empty where nothing was said."""
    text = visible(text)
    if "<" in text:
        text = without_blocks(text)
    if "Request interrupted" in text or "Caveat: " in text:
        text = _REMARKS.sub("", text)
    if "## Memory Context" in text:
        text = _CONTEXT.sub("", text)
    return collapsed(text)


def has_open_block(text: str) -> bool:
    """Return whether a host's tag is opened and never closed, and more follows than a mention of the tag would have."""
    if "<" not in text:
        return False
    open_tags: dict[str, list[int]] = {}
    text = visible(text)
    for tag in _TAG.finditer(text):
        name = tag[2].lower()
        if tag[1]:
            waiting = open_tags.get(name)
            if waiting:
                waiting.pop()
        elif not tag[0].endswith("/>") and name != _PRIVATE:
            open_tags.setdefault(name, []).append(tag.end())
    return any(len(text[waiting[0] :].strip()) >= _MENTIONED for waiting in open_tags.values() if waiting)


def framing_tag(text: str) -> str:
    """The host's tag with which a text begins and ends, so that all of it is the host's; empty where there is none."""
    opening = _TAG.match(text.lstrip())
    closing = re.search(r"</([\w-]{1,40})>\s*\Z", text[-100:])
    if opening is None or opening[1] or closing is None:
        return ""
    name = opening[2].lower()
    return name if closing[1].lower() == name != _ARGUMENTS else ""


def visible(text: str) -> str:
    """`text` in NFC, without control, zero-width and direction characters; unpaired surrogates become
    U+FFFD."""
    text = _BREAKS.sub("\n", text)
    if "\x1b" in text:
        text = _TERMINAL.sub("", text)
    if text.isascii():
        return text if text.isprintable() else _UNSEEN.sub("", text)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return normalized("NFC", _UNSEEN.sub("", text))


def without_blocks(text: str) -> str:
    """`text` without the blocks of the known tags, and without what is marked private."""
    for _ in range(_LAYERS):
        if not (ranges := _removed(text)):
            return text
        text = _without(text, ranges)
    return text.replace("<", "‹")


def collapsed(text: str) -> str:
    """`text` with single spaces, no spaces at line ends, and at most one blank line between lines."""
    text = _SPACES.sub(" ", text)
    text = _LINE_EDGES.sub("\n", text)
    return _BLANK_LINES.sub("\n\n", text).strip()


def _without(text: str, ranges: list[tuple[int, int]]) -> str:
    kept: list[str] = []
    position = 0
    for start, end in sorted(ranges):
        if start > position:
            kept.append(text[position:start])
        position = max(position, end)
    kept.append(text[position:])
    return "".join(kept)


def _removed(text: str) -> list[tuple[int, int]]:
    """The ranges of `text` to take away, in any order; they may overlap."""
    ranges: list[tuple[int, int]] = []
    open_tags: dict[str, list[tuple[int, int]]] = {}
    begun: dict[str, int] = {}  # where a block begins that a further closing tag of its name prolongs
    framing = framing_tag(text)
    for tag in _TAG.finditer(text):
        name = tag[2].lower()
        if not tag[1]:
            if not tag[0].endswith("/>"):
                open_tags.setdefault(name, []).append(tag.span())
            ranges.append(tag.span())
            continue
        ranges.append(tag.span())
        block = _OF_COMMANDS if name in _OUTPUT else name
        if waiting := open_tags.get(name):
            opening = waiting.pop()
            if name == _ARGUMENTS and _is_request(text, opening[1], tag.start()):
                continue
            ranges.append((opening[0], tag.end()))
            if not waiting and not (block in begun and (name in _OUTPUT or name == framing)):
                begun[block] = opening[0]
        if block in begun:
            ranges.append((begun[block], tag.end()))
    if unclosed := open_tags.get(_PRIVATE):
        ranges.append((unclosed[0][0], len(text)))
    return ranges


def _is_request(text: str, start: int, end: int) -> bool:
    """Return whether a slash command's arguments are words that a person said."""
    return len(text[start : min(end, start + 400)].split(None, _WORDS_OF_A_REQUEST)) >= _WORDS_OF_A_REQUEST
