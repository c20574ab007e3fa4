"""The words of Chinese time phrases: characters folded one for one, numbers, units, and the patterns of each
rule."""

from __future__ import annotations

import re
from functools import cache

from picomem.text.temporal.words import NAMES

FOLD = str.maketrans(
    "週禮個號這兩後來歲節從間幾過國慶聖誕鐘頭時點開陰陽勞動兒婦師親萬剛曆臘０１２３４５６７８９：／．－",
    "周礼个号这两后来岁节从间几过国庆圣诞钟头时点开阴阳劳动儿妇师亲万刚历腊0123456789:/.-",
)
DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2}
_NUM = r"(?:\d{1,7}|[零〇一二两俩三四五六七八九十百]{1,5})"
_FEW = r"(?:好几|几十|十几|几|数|若干)"
_UNIT = r"(?:个?小时|个?钟头|分钟|天|日|个?星期|个?礼拜|周|个?月|个?季度|年)"
UNITS = {
    "小时": "hour", "钟头": "hour", "分钟": "minute", "天": "day", "日": "day", "星期": "week",
    "礼拜": "week", "周": "week", "月": "month", "季度": "quarter", "年": "year",
}  # fmt: skip
DAYS = {"今": 0, "昨": 1, "前": 2, "大前": 3}
PARTS = {
    "凌晨": "dawn", "清晨": "morning", "早上": "morning", "早晨": "morning", "上午": "morning",
    "中午": "noon", "下午": "afternoon", "傍晚": "evening", "晚上": "night", "晚间": "night", "夜里": "night",
    "夜晚": "night", "深夜": "night", "早": "morning", "晨": "morning", "晚": "night", "夜": "night",
}  # fmt: skip
WEEKDAYS = {char: value for value, char in enumerate("一二三四五六日")} | {"天": 6}
YEARS = {"今": 0, "本": 0, "去": 1, "前": 2, "大前": 3}
SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
TENTHS = {"初": 0, "上旬": 0, "中": 1, "中旬": 1, "下旬": 2, "底": 2, "末": 2}
VAGUE = {  # how many days back from today
    "最近": 30, "近期": 30, "近来": 30, "近日": 14, "这几天": 7, "这两天": 4, "最近几天": 10, "前几天": 14,
    "前些天": 21, "前两天": 7, "前阵子": 90, "前段时间": 120, "这段时间": 45, "这阵子": 45, "不久前": 60,
    "前不久": 60, "前几个月": 180, "刚才": 0, "刚刚": 0,
}  # fmt: skip
_CHINESE_HOLIDAYS = "|".join(name for name in NAMES if not name.isascii())
# The characters with which a phrase can begin; nearly all others are passed over by this one look.
OPENERS = frozenset(
    "0123456789零〇一二两俩三四五六七八九十百好几数若半今昨前大去上下这本第最近过刚不年周星礼春夏秋冬暑从自"
) | {name[0] for name in NAMES if not name.isascii()}
# What makes “3号” a thing that is numbered and “周六” a part of something else.
_NUMBERED = "线楼门桌店机馆院厅码员位选车床房室球文字电池航台仓库"


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """The pattern of each rule of `chinese.py`, by the rule's name."""
    middle = "中(?![国心午间秋考学])"
    half = "(?P<half>上半年|下半年)"
    season = "(?P<season>[春夏秋冬])[天季]|(?P<break>暑假)"
    feast = f"(?P<holiday>{_CHINESE_HOLIDAYS})节?"
    amount = f"(?:(?P<number>{_NUM})|(?P<few>{_FEW})|(?P<half>半))(?P<unit>{_UNIT})"
    day = f"(?P<day>{_NUM})[日号]"
    share = f"(?P<share>上旬|中旬|下旬|初|{middle}|底|末)"
    month = f"(?P<month>{_NUM})月(?!天)份?(?:的?(?:{day}|{share}))?"
    digits = r"(?:19|20)\d\d|[一二][零〇一二三四五六七八九]{3}"
    year = f"(?:(?P<which>大前|前|去|今|本)年|(?P<number>{digits})年(?!代))"
    in_year = f"{month}|年?(?P<yshare>初|{middle}|底|末)|{half}|第?(?P<quarter>[一二三四1-4])季度|{season}|{feast}"
    sources = {
        "day": "(?P<back>大前|前|昨|今)(?:天(?!气)|日(?!头))",
        "night": "(?P<back>前|昨|今)(?P<part>晚上|晚|夜里|夜|早上|早|晨)",
        "ago": f"{amount}(?P<more>多|半)?(?:之|以)?前(?!后)",
        "half": f"(?P<number>{_NUM})个(?P<more>多|半)(?P<unit>月|小时|星期|钟头)(?:之|以)?前(?!后)",
        "halfmonth": "半个(?P<unit>月|小时)(?:之|以)?前(?!后)",
        "rolling": f"(?:最近|过去|近|这)的?{amount}(?:以来|里|内|来)?",
        "week": "(?P<which>上上|上|这|本)(?:个|一)?(?:周|星期|礼拜)(?![边围刊岁])"
        "(?:(?P<weekday>[一二三四五六日天])|(?P<end>末))?",
        "weekday": "(?:周|星期|礼拜)(?:(?P<weekday>[一二三四五六日天])|(?P<end>末))",
        "month": f"(?P<which>上上个?|上个?|这个?|本)月(?:的?(?:{day}|份?{share}))?",
        "quarter": "(?P<which>上|这|本)(?:个|一)?季度",
        "numbered": "第(?P<number>[一二三四1-4])季度",
        "year": f"{year}(?:的?(?:{in_year}))?",
        "monthday": month,
        "dayonly": f"{day}(?![{_NUMBERED}])",
        "yearpart": f"年(?P<yshare>初|底|末)|{half}",
        "season": season,
        "holiday": feast,
        "numeric": r"(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?(?![\d.])",
        "vague": "|".join(sorted(VAGUE, key=len, reverse=True)),
        "part": f"的?(?P<part>{'|'.join(PARTS)})",
        "opened": "自从|从|自",
        "closed": "之间|期间|为止",
        "joint": r"\s*(?:到|至|-|~|—+|–|和|与)\s*",
        "bound": "(?P<before>之前|以前|前(?!后))|(?P<after>之后|以后|后(?!来))|(?P<since>以来|起|开始|至今|到现在)",
    }
    return {name: re.compile(source) for name, source in sources.items()}


def read_amount(groups: dict[str, str | None]) -> tuple[float, float]:
    """Return how many, at least and at most, from the groups `number`, `few` or `half` of a match."""
    if groups.get("few"):
        low = {"十几": 11, "几十": 20}.get(groups["few"] or "", 2)
        return low, {11: 19, 20: 90}.get(low, 8)
    number = groups.get("number")
    count = float(read_number(number)) if number else 0.5
    return count, count


def read_number(text: str) -> int:
    """“12”, “十二”, “二〇二三”, “一百二十” as a number."""
    if text.isdecimal():
        return int(text)
    if "十" not in text and "百" not in text:
        return int("".join(str(DIGITS[char]) for char in text))
    total = digit = 0
    for char in text:
        if char in "十百":
            total += (digit or 1) * (10 if char == "十" else 100)
            digit = 0
        else:
            digit = DIGITS[char]
    return total + digit
