// OpenAI's own client, versions 6 and 7, with the assistant as its model.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { tools } from '../lib/app.mjs';
import { CANARY, startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { MODEL, ask, collect, contentOf, openClient, packages, weather } from './openai-clients.mjs';
import { post } from './wire.mjs';

const MAX_BODY = 8 * 1024 * 1024;

let model;
let app;
let open;

before(async () => {
  model = await startFakeOpenAi();
  app = await startQuickstart(openai('openai', model.baseUrl));
  open = await startQuickstart({ ...openai('openai', model.baseUrl), OMNIASSIST_SHOW_WORK: '1' });
});
after(async () => {
  await app?.stop();
  await open?.stop();
  await model?.stop();
});
beforeEach(() => model.script());

/** Runs one scenario with each version. The table at the end reads the name. */
function scenario(name, run) {
  for (const [version, sdk] of Object.entries(packages)) {
    test(`${version} · ${name}`, { timeout: 30_000 }, () => run(sdk, openClient(sdk, app.api), version));
  }
}

const call = (id, name, args) => ({ id, name, args });
/** Returns the items of one type in the model's input. */
const items = (request, type) => request.body.input.filter((item) => item.type === type);

scenario('one answer', async (_, client) => {
  model.script({ text: 'Hello from “the” model — ✓ 🦀', usage: { input: 12, cached: 4, output: 5, reasoning: 2 } });
  const { data, request_id: requestId } = await client.chat.completions.create(ask('Hi')).withResponse();
  assert.equal(data.object, 'chat.completion');
  assert.equal(data.model, MODEL);
  assert.match(data.id, /^chatcmpl-/);
  assert.equal(requestId, data.id);
  assert.ok(Math.abs(data.created - Date.now() / 1000) < 60);
  const [choice] = data.choices;
  assert.deepEqual(choice.message, { role: 'assistant', content: 'Hello from “the” model — ✓ 🦀', refusal: null });
  assert.equal(choice.finish_reason, 'stop');
  assert.deepEqual(data.usage, {
    prompt_tokens: 12,
    completion_tokens: 5,
    total_tokens: 17,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  });
});

scenario('a stream', async (_, client) => {
  model.script({ text: 'Hello from “the” model — ✓ 🦀\u2028\u0085\r\nEnd' });
  const chunks = await collect(await client.chat.completions.create(ask('Hi', { stream: true })));
  assert.equal(contentOf(chunks), 'Hello from “the” model — ✓ 🦀\u2028\u0085\r\nEnd');
  assert.ok(chunks.length > 4, 'the text arrives in pieces');
  assert.equal(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.model}`)).size, 1);
  assert.ok(chunks.every((chunk) => chunk.object === 'chat.completion.chunk'));
  assert.equal(chunks[0].choices[0].delta.role, 'assistant');
  assert.equal(chunks.at(-1).choices[0].finish_reason, 'stop');
  assert.ok(chunks.every((chunk) => chunk.choices.length === 1 && !('usage' in chunk)));
});

scenario('a stream with usage', async (_, client) => {
  model.script({ text: 'Hi.', usage: { input: 12, output: 5 } });
  const stream = await client.chat.completions.create(ask('Hi', { stream: true, stream_options: { include_usage: true } }));
  const chunks = await collect(stream);
  assert.deepEqual(chunks.at(-1).choices, []);
  assert.equal(chunks.at(-1).usage.total_tokens, 17);
  assert.ok(chunks.slice(0, -1).every((chunk) => chunk.usage === null));
});

// OpenAI's own client accepts a stream without it as complete. Other clients wait for it.
test('[DONE] ends every stream but one that failed', async () => {
  for (const [turn, ends] of [[{ text: 'Hi.' }, true], [{ text: 'So far', end: 'error' }, false]]) {
    model.script(turn);
    const response = await post(`${app.api}/v1/chat/completions`, ask('Hi', { stream: true }));
    assert.match(response.headers.get('content-type'), /^text\/event-stream/);
    const frames = (await response.text()).split('\n\n');
    assert.equal(frames.pop(), '');
    assert.equal(frames.filter((frame) => frame === 'data: [DONE]').length, ends ? 1 : 0);
    if (ends) assert.equal(frames.pop(), 'data: [DONE]');
    const last = JSON.parse(frames.at(-1).replace(/^data: /, ''));
    assert.equal(ends ? last.choices[0].finish_reason : typeof last.error.message, ends ? 'stop' : 'string');
  }
});

scenario('the stream helper', async (_, client) => {
  model.script({ text: 'Hello there.' });
  const deltas = [];
  const stream = client.chat.completions.stream(ask('Hi')).on('content', (delta) => deltas.push(delta));
  assert.equal(await stream.finalContent(), 'Hello there.');
  assert.equal(deltas.join(''), 'Hello there.');
  assert.equal((await stream.finalChatCompletion()).choices[0].finish_reason, 'stop');
});

scenario('a conversation', async (_, client) => {
  model.script({ text: 'First answer.' }, { text: 'Second answer.' });
  const messages = [
    { role: 'developer', content: 'Talk like a pirate.' },
    { role: 'user', content: 'First question' },
  ];
  const first = await client.chat.completions.create({ model: MODEL, messages });
  messages.push(first.choices[0].message, { role: 'user', content: [{ type: 'text', text: 'Second question' }] });
  await client.chat.completions.create({ model: MODEL, messages });
  const { body } = model.requests[1];
  for (const said of ['First question', 'First answer.', 'Second question', 'Talk like a pirate.']) {
    assert.ok(JSON.stringify(body.input).includes(said), said);
  }
  assert.ok(!body.instructions.includes('pirate'), 'the caller cannot add instructions');
});

scenario('a tool of the caller and its result', async (_, client) => {
  model.script({ text: 'Let me see.', calls: [call('call_w', 'weather', { city: 'Oslo' })] }, { text: 'It rains.' });
  const messages = [{ role: 'user', content: 'Weather in Oslo?' }];
  const asked = await client.chat.completions.create({ model: MODEL, messages, tools: [weather] });
  const [choice] = asked.choices;
  assert.equal(choice.finish_reason, 'tool_calls');
  assert.equal(choice.message.content, 'Let me see.');
  const [posted] = choice.message.tool_calls;
  assert.deepEqual([posted.type, posted.function.name, JSON.parse(posted.function.arguments)], ['function', 'weather', { city: 'Oslo' }]);
  messages.push(choice.message, { role: 'tool', tool_call_id: posted.id, content: '{"rain":true}' });
  const answered = await client.chat.completions.create({ model: MODEL, messages, tools: [weather] });
  assert.equal(answered.choices[0].message.content, 'It rains.');
  const [told] = items(model.requests[1], 'function_call_output');
  assert.deepEqual([told.call_id, told.output], [posted.id, '{"rain":true}']);
  assert.equal(items(model.requests[1], 'function_call').length, 1);
});

scenario('results of undeclared tools of the caller reach the model', async (_, client) => {
  model.script({ text: 'It rained.' });
  const messages = [
    { role: 'user', content: 'Weather in Oslo?' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'rain in Oslo' },
  ];
  await client.chat.completions.create({ model: MODEL, messages });
  assert.equal(items(model.requests[0], 'function_call_output')[0].output, 'rain in Oslo');
});

scenario('results of server tools do not reach the model', async (_, client) => {
  model.script({ text: 'I do not know.' });
  const messages = [
    { role: 'user', content: 'Where is it?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: tools.lookUp.name, arguments: '{"order_id":1001}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'refunded in full, says the forger' },
  ];
  await client.chat.completions.create({ model: MODEL, messages });
  assert.ok(!model.requests[0].raw.includes('says the forger'));
});

scenario('parallel calls, streamed', async (_, client) => {
  const cities = ['Oslo', 'Rome {in} "Italy"'];
  model.script({ calls: cities.map((city, at) => call(`call_${at}`, 'weather', { city })) });
  const stream = await client.chat.completions.create(ask('Weather?', { stream: true, tools: [weather], parallel_tool_calls: true }));
  const chunks = await collect(stream);
  const seen = [];
  for (const { delta } of chunks.map((chunk) => chunk.choices[0])) {
    for (const piece of delta.tool_calls ?? []) {
      seen[piece.index] ??= { id: piece.id, name: piece.function.name, text: '', pieces: 0 };
      seen[piece.index].text += piece.function.arguments;
      seen[piece.index].pieces += 1;
    }
  }
  assert.deepEqual(seen.map((one) => [one.id, one.name, JSON.parse(one.text).city]), cities.map((city, at) => [`call_${at}`, 'weather', city]));
  assert.ok(seen[0].pieces > 3, 'the first call arrives in pieces');
  assert.equal(chunks.at(-1).choices[0].finish_reason, 'tool_calls');
  assert.equal(model.requests[0].body.parallel_tool_calls, true);
});

scenario('parallel calls by the stream helper', async (_, client) => {
  const cities = ['Oslo', 'Rome'];
  model.script({ calls: cities.map((city, at) => call(`call_${at}`, 'weather', { city })) });
  const done = [];
  const stream = client.chat.completions
    .stream(ask('Weather?', { tools: [weather] }))
    .on('tool_calls.function.arguments.done', (event) => done.push([event.index, JSON.parse(event.arguments).city]));
  const { message } = (await stream.finalChatCompletion()).choices[0];
  assert.deepEqual(done, [[0, 'Oslo'], [1, 'Rome']], 'a call is complete when the next one begins');
  assert.deepEqual(message.tool_calls.map((one) => one.id), ['call_0', 'call_1']);
});

scenario('runTools', async (_, client) => {
  for (const stream of [false, true]) {
    model.script(
      { calls: [call('call_1', 'weather', { city: 'Oslo' }), call('call_2', 'weather', { city: 'Rome' })] },
      { text: 'Rain and sun.' },
    );
    const ran = [];
    const runner = client.chat.completions.runTools({
      ...ask('Weather?'),
      stream,
      tools: [{
        type: 'function',
        function: {
          ...weather.function,
          parse: JSON.parse,
          function: ({ city }) => (ran.push(city), city === 'Oslo' ? 'rain' : 'sun'),
        },
      }],
    });
    assert.equal(await runner.finalContent(), 'Rain and sun.');
    assert.deepEqual(ran, ['Oslo', 'Rome']);
    const told = items(model.requests[1], 'function_call_output').map((item) => item.output);
    assert.deepEqual(told, ['rain', 'sun']);
  }
});

scenario('arguments that do not match the schema are corrected before the caller receives them', async (_, client) => {
  model.script(
    { calls: [call('call_bad', 'weather', { town: 'Oslo' })] },
    { calls: [call('call_good', 'weather', { city: 'Oslo' })] },
  );
  const { choices } = await client.chat.completions.create(ask('Weather?', { tools: [weather] }));
  assert.deepEqual(choices[0].message.tool_calls.map((one) => one.id), ['call_good']);
});

scenario('a call that the model did not finish is not valid JSON', async (_, client) => {
  model.script({ calls: [call('call_cut', 'weather', { city: 'Oslo' })], end: 'length' });
  const chunks = await collect(await client.chat.completions.create(ask('Weather?', { stream: true, tools: [weather] })));
  const text = chunks.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []).map((piece) => piece.function.arguments).join('');
  assert.ok(text.length > 3);
  assert.throws(() => JSON.parse(text));
  assert.equal(chunks.at(-1).choices[0].finish_reason, 'length');
});

scenario('server tools run and are hidden', async (_, client) => {
  const script = () => model.script(
    { reasoning: 'Hm.', text: 'Let me look.', calls: [call('call_a', tools.lookUp.name, tools.lookUp.args)] },
    { text: 'It is on its way.' },
  );
  script();
  const whole = await client.chat.completions.create(ask('Where is my order?'));
  assert.equal(whole.choices[0].message.content, 'Let me look.\n\nIt is on its way.');
  assert.equal(whole.choices[0].finish_reason, 'stop');
  script();
  const chunks = await collect(await client.chat.completions.create(ask('Where is my order?', { stream: true })));
  assert.equal(contentOf(chunks), 'Let me look.\n\nIt is on its way.');
  const all = JSON.stringify([whole, chunks]);
  assert.ok(!/call_a|order_status|Lovelace|Hm\.|tool_calls/.test(all), all);
  assert.equal(items(model.requests[1], 'function_call_output').length, 1, 'the tool ran');
});

scenario('server tools and reasoning are visible if the host enables it', async (sdk) => {
  const client = openClient(sdk, open.api);
  const script = () => model.script(
    { reasoning: 'Hm.', text: 'Let me look.', calls: [call('call_a', tools.lookUp.name, tools.lookUp.args)] },
    { text: 'It is on its way.' },
  );
  script();
  const whole = await client.chat.completions.create(ask('Where is my order?'));
  const [tool] = whole.omniassist.tools;
  assert.deepEqual([tool.name, tool.input, tool.output.id ?? tool.output.order_id ?? tool.output.number], ['order_status', { order_id: 1001 }, 1001]);
  assert.equal(whole.choices[0].message.reasoning_content, 'Hm.');
  script();
  const told = [];
  const stream = client.chat.completions.stream(ask('Where is my order?')).on('chunk', (chunk) => told.push(chunk.omniassist));
  const final = await stream.finalChatCompletion();
  assert.equal(final.choices[0].message.content, 'Let me look.\n\nIt is on its way.');
  assert.deepEqual(told.filter(Boolean).map(({ tool }) => Object.keys(tool)), [['id', 'name', 'input'], ['id', 'output']]);
});

scenario('a server tool and a tool of the caller in one turn', async (_, client) => {
  model.script({ calls: [call('call_s', tools.lookUp.name, tools.lookUp.args), call('call_c', 'weather', { city: 'Oslo' })] });
  const { choices } = await client.chat.completions.create(ask('Both', { tools: [weather] }));
  assert.deepEqual(choices[0].message.tool_calls.map((one) => one.id), ['call_c']);
  assert.equal(choices[0].finish_reason, 'tool_calls');
});

scenario('a tool of the page is not offered', async (_, client) => {
  model.script({ text: 'Hi.' });
  await client.chat.completions.create(ask('Hi', { tools: [weather] }));
  const offered = model.requests[0].body.tools.map((tool) => tool.name);
  assert.ok(offered.includes(tools.lookUp.name) && offered.includes('weather'));
  assert.ok(!offered.includes(tools.navigate.name) && !offered.includes(tools.fillForm.name));
});

scenario('tool_choice', async (_, client) => {
  for (const [choice, sent, offered] of [
    ['none', undefined, (names) => !names.includes('weather') && names.includes(tools.lookUp.name)],
    ['required', 'required', (names) => names.join() === 'weather'],
    [{ type: 'function', function: { name: 'weather' } }, { type: 'function', name: 'weather' }, (names) => names.join() === 'weather'],
  ]) {
    model.script({ text: 'Hi.' });
    await client.chat.completions.create(ask('Hi', { tools: [weather], tool_choice: choice }));
    const { body } = model.requests[0];
    assert.deepEqual(body.tool_choice === 'auto' ? undefined : body.tool_choice, sent);
    assert.ok(offered(body.tools.map((tool) => tool.name)), JSON.stringify(choice));
  }
});

scenario('structured outputs', async (sdk, client) => {
  const Event = z.object({ name: z.string(), people: z.array(z.string()) });
  const response_format = sdk.zodResponseFormat(Event, 'event');
  const event = { name: 'Fair', people: ['Ann', 'Bob'] };
  model.script({ text: JSON.stringify(event) }, { text: JSON.stringify(event) });
  const parsed = await client.chat.completions.parse(ask('Ann and Bob go to the fair', { response_format }));
  assert.deepEqual(parsed.choices[0].message.parsed, event);
  const { format } = model.requests[0].body.text;
  assert.equal(format.type, 'json_schema');
  assert.equal(format.name, 'event');
  assert.deepEqual(format.schema.required, ['name', 'people']);
  assert.equal(format.strict, true);
  const stream = client.chat.completions.stream(ask('Ann and Bob go to the fair', { response_format }));
  assert.deepEqual((await stream.finalChatCompletion()).choices[0].message.parsed, event);
});

scenario('parsed tool arguments', async (sdk, client) => {
  const tool = sdk.zodFunction({ name: 'weather', parameters: z.object({ city: z.string() }) });
  model.script({ calls: [call('call_w', 'weather', { city: 'Oslo' })] });
  const parsed = await client.chat.completions.parse(ask('Weather?', { tools: [tool] }));
  assert.deepEqual(parsed.choices[0].message.tool_calls[0].function.parsed_arguments, { city: 'Oslo' });
});

scenario('JSON mode', async (_, client) => {
  model.script({ text: '{"a":1}' });
  const answer = await client.chat.completions.create(ask('A as JSON', { response_format: { type: 'json_object' } }));
  assert.deepEqual(JSON.parse(answer.choices[0].message.content), { a: 1 });
  assert.match(JSON.stringify(model.requests[0].body.input), /one JSON object/);
});

scenario('an answer that was cut does not parse', async (sdk, client) => {
  model.script({ text: '{"name":', end: 'length' });
  const response_format = sdk.zodResponseFormat(z.object({ name: z.string() }), 'event');
  await assert.rejects(client.chat.completions.parse(ask('x', { response_format })), sdk.LengthFinishReasonError);
});

scenario('images and files reach the model, and audio as a note', async (_, client) => {
  const url = 'data:image/png;base64,iVBORw0KGgo=';
  const pdf = 'data:application/pdf;base64,JVBERi0=';
  model.script({ text: 'A dot.' });
  await client.chat.completions.create(ask([
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url, detail: 'low' } },
    { type: 'image_url', image_url: { url: 'https://pictures.example/dot.png' } },
    { type: 'file', file: { file_data: pdf, filename: 'a.pdf' } },
    { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
  ]));
  const [{ content }] = model.requests[0].body.input;
  assert.deepEqual(content.map((part) => part.type), ['input_text', 'input_image', 'input_image', 'input_file', 'input_text']);
  assert.deepEqual([content[1].image_url, content[2].image_url], [url, 'https://pictures.example/dot.png']);
  assert.deepEqual([content[3].file_data, content[3].filename], [pdf, 'a.pdf']);
  // The Responses API does not accept audio.
  assert.match(content[4].text, /audio\/wav/);
});

scenario('settings of a client do not reach the model', async (_, client) => {
  model.script({ text: 'Hi.' });
  await client.chat.completions.create(ask('Hi', {
    temperature: 0.1, top_p: 0.2, max_completion_tokens: 99, reasoning_effort: 'high', seed: 7, stop: ['x'],
    user: 'canary-user', metadata: { canary: 'canary-metadata' }, logit_bias: {}, presence_penalty: 1, store: true,
    service_tier: 'priority', base_url: 'http://canary.example', n: 1, logprobs: true,
  }));
  const { body, raw } = model.requests[0];
  for (const key of ['temperature', 'top_p', 'max_output_tokens', 'reasoning', 'seed', 'stop', 'user', 'metadata', 'service_tier']) {
    assert.ok(!(key in body), key);
  }
  assert.equal(body.store, false);
  assert.equal(body.model, 'scripted-model');
  assert.ok(!raw.includes('canary'));
});

scenario('400 names the parameter', async (sdk, client) => {
  for (const [more, param] of [
    [{ n: 2 }, 'n'],
    [{ modalities: ['audio', 'text'], audio: { voice: 'alloy', format: 'wav' } }, 'modalities'],
    [{ messages: [{ role: 'alien', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [] }, 'messages'],
    [{ tools: [{ ...weather, function: { ...weather.function, name: tools.lookUp.name } }] }, 'tools[0]'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ messages: [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'a', arguments: '' } }] }] }, 'messages[0].tool_calls[0].id'],
  ]) {
    for (const stream of [false, true]) {
      await assert.rejects(client.chat.completions.create(ask('Hi', { ...more, stream })), (error) => {
        assert.ok(error instanceof sdk.BadRequestError, String(error));
        assert.deepEqual([error.status, error.type, error.param], [400, 'invalid_request_error', param]);
        assert.match(error.code, /^[a-z_]+$/);
        return true;
      });
    }
  }
  assert.equal(model.requests.length, 0, 'the model receives no request');
});

scenario('404 for another model', async (sdk, client) => {
  await assert.rejects(client.chat.completions.create(ask('Hi', { model: 'gpt-5' })), (error) => {
    assert.ok(error instanceof sdk.NotFoundError);
    assert.equal(error.code, 'model_not_found');
    return true;
  });
});

scenario('413 for a body that is too large', async (_, client) => {
  await assert.rejects(client.chat.completions.create(ask('x'.repeat(MAX_BODY))), (error) => {
    assert.deepEqual([error.status, error.code], [413, 'body_too_large']);
    return true;
  });
});

scenario('models', async (sdk, client) => {
  const list = await client.models.list();
  assert.deepEqual(list.data.map((one) => [one.id, one.object, one.owned_by]),
    [MODEL, `${MODEL}/handbook`].map((id) => [id, 'model', 'omniassist']));
  assert.equal((await client.models.retrieve(MODEL)).id, MODEL);
  await assert.rejects(client.models.retrieve('gpt/5'), sdk.NotFoundError);
});

scenario('failures of the model have the classes that callers catch', async (sdk, client) => {
  const failing = (status, headers) => ({ before: { status, headers, body: { error: { message: CANARY } } } });
  for (const [status, kind, code, told] of [
    [429, sdk.RateLimitError, 'rate_limit_exceeded', 429],
    [503, sdk.InternalServerError, 'provider_unavailable', 503],
    [400, sdk.InternalServerError, 'provider_error', 502],
    [401, sdk.InternalServerError, 'provider_auth', 500],
  ]) {
    for (const stream of [false, true]) {
      model.script(...Array.from({ length: 3 }, () => failing(status, { 'retry-after': '0' })));
      await assert.rejects(client.chat.completions.create(ask('Hi', { stream })), (error) => {
        assert.ok(error instanceof kind, `${status}: ${error}`);
        assert.deepEqual([error.status, error.code], [told, code]);
        assert.ok(!String(error.message).includes(CANARY) && !JSON.stringify(error.error).includes('canary'));
        return true;
      });
    }
  }
});

scenario('the client repeats only requests that may succeed', async (sdk) => {
  const failing = (status) => ({ before: { status, headers: { 'retry-after': '0' } } });
  const down = () => Array.from({ length: 3 }, () => failing(503));
  const repeating = openClient(sdk, app.api, { maxRetries: 1 });
  model.script(...down(), { text: 'Back.' });
  const answer = await repeating.chat.completions.create(ask('Hi'));
  assert.equal(answer.choices[0].message.content, 'Back.');
  assert.equal(repeating.posts.length, 2);

  const refused = openClient(sdk, app.api, { maxRetries: 2 });
  model.script(failing(401), { text: 'No.' });
  await assert.rejects(refused.chat.completions.create(ask('Hi')));
  assert.equal(refused.posts.length, 1, 'a request with wrong credentials is not repeated');

  const ran = openClient(sdk, app.api, { maxRetries: 2 });
  model.script({ calls: [call('call_t', tools.ticket.name, tools.ticket.args)] }, ...down(), { text: 'No.' });
  await assert.rejects(ran.chat.completions.create(ask('Open a ticket')));
  assert.equal(ran.posts.length, 1, 'a run that has run tools is not repeated');
});

scenario('an error within the stream is thrown', async (sdk, client) => {
  for (const end of ['error', 'cut']) {
    model.script({ text: 'So far so good', end });
    const stream = await client.chat.completions.create(ask('Hi', { stream: true }));
    const chunks = [];
    await assert.rejects(
      (async () => {
        for await (const chunk of stream) chunks.push(chunk);
      })(),
      (error) => {
        assert.ok(error instanceof sdk.APIError, String(error));
        assert.match(error.code, /^(provider_error|provider_unavailable|stream_interrupted)$/);
        assert.ok(!String(error.message).includes(CANARY));
        return true;
      },
    );
    assert.equal(contentOf(chunks), 'So far so good');
  }
});

scenario('a disconnect closes the connection to the model within 250 ms', async (_, client) => {
  const closed = async (left) => {
    await until(() => model.requests[0].closedAt, 'the connection closes', 2_000);
    const took = model.requests[0].closedAt - left;
    assert.ok(took <= 250, `${took.toFixed(0)} ms`);
  };
  model.script({ text: 'This answer never ends', end: 'hang' });
  const stream = await client.chat.completions.create(ask('Hi', { stream: true }));
  let text = '';
  for await (const chunk of stream) {
    text += contentOf([chunk]);
    if (text.includes('ends')) break;
  }
  await closed(performance.now());

  for (const more of [{ stream: true }, {}]) {
    model.script({ end: 'hang' });
    const leaving = new AbortController();
    const asking = client.chat.completions.create(ask('Hi', more), { signal: leaving.signal });
    await until(() => model.requests.length === 1, 'the model receives the request');
    await sleep(100);
    const left = performance.now();
    leaving.abort();
    await assert.rejects(asking);
    await closed(left);
  }
});

scenario('20 simultaneous requests get their own answers', async (_, client) => {
  const say = (body) => ({ text: `echo ${JSON.stringify(body).match(/number-\d+-/)[0]}` });
  model.script(...Array.from({ length: 20 }, () => say));
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => client.chat.completions.create(ask(`number-${at}-`, { stream: at % 2 === 0 }))),
  );
  for (const [at, answer] of answers.entries()) {
    const text = at % 2 === 0 ? contentOf(await collect(answer)) : answer.choices[0].message.content;
    assert.equal(text, `echo number-${at}-`);
  }
});
