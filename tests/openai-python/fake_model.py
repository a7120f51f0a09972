"""A model server on loopback with OpenAI's Chat Completions API, which answers from a test's script."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: A text in every provider error. It must never reach a client.
CANARY = "upstream-detail-canary-7f3a"


@dataclass
class Turn:
    """The model's answer to one request."""

    text: str = ""
    reasoning: str = ""
    #: (id, name, arguments)
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    #: "stop", "length", "error" (inside the stream), "cut" (the connection breaks) or "hang"
    end: str = "stop"
    #: An HTTP error instead of a stream.
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    usage: tuple[int, int] = (11, 7)


@dataclass
class Seen:
    """A received request."""

    body: dict[str, Any]
    closed: threading.Event = field(default_factory=threading.Event)
    closed_at: float = 0.0


def pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def events(turn: Turn, body: dict[str, Any]) -> list[str]:
    base = {"id": "chatcmpl-up", "object": "chat.completion.chunk", "created": 1763700000, "model": body["model"]}

    def send(value: dict[str, Any]) -> str:
        return f"data: {json.dumps({**base, **value})}\n\n"

    def delta(value: dict[str, Any], reason: str | None = None) -> str:
        return send({"choices": [{"index": 0, "delta": value, "finish_reason": reason}]})

    out = [delta({"role": "assistant", "content": ""})]
    out += [delta({"reasoning_content": piece}) for piece in pieces(turn.reasoning)]
    out += [delta({"content": piece}) for piece in pieces(turn.text)]
    for index, (call_id, name, arguments) in enumerate(turn.calls):
        function = {"name": name, "arguments": ""}
        out.append(delta({"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]}))
        for piece in pieces(json.dumps(arguments)):
            out.append(delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    if turn.end == "error":
        out.append(f"data: {json.dumps({'error': {'message': CANARY, 'type': 'server_error', 'code': 500}})}\n\n")
    if turn.end in ("error", "cut", "hang"):
        return out
    out.append(delta({}, "length" if turn.end == "length" else "tool_calls" if turn.calls else "stop"))
    if body.get("stream_options", {}).get("include_usage"):
        prompt, completion = turn.usage
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        out.append(send({"choices": [], "usage": usage}))
    return [*out, "data: [DONE]\n\n"]


class FakeModel:
    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.seen: list[Seen] = []
        self.stopping = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                fake.answer(self)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def script(self, *turns: Turn) -> None:
        """Replaces the rest of the script and clears the requests."""
        self.turns = list(turns)
        self.seen = []

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers["content-length"])
        seen = Seen(json.loads(request.rfile.read(length)))
        self.seen.append(seen)
        turn = self.turns.pop(0) if self.turns else Turn(status=500)
        request.close_connection = True
        if turn.status != 200:
            body = json.dumps({"error": {"message": CANARY}}).encode()
            request.send_response(turn.status)
            for name, value in {**turn.headers, "content-length": str(len(body))}.items():
                request.send_header(name, value)
            request.end_headers()
            request.wfile.write(body)
            return
        request.send_response(200)
        request.send_header("content-type", "text/event-stream")
        request.send_header("connection", "close")
        if turn.end == "cut":
            # The announced length is larger than the body.
            request.send_header("content-length", "1000000")
        request.end_headers()
        for event in events(turn, seen.body):
            request.wfile.write(event.encode())
            request.wfile.flush()
        if turn.end == "hang":
            self.wait_for_the_client_to_leave(request, seen)

    def wait_for_the_client_to_leave(self, request: BaseHTTPRequestHandler, seen: Seen) -> None:
        request.connection.settimeout(0.01)
        while not self.stopping.is_set():
            try:
                if request.connection.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        seen.closed_at = time.monotonic()
        seen.closed.set()

    def stop(self) -> None:
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()
