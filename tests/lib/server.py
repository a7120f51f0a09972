"""Starts a host of the examples on a free port, and stops it.

If `OMNIASSIST_ADAPTER` names another adapter than axum, that adapter serves it (tests/served).
"""

from __future__ import annotations

import os
import re
import subprocess
import threading

START_SECONDS = 20


def command(host: str) -> list[str]:
    adapter = os.environ.get("OMNIASSIST_ADAPTER") or "axum"
    own = f"{host.upper().replace('-', '_')}_BIN"
    variable, arguments = (own, []) if adapter == "axum" else ("SERVED_BIN", [adapter, host])
    binary = os.environ.get(variable)
    if not binary:
        raise RuntimeError(f"{variable} is not set: run `cargo xtask test clients`")
    return [binary, *arguments]


class Server:
    def __init__(self, host: str, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command(host),
            env={**environment, "PORT": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.log = ""
        self.address: str | None = None
        listening = threading.Event()

        def read() -> None:
            assert self.process.stdout is not None
            for line in self.process.stdout:
                self.log += line
                if found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", line):
                    self.address = found[1]
                    listening.set()
            listening.set()

        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        if not listening.wait(START_SECONDS) or self.address is None:
            self.stop()
            raise RuntimeError(f"{host} does not listen:\n{self.log}")

    def stop(self) -> None:
        """Lets the server end."""
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def kill(self) -> None:
        """Ends the server at once, as SIGKILL does."""
        self.process.kill()
        self.process.wait()
        self.reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
