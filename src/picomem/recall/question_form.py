"""How far a text asks for something that memory may hold. Pure.

A hook sends every prompt of an agent's user to recall, and most prompts ask nothing: orders, remarks, code, logs. Such
a prompt may share all of its words with a memory and still have no answer. Only the form of the text decides here;
whether there is an answer is for the other signs of the confidence (confidence.py).
"""

from __future__ import annotations

import re

from picomem.recall.informativeness import is_phatic
from picomem.text.terms import STOP_WORDS, is_cjk, worded_terms

ASKS = 1.0
KEYWORDS = 0.75  # a few words without a sentence: a search, or a remark
OF_THE_AGENT = 0.25  # a question that the one who is asked answers from what both look at: “is this code okay?”
_LONGEST = 4_000  # characters that are looked at
_FEWEST_SIGNS = 3
_SIGN_SHARE = 0.04  # of the characters of a text that is code
_MOST_BREAKS = 2  # a text of more lines is a brief, code or a log
_MOST_KEYWORDS = 6
_LONGEST_CJK_SEARCH = 24  # characters
_BARE = 3  # terms of a question about something that stands before both

_CODE_SIGN = r"[{}()\[\];=<>$\\|&*@#^~]"
_NO_KEYWORD = r"[/=|$&{}<>;:()]"
_SENTENCE = r"(?<=[.!?])\s+|\n+"
_CJK_SENTENCE = r"(?<=[。！？!?])\s*|\n+"

_OPENING = r"(?:(?:and|so|but|ok|okay|hey|hi|hello|um+|btw|again|also|then|sorry|wait|oh)\b[,:!.\s]*)*"
_QUESTION_WORD = r"(?:what|which|who|whom|whose|when|where|why|how)(?:['’](?:s|d|re|ll|ve))?\b"
_PREPOSITION = r"(?:in|on|at|for|since|until|by|from|to|with|of|under|about)"
_AUXILIARY = (
    r"(?:(?:did|does|is|are|was|were|has|had|am|may|must|should|will|would|can|could)(?:n['’]?t)?"
    r"|(?:do|have|don['’]?t|haven['’]?t|won['’]?t)(?=\s+(?:i|we|they|any\w*|people)\b))"
)
_SUBJECT = (
    r"(?:i|we|he|she|it|they|there|the|my|our|his|her|their|its|an?|any|anyone|anybody|someone|people|(?-i:[A-Z])\w*)\b"
)
# A sentence that begins as a question does, whether or not it ends with its mark.
_QUESTION = (
    rf"(?i)^\W*{_OPENING}(?:{_QUESTION_WORD}(?! an?\b)|{_PREPOSITION}\s+{_QUESTION_WORD}|any (?:idea|chance)\b"
    rf"|{_AUXILIARY}\s+{_SUBJECT})"
)
# One behind a remark: “about to deploy, which port was it”.
_QUESTION_WITHIN = (
    rf"(?i)[,;:–—-]\s+(?:and\s+|but\s+|or\s+)?(?:{_QUESTION_WORD}"
    r"|(?:is|was|did|does|do|are|were|has|have)\s+(?:it|that|there|we|i|they|the|someone)\b)"
    r"|\b(?:remember|recall|forg[eo]t\w*|wonder\w*|curious)\b.{0,40}?"
    r"\b(?:what|which|who|whose|when|where|why|how|if|whether)\b"
)
_FORGOTTEN = (
    r"(?i)\b(?:(?:can['’]?t|cannot|don['’]?t|couldn['’]?t|trying to|try to) "
    r"(?:quite |really |even )?(?:remember|recall)"
    r"|pretty sure (?:we|i|some\w+|there)|never (?:understood|knew)|i forg[eo]t|i thought (?:there|we|that)"
    r"|thought there was)\b"
)
# Orders that ask: “remind me”, “can you summarise how we …”.
_RECALLING = (
    r"(?i)\b(?:remind me|recall|tell me|(?:how|what|which|where|when|why|who) (?:i|we|my|our)\b"
    r"|(?:summary|overview|list) of (?:what|how|my|our|the)|summari[sz]e (?:what|how|my|our)"
    r"|(?:give|show) me (?:the|my|our|all|every|a (?:\w+ )?(?:summary|list|overview)))\b"
)
_ORDER = r"(?i)\b(?:can|could|would|will|won['’]?t)\s+you\b|\bplease\b|\bwould you mind\b"
_YOU = r"(?i)\byour?\b"
_YOU_SAID = (
    r"(?i)\b(?:did|have|had) you\b|\byou(?:['’]ve|['’]d|\s+have|\s+had)?\s+(?:\w+\s+){0,2}?"
    r"(?:said|say|told|tell|mention|recommend|suggest|provid|gave|list|describ|explain|advis|wrote|shar|nam|propos"
    r"|answer|remember)"
)
_HERE = (
    r"(?i)\b(?:this|here)\b"
    r"(?!\s+(?:morning|afternoon|evening|week|month|year|spring|summer|autumn|winter|time|project))"
)

_CJK_QUESTION = (
    r"[?？]|什么|哪|怎|吗|呢|谁|几|多少|为何|是否|多久|多大|多长|如何|ですか|ますか|誰|何|いつ|どこ|どの|なぜ"
)
_CJK_ORDER = r"^(?:请(?!问)|麻烦|帮|给我|把|能不能|可不可以|能帮|可以帮|可以先|可以把|能把)|帮我|帮忙"
_CJK_OF_AGENT = (
    r"你(?:觉得|认为|看|确定|能|会|可以|是)|^这(?:样|段|个(?:报错|错误|函数|代码|方案|文件))|什么是|更[快好小]"
)

_CJK_KEYWORDS = r"[^\W了吧]+(?: [^\W了吧]+)+"


def asks(text: str) -> float:
    """Return how far a text asks: ASKS, KEYWORDS, OF_THE_AGENT, or 0 for an order, a remark, a brief, code or a log."""
    text = text[:_LONGEST].strip()
    if not text or is_phatic(text) or _is_pasted(text):
        return 0.0
    return _asks_cjk(text) if is_cjk(text) else _asks_words(text)


def _is_pasted(text: str) -> bool:
    signs = len(re.findall(_CODE_SIGN, text))
    return (signs >= _FEWEST_SIGNS and signs >= _SIGN_SHARE * len(text)) or text.count("\n") > _MOST_BREAKS


def _asks_words(text: str) -> float:
    if re.search(_RECALLING, text) or re.search(_FORGOTTEN, text):
        return ASKS
    if re.search(_ORDER, text):
        return 0.0
    sentences = [sentence for part in re.split(_SENTENCE, text) if (sentence := part.strip())]
    questions = [sentence for sentence in sentences if _is_question(sentence)]
    if not questions:
        return _asks_keywords(text)
    last = questions[-1]
    to_agent = re.search(_YOU, last) and not re.search(_YOU_SAID, last)
    bare = re.search(_HERE, last) and len(worded_terms(last)) <= _BARE
    return OF_THE_AGENT if to_agent or bare or not worded_terms(text) else ASKS


def _is_question(sentence: str) -> bool:
    return sentence.endswith("?") or bool(re.search(_QUESTION, sentence) or re.search(_QUESTION_WITHIN, sentence))


def _asks_keywords(text: str) -> float:
    if text.endswith((".", "!", "…")) or re.search(_NO_KEYWORD, text):
        return 0.0
    words = text.split()
    return KEYWORDS if len(words) <= _MOST_KEYWORDS and not any(word.lower() in STOP_WORDS for word in words) else 0.0


def _asks_cjk(text: str) -> float:
    sentences = re.split(_CJK_SENTENCE, text)
    if any(re.search(_CJK_QUESTION, part) and not re.search(_CJK_ORDER, part.strip()) for part in sentences):
        return OF_THE_AGENT if re.search(_CJK_OF_AGENT, text) else ASKS
    # Chinese writes no spaces: who does, writes keywords.
    return KEYWORDS if len(text) <= _LONGEST_CJK_SEARCH and re.fullmatch(_CJK_KEYWORDS, text) else 0.0


# Whether a text is a search: a phrase that names a thing, such as “decisions about the job queue”. Pure.
#
# People and agents search with phrases as often as they ask questions. A phrase has no clause: no subject with its
# verb, except behind a relative word (“tests that failed”, “things we decided about logins”). An order has none either,
# so a text that begins with the verb of an order is not a phrase. Chinese and Japanese have no blanks between words;
# there a short text without a particle or a comma counts, unless it begins like an order or a remark.

_MOST_WORDS = 12
_SIGNS = r"\n|[=|$&{}<>;()]|(?<!\w)[/:]|[/:](?!\w)|[.!?…:]$|[.!?]\s"  # of code, or where a sentence ends
_RELATIVE = r"\s(?:that|which|who|whose|whom|where|when|how|why|what|if|whether|i|we|they|you|he|she|it|people)\s"
_ORDERS = frozenset(
    """add apply ask bring bump check clarify clean convert create cut disable do draft drop enable ensure
    explain extract find fix generate get give go help implement improve install investigate keep leave look
    make merge move prepare pull push put rebase rebuild refactor remember remove rename replace rerun restart
    revert rewrite roll rotate run see send set ship show skip split squash swap take tell translate try turn
    undo use verify wire write""".split()
)
# These begin an order if an object follows (“test the login”), and a phrase otherwise (“test failures on CI”).
_ORDERS_OR_NOUNS = frozenset(
    """branch build call change close commit copy delete deploy design document export format import list log
    open order plan port print read release report review search sort start stop test update upgrade work""".split()
)
_OBJECTS = frozenset("a all an another any both each every it me my our some that the them these this those us".split())
# Words that begin a remark or an answer, and no phrase.
_REMARKS = frozenset(
    """actually almost also always and because but cool done either good great here just maybe nearly neither
    never next nice no nope not nothing ok okay or right same so sorry sure thank thanks that this well what
    while wow yeah yep yes""".split()
)
# Words of a clause, or of somebody who speaks to the reader.
_CLAUSE = frozenset(
    """again already am are be been can cannot could did do does had has have he i is it let lets may might must
    now one please shall she should still them then they us was we were will would you""".split()
)

_MOST_CHARACTERS = 24  # of a phrase in Chinese or Japanese
_CJK_BEGINS = (
    r"^(?:[把给帮请查写列改删加看算跑试换修先将再按停搞我你您他她它这那别还就行对嗯太没也都可]|好(?!き)|用(?![户例法量途])"
    r"|能|不|麻烦|翻译|总结|解释|继续|重[新写构]|更新|新建|创建|优化|检查|升级|添加|生成|实现|运行|打开|谢谢|下一步)"
)
_CJK_OWN = r"^[我他她](?:们?的|[家妈爸])"  # “我的生日”
_CJK_CLAUSE = r"[了吧呢吗啊呀嘛又还没，。；！？]|好像|已经|正在|打不|连不|(?:です|ます|ました|ください|して|[よね])$"


def is_search_phrase(text: str) -> bool:
    """Return whether a text names a thing that is sought, and is no question, order, remark, code or log."""
    text = text.strip()
    if is_phatic(text) or re.search(_SIGNS, text):
        return False
    if is_cjk(text):
        begins = re.search(_CJK_BEGINS, text) and not re.search(_CJK_OWN, text)
        return 2 <= len(text) <= _MOST_CHARACTERS and not begins and not re.search(_CJK_CLAUSE, text)
    words = _words(text)
    if not 0 < len(words) <= _MOST_WORDS or words[0] in _ORDERS | _REMARKS:
        return False
    if words[0] in _ORDERS_OR_NOUNS and len(words) > 1 and words[1] in _OBJECTS:
        return False
    named = re.split(_RELATIVE, f"{text} ", maxsplit=1, flags=re.IGNORECASE)[0]
    return _CLAUSE.isdisjoint(word for whole in _words(named) for word in _clitics(whole))


def _words(text: str) -> list[str]:
    return [word.strip(",\"'“”‘’").casefold() for word in text.split()]


def _clitics(word: str) -> tuple[str, ...]:
    """A word, and the pronoun or auxiliary in it (“it's”, “don't”); the owner in “user's” is neither."""
    return word, *re.split(r"['’]|n['’]t$", word)[:1]
