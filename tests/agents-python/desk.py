"""The research desk, and a client of its WebSocket. Contract A.5."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from server import Server
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

#: The time limit of a frame.
TIMEOUT = 15

#: The subprotocol with the frames of the contract, and the one with further fields.
PLAIN = "omniassist.agents"
EXTENDED = "omniassist.agents.v1"

#: The fields of each frame of the server, in the order of the contract.
FIELDS = {
    "agent-state": ["agentId", "state"],
    "text-delta": ["agentId", "delta"],
    "user-query": ["agentId", "prompt"],
    "agent-completed": [],
    "error": ["error"],
    "agent-tree": ["agentIds"],
}

#: The further fields of the extended protocol. Those of an error may be absent.
EXTENDED_FIELDS = {
    "user-query": ["queryId"],
    "agent-completed": ["agentId", "result", "usage"],
    "error": ["code", "agentId"],
}

STATE = [
    "agentId",
    "parentId",
    "status",
    "userContent",
    "userComment",
    "subagents",
    "messages",
    "result",
    "metadata",
    "createdAt",
]

Frame = dict[str, Any]


def written(frame: Frame, is_extended: bool) -> str:
    """Returns the only bytes that a frame with these values may have."""
    names = list(FIELDS[frame["type"]])
    if is_extended:
        names += [name for name in EXTENDED_FIELDS.get(frame["type"], []) if frame["type"] != "error" or name in frame]
        names.append("seq")
    ordered = {"type": frame["type"], **{name: frame[name] for name in names}}
    if frame["type"] == "agent-state":
        state = {name: frame["state"][name] for name in STATE}
        state["metadata"] = {name: state["metadata"][name] for name in ["name", "depth", "step"]}
        assert [list(message) for message in state["messages"]] == [["role", "content"]] * len(state["messages"])
        ordered["state"] = state
    return json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))


class Desk(Server):
    """The server of the variable `RESEARCH_DESK_BIN`, with its demo. It stores its chats in the file `chats`, if there is one."""

    def __init__(self, chats: Path | None = None) -> None:
        stored = {"RESEARCH_DESK_CHATS": str(chats)} if chats else {}
        super().__init__("research-desk", {"PATH": os.environ["PATH"], **stored})

    def url(self, chat: str | None = None) -> str:
        assert self.address is not None
        query = f"?chat={chat}" if chat else ""
        return self.address.replace("http", "ws", 1) + f"/assistant/ws{query}"


class Client:
    """A connection, which checks the bytes of each frame that it receives."""

    def __init__(self, desk: Desk, chat: str | None = None, protocols: list[str] | None = None, origin: str | None = None):
        self.connecting = connect(
            desk.url(chat),
            # The type of the package allows its own names only.
            subprotocols=[PLAIN] if protocols is None else protocols,  # type: ignore[arg-type]
            origin=origin or desk.address,  # type: ignore[arg-type]
            proxy=None,
            max_size=2**24,
            # A reader that pauses at a full queue would not see the close of the server.
            max_queue=None,
        )

    def __enter__(self) -> Client:
        self.socket: ClientConnection = self.connecting.__enter__()
        self.is_extended = self.socket.subprotocol == EXTENDED
        return self

    def __exit__(self, *_: object) -> None:
        self.connecting.__exit__(None, None, None)

    def send(self, kind: str, **fields: Any) -> None:
        self.socket.send(json.dumps({"type": kind, **fields}))

    def raw(self) -> str:
        text = self.socket.recv(TIMEOUT)
        assert isinstance(text, str)
        return text

    def next(self) -> Frame:
        text = self.raw()
        frame: Frame = json.loads(text)
        assert text == written(frame, self.is_extended)
        return frame

    def until(self, *kinds: str, where: Callable[[Frame], bool] = lambda _: True) -> list[Frame]:
        """Returns the frames up to the first of one of these types for which the condition holds."""
        frames = [self.next()]
        while frames[-1]["type"] not in kinds or not where(frames[-1]):
            frames.append(self.next())
        return frames

    def until_status(self, agent: str, status: str) -> list[Frame]:
        return self.until("agent-state", where=lambda f: f["agentId"] == agent and f["state"]["status"] == status)

    def tree(self) -> list[Frame]:
        """Returns the states that answer `get-agent-tree`, parents first."""
        self.send("get-agent-tree")
        frames = self.until("agent-tree")
        ids = frames[-1]["agentIds"]
        # Frames of the agents may come before the answer.
        states = frames[len(frames) - 1 - len(ids) : -1]
        assert [frame["agentId"] for frame in states] == ids
        seen: list[str | None] = [None]
        for frame in states:
            assert frame["state"]["parentId"] in seen
            seen.append(frame["agentId"])
        return states

    def asked(self, prompt: str) -> str:
        """Begins a comparison, and returns the id of its root when that has asked its question."""
        self.send("start-agent", prompt=prompt)
        return self.until("user-query")[-1]["agentId"]

    def lose(self) -> None:
        """Ends the connection without a close, as a page does whose network is gone."""
        self.socket.socket.close()

    def closed(self) -> tuple[int, str]:
        """Returns the code and the reason with which the server closes the connection."""
        try:
            while True:
                self.socket.recv(TIMEOUT)
        except ConnectionClosed as closed:
            assert closed.rcvd is not None, "the connection was closed with a code"
            return closed.rcvd.code, closed.rcvd.reason


def statuses(states: list[Frame]) -> list[str]:
    return [frame["state"]["status"] for frame in states]


def text_of(frames: list[Frame], agent: str) -> str:
    return "".join(f["delta"] for f in frames if f["type"] == "text-delta" and f["agentId"] == agent)
