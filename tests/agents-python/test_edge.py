"""Connections that are foreign, and clients that send too much."""

from __future__ import annotations

import base64
import time
from contextlib import suppress

import pytest
from desk import PLAIN, Client, Desk, statuses
from websockets.exceptions import ConnectionClosed, InvalidStatus

MIB = 1024 * 1024

#: `max_socket_frames_per_second` is 10, and twice as many may come at once.
AT_ONCE = 20


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "null"])
def test_a_page_of_another_origin_gets_no_connection(desk: Desk, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused, Client(desk, origin=origin):
        pass
    assert refused.value.response.status_code == 403
    assert b"origin_not_allowed" in (refused.value.response.body or b"")


def test_a_token_is_not_repeated(desk: Desk) -> None:
    token = "omniassist.bearer." + base64.urlsafe_b64encode(b"secret").decode().rstrip("=")
    with Client(desk, protocols=[token, PLAIN]) as client:
        assert client.socket.response is not None
        assert client.socket.response.headers.get_all("sec-websocket-protocol") == [PLAIN]


def test_a_close_is_answered_at_once(desk: Desk) -> None:
    with Client(desk) as client:
        began = time.monotonic()
        client.socket.close()
        assert client.socket.close_code == 1000 and time.monotonic() - began < 1.5


def test_a_message_has_at_most_1_mib(desk: Desk) -> None:
    frame = '{"type":"get-agent-tree"}'
    with Client(desk) as client:
        client.socket.send(frame + " " * (MIB - len(frame)))
        assert client.raw() == '{"type":"agent-tree","agentIds":[]}'
        client.send("start-agent", prompt="x" * (256 * 1024 + 1))
        assert client.raw() == '{"type":"error","error":"`prompt` has at most 262144 bytes."}'
        client.socket.send(frame + " " * (MIB + 1 - len(frame)))
        assert client.closed() == (1009, "A message has at most 1 MiB.")


def test_a_message_in_parts_has_at_most_1_mib(desk: Desk) -> None:
    with Client(desk) as client:
        client.socket.send(['{"type":', '"get-agent-tree"}'])
        assert client.raw() == '{"type":"agent-tree","agentIds":[]}'
        client.socket.send([" " * (MIB // 2)] * 2 + ["{"])
        assert client.closed()[0] == 1009


def test_a_text_is_utf_8(desk: Desk) -> None:
    with Client(desk) as client:
        client.socket.send(b'{"type":"start-agent","prompt":"\xff"}', text=True)
        assert client.closed() == (1007, "A text is UTF-8.")


def test_a_client_that_is_too_fast_is_closed(desk: Desk) -> None:
    with Client(desk) as client:
        for _ in range(AT_ONCE):
            client.send("get-agent-tree")
        for _ in range(AT_ONCE):
            assert client.next() == {"type": "agent-tree", "agentIds": []}
    with Client(desk) as client:
        # The server may close the connection before the last of them is sent.
        with suppress(ConnectionClosed):
            for _ in range(2 * AT_ONCE):
                client.send("get-agent-tree")
        code, reason = client.closed()
        assert code == 1008 and reason.startswith("At most 10 frames a second")


def test_a_frame_that_cannot_be_used_leaves_the_agents_alone(desk: Desk) -> None:
    with Client(desk) as client:
        root = client.asked("Compare lamps and candles")
        for message, error in [
            ("no", "The frame is not valid JSON: expected ident at line 1 column 2."),
            ("{}", "`frame`: expected a frame as documented, found missing field `type`."),
            (b"{}", "A frame is text, and not binary."),
            ('{"type":"start-agent","prompt":" "}', "`prompt`: expected a task, found a blank text."),
        ]:
            client.socket.send(message)
            assert client.next() == {"type": "error", "error": error}
        assert [frame["agentId"] for frame in client.tree()] == [root]
        assert statuses(client.tree()) == ["waiting-for-user"]


def test_a_server_that_stops_says_so() -> None:
    desk = Desk()
    with Client(desk) as client:
        assert client.tree() == []
        desk.stop()
        assert client.closed() == (1001, "The server is shutting down.")
    assert desk.process.returncode == 0
