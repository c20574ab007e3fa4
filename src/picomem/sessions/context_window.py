"""The window: what of memory and of a conversation goes into the prompt. Pure but for the tokenizer.

    system     index page · summary of what was cut · memories for what the user says   the stable parts first, so that
    messages   earlier messages · the current turn                                      providers' prompt caches hit

Two budgets, so that a long paste does not push memory out, nor memory the paste:

- `Budgets.memory` (P5) holds the system part and the earlier messages;
- `Budgets.turn` holds the current turn: the user's newest message, which is always in (cut, with a mark, where it
  alone is too long), and what the assistant and its tools have said since.

One result of a tool has at most a quarter of its budget and is cut, with a mark, where it is longer: a page that was
fetched once does not push the conversation out.

Nothing is ever over budget, nothing stands twice, the order is kept, and messages are taken by whole groups
(`pairs.grouped`), so never a call without its result. Earlier messages are taken from the newest back, without holes.
If all of them fit they are all there and the summary is not; if not, the summary is there and messages that it covers
are not. The same input gives the same bytes. What did not get in is said, with the reason.

Texts that no user or agent of theirs wrote do not stand in the system part but for a summary made of them, which is
fenced as data; and old system messages do not come back.
"""

from __future__ import annotations

from collections.abc import Sequence

from picomem.light_dataclass import dataclass, replace
from picomem.records.kinds import Origin
from picomem.records.session import Loaded, Message, Role, Summary
from picomem.records.untrusted_fence import fenced
from picomem.sessions.pairs import Group, grouped, message_tokens
from picomem.settings import Settings
from picomem.text.tokens import count_tokens, cut_to_tokens

# Cuts the result of a tool to its token budget in a prompt. Pure except for the tokenizer.
#
# The log keeps the whole result. A cut result says so, and how to see more of it: the model can ask the tool for less
# at a time, and the person can open the message.

SHARE = 4  # one result has at most this part of the room: several have to stand there, and what is said of them
_LONGEST_PIECE = 16  # characters that one token stands for
_MORE = "To see more, call the tool for a smaller part; for the user `picomem messages` prints all of it."
_NOTHING = f"[… cut here: nothing is shown. {_MORE}]"  # without a number: cut once more it is the same


def is_longer(text: str, most: int) -> bool:
    """Return whether a text has more tokens than that; a very long one is not counted."""
    return len(text) > _LONGEST_PIECE * most or count_tokens(text) > most


def cut_result(text: str, most: int) -> str:
    """The result as it is, or as much of its beginning as fits in so many tokens with a mark that says so. Where not
    even the mark fits, the shorter of the two."""
    if not is_longer(text, most):
        return text
    keep = most
    while True:
        short = cut_to_tokens(text, keep).rstrip()
        marked = short + _mark(len(short), len(text))
        tokens = count_tokens(marked)
        if tokens <= most:
            return marked
        if not short:
            return _NOTHING if is_longer(text, count_tokens(_NOTHING)) else text
        keep -= tokens - most


def left_out(text: str) -> str:
    """The placeholder for a result that does not fit at all."""
    return f"[left out for room: {len(text):,} characters; call the tool again, for a smaller part, to see them]"


def _mark(shown: int, whole: int) -> str:
    return f"\n[… cut here: {shown:,} of {whole:,} characters are shown. {_MORE}]"


SUMMARY_HEADING = "## Session Summary"
_LONGEST_ENTRY = 100  # tokens of one memory; the rest of it is a recall away
_LONGEST_QUESTION = 2_000  # characters that memories are looked up with
_OLD_SYSTEM = "a system message of its time"
_NO_CALL = "a result whose call is not there"
_DAMAGED = "damaged; see `picomem doctor`"
_COVERED = "the summary stands for them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """The limits of a prompt: tokens for text from memory, tokens for the current turn, messages, memories."""

    memory: int
    turn: int
    messages: int
    memories: int
    heading: str

    @classmethod
    def of(cls, settings: Settings) -> Budgets:
        """Half of the model's window is for the current turn; what neither takes is for tools and the answer."""
        half = settings.session.context_window // 2
        return cls(
            memory=min(settings.session.context_budget_tokens, half),
            turn=half,
            messages=settings.session.max_session_messages,
            memories=min(settings.memory.recall_limit, settings.session.max_user_memories),
            heading=settings.memory.context_heading,
        )


@dataclass(frozen=True, slots=True)
class Known:
    """A memory that may stand in the prompt."""

    key: str
    content: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part that was left out or cut: of which part, its key or its message numbers, and why."""

    part: str  # index, memories, summary, messages
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Account:
    """Tokens. `system` holds index, summary and memories, with what joins them; system and `earlier` are within
    Budgets.memory, `turn` is within Budgets.turn."""

    index: int
    summary: int
    memories: int
    system: int
    earlier: int
    turn: int

    @property
    def total(self) -> int:
        return self.system + self.earlier + self.turn


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """The contents of the prompt. A message with the number 0 is generated: it says that a call was never answered.

    `system` is `stable` (the index page, the same bytes until memory changes) and then `changing`.
    """

    stable: str
    changing: str
    messages: tuple[Message, ...]
    left_out: tuple[LeftOut, ...]
    tokens: Account
    history_cut: bool

    @property
    def system(self) -> str:
        return "\n\n".join(part for part in (self.stable, self.changing) if part)


def window(
    loaded: Loaded, budgets: Budgets, *, index: str = "", known: Sequence[Known] = (), summary: Summary | None = None
) -> ContextWindow:
    """Choose. `loaded` is the end of the session, `index` the index page, `known` the memories, the best first."""
    left = [LeftOut("messages", str(seq), _DAMAGED) for seq in loaded.damaged]
    left += [
        LeftOut("messages", str(message.seq), _OLD_SYSTEM) for message in loaded.messages if message.role is Role.SYSTEM
    ]
    groups, orphans = grouped([message for message in loaded.messages if message.role is not Role.SYSTEM])
    left += [LeftOut("messages", str(orphan.seq), _NO_CALL) for orphan in orphans]

    newest = max((place for place, group in enumerate(groups) if group.role is Role.USER), default=len(groups))
    groups = [_with_results_cut(group, budgets, place >= newest, left) for place, group in enumerate(groups)]
    turn, skipped = _turn(groups[newest:], budgets, left)
    index, lines = _page(index, budgets, left), _lines(known, budgets, left)

    earlier = groups[:newest]
    room = budgets.memory - count_tokens(_system(index, "", lines, budgets))
    seats = budgets.messages - len(turn)
    cut = bool(loaded.before or skipped) or not _fits(earlier, room, seats)
    text = ""
    if cut and summary is not None:
        text = _summary(summary, budgets, left)
        while lines and count_tokens(_system(index, text, lines, budgets)) > budgets.memory:
            left.append(LeftOut("memories", lines.pop().key, "no room beside the summary"))
        room = budgets.memory - count_tokens(_system(index, text, lines, budgets))
        covered = [group for group in earlier if group.first <= summary.covered_seq]
        _leave_out(covered, _COVERED, left)
        earlier = earlier[len(covered) :]
    if skipped:
        _leave_out(earlier, "they stand before messages that did not fit", left)
        earlier = []
    taken = _newest(earlier, room, seats, left)
    if loaded.before:
        left.append(LeftOut("messages", f"{loaded.before} before those", "further back than was read"))

    before = [message for group in taken for message in group.messages]
    system = _system(index, text, lines, budgets)
    return ContextWindow(
        stable=index,
        changing=_system("", text, lines, budgets),
        messages=(*before, *turn),
        left_out=tuple(left),
        tokens=Account(
            index=count_tokens(index),
            summary=count_tokens(text),
            memories=count_tokens(_block(lines, budgets)),
            system=count_tokens(system),
            earlier=sum(message.tokens for message in before),
            turn=sum(message.tokens for message in turn),
        ),
        history_cut=cut,
    )


def newest_question(loaded: Loaded) -> str:
    """The user's last message; of a long one its beginning."""
    said = next((message.content for message in reversed(loaded.messages) if message.role is Role.USER), "")
    return said[:_LONGEST_QUESTION]


@dataclass(frozen=True, slots=True)
class _MemoryLine:
    key: str
    text: str


def _turn(groups: list[Group], budgets: Budgets, left: list[LeftOut]) -> tuple[list[Message], bool]:
    """The current turn: the user's message, and of what followed the newest that fits; whether some did not."""
    if not groups:
        return [], False
    said = groups[0].messages[0]
    if said.tokens > budgets.turn:
        short = _cut(said.content, budgets.turn - message_tokens(""))
        left.append(LeftOut("messages", str(said.seq), f"cut: it has {said.tokens} tokens, and {budgets.turn} fit"))
        said = replace(said, content=short, tokens=message_tokens(short))
    taken = _newest(groups[1:], budgets.turn - said.tokens, budgets.messages - 1, left)
    return [said, *(message for group in taken for message in group.messages)], len(taken) < len(groups) - 1


def _with_results_cut(group: Group, budgets: Budgets, is_new: bool, left: list[LeftOut]) -> Group:
    most = (budgets.turn if is_new else budgets.memory) // SHARE
    members = []
    for message in group.messages:
        if message.role is Role.TOOL and message.tokens > most:
            short = cut_result(message.content, most - message_tokens(""))
            left.append(LeftOut("messages", str(message.seq), f"cut: it has {message.tokens} tokens, and {most} fit"))
            message = replace(message, content=short, tokens=message_tokens(short))
        members.append(message)
    return replace(group, messages=tuple(members))


def _newest(groups: list[Group], room: int, seats: int, left: list[LeftOut]) -> list[Group]:
    """The newest groups that fit, in their order and without holes."""
    start = len(groups)
    while start and _fits(groups[start - 1 :], room, seats):
        start -= 1
    crowded = start and sum(len(group.messages) for group in groups[start - 1 :]) > seats
    _leave_out(groups[:start], "more messages than may stand there" if crowded else "no room", left)
    return groups[start:]


def _fits(groups: Sequence[Group], room: int, seats: int) -> bool:
    messages = sum(len(group.messages) for group in groups)
    return messages <= seats and sum(group.tokens for group in groups) <= room


def _leave_out(groups: Sequence[Group], reason: str, left: list[LeftOut]) -> None:
    if groups:
        first, last = groups[0].first, max(group.last for group in groups)
        left.append(LeftOut("messages", str(first) if first == last else f"{first}–{last}", reason))


def _page(index: str, budgets: Budgets, left: list[LeftOut]) -> str:
    """The index page as a whole, if it leaves half of the memory budget to the rest."""
    index = index.rstrip()
    if count_tokens(index) <= budgets.memory // 2:
        return index
    left.append(LeftOut("index", "", f"it has more than half of {budgets.memory} tokens"))
    return ""


def _lines(known: Sequence[Known], budgets: Budgets, left: list[LeftOut]) -> list[_MemoryLine]:
    """`- key: content`, each memory once, in a quarter of the memory budget."""
    lines: list[_MemoryLine] = []
    for memory in known:
        text = " ".join(memory.content.split())
        short = cut_to_tokens(text, _LONGEST_ENTRY)
        line = _MemoryLine(memory.key, f"- {memory.key}: {short}" + (" …" if short != text else ""))
        if not memory.origin.trusted:
            reason = f"its text comes from {memory.origin}"
        elif line in lines:
            reason = "it is there already"
        elif len(lines) == budgets.memories:
            reason = f"{budgets.memories} are there already"
        elif count_tokens(_block([*lines, line], budgets)) > budgets.memory // 4:
            reason = "no room"
        else:
            lines.append(line)
            continue
        left.append(LeftOut("memories", memory.key, reason))
    return lines


def _summary(summary: Summary, budgets: Budgets, left: list[LeftOut]) -> str:
    """The summary under its heading, cut to a quarter of the memory budget; fenced, if nobody trusted stands behind all
    of it."""
    most = budgets.memory // 4
    room = most - count_tokens(f"{SUMMARY_HEADING}\n\n")
    short = _cut(summary.text.strip(), room)
    shown = f"{SUMMARY_HEADING}\n{fenced(short, summary.origin)}"
    while not summary.origin.trusted and (over := count_tokens(shown) - most) > 0 and room > 0:
        room -= over
        short = _cut(summary.text.strip(), room)
        shown = f"{SUMMARY_HEADING}\n{fenced(short, summary.origin)}"
    if short != summary.text.strip():
        left.append(LeftOut("summary", "", f"cut to {max(room, 0)} tokens"))
    return shown if room > 0 else ""


def _system(index: str, summary: str, lines: Sequence[_MemoryLine], budgets: Budgets) -> str:
    return "\n\n".join(part for part in (index, summary, _block(lines, budgets)) if part)


def _block(lines: Sequence[_MemoryLine], budgets: Budgets) -> str:
    return "\n".join([budgets.heading, *(line.text for line in lines)]) if lines else ""


def _cut(text: str, room: int) -> str:
    """The text, or as much of its beginning as fits with a mark that says so."""
    whole = count_tokens(text)
    if whole <= room:
        return text
    mark = f"\n[… cut here: of {whole} tokens only the beginning fits]"
    keep = room - count_tokens(mark)
    while True:
        short = cut_to_tokens(text, keep).rstrip() + mark
        if count_tokens(short) <= room or keep <= 0:
            return short
        keep -= 1
