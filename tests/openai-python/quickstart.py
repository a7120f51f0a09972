"""Starts the quickstart with its own database, and stops it."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from server import Server

#: The variables that the quickstart must not inherit: a developer's key or model would change the tests.
OWN_SETTINGS = re.compile(r"(OMNIASSIST_|OPENAI_|QUICKSTART_|PORT$|(HTTP|HTTPS|ALL)_PROXY$)", re.IGNORECASE)


class Quickstart(Server):
    def __init__(self, model_url: str, **settings: str) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="quickstart-")
        inherited = {name: value for name, value in os.environ.items() if not OWN_SETTINGS.match(name)}
        environment = {
            **inherited,
            "OMNIASSIST_DISCOVERY": "off",
            "OMNIASSIST_PROVIDER": "openai-chat",
            "OMNIASSIST_MODEL": "scripted-model",
            "OPENAI_BASE_URL": model_url,
            "OPENAI_API_KEY": "sk-canary-of-the-suite",
            "QUICKSTART_DB": str(Path(self.folder.name) / "orders.sqlite3"),
            "QUICKSTART_CHATS": "off",
            **settings,
        }
        super().__init__("quickstart", environment)

    @property
    def base_url(self) -> str:
        return f"{self.address}/assistant/v1"

    def stop(self) -> None:
        super().stop()
        self.folder.cleanup()
