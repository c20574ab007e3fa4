"""Prompt injection: detects text that tries to control the agent that will read it.

There are two tables of shapes: `_HIJACK` takes the agent over (earlier instructions overridden, role tags, new
personas), and `_DIRECTIVE` orders its reader to do something. An agent may store an order, because it writes down the
user's rules, so the two are checked separately. Each table is applied to every reading of the text: as it is, with
look-alike letters made Latin, with spaced-out letters joined. A text that hides its reading (reversed letters, two
alphabets in a word, Base64 together with an order) counts as an injection.

Elsewhere the gate accepts in doubt; here it refuses. Even so, a list proves nothing: what keeps untrusted text from
acting is its origin, which is kept permanently.
"""

from __future__ import annotations

import binascii
import re
import unicodedata
from functools import lru_cache

from picomem.policy.pattern_tables import any_of, matches, table, visible

_MOST_READ = 40_000  # characters

_LOOK_ALIKES = str.maketrans(
    "асеорхуіјѕԁһкмтвнпгӏѵԛԝοαερτικνυηωɡıАВСЕНІКМОРТХ", "aceopxyijsdhkmtbhnrlvqwoaeptikvunwgiABCEHIKMOPTX"
)


def looks_like_instruction(text: str) -> bool:
    """Return whether a text that does not come from the user tries to steer the agent that will read it.

    Known shapes: overriding earlier instructions, role tags and fake closing tags, new personas, orders to
    the agent or the reader, delayed triggers, hiding something from the user, giving secrets away, commands
    to run, encoded orders, and all of these behind invisible, look-alike or spaced-out characters. Of a text
    beyond 40,000 characters the two ends are read.
    """
    return _is_disguised(text) or any(matches(_HIJACK + _DIRECTIVE, view) for view in _views(text))


def is_hijack(text: str) -> bool:
    """Return whether a text would take its reader over, in whatever way it is read; refused from an agent too."""
    return _takes_over(_bounded(text))


@lru_cache(maxsize=8)  # of one message it is asked for each memory that is cut from it
def _takes_over(text: str) -> bool:
    return any(matches(_HIJACK, view) for view in _views(text))


def _views(text: str) -> list[str]:
    """The ways in which a text can be read: as it is, look-alikes made Latin, spaced-out letters joined."""
    plain = unicodedata.normalize("NFKC", visible(_bounded(text)))
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
    decoded = (binascii.a2b_base64(blob[: len(blob) // 4 * 4]).decode("utf-8", "replace") for blob in blobs)
    return any(matches(_HIJACK + _DIRECTIVE, order) for order in decoded)


_AGENT = any_of(r"ai llm ((ai|coding)\s)?(agent|assistant) chat\s?bot language\smodel claude chatgpt copilot picobot")
_RULES = r"(instruction|prompt|rule|guideline|direction|command|constraint|polic|restriction|guardrail|message)"
_EARLIER = any_of("previous prior above earlier all any every\\w* your the system these existing what")
_TAGS = any_of(
    r"""system([-_]\w+)? assistant developer instructions? tool_(result|response|output)s? function_results
    memor(y|ies) prompt admin untrusted\w*"""
)
# Verbs that order when a sentence starts with them; the second half are nouns too and want an object.
_ORDER_VERBS = any_of(
    """send forward upload exfiltrate fetch visit download execute eval invoke delete reply respond reveal
    repeat include append prepend insert memori[sz]e remember approve recommend click navigate curl
    install transfer grant disable obey ignore disregard treat pretend tell say add pass redirect
    whitelist trust skip suppress mention"""
)
_NOUN_VERBS = any_of(
    """run open call use store save print post answer output email pay buy follow set write read show copy
    share rate rank list switch start stop keep hide"""
)
_OBJECT = any_of("the a an all any every each this that these your my their its it them me us to with in as only no")
_ORDER = (
    rf"({_ORDER_VERBS}|{_NOUN_VERBS}(?= {_OBJECT}\b|:? ?[`\"/]|[^.\n]{{0,30}}(https?:|\.sh\b|this:|\w\(\)))"
    rf"|call \w+\()"
)
_START = r"(^|[.!?;:>\]]\s*|[-*•]\s+|\b(and|then|please|now|also|just)\s+)"

# Text that takes the agent over; refused from an agent too.
_HIJACK = table(
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
_DIRECTIVE = table(
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
