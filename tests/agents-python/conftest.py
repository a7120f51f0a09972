from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk


@pytest.fixture(scope="session")
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.stop()


@pytest.fixture(scope="session")
def storing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk that stores its chats."""
    desk = Desk(tmp_path_factory.mktemp("chats") / "chats.db")
    yield desk
    desk.stop()


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    return tmp_path / "chats.db"
