"""Trees of a stored chat."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import Request, urlopen

from desk import Client, Desk, Frame, statuses

#: Another connection has a change of step or status up to 100 ms late, and others about a second late.
LATE = 5


def eventually(client: Client, holds: Callable[[list[Frame]], bool]) -> list[Frame]:
    """Asks for the tree until it is as wanted."""
    until = time.monotonic() + LATE
    while not holds(tree := client.tree()):
        assert time.monotonic() < until, tree
        # At most 10 frames a second.
        time.sleep(0.15)
    return tree


def test_two_clients_see_the_same_tree(storing: Desk) -> None:
    with Client(storing, "two") as one, Client(storing, "two") as other:
        root = one.asked("Compare lamps and candles")
        shown = one.tree()
        assert statuses(shown) == ["waiting-for-user"]
        assert eventually(other, lambda tree: tree == shown)
        # Only the connection of the tree answers its questions.
        other.send("user-response", agentId=root, response="The price")
        assert other.next() == {"type": "error", "error": "This agent has no open question."}
        one.send("user-response", agentId=root, response="The price")
        one.until("agent-completed")
        shown = one.tree()
        assert statuses(shown) == ["completed"] * 3
        assert eventually(other, lambda tree: tree == shown)


def test_another_client_stops_one_agent(storing: Desk) -> None:
    with Client(storing, "stopped") as one, Client(storing, "stopped") as other:
        root = one.asked("Compare lamps and candles")
        one.send("user-response", agentId=root, response="The price")
        children = eventually(other, lambda tree: len(tree) == 3)[1:]
        first, second = [frame["agentId"] for frame in children]
        other.send("user-intervention", agentId=first, status="cancelled")
        stop = Request(f"{storing.address}/assistant/stopped/agents/{second}/stop", method="POST")
        with urlopen(stop, timeout=LATE) as answer:
            assert answer.read() == b'{"stopped":true}'
        one.until("agent-completed")
        assert statuses(one.tree()) == ["completed", "cancelled", "cancelled"]


def test_a_client_that_was_lost_reads_its_tree_again(storing: Desk) -> None:
    with Client(storing, "lost") as client:
        root = client.asked("Compare lamps and candles")
        client.send("user-response", agentId=root, response="The price")
        client.until("text-delta", where=lambda frame: frame["agentId"] != root)
        shown = [frame["agentId"] for frame in client.tree()]
        client.lose()
    with Client(storing, "lost") as again:
        tree = eventually(again, lambda tree: "running" not in statuses(tree))
        assert [frame["agentId"] for frame in tree] == shown and statuses(tree) == ["cancelled"] * 3
        assert tree[0]["state"]["userContent"] == "Compare lamps and candles"
        # The chat is free for the next tree.
        again.send("start-agent", prompt="Think about chairs")
        again.until("agent-completed")
        assert [frame["state"]["userContent"] for frame in again.tree()] == ["Think about chairs"]
    with Client(storing, "another") as other:
        assert other.tree() == []


def test_a_killed_server_leaves_the_tree_readable(chats: Path) -> None:
    desk = Desk(chats)
    with Client(desk, "killed") as client, Client(desk, "killed") as other:
        root = client.asked("Compare lamps and candles")
        # The states are written within a second or so.
        shown = eventually(other, lambda tree: statuses(tree) == ["waiting-for-user"])
        desk.kill()
    desk = Desk(chats)
    try:
        with Client(desk, "killed") as again:
            tree = eventually(again, lambda tree: statuses(tree) == ["cancelled"])
            assert tree[0]["agentId"] == root
            shown[0]["state"]["status"] = "cancelled"
            assert tree == shown
            again.send("start-agent", prompt="Think about chairs")
            again.until("agent-completed")
    finally:
        desk.stop()
