"""The write gate: whether something offered to memory is worth keeping and may be kept, without a model.

`judge` is a pure function of the text, who it comes from and how it was offered; each refusal has a name
and a sentence. It runs after redaction and before matching: it sees placeholders where secrets were, and
near doubles are not its concern.

Two rings of checks:

- What nobody may store, even on request: nothing, a document, what is only a redacted secret, what
  picomem itself handed out (or it would feed on its own output), and an instruction that is not the user's.
- What a proposer (a model, a consolidation, a hook) may not store unasked. A text that is one thing as a
  whole (code, a licence, a boot file) is refused as a whole. Otherwise it is judged sentence by sentence,
  and refused only when no sentence is worth keeping: "Thanks! The staging DB is on port 5433." stays.

The shapes refuse what is common and let the rest through, since a wrong refusal loses something for good
and a wrong admission can be undone. Prompt injection is the exception: there a doubt refuses. Even so a
list proves nothing, and what keeps untrusted text from acting is its origin, which is kept for good.

A table of shapes holds one pattern a line, searched without regard to case, `^` and `$` at line ends. `re`
compiles each at its first use, so an import costs next to nothing. No pattern nests repeats, every gap in
one is bounded, and what is read of a text is bounded too, so time grows linearly.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from picomem.records.kinds import Kind, Origin

LONGEST_CONTENT = 8_000  # characters
_MOST_READ = 40_000


class Refusal(StrEnum):
    """Why something is not stored; the value is what an audit row and a person see."""

    EMPTY = "empty"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    SECRET = "secret"
    BOILERPLATE = "boilerplate"
    BOOT_FILE = "boot_file"
    RECALLED = "recalled"
    QUESTION = "question"
    CHATTER = "chatter"
    CODE = "code"
    UNTRUSTED_INSTRUCTION = "untrusted_instruction"
    TRANSIENT = "transient"


_REASONS = {
    Refusal.EMPTY: "There are no words in it.",
    Refusal.TOO_SHORT: "It is too short to mean something later.",
    Refusal.TOO_LONG: f"It is longer than {LONGEST_CONTENT:,} characters; a memory is one statement.",
    Refusal.SECRET: "Nothing is left of it but a redacted secret.",
    Refusal.BOILERPLATE: "It is boiler-plate: a licence, a footer or a program's own notice.",
    Refusal.BOOT_FILE: "It restates a system prompt or a file that is loaded at every start anyway.",
    Refusal.RECALLED: "It came out of memory and is only coming back.",
    Refusal.QUESTION: "It asks something and states nothing.",
    Refusal.CHATTER: "It is small talk or talk about the work, not something to know later.",
    Refusal.CODE: "It is bare code, a log or data, without a statement about it.",
    Refusal.UNTRUSTED_INSTRUCTION: "It reads as an instruction, and it does not come from the user.",
    Refusal.TRANSIENT: "It is about this moment or this task and will not be true later.",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says: keep it, or the refusal; and one sentence for a person."""

    keep: bool
    refusal: Refusal | None
    reason: str


def judge(content: str, *, kind: Kind, origin: Origin, explicit: bool, recalled: Collection[str] = ()) -> Verdict:
    """Whether `content`, already redacted, may become a memory of that kind.

    `explicit` says that a person or an agent asked for it by a command or a tool; then only the first ring of
    checks applies. `recalled` holds contents that were handed out lately, to know them when they come back.
    """
    refusal = _forbidden(content, kind, origin, recalled)
    if refusal is None and not explicit:
        refusal = _whole(content) or _by_sentence(content, kind)
    if refusal is not None:
        return Verdict(False, refusal, _REASONS[refusal])
    return Verdict(True, None, "It was asked for." if explicit else "It states something that can matter later.")


def looks_like_instruction(text: str) -> bool:
    """Whether a text that does not come from the user tries to steer the agent that will read it.

    Known shapes: overriding earlier instructions, role tags and fake closing tags, new personas, orders to
    the agent or the reader, delayed triggers, hiding something from the user, giving secrets away, commands
    to run, encoded orders, and all of these behind invisible, look-alike or spaced-out characters. Of a text
    beyond 40,000 characters the two ends are read.
    """
    return _is_disguised(text) or any(_matches(_HIJACK + _DIRECTIVE, view) for view in _views(text))


def _lines(table: str) -> tuple[str, ...]:
    """The patterns of a table, one a line; a line that is indented deeper goes on with the one above."""
    return tuple(re.sub(r"\n {8,}", "", table).split("\n    ")[1:-1])


def _words(text: str) -> str:
    """Words parted by blanks, as a pattern of alternatives."""
    return "(" + "|".join(text.split()) + ")"


def _matches(shapes: tuple[str, ...], text: str, flags: int = re.IGNORECASE | re.MULTILINE) -> bool:
    return any(re.search(shape, text, flags) for shape in shapes)


# ----------------------------------------------------------------------------------------- what is forbidden


def _forbidden(content: str, kind: Kind, origin: Origin, recalled: Collection[str]) -> Refusal | None:
    if not any(c.isalnum() for c in content):
        return Refusal.EMPTY
    if len(content) > LONGEST_CONTENT:
        return Refusal.TOO_LONG
    if _is_only_secret(content):
        return Refusal.SECRET
    if _matches(_PRINTED, content) or _is_coming_back(content, recalled):
        return Refusal.RECALLED
    return Refusal.UNTRUSTED_INSTRUCTION if _is_foreign_order(content, kind, origin) else None


def _is_foreign_order(content: str, kind: Kind, origin: Origin) -> bool:
    """An agent may word a rule as an order, since it writes the user's down; it may not pass a hijack on."""
    if origin.trusted:
        return origin is Origin.AGENT and any(_matches(_HIJACK, view) for view in _views(content))
    return kind is Kind.INSTRUCTION or looks_like_instruction(content)


_LABELS = _words(
    """that this with here have your their username user login account password passwords passphrase
    passcode secret secrets token tokens credential credentials value private access bearer
    authorization cookie session code basic connection string remember please 密码 口令 密钥 令牌 账号
    账户 用户名 验证码 记住 我 你 的 是 为 在 和 请"""
)


def _is_only_secret(content: str) -> bool:
    """A secret was taken out, and what remains is fewer than three words that are not labels."""
    rest, count = re.subn(r"\[redacted:[^\]\s]{1,80}\]", " ", content)
    if not count:
        return False
    words = [word for word in re.findall(r"[a-z0-9]{4,}", rest.casefold()) if not re.fullmatch(_LABELS, word)]
    ideographs = len(re.findall(r"[\u3400-\u9fff]", re.sub(_LABELS, "", rest)))
    return len(words) + ideographs // 2 < 3


# The index page is lines of `- key: content`; one such line alone must have a key that prose does not have.
_INDEX_LINE = r"\s*[-*] [a-z][a-z0-9_]{0,63}: [^\n]+"
_PRINTED = _lines(
    rf"""
    ^#{{1,4}} (memory context|long-term memory|recent history|记忆上下文|记忆)\s*$
    </?(picomem|relevant-memories|hindsight_memories|claude-mem-context|recalled|memory-context)\b
    ^[ \t]*found \d+ memor(y|ies)\b|^[ \t]*no matching memories found
    ^[ \t]*[-*] [a-z][a-z0-9_]{{0,63}} \[\w+\] \[importance:\s
    ^[ \t]*[-*] .{{0,80}}\(\d+[^)\n]{{0,20}}\).{{0,20}}\b(memory_recall|picomem recall)\b
    \bpicomem:/{{0,2}}(memory|episode|session|transcript)/|\[(mem|memory|episode):[\w./-]{{1,80}}\]
    \(session [\w-]{{6,64}}, messages? \d
    \A\s*[-*] [a-z][a-z0-9]{{0,63}}_[a-z0-9_]{{1,63}}: [^\n]+(\n{_INDEX_LINE})*\s*\Z
    \A{_INDEX_LINE}(\n{_INDEX_LINE}){{2,}}\s*\Z
    """
)


def _is_coming_back(content: str, recalled: Collection[str]) -> bool:
    """The same words as something recalled, a long part of it, or hardly more than it."""
    said = _canonical(content) if recalled else ""
    for known in map(_canonical, recalled):
        if known and (said == known or (len(said) >= 24 and f" {said} " in f" {known} ")):
            return True
        if len(known) >= 24 and f" {known} " in f" {said} " and len(known) >= 0.8 * len(said):
            return True
    return False


def _canonical(text: str) -> str:
    """Words alone: no case, punctuation, list marks, keys of index lines or invisible characters."""
    text = re.sub(r"(?m)^[ \t]*[-*•] (?:[a-z][a-z0-9_]{0,63}: )?", "", _visible(text))
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


# ------------------------------------------------------------------------------------------ prompt injection

_UNSEEN = [0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F)]
_INVISIBLE = dict.fromkeys([*_UNSEEN, *range(0x2060, 0x2070)])
_TAG_LETTERS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}  # Unicode's invisible ASCII
_LOOK_ALIKES = str.maketrans(
    "асеорхуіјѕԁһкмтвнпгӏѵԛԝοαερτικνυηωɡıАВСЕНІКМОРТХ", "aceopxyijsdhkmtbhnrlvqwoaeptikvunwgiABCEHIKMOPTX"
)


def _visible(text: str) -> str:
    """The text as it reads: invisible characters gone or, where they spell words, shown."""
    return text.translate(_TAG_LETTERS).translate(_INVISIBLE).replace("’", "'")


def _views(text: str) -> list[str]:
    """The ways in which a text can be read: as it is, look-alikes made Latin, spaced-out letters joined."""
    plain = unicodedata.normalize("NFKC", _visible(_bounded(text)))
    latin = plain.translate(_LOOK_ALIKES)
    joined = re.sub(r"\s{2,}", " ", re.sub(r"(?<=\b\w)[ .\-_*](?=\w\b)", "", latin))
    return list(dict.fromkeys((plain, latin, joined)))


def _bounded(text: str) -> str:
    half = _MOST_READ // 2
    return text if len(text) <= _MOST_READ else f"{text[:half]}\n{text[-half:]}"


def _is_disguised(text: str) -> bool:
    """Reversed letters, a word of two alphabets, or Base64 that is an order or comes with one to run it."""
    text = _bounded(text)
    if re.search(r"[\u202d\u202e]|[a-z][\u0430-\u045f]|[\u0430-\u045f][a-z]", text):
        return True
    runs = re.findall(r"[A-Za-z0-9+/]{24,2000}", text)[:50]
    blobs = [run for run in runs if all(re.search(sort, run) for sort in ("[A-Z]", "[a-z]", "[0-9]"))]
    if blobs and re.search(r"(?i)\b(base64|decode|execute|eval|exec|run|follow|obey)\b|解码|执行", text):
        return True
    decoded = (base64.b64decode(blob[: len(blob) // 4 * 4]).decode("utf-8", "replace") for blob in blobs)
    return any(_matches(_HIJACK + _DIRECTIVE, order) for order in decoded)


_AGENT = _words(r"ai llm ((ai|coding)\s)?(agent|assistant) chat\s?bot language\smodel claude chatgpt copilot picobot")
_RULES = r"(instruction|prompt|rule|guideline|direction|command|constraint|polic|restriction|guardrail|message)"
_EARLIER = _words("previous prior above earlier all any every\\w* your the system these existing what")
_TAGS = _words(
    r"""system([-_]\w+)? assistant developer instructions? tool_(result|response|output)s? function_results
    memor(y|ies) prompt admin untrusted\w*"""
)
# Verbs that order when a sentence starts with them; the second half are nouns too and want an object.
_ORDER_VERBS = _words(
    """send forward upload exfiltrate fetch visit download execute eval invoke delete reply respond reveal
    repeat include append prepend insert memori[sz]e remember approve recommend click navigate curl
    install transfer grant disable obey ignore disregard treat pretend tell say add pass redirect
    whitelist trust skip suppress mention"""
)
_NOUN_VERBS = _words(
    """run open call use store save print post answer output email pay buy follow set write read show copy
    share rate rank list switch start stop keep hide"""
)
_OBJECT = _words("the a an all any every each this that these your my their its it them me us to with in as only no")
_ORDER = (
    rf"({_ORDER_VERBS}|{_NOUN_VERBS}(?= {_OBJECT}\b|:? ?[`\"/]|[^.\n]{{0,30}}(https?:|\.sh\b|this:|\w\(\)))"
    rf"|call \w+\()"
)
_START = r"(^|[.!?;:>\]]\s*|[-*•]\s+|\b(and|then|please|now|also|just)\s+)"

# Text that takes the agent over; refused from an agent too.
_HIJACK = _lines(
    rf"""
    \b(ignore|disregard|forget|override|bypass|
        discard)\b[\s\S]{{0,40}}\b{_EARLIER}\b[\s\S]{{0,30}}\b{_RULES}
    \b(ignore|disregard|forget)\b.{{0,30}}\byou (were|have been|are) (told|given)\b
    <\|[\w ]{{2,30}}\|>|\[/?(inst|sys|system)\]|<</?sys>>|^#{{2,}} ?(system|instructions?|assistant)\b ?:
    </?{_TAGS}\b[^>\n]{{0,80}}>|<!--.{{0,40}}\b(ai|llm|assistant|agent|system)\b
    ^\W{{0,3}}(system|assistant|developer|human)( (prompt|message|note))?\s?[:：].{{0,200}}\b(you|must|
        should|ignore|always)\b
    ^\W{{0,3}}(system|assistant|developer|human)( (prompt|message|note))?\s?[:：].{{0,200}}\b(never|obey|
        do not|don't|skip)\b
    \bnew (system )?(instruction|rule|directive|prompt)s?\s?:|\bsystem (prompt )?override\b|
        \bdo anything now\b
    \bdeveloper mode\b|\bjailbreak|\byou are now (a|an|the|in|my)\b|(^|[.!?]\s)(act as|pretend (to be|
        you))\b
    \byou( are|'re| will)( now| to)? (now )?((act|behave|respond|answer) as|pretend|dan\b|free of|
        unrestricted)
    (忽略|无视|忘记|忘掉|抛弃|不要理会|不再遵守).{{0,12}}(指令|提示|规则|要求|限制|设定)|你现在(是|扮演)|系统(提示|指令|消息)[:：]
    \b(ignor|oubli|olvid|vergiss|vergesst|dimentic|esque|disregard)\w*\s.{{0,40}}(instruc|instrucc|
        anweisung|istruzion|consign)
    (игнориру|забудь)\w* .{{0,30}}(инструкц|указан)|(指示|命令)を(すべて)?(無視|忘れ)
    """
)

# Text that orders its reader to do something; an agent may hold such a rule, an untrusted source may not.
_DIRECTIVE = _lines(
    rf"""
    {_START}(always|never|do not|don't|make sure|be sure|ensure|must|from now on|going forward|{_ORDER})\b
    \byou (must|should|shall|have to|need to|ought to|may now|will now|always|never)\b
    \byou are (required|instructed|ordered|expected|authori[sz]ed) to\b|
        \b(mandatory|required|essential|important) that you\b
    \b(when|while|if|before|after) (you (read|see|answer|reply)|summari[sz]ing|reading|processing|
        answering)\b.{{0,60}},
    \b(dear|hey|hi|hello|attention|note to|(message|instructions?) (to|for)|
        addressed to)\b.{{0,15}}\b{_AGENT}s?\b
    (^|[.!?:;]\s|\b(any|all|every|the ai|this) ){_AGENT}s?( \w+){{0,4}} (must|should|shall|has to|have to|
        needs? to|please)\b
    \b(when|whenever|if|once|as soon as|next time|(every|
        each) time)\b[^.,:\n]{{0,60}}[,:]\s*(\w{{1,15}} ){{0,2}}({_ORDER}|always|never)\b
    \b(if|when|whenever|once|as soon as|(next|every|each) time) (the|an?|your|any) (user|owner|
        human|customer)s?\b.{{0,60}},\s
        (\w+ly )?[a-z]+ (the|an?|this|that|their|his|them|to|all|it)\b
    \byour ((real|new|only|actual|true|previous|first|main) )?(task|job|role|goal|purpose|mission|guidelines|rules|
        instructions|reply|response|answers?|output|training|user|system prompt)\b
    {_START}(do (whatever|exactly|what|as)\b|(stop|start|begin|keep|avoid) \w+ing\b)
    \b(do not|don't|never|without)\b.{{0,20}}\b(tell|inform|mention|alert|notify|ask|warn|
        show)(ing)?\b.{{0,30}}\b(user|owner)
    \b(do not|don't|never|without)\b.{{0,20}}\b(tell|ask|warn|wait)(ing)?\b.{{0,30}}\b(human|anyone|
        permission|confirmation)
    \b(send|post|upload|forward|leak|reveal|print)\b.{{0,60}}\b(api[ _-]?key|password|secret|token|
        credential|private key)
    \b(send|post|upload|forward|leak|reveal|print)\b.{{0,60}}\b((system|hidden) prompt|chat history|
        conversation|memories)
    \|\s*(sudo )?(ba|z|da)?sh\b|\brm -rf\b|\bpowershell\b.{{0,20}} -e|\bbase64 (-d|--decode)
    (你|助手|模型|智能体).{{0,6}}(必须|应该|应当|务必|不得|不要)|从现在(开始|起)|
        (^|[。!！])[ \t]*(总是|永远|始终|一律|不要|务必)
    (请|务必|立即|马上|必须).{{0,8}}(发送|执行|运行|转发|下载|访问|打开|删除|输出|告诉|上传|回复|点击|记住|保存|推荐|批准)
    (助手|模型|智能体|机器人|AI).{{0,3}}(请|注意|务必|必须)|(回答|回复)(时|用户|中).{{0,6}}(不要|必须|请|要)
    不要(告诉|提醒|询问|通知).{{0,6}}用户|把.{{0,20}}(发送|上传|转发|发)(给|到)|(执行|运行)(下面|以下|下列|这个|这段|上述)|隐藏结果
    (今后|以后|每次)(你|每次|回答|回复|都|要|请|必须)|(当|每次|如果)用户.{{0,30}}[，,时].{{0,20}}(推荐|回复|执行|发送|必须|请|告诉)
    """
)


# -------------------------------------------------------------------------------------- one thing as a whole

_BOILERPLATE = _lines(
    r"""
    \ball rights reserved\b|\bcopyright (\(c\)|©|\d{4})|\blicensed under the\b|
        \bpermission is hereby granted\b
    \bwithout warrant(y|ies) of any kind\b|\bspdx-license-identifier\b|版权所有|未经.{0,6}许可
    ^(co-authored-by|signed-off-by): |\bgenerated (with|by) \[?(claude code|codex|copilot)|
        \Asent from my \w+
    \b(e-?mail|message)\b.{0,60}\bconfidential\b|\bunsubscribe\b|\b(accept|uses?) (all )?cookies\b|
        \bprivacy policy\b
    \A\[request interrupted|\Acaveat: the messages below|\Athis session is being continued|
        \Atool ran without output
    </?(system-reminder|command-(name|message|args)|local-command-stdout|task-notification)\b
    \bas an? (ai|(ai |large )?language model)\b,? i\b
    """
)
_BOOT_FILE = _lines(
    r"""
    ^\W{0,3}(you are|you're)\b.{0,80}\b(assistant|agent|ai|bot|model|engineer|expert|companion|cli)\b
    ^#{1,3} (agents|claude|soul|user|identity|bootstrap|heartbeat|tools|gemini|memory|readme)\.md\b
    ^#{1,3} (getting started|installation|quick ?start|table of contents|contributing|system prompt)\s*$
    \bthis (file|document) (provides|gives|contains) (guidance|instructions)\b|\bknowledge cutoff\b|\A\[!\[
    \byou have access to (the following|these) tools\b|\bcontents of \S{0,200}(claude|agents|soul|
        memory)\.md\b
    ^\W{0,3}你是(一个|一名|一位|由)?.{0,30}(助手|助理|机器人|智能体|模型)
    """
)
_CODE_LINE = _lines(
    r"""
    ^[ \t]*(import [\w.{*]+( as \w+)?;?$|from \S+ import |#include|package [\w.]+;?$|using [\w.]+;|
        @\w+(\(.*)?$)
    ^[ \t]*((async )?def|func|fn) \w+ ?\(|^[ \t]*(export |async )*function ?\w* ?\(|^[ \t]*class \w+[(:{]|
        ^[ \t]*return\b.*[;()]
    ^[ \t]*(const|let|var) [\w{\[]+ ?[=:;]|^[ \t]*(public|private|protected|static)( [\w<>]+){1,4} ?[({;=]
    ^[ \t]*(if|for|while|switch) ?\(|^[ \t]*else:?$|[;{}]$|^[ \t]*[)\]}]|^[ \t]*<[/?!]?\w+[^>]*>|
        =>\s*[({]|^[ \t]*//|^[ \t]*/\*|
        ^\"[^\"]+\" ?:
    ^#!|^set -\w|^(SELECT|FROM|WHERE|GROUP BY|ORDER BY|HAVING|LIMIT|(LEFT |INNER )?JOIN)\b
    ^[ \t]*(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|ALTER TABLE)\b.{0,200}\b(FROM|SET|VALUES|
        WHERE|ADD)\b.*;
    ^[ \t]*[\w.\[\]\"']+ ?[-+*/]?= ?(\S+$|[\[({].*[\])}]$)|^[ \t]*\w[\w.]*\(.*\)[\[\]\w.:]*$|
        ^[ \t]{2,}[\w.-]+: \S{1,40}$|
        ^[\w.-]+:$
    ^(\$|>>>|%|PS>|❯) |^(diff --git|index [0-9a-f]{7}|--- \S|\+\+\+ \S|@@ -)|^[-+][\w@.].{0,200}[=;({]|
        ^[-+]\w+$
    ^[ \t]*(File \".*\", line \d+|at \S+ ?\(.*\)|Traceback \(|[\w.]*(Error|Exception)(:|$)|Caused by: )
    ^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d|[^A-Z\n]{0,12}(DEBUG|INFO|WARN|ERROR))|^\[(DEBUG|INFO|WARN|
        WARNING|ERROR)\]
    ^(export|alias|set) \w+=|^(GET|POST|PUT|DELETE) /\S* \d{3}\b
    ^(TRACE|DEBUG|INFO|ERROR|FATAL):|^\w+ (ERR!|WARN) |^(error|warning)(\[\w+\])?: |^(PASSED|FAILED|
        not ok|ok \d+)
    ^\d{1,3}(\.\d{1,3}){3} .*\"|^([A-Z][A-Z_ ]{2,30}\s{2,}){2}|^[-drwx]{10}\s|^={3,}
    """
)
# Signs that prose hardly uses; a line with this share of them is a machine's.
_SIGNS = r"[{}()\[\];=<>$\\|&*@#+~^%]"
_SIGN_SHARE = 0.12
_FEWEST_SIGNS = 4
_DATA = r"(?s)\A\s*(\{.{0,200}[\"'\w] ?:.*\}|\[\s*[\[{\"'\d].*\])\s*\Z"


def _whole(content: str) -> Refusal | None:
    text = _visible(content).strip()
    if _matches(_BOOT_FILE, text):
        return Refusal.BOOT_FILE
    if _matches(_BOILERPLATE, text):
        return Refusal.BOILERPLATE
    return Refusal.CODE if _is_code(text) else None


def _is_code(text: str) -> bool:
    """Data, or lines of which most are a machine's, those within a code fence included."""
    if re.search(_DATA, text):
        return True
    lines, fenced, machine = 0, False, 0
    for line in filter(str.strip, text.splitlines()):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        lines += 1
        machine += fence or fenced or _is_machine_line(line.rstrip()[:400])
    return machine >= 0.6 * lines


def _is_machine_line(line: str) -> bool:
    signs = len(re.findall(_SIGNS, re.sub(r"`[^`]*`", "", line)))
    dense = signs >= _FEWEST_SIGNS and signs >= _SIGN_SHARE * len(line)
    return dense or _matches(_CODE_LINE, line, flags=0)


# -------------------------------------------------------------------------------------- sentence by sentence

_SMALL_TALK = _words(
    """ok okay yes no yep yup nope yeah sure thanks thank thx you so much very great good nice cool awesome
    perfect done got it hi hello hey there morning afternoon evening night bye see later haha lol wow
    please right fine works that that's this sounds looks to me go ahead welcome you're sorry for the a
    lot well one all job is was amazing excellent exactly correct agreed alright continue proceed cheers
    understood confusion problem no worries of course lgtm again and help me np hmm hm uh um oh ah did
    trick makes sense try will do my bad let think wait second sec moment just helps helpful i see on
    working next moving step brilliant lovely fantastic wonderful superb neat sweet obliged never mind k kk
    ta nah yea greetings congrats kudos yay ugh oops whoops totally glad
    absolutely certainly definitely interesting"""
)
_DURABLE = (
    r"\b(always|never|every|each|whenever|from now on|going forward|by default|unless|before|after|"
    r"prefer\w*|must|only|instead of|rather than|because|since|in (19|20)\d\d|so that|to avoid)\b|"
    r"每|总是|始终|一律|以后|今后|必须|永远|都|因为"
)
_THIS_TASK = r"\b(this|that|these|those) \w+|\bline \d+|\b(it|now)\b|这|那个|一下"
_DOING = _words(
    """runn re-?runn check look test debugg fix compil install investigat search read review inspect
    analy[sz] scann open edit writ updat load fetch restart rebuild work mov"""
)
_DONE = _words(
    """updated fixed added created implemented removed changed made applied finished pushed committed
    opened merged refactored renamed deleted installed restarted ran checked tested cleaned rebased
    tagged reverted"""
)
_TASK_VERBS = _words(
    """fix add remove delete rename refactor implement write create update show open look explain find
    search list print summari[sz]e translate move change make generate check review debug try rerun
    revert undo commit push merge install format run test rewrite reword shorten convert extract split
    clean improve optimi[sz]e set replace restart rebuild deploy apply read investigate turn simplify
    document give tell help"""
)
_NEAR = _words("the an? this that these those it all both my me your at to into through for on line up \\S+\\.\\w+")
_TASK = _lines(
    rf"""
    ^((please|pls|now|then|next|just|can you|could you) )*{_TASK_VERBS} {_NEAR}\b
    ^((please|now|then) )?(fix|add|remove|delete|rename|implement|
        rewrite) \w.{{0,60}}\b(to|from|in|into|of) (the|this|that|my)\b
    ^(请|帮我|麻烦|你?帮忙)(你|帮我|把|先|再)*.{{0,12}}(改|修|看|写|加|删|查|找|运行|解释|翻译|实现|检查|更新|重命名|生成|创建)
    ^把.{{0,12}}(删|改|换|加|移|挪)(掉|成|到|为|去|上|一下)?\W*$
    ^(just |i |we |i've |we've )?{_DONE} {_NEAR}\b
    """
)
_WORK = (
    r"(all )?(the )?(\w+ of the )?(\w+ )?"
    r"(tests?|build|ci|pipeline|linter|compilation|deploy(ment)?|migration|checks?)"
)
_TRANSIENT = _lines(
    rf"""
    ^(i'm|i am|we're|we are) ((now|currently|still|just|about to) )*{_DOING}ing (the|this|that|these|your|
        at|into|why|on it)\b
    ^((now|currently|still|just) )*{_DOING}ing (the|this|that|these|your|at|into|why|on it)\b(?!.*\b(is|
        are|takes|needs|must|can)\b)
    ^((i'm|i am|we're|we are|now|currently|still) )?waiting (for|on) (the |a |your )?(ci|build|tests?|it|deploy|
        review|approval|merge|results?|response|reply)\b
    ^(i'm|i am|we're|we are) (going|about) to (look|check|run|read|fix|try|open|start|test|review|update|
        add|write|do)\b
    ^{_WORK}( (is|are|has|have|now|all|still|just|been))* (pass(ed|es|ing)?|succeeded|fail(ed|ing|s)?|
        green|red|done|running)\W*$
    ^{_WORK}( (is|are|has|have|now|all|still|just|been))* (pass|fail|finish|complet|succe)\w* (now|again|
        successfully|so far|locally)\W*$
    \b(is|are) (happy|green|red|clean|broken|working|passing|failing|up|down|done|fixed|fine|resolved|
        ready) (now|again)\W*$
    \b\d+ (tests? )?(passed|failed)\b|\b(is|are) still (going|running)\b|\b(right now|at the moment|
        just now|minutes? left)\b
    \b(is|are) (still |now |currently )?(restart|reboot|compil|build|install|deploy|load|download|upload|
        sync|start|hang)ing\W*$
    ^(the )?(build|tests?|deploy(ment)?|migration|job|run) (finished|completed|succeeded|passed|
        failed) (with|in|after)
    ^the (dependency|package|file|branch|change|fix|test|patch|commit|script|pr) is (now )?{_DONE}\W*$|
        ^\w+ files? changed\b
    ^i (just |have |think i |already )?(found|see|noticed|spotted|located) (the|an?|it|your)\b.{{0,30}}\b(bug|
        issue|problem|error|typo|cause)
    \bso i'm \w+ing (it|the|that|this|a)\b|^(rolled back|cleaned up|backed out|set up) {_NEAR}\b|^tests? fail\w*,|
        ^only \w+ (warning|error|test|failure)s? left
    \bin a (minute|moment|second)\b|\b(has|have) been (updated|created|fixed|added|removed|renamed|
        changed|saved)\W*$
    ^我?正在(运行|执行|安装|检查|测试|编译|构建|等待|修复|查看|处理|下载)|(改|修|弄|搞|写|做|删|加|更新|处理|解决)(好|完)了\W*$|^再.{{0,2}}(跑|试|来|看).{{0,2}}(遍|次|下)|正在(重启|启动|重试|加载|上传|同步)\W*$|请稍(等|候)|^(等我|稍等)|马上(就)?(回来|好)
    ^(所有)?(测试|构建|编译|部署|检查)(已经|已|全部|都|刚)*(通过|成功|失败|完成)了?\W*$
    """
)
_CHATTER = _lines(
    r"""
    ^(now,? )?let (me|us)\b|^(now,? )?let's (now )?(run|check|see|look|start|move on|try|fix|take|
        continue|begin|test)\b
    ^(now|next|first|then),? (i|i'll|i'm|we|we'll|i can)\b|^now (i|we) (understand|see|know|have)\b
    ^i('ll| will| am going to) (now|start|begin|first|go ahead|take|look|check|update|fix|run|create|
        implement|write|try|help)\b
    ^i('ve| have) (now |just |already )?(updated|fixed|added|created|implemented|changed|made|
        finished) (the|your|all|both|it|an?)\b
    ^i (see|understand|apologi[sz]e)\b|^here('s| is| are) (a|an|the|your|what|how|my|some)\b|
        ^you're (welcome|right)
    ^(great|good) (question|catch|point|idea)|^let me know|^feel free|^(i )?hope (this|that) helps|
        ^happy to help
    \bmakes (total |perfect |more |a lot of )?sense( now)?\W*$|^(i )?appreciate (it|that|the|your)\b|
        ^i'd be (happy|glad) to\b
    ^i (think|guess|suppose|hope) (we|we're|it|it's|this|that|so)\b|^(good|bad) news\b|
        ^(this|that|it) (should|might|will) (now )?(fix|work|help|do)\b
    ^我(再|先|想|还)?(想想|看看|试试|再看)|^我刚(刚|才)
    ^(i'm )?sorry (for|about)\b|^as (you )?requested|^(moving|going) on\b|^(one|just a) (second|sec|
        moment|minute)\b
    ^(让我|我来|我先|我马上|我去|我这就|接下来我?|下面我?|现在我?来|我看了|看起来)
    ^([嗯哦哈了啊呀吧，,！!。~ ]|好的?|收到|明白|知道|没问题|不客气|辛苦|可以|行|是的|对的?|再见|在吗?|
        抱歉|对不起|太好|太棒|很好|完美|搞定|继续|就这样|谢谢|感谢|你的?|您的?|帮助|早上?|晚上|晚安)+$
    """
)
_QUESTION = _lines(
    r"""
    [?？][\s\"'”’)]*$
    ^((so|and|but|ok|hey|hi) )?(what|why|how|where|when|who|which)('?s|'re| (is|are|was|were|do|does|did|
        can|could))\b[^.。]*$
    ^((so|and|but|ok|hey|hi) )?(what|why|how|where|when|who|which) (should|would|will|has|have|to|about|
        if|many|much|come|kind)\b[^.。]*$
    ^(is|are|was|were|does|did|can|could|should|would|will|has|am)(n't)? (i|you|u|we|they|he|she|it|the|
        this|that|there)\b[^.。]*$
    ^(is|are|was|were|does|did|can|could|should|would|will|has)(n't)? (my|your|our|an?|any|anyone)\b[^.。]*$
    ^(do|have) (i|you|we|they)\b[^.。]*$|^any (idea|clue|chance|thoughts)\b|^i (wonder|am wondering)\b|
        ^(tell|show) me\b|^explain\b
    [吗呢么]$|^(为什么|为啥|怎么|怎样|如何|什么|哪|谁|多少|请问|能不能|可不可以|是不是|有没有|能帮我|你(觉得|认为|能|可以))[^。]*$
    """
)
_LEAD_IN = _words(
    r"""ok okay great perfect sure done thanks thank\syou yes alright good nice excellent got\sit hmm
    cool right well so oops absolutely certainly definitely interesting ah oh wow noted agreed fine 好的? 嗯+"""
)


def _by_sentence(content: str, kind: Kind) -> Refusal | None:
    """The first sentence's refusal when each has one; a text of one short word is too short."""
    text = _visible(content).strip()
    parts = filter(str.strip, re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n+", text))
    refusals = [_sentence(part.strip(" \t-*•"), kind) for part in parts]
    if None not in refusals:
        return refusals[0]
    ideographs = len(re.findall(r"[\u3400-\u9fff]", text))
    return Refusal.TOO_SHORT if ideographs < 3 and len(text.split()) < 2 else None


def _sentence(part: str, kind: Kind) -> Refusal | None:
    words = re.findall(r"[a-z']+|[^\W\d_a-z]|\d", part.casefold())
    rest = re.sub(rf"^({_LEAD_IN}[,.!，。！]*(\s+|(?<=[，。！,])))+", "", part, flags=re.IGNORECASE)
    if len(words) <= 8 and all(re.fullmatch(_SMALL_TALK, word) for word in words):
        return Refusal.CHATTER
    if _matches(_CHATTER, part) or _matches(_CHATTER, rest):
        return Refusal.CHATTER
    if _matches(_QUESTION, rest):
        return Refusal.QUESTION
    if _matches(_TRANSIENT, rest) or (_matches(_TASK, rest) and _is_for_now(rest, kind)):
        return Refusal.TRANSIENT
    return None


def _is_for_now(order: str, kind: Kind) -> bool:
    """Whether an order is a task: no word makes it last, and of a rule's kind it must point at the task."""
    if re.search(_DURABLE, order, re.IGNORECASE):
        return False
    return kind not in (Kind.INSTRUCTION, Kind.PREFERENCE) or re.search(_THIS_TASK, order, re.IGNORECASE) is not None
