"""The frames of a tree of agents, and its controls."""

from __future__ import annotations

import time
import uuid

from desk import EXTENDED, PLAIN, Client, Desk, statuses, text_of

QUESTION = "What matters most to you?"


def test_a_conversation(desk: Desk) -> None:
    with Client(desk) as client:
        assert client.socket.subprotocol == PLAIN
        client.send("get-agent-tree")
        assert client.raw() == '{"type":"agent-tree","agentIds":[]}'

        client.send("start-agent", prompt="Compare lamps – “red” & <b>candles</b>")
        client.send("start-agent", prompt="Compare lamps and candles")
        until = lambda frame: frame["state"]["userContent"] == "Compare lamps and candles"
        first = client.until("agent-state", where=until)[-1]
        root, created = first["agentId"], first["state"]["createdAt"]
        assert uuid.UUID(root).version == 7 and abs(created / 1000 - time.time()) < 60
        assert first["state"] == {
            "agentId": root,
            "parentId": None,
            "status": "running",
            "userContent": "Compare lamps and candles",
            "userComment": None,
            "subagents": [],
            "messages": [{"role": "user", "content": "Compare lamps and candles"}],
            "result": None,
            "metadata": {"name": "explore", "depth": 0, "step": 1},
            "createdAt": created,
        }
        frames = client.until("user-query")
        assert frames[-1] == {"type": "user-query", "agentId": root, "prompt": QUESTION}
        assert client.tree()[0]["state"]["status"] == "waiting-for-user"

        client.send("user-response", agentId=root, response="The price")
        frames = client.until("agent-completed")
        tree = client.tree()
        assert statuses(tree) == ["completed"] * 3
        top, *children = [frame["state"] for frame in tree]
        assert (top["agentId"], top["subagents"]) == (root, [child["agentId"] for child in children])
        assert [(child["userContent"], child["parentId"]) for child in children] == [
            ("What speaks for lamps?", root),
            ("What speaks for candles?", root),
        ]
        assert top["result"].startswith("In short") and text_of(frames, root).endswith(top["result"])
        for child in children:
            assert child["result"] and text_of(frames, child["agentId"]) == child["result"]
            assert child["metadata"]["depth"] == 1
        # The agents below write while the main agent does.
        writers = [frame["agentId"] for frame in frames if frame["type"] == "text-delta"]
        assert sum(one != other for one, other in zip(writers, writers[1:])) > 10

        client.send("user-response", agentId=root, response="again")
        assert client.raw() == '{"type":"error","error":"This agent has no open question."}'


def test_the_extended_protocol(desk: Desk) -> None:
    with Client(desk, protocols=["other", EXTENDED, PLAIN]) as client:
        assert client.socket.subprotocol == EXTENDED
        client.send("user-response", agentId="x", response="y")
        error = client.next()
        assert (error["code"], error["seq"]) == ("no_such_query", 1)
        client.send("start-agent", prompt="Compare lamps and candles")
        frames = client.until("user-query")
        root = frames[-1]["agentId"]
        client.send("user-response", agentId=root, response="The price")
        client.send("user-intervention", agentId=root, status="completed")
        frames += client.until("agent-completed")
        assert [frame["seq"] for frame in frames] == list(range(2, 2 + len(frames)))
        assert (frames[-1]["agentId"], frames[-1]["result"][:8]) == (root, "The demo")


def test_an_intervention_changes_the_task(desk: Desk) -> None:
    with Client(desk) as client:
        root = client.asked("Compare lamps and candles")
        comment = {"text": "Only the colour"}
        client.send("user-intervention", agentId=root, userContent="Compare tea and coffee", userComment=comment)
        state = client.until("agent-state")[-1]["state"]
        assert (state["userContent"], state["userComment"]) == ("Compare tea and coffee", "Only the colour")
        client.send("user-response", agentId=root, response="The price")
        begins = client.until("agent-state", where=lambda frame: frame["state"]["parentId"] == root)
        assert begins[-1]["state"]["userContent"] == "What speaks for tea?"
        # The answer is wanted now.
        client.send("user-intervention", agentId=root, status="completed")
        client.until("agent-completed")
        tree = client.tree()
        assert tree[0]["state"]["result"] == "The demo knows no facts, but it has thought about “Compare tea and coffee”."
        assert statuses(tree)[0] == "completed" and "running" not in statuses(tree)


def test_a_paused_agent_waits(desk: Desk) -> None:
    with Client(desk) as client:
        root = client.asked("Compare lamps and candles")
        client.send("user-intervention", agentId=root, status="paused")
        client.send("user-response", agentId=root, response="The price")
        client.until_status(root, "paused")
        client.send("user-intervention", agentId=root, status="running")
        client.until_status(root, "running")


def test_one_agent_is_stopped(desk: Desk) -> None:
    with Client(desk) as client:
        root = client.asked("Compare lamps and candles")
        client.send("user-response", agentId=root, response="The price")
        child = client.until("text-delta", where=lambda frame: frame["agentId"] != root)[-1]["agentId"]
        client.send("user-intervention", agentId=child, status="cancelled")
        client.until_status(child, "cancelled")
        rest = client.until("agent-completed")
        assert text_of(rest, child) == ""
        ended = {frame["agentId"]: frame["state"]["status"] for frame in client.tree()}
        assert ended.pop(child) == "cancelled" and list(ended.values()) == ["completed"] * 2
        client.send("user-intervention", agentId=child, status="cancelled")
        assert client.next()["type"] == "error"


def test_each_connection_has_its_own_agents(desk: Desk) -> None:
    with Client(desk) as one, Client(desk) as other:
        root = one.asked("Compare lamps and candles")
        assert other.tree() == []
        for fields in [{"response": "x"}, {"status": "cancelled"}]:
            kind = "user-response" if "response" in fields else "user-intervention"
            other.send(kind, agentId=root, **fields)
            assert other.next()["type"] == "error"
        assert statuses(one.tree()) == ["waiting-for-user"]
