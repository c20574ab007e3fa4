"""Whether a text is a search: a phrase that names a thing, such as “decisions about the job queue”. Pure.

People and agents search with phrases as often as they ask questions. A phrase has no clause: no subject with its verb,
except behind a relative word (“tests that failed”, “things we decided about logins”). An order has none either, so a
text that begins with the verb of an order is not a phrase. Chinese and Japanese have no blanks between words; there a
short text without a particle or a comma counts, unless it begins like an order or a remark.
"""

from __future__ import annotations

import re

from picomem.recall.informativeness import is_phatic
from picomem.text.terms import is_cjk

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
