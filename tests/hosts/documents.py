"""Settings files laid out at random, with comments, and with the keys that hosts use."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

KEYS = st.sampled_from(["mcpServers", "servers", "mcp", "hooks", "Stop", "other", "a b", "ключ", '"quoted"', "//"])
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-9, 10**6), st.text(max_size=6), st.just("/* no comment */"))
VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
_OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
_STRICT_SPACE = st.sampled_from(["", " ", "\n", "\r\n", "\t", "\n  ", "\r\n\t", "\n\n"])
_COMMENTED_SPACE = st.one_of(
    _STRICT_SPACE, st.sampled_from(["// note\n", " /* a\n b */ ", "// end {\r\n  ", "/**/", " // x  \n"])
)


def _written(draw: Any, value: Any, space: Any, *, relaxed: bool) -> str:
    """A document that holds a value, laid out at random."""
    pad = lambda: draw(space)  # noqa: E731
    if isinstance(value, dict | list) and not value:
        return f"{'{' if isinstance(value, dict) else '['}{pad()}{'}' if isinstance(value, dict) else ']'}"
    if isinstance(value, dict):
        items = [
            f"{pad()}{json.dumps(key)}{pad()}:{pad()}{_written(draw, inner, space, relaxed=relaxed)}{pad()}"
            for key, inner in value.items()
        ]
    elif isinstance(value, list):
        items = [f"{pad()}{_written(draw, inner, space, relaxed=relaxed)}{pad()}" for inner in value]
    else:
        return json.dumps(value)
    trailing = f",{pad()}" if relaxed and draw(st.booleans()) else ""
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + ",".join(items) + trailing + closing


@st.composite
def json_documents(draw: Any, *, relaxed: bool) -> tuple[str, dict[str, Any]]:
    value = draw(_OBJECTS)
    space = _COMMENTED_SPACE if relaxed else _STRICT_SPACE
    return draw(space) + _written(draw, value, space, relaxed=relaxed) + draw(space), value


_LINES = st.sampled_from(
    [
        "",
        "# a comment",
        "# one\u2028two\x85three",
        "   # [mcp_servers.picomem]",
        "[table{n}]",
        "[mcp_servers.other{n}]  # theirs",
        "[mcp_servers.other{n}.env]",
        "[[hooks{n}.Stop]]",
        "key{n} = 1",
        'key{n} = "# [x]"',
        'key{n} = """\n[mcp_servers.picomem]\n# no comment\n"""',
        "key{n} = '''\n[x]\n'''",
        'key{n} = [\n  "a", # one\n  [1, 2],\n]',
        "mcp_servers.dotted{n}.command = 'x'",
        "when{n} = 1979-05-27T07:32:00Z",
        "odd{n} = nan",
    ]
)


@st.composite
def toml_documents(draw: Any) -> str:
    lines = [line.replace("{n}", str(number)) for number, line in enumerate(draw(st.lists(_LINES, max_size=8)))]
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text
