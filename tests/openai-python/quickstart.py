"""Starts the quickstart named by `QUICKSTART_BIN` with its own database, and stops it.

If `OMNIASSIST_ADAPTER` names another adapter than axum, that adapter serves it (tests/served).
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
from pathlib import Path

START_SECONDS = 20

#: The variables that the quickstart must not inherit: a developer's key or model would change the tests.
OWN_SETTINGS = re.compile(r"(OMNIASSIST_|OPENAI_|QUICKSTART_|PORT$|(HTTP|HTTPS|ALL)_PROXY$)", re.IGNORECASE)


def command() -> list[str]:
    adapter = os.environ.get("OMNIASSIST_ADAPTER") or "axum"
    variable, arguments = ("QUICKSTART_BIN", []) if adapter == "axum" else ("SERVED_BIN", [adapter, "quickstart"])
    binary = os.environ.get(variable)
    if not binary:
        raise RuntimeError(f"{variable} is not set: run `cargo xtask test clients`")
    return [binary, *arguments]


class Quickstart:
    def __init__(self, model_url: str, **settings: str) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="quickstart-")
        inherited = {name: value for name, value in os.environ.items() if not OWN_SETTINGS.match(name)}
        environment = {
            **inherited,
            "PORT": "0",
            "OMNIASSIST_DISCOVERY": "off",
            "OMNIASSIST_PROVIDER": "openai-chat",
            "OMNIASSIST_MODEL": "scripted-model",
            "OPENAI_BASE_URL": model_url,
            "OPENAI_API_KEY": "sk-canary-of-the-suite",
            "QUICKSTART_DB": str(Path(self.folder.name) / "orders.sqlite3"),
            "QUICKSTART_CHATS": "off",
            **settings,
        }
        self.process = subprocess.Popen(
            command(), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
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
            raise RuntimeError(f"the quickstart does not listen:\n{self.log}")

    @property
    def base_url(self) -> str:
        return f"{self.address}/assistant/v1"

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.folder.cleanup()
