"""The official client for Python against the server at MCP_URL."""

import asyncio
import os

import mcp
import pytest
from mcp import Client, types

URL = os.environ["MCP_URL"]
MODES = ["2026-07-28", "auto", "legacy"]


def run(scenario):
    asyncio.run(scenario)


@pytest.mark.parametrize("mode", MODES)
def test_lists_and_calls_tools(mode):
    async def scenario():
        async with Client(URL, mode=mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["add"].annotations.read_only_hint
            result = await client.call_tool("add", {"a": 1, "b": 2})
            assert (result.content[0].text, result.is_error) == ("3.0", False)
            failed = await client.call_tool("add", {"a": "x"})
            assert failed.is_error
            with pytest.raises(mcp.MCPError) as unknown:
                await client.call_tool("absent", {})
            assert unknown.value.code == -32602

    run(scenario())


@pytest.mark.parametrize("mode", MODES)
def test_learns_that_it_cannot_approve(mode):
    async def scenario():
        async with Client(URL, mode=mode) as client:
            result = await client.call_tool("refund", {})
            assert result.is_error
            assert "cannot ask for it. It was not run." in result.content[0].text

    run(scenario())


@pytest.mark.parametrize("mode", MODES)
def test_reads_progress(mode):
    async def scenario():
        seen = []

        async def progress(_progress, _total, message):
            seen.append(message)

        async with Client(URL, mode=mode) as client:
            result = await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
            assert result.content[0].text == "Done."
        assert seen == ["0", "50", "100"]

    run(scenario())


@pytest.mark.parametrize("answer", [True, False])
def test_asks_its_user(answer):
    async def scenario():
        asked = []

        async def ask(_context, params):
            asked.append(params.message)
            return types.ElicitResult(action="accept", content={"approve": answer})

        async with Client(URL, mode="2026-07-28", elicitation_callback=ask) as client:
            result = await client.call_tool("refund", {})
        assert asked == ["Give this back?\n\nrefund {}"]
        assert result.is_error is not answer

    run(scenario())


def test_fills_in_the_form_of_an_agent():
    async def scenario():
        async def fill(_context, params):
            return types.ElicitResult(action="accept", content={"name": "Ann"})

        async with Client(URL, mode="2026-07-28", elicitation_callback=fill) as client:
            result = await client.call_tool("ask_greeter", {"message": "Hi"})
        assert result.content[0].text == 'Hello, {"name":"Ann"}!'

    run(scenario())
