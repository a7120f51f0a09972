from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_model import FakeModel
from openai import OpenAI
from quickstart import Quickstart

#: The time limit of an answer.
TIMEOUT = 20


@pytest.fixture(scope="session")
def fake() -> Iterator[FakeModel]:
    fake = FakeModel()
    yield fake
    fake.stop()


@pytest.fixture(scope="session")
def served(fake: FakeModel) -> Iterator[Quickstart]:
    quickstart = Quickstart(fake.base_url)
    yield quickstart
    quickstart.stop()


@pytest.fixture(scope="session")
def showing(fake: FakeModel) -> Iterator[Quickstart]:
    """A quickstart that shows reasoning and server tools."""
    quickstart = Quickstart(fake.base_url, OMNIASSIST_SHOW_WORK="1")
    yield quickstart
    quickstart.stop()


@pytest.fixture
def model(fake: FakeModel) -> FakeModel:
    fake.script()
    return fake


@pytest.fixture
def client(served: Quickstart) -> Iterator[OpenAI]:
    """A client without automatic retries."""
    with OpenAI(base_url=served.base_url, api_key="not-looked-at", max_retries=0, timeout=TIMEOUT) as client:
        yield client
