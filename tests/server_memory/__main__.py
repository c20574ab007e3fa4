"""`python -m tests.server_memory FOLDER`: MCP's server-memory and our tools get the same calls; see `make server-memory`.

FOLDER is where npm installed package.json. The schemas that tests/gateway holds must be those that the real server lists.
Then both get random calls, and each answer and each `read_graph` must be the same; of an error only that it is one, and
of a deletion not the sentence. No call names one thing twice: that is where ours differs on purpose. At the end the file
of the real server is imported and exported again: here, and by a real server that reads the export, the graph must be
the same. `SEED` and `CALLS` (2,000) may be set.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent

import picomem
from picomem.engine.transfers import export_to, import_from
from picomem.gateway.mcp import build_server
from picomem.transfer.import_format import import_format_named
from tests.gateway.test_facades import SHAPES, without_words

NAMES = ["Ann", "ann", "Bo", "Zoë ✈", "a/b", "50 %", " x ", "two\nlines"]
TYPES = ["person", "dog", "works_at", "a/b"]
TEXTS = ["likes tea", "Ann: likes tea", "Ann likes tea", "  two  spaces ", "a\nb", '"quoted" \\ text', "日本語", "x"]


def main(folder: Path) -> int:
    """Compare; 0 where nothing differs."""
    with TemporaryDirectory() as made:
        return anyio.run(_compare, folder, Path(made))


async def _compare(folder: Path, made: Path) -> int:
    graph = made / "memory.jsonl"
    random, calls = Random(os.environ.get("SEED", "1")), int(os.environ.get("CALLS", "2000"))
    with picomem.open(made / "memory.db", embedder="none") as engine:
        ours = build_server(engine, facades=["server-memory"])
        async with Client(_server(folder, graph), mode="legacy") as theirs, Client(ours) as mine:
            if await _shapes(theirs) != SHAPES:
                sys.stdout.write("tests/gateway/server_memory_shapes.json is not what the server lists\n")
                return 1
            for number in range(calls):
                for tool, arguments in (_drawn(random), ("read_graph", {})):
                    answers = [_compared(await client.call_tool(tool, arguments)) for client in (theirs, mine)]
                    if answers[0] != answers[1]:
                        told = [json.dumps(answer, ensure_ascii=False) for answer in answers]
                        sys.stdout.write(f"{number} {tool} {arguments}\ntheirs {told[0]}\nours   {told[1]}\n")
                        return 1
            expected = _compared(await theirs.call_tool("read_graph", {}))
    export = made / "export.jsonl"
    with picomem.open(made / "imported.db", embedder="none") as engine:
        import_from(engine, graph, import_format_named("mcp-memory"))
        export_to(engine, export, "mcp-memory")
        async with (
            Client(build_server(engine, facades=["server-memory"])) as mine,
            Client(_server(folder, export), mode="legacy") as theirs,
        ):
            for client in (mine, theirs):
                read = _compared(await client.call_tool("read_graph", {}))
                if read != expected:
                    sys.stdout.write(f"the graph differs after an import or an export\n{expected}\n{read}\n")
                    return 1
    sys.stdout.write(f"{calls} calls had the same answers, and the graph is the same after an import and an export\n")
    return 0


def _server(folder: Path, graph: Path) -> StdioServerParameters:
    """The real server on a file."""
    return StdioServerParameters(
        command=str(folder / "node_modules/node/bin/node"),
        args=[str(folder / "node_modules/@modelcontextprotocol/server-memory/dist/index.js")],
        env={**os.environ, "MEMORY_FILE_PATH": str(graph)},
    )


async def _shapes(client: Client) -> dict[str, Any]:
    listed = [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools]
    fields = ("inputSchema", "outputSchema", "annotations")
    return {tool["name"]: {field: without_words(tool[field]) for field in fields} for tool in listed}


def _compared(result: CallToolResult) -> Any:
    """What of an answer must be the same."""
    if result.is_error:
        return "error"
    data = dict(result.structured_content or {})
    block = result.content[0]
    assert isinstance(block, TextContent)
    return (data, block.text) if "message" not in data else data["success"]


def _drawn(random: Random) -> tuple[str, dict[str, Any]]:
    """A call that names nothing twice."""

    def some(values: list[str], most: int = 3) -> list[str]:
        return random.sample(values, random.randrange(most + 1))

    def relations() -> list[dict[str, str]]:
        drawn = {tuple(random.choice(values) for values in (NAMES, NAMES, TYPES)) for _ in range(random.randrange(3))}
        return [{"from": first, "to": second, "relationType": type_} for first, second, type_ in sorted(drawn)]

    entities = [{"name": name, "entityType": random.choice(TYPES), "observations": some(TEXTS)} for name in some(NAMES)]
    if random.random() < 0.05:
        return random.choice(list(SHAPES)[:6]), {"entities": [{"name": 1}]}
    return random.choice(
        [
            ("create_entities", {"entities": entities}),
            ("create_relations", {"relations": relations()}),
            (
                "add_observations",
                {"observations": [{"entityName": n, "contents": some(TEXTS)} for n in some(NAMES, 2)]},
            ),
            ("delete_entities", {"entityNames": some(NAMES, 1)}),
            (
                "delete_observations",
                {"deletions": [{"entityName": n, "observations": some(TEXTS)} for n in some(NAMES)]},
            ),
            ("delete_relations", {"relations": relations()}),
            ("search_nodes", {"query": random.choice(["ANN", "tea", "", "A/B", "ё"])}),
            ("open_nodes", {"names": some(NAMES)}),
        ]
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
