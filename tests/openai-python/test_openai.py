"""OpenAI's own client for Python, with the assistant as its model."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import openai
import pytest
from conftest import TIMEOUT
from fake_model import CANARY, FakeModel, Turn
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel
from quickstart import Quickstart

MODEL = "omniassist"

WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def user(content: Any) -> Any:
    return [{"role": "user", "content": content}]


def text_of(chunks: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def told(model: FakeModel, request: int = -1) -> str:
    return json.dumps(model.seen[request].body["messages"], ensure_ascii=False)


def test_one_answer(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(text="Hello — ✓ 🦀", usage=(12, 5)))
    answer = client.chat.completions.create(model=MODEL, messages=user("Hi"))
    assert answer.object == "chat.completion" and answer.model == MODEL
    assert answer.id.startswith("chatcmpl-") and answer._request_id == answer.id
    assert abs(answer.created - time.time()) < 60
    assert answer.choices[0].message.content == "Hello — ✓ 🦀"
    assert answer.choices[0].message.refusal is None and answer.choices[0].message.tool_calls is None
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage and (answer.usage.prompt_tokens, answer.usage.total_tokens) == (12, 17)


def test_a_stream(model: FakeModel, client: OpenAI) -> None:
    said = "Hello — ✓ 🦀\u2028\u0085\x0b\r\nEnd"
    model.script(Turn(text=said))
    chunks = list(client.chat.completions.create(model=MODEL, messages=user("Hi"), stream=True))
    assert text_of(chunks) == said
    assert len(chunks) > 4
    assert len({(chunk.id, chunk.created, chunk.model) for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert all(chunk.usage is None for chunk in chunks)


def test_a_stream_with_usage(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(text="Hi.", usage=(12, 5)))
    options: Any = {"include_usage": True}
    chunks = list(
        client.chat.completions.create(model=MODEL, messages=user("Hi"), stream=True, stream_options=options)
    )
    assert chunks[-1].choices == [] and chunks[-1].usage and chunks[-1].usage.total_tokens == 17
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_the_stream_helper(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(text="Hello there."))
    with client.chat.completions.stream(model=MODEL, messages=user("Hi")) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert "".join(deltas) == final.choices[0].message.content == "Hello there."


def test_a_conversation(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(text="First answer."), Turn(text="Second answer."))
    messages: Any = [{"role": "system", "content": "Talk like a pirate."}, *user("First question")]
    first = client.chat.completions.create(model=MODEL, messages=messages)
    messages += [first.choices[0].message, *user([{"type": "text", "text": "Second question"}])]
    client.chat.completions.create(model=MODEL, messages=messages)
    for said in ["First question", "First answer.", "Second question", "Talk like a pirate."]:
        assert said in told(model)
    instructions = [m for m in model.seen[-1].body["messages"] if m["role"] in ("system", "developer")]
    assert "pirate" not in json.dumps(instructions)


def test_tools_and_their_results(model: FakeModel, client: OpenAI) -> None:
    calls = [("call_1", "weather", {"city": "Oslo"}), ("call_2", "weather", {"city": "Rome {in} Italy"})]
    model.script(Turn(text="Let me see.", calls=calls), Turn(text="Rain and sun."))
    messages: Any = user("Weather?")
    asked = client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER])
    choice = asked.choices[0]
    assert choice.finish_reason == "tool_calls" and choice.message.content == "Let me see."
    assert choice.message.tool_calls
    messages.append(choice.message)
    for call in choice.message.tool_calls:
        assert call.type == "function"
        city = json.loads(call.function.arguments)["city"]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": f"weather of {city}"})
    answered = client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER])
    assert answered.choices[0].message.content == "Rain and sun."
    results = [(m["tool_call_id"], m["content"]) for m in model.seen[-1].body["messages"] if m["role"] == "tool"]
    assert results == [("call_1", "weather of Oslo"), ("call_2", "weather of Rome {in} Italy")]


def test_calls_are_streamed(model: FakeModel, client: OpenAI) -> None:
    calls = [("call_1", "weather", {"city": "Oslo"}), ("call_2", "weather", {"city": "Rome"})]
    model.script(Turn(calls=calls))
    with client.chat.completions.stream(model=MODEL, messages=user("Weather?"), tools=[WEATHER]) as stream:
        done = [event for event in stream if event.type == "tool_calls.function.arguments.done"]
        final = stream.get_final_completion()
    assert [json.loads(event.arguments) for event in done] == [{"city": "Oslo"}, {"city": "Rome"}]
    assert final.choices[0].finish_reason == "tool_calls"
    assert [call.id for call in final.choices[0].message.tool_calls or []] == ["call_1", "call_2"]


def test_a_call_that_the_model_did_not_finish_is_not_valid_json(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(calls=[("call_cut", "weather", {"city": "Oslo"})], end="length"))
    stream = client.chat.completions.create(model=MODEL, messages=user("x"), tools=[WEATHER], stream=True)
    chunks = list(stream)
    arguments = "".join(
        call.function.arguments or ""
        for chunk in chunks
        for call in chunk.choices[0].delta.tool_calls or []
        if call.function
    )
    assert len(arguments) > 3
    with pytest.raises(json.JSONDecodeError):
        json.loads(arguments)
    assert chunks[-1].choices[0].finish_reason == "length"


LOOK_UP = ("call_a", "order_status", {"order_id": 1001})


def test_server_tools_run_and_are_hidden(model: FakeModel, client: OpenAI) -> None:
    turns = [Turn(reasoning="Hm.", text="Let me look.", calls=[LOOK_UP]), Turn(text="It is on its way.")]
    model.script(*turns)
    whole = client.chat.completions.create(model=MODEL, messages=user("Where is it?"))
    assert whole.choices[0].message.content == "Let me look.\n\nIt is on its way."
    model.script(*turns)
    chunks = list(client.chat.completions.create(model=MODEL, messages=user("Where is it?"), stream=True))
    assert text_of(chunks) == "Let me look.\n\nIt is on its way."
    seen = whole.model_dump_json() + "".join(chunk.model_dump_json() for chunk in chunks)
    assert not any(word in seen for word in ["call_a", "order_status", "Lovelace", "Hm."])
    assert "Lovelace" in told(model), "the tool ran"


def test_server_tools_and_reasoning_are_visible_if_the_host_enables_it(model: FakeModel, showing: Quickstart) -> None:
    turns = [Turn(reasoning="Hm.", text="Let me look.", calls=[LOOK_UP]), Turn(text="It is on its way.")]
    with OpenAI(base_url=showing.base_url, api_key="x", max_retries=0, timeout=TIMEOUT) as client:
        model.script(*turns)
        whole = client.chat.completions.create(model=MODEL, messages=user("Where is it?"))
        assert whole.model_extra and whole.model_extra["omniassist"]["tools"][0]["name"] == "order_status"
        assert (whole.choices[0].message.model_extra or {})["reasoning_content"] == "Hm."
        model.script(*turns)
        extras = []
        with client.chat.completions.stream(model=MODEL, messages=user("Where is it?")) as stream:
            for event in stream:
                if event.type == "chunk" and event.chunk.model_extra:
                    extras.append(event.chunk.model_extra["omniassist"]["tool"])
            final = stream.get_final_completion()
    assert [sorted(extra) for extra in extras] == [["id", "input", "name"], ["id", "output"]]
    assert final.choices[0].message.content == "Let me look.\n\nIt is on its way."


class Event(BaseModel):
    name: str
    people: list[str]


EVENT = Event(name="Fair", people=["Ann", "Bob"])


def test_structured_outputs(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(text=EVENT.model_dump_json()), Turn(text=EVENT.model_dump_json()))
    parsed = client.chat.completions.parse(model=MODEL, messages=user("Ann and Bob"), response_format=Event)
    assert parsed.choices[0].message.parsed == EVENT
    form = model.seen[-1].body["response_format"]
    assert form["type"] == "json_schema" and form["json_schema"]["schema"]["required"] == ["name", "people"]
    with client.chat.completions.stream(
        model=MODEL, messages=user("Ann and Bob"), response_format=Event
    ) as stream:
        assert stream.get_final_completion().choices[0].message.parsed == EVENT


def test_parsed_tool_arguments(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(calls=[("call_e", "Event", EVENT.model_dump())]))
    tool = openai.pydantic_function_tool(Event)
    parsed = client.chat.completions.parse(model=MODEL, messages=user("x"), tools=[tool])
    calls = parsed.choices[0].message.tool_calls
    assert calls and calls[0].function.parsed_arguments == EVENT


def test_an_answer_that_was_cut_does_not_parse(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(text='{"name":', end="length"))
    with pytest.raises(openai.LengthFinishReasonError):
        client.chat.completions.parse(model=MODEL, messages=user("x"), response_format=Event)


def test_images_reach_the_model(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(text="A dot."))
    image: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    client.chat.completions.create(model=MODEL, messages=user([{"type": "text", "text": "What?"}, image]))
    assert model.seen[-1].body["messages"][-1]["content"][1] == image


def test_settings_of_a_client_do_not_reach_the_model(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(text="Hi."))
    client.chat.completions.create(
        model=MODEL,
        messages=user("Hi"),
        temperature=0.1,
        top_p=0.2,
        max_completion_tokens=99,
        seed=7,
        stop=["x"],
        user="canary",
        metadata={"canary": "canary"},
        logit_bias={},
        extra_body={"base_url": "http://canary.example"},
        extra_headers={"x-canary": "canary"},
    )
    body = model.seen[-1].body
    refused = {"temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop", "user", "metadata"}
    assert not refused & set(body)
    assert body["model"] == "scripted-model" and "canary" not in json.dumps(body)


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"n": 2}, "n"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "alien", "content": "x"}]}, "messages[0].role"),
        ({"tools": [{**WEATHER, "function": {"name": "order_status"}}]}, "tools[0]"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_400(model: FakeModel, client: OpenAI, more: dict[str, Any], param: str, stream: bool) -> None:
    arguments: Any = {"model": MODEL, "messages": user("Hi"), "stream": stream, **more}
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**arguments)
    assert (caught.value.param, caught.value.type) == (param, "invalid_request_error")
    assert not model.seen


def test_404(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="gpt-5", messages=user("Hi"))
    assert caught.value.code == "model_not_found"


def test_models(client: OpenAI) -> None:
    assert [(one.id, one.owned_by) for one in client.models.list()] == [
        (MODEL, "omniassist"),
        (f"{MODEL}/handbook", "omniassist"),
    ]
    assert client.models.retrieve(MODEL).id == MODEL
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt/5")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("upstream", "kind", "status", "code"),
    [
        (429, openai.RateLimitError, 429, "rate_limit_exceeded"),
        (503, openai.InternalServerError, 503, "provider_unavailable"),
        (400, openai.InternalServerError, 502, "provider_error"),
        (401, openai.InternalServerError, 500, "provider_auth"),
    ],
)
def test_failures_of_the_model(
    model: FakeModel,
    client: OpenAI,
    upstream: int,
    kind: type[openai.APIStatusError],
    status: int,
    code: str,
    stream: bool,
) -> None:
    model.script(*[Turn(status=upstream, headers={"retry-after": "0"}) for _ in range(3)])
    with pytest.raises(kind) as caught:
        client.chat.completions.create(model=MODEL, messages=user("Hi"), stream=stream)
    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert CANARY not in str(caught.value)


def test_the_client_repeats_only_requests_that_may_succeed(model: FakeModel, served: Quickstart) -> None:
    down = [Turn(status=503, headers={"retry-after": "0"}) for _ in range(3)]
    with OpenAI(base_url=served.base_url, api_key="x", max_retries=1, timeout=TIMEOUT) as client:
        model.script(*down, Turn(text="Back."))
        answer = client.chat.completions.create(model=MODEL, messages=user("Hi"))
        assert answer.choices[0].message.content == "Back."
        model.script(Turn(status=401), Turn(text="No."))
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model=MODEL, messages=user("Hi"))
        assert len(model.seen) == 1
        model.script(Turn(calls=[LOOK_UP]), *down, Turn(text="No."))
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model=MODEL, messages=user("Hi"))
        assert len(model.turns) == 1, "a run that has run tools is not repeated"


@pytest.mark.parametrize("end", ["error", "cut"])
def test_an_error_within_the_stream_is_raised(model: FakeModel, client: OpenAI, end: str) -> None:
    model.script(Turn(text="So far so good", end=end))
    chunks = []
    with pytest.raises(openai.APIError) as caught:
        for chunk in client.chat.completions.create(model=MODEL, messages=user("Hi"), stream=True):
            chunks.append(chunk)
    assert text_of(chunks) == "So far so good"
    assert caught.value.code in ("provider_error", "provider_unavailable", "stream_interrupted")
    assert CANARY not in str(caught.value)


def test_a_disconnect_closes_the_connection_to_the_model(model: FakeModel, client: OpenAI) -> None:
    model.script(Turn(text="This answer never ends", end="hang"))
    stream = client.chat.completions.create(model=MODEL, messages=user("Hi"), stream=True)
    text = ""
    for chunk in stream:
        text += text_of([chunk])
        if "ends" in text:
            break
    left = time.monotonic()
    stream.close()
    assert model.seen[0].closed.wait(2)
    assert model.seen[0].closed_at - left <= 0.25


def test_the_async_client(model: FakeModel, served: Quickstart) -> None:
    async def run() -> None:
        async with AsyncOpenAI(
            base_url=served.base_url, api_key="x", max_retries=0, timeout=TIMEOUT
        ) as client:
            model.script(Turn(text="Hello there."))
            stream = await client.chat.completions.create(model=MODEL, messages=user("Hi"), stream=True)
            assert text_of([chunk async for chunk in stream]) == "Hello there."
            # A request that is cancelled before the model answers.
            model.script(Turn(end="hang"))
            asking = asyncio.create_task(client.chat.completions.create(model=MODEL, messages=user("Hi")))
            while not model.seen:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            left = time.monotonic()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert await asyncio.to_thread(model.seen[0].closed.wait, 2)
            assert model.seen[0].closed_at - left <= 0.25

    asyncio.run(run())
