// Both OpenAI providers over a real socket: their requests, and their reactions to failures.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { tools } from '../lib/app.mjs';
import { CANARY, startFakeOpenAi } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, until } from '../lib/quickstart.mjs';
import { post, runOnce, user } from './wire.mjs';

const textOf = (chunks) => chunks.filter((chunk) => chunk.type === 'text-delta').map((chunk) => chunk.delta).join('');
const ofType = (chunks, type) => chunks.filter((chunk) => chunk.type === type);

for (const [setting, api] of [['openai', 'responses'], ['openai-chat', 'chat']]) {
  test(`provider ${setting}`, async (t) => {
    const model = await startFakeOpenAi();
    t.after(() => model.stop());
    const app = await startQuickstart(openai(setting, model.baseUrl));
    t.after(() => app.stop());
    const ask = (...turns) => {
      model.script(...turns);
      return runOnce(app.api, [user('Hi')]);
    };

    await t.test('the request has the right route, key, model, stream and tools', async () => {
      const { chunks } = await ask({ text: 'Hello.' });
      const [request] = model.requests;
      assert.equal(request.api, api);
      assert.equal(request.headers.authorization, 'Bearer sk-canary-of-the-suite');
      assert.equal(request.body.model, 'scripted-model');
      assert.equal(request.body.stream, true);
      const names = request.body.tools.map((tool) => tool.name ?? tool.function.name);
      assert.ok(names.includes(tools.lookUp.name) && names.includes(tools.navigate.name));
      assert.equal(textOf(chunks), 'Hello.');
    });

    await t.test('the requests are stateless', async () => {
      await ask({ text: 'Hello.' });
      const { body } = model.requests[0];
      assert.ok(!body.previous_response_id);
      if (api === 'responses') {
        assert.equal(body.store, false);
        assert.ok(body.include?.includes('reasoning.encrypted_content'));
      }
    });

    await t.test('reasoning text', async () => {
      const { chunks } = await ask({ reasoning: 'Thinking of it.', encrypted: 'x', text: 'Hello.' });
      assert.equal(ofType(chunks, 'reasoning-delta').map((chunk) => chunk.delta).join(''), 'Thinking of it.');
    });

    await t.test('a tool call and its result are returned', async () => {
      const { chunks } = await ask(
        { calls: [{ id: 'call_1', ...tools.lookUp }, { id: 'call_2', ...tools.search }] },
        { text: 'Found.' },
      );
      assert.deepEqual(ofType(chunks, 'tool-output-available').map((chunk) => chunk.toolCallId).sort(), ['call_1', 'call_2']);
      const { raw } = model.requests[1];
      assert.ok(raw.includes('call_1') && raw.includes('call_2'));
      assert.equal(textOf(chunks), 'Found.');
    });

    await t.test('429, then success', async () => {
      const busy = { before: { status: 429, headers: { 'retry-after': '1' }, body: { error: { message: CANARY } } } };
      const began = performance.now();
      const { chunks } = await ask(busy, { text: 'Hello.' });
      const took = performance.now() - began;
      assert.equal(textOf(chunks), 'Hello.');
      assert.equal(model.requests.length, 2);
      assert.ok(took >= 950, `the repeat waits for retry-after: ${took.toFixed(0)} ms`);
      assert.equal(model.requests[0].raw, model.requests[1].raw, 'the same request is repeated');
    });

    await t.test('repeated 503 ends in one error without details', async () => {
      const down = () => ({ before: { status: 503, body: { error: { message: CANARY } } } });
      const { chunks, text } = await ask(down(), down(), down(), down());
      assert.equal(model.requests.length, 3, 'two repeats by default');
      assert.equal(chunks.at(-1).type, 'error');
      assert.ok(!text.includes(CANARY));
    });

    await t.test('400 is not repeated', async () => {
      const { chunks } = await ask({ before: { status: 400, body: { error: { message: CANARY } } } }, { text: 'No.' });
      assert.equal(model.requests.length, 1);
      assert.equal(chunks.at(-1).type, 'error');
    });

    await t.test('an error inside the stream is not repeated after text', async () => {
      const { chunks, text } = await ask({ text: 'Half', end: 'error' }, { text: 'No.' });
      assert.equal(model.requests.length, 1);
      assert.equal(textOf(chunks), 'Half');
      assert.equal(ofType(chunks, 'error').length, 1);
      assert.ok(!text.includes(CANARY));
    });

    await t.test('a call cut off by length, error or connection never runs', async () => {
      for (const end of ['length', 'error', 'cut']) {
        const { chunks } = await ask({ calls: [{ id: 'call_t', ...tools.ticket }], end }, { text: 'Next.' });
        assert.equal(ofType(chunks, 'tool-output-available').length, 0, end);
      }
    });

    await t.test('complete calls before a call cut off by length run', async () => {
      const calls = [{ id: 'call_whole', ...tools.lookUp }, { id: 'call_cut', ...tools.ticket }];
      const { chunks } = await ask({ calls, end: 'length' }, { text: 'Next.' });
      assert.deepEqual(ofType(chunks, 'tool-output-available').map((chunk) => chunk.toolCallId), ['call_whole']);
    });

    await t.test('the finish reason length reaches the client', async () => {
      const { chunks } = await ask({ text: 'Long', end: 'length' });
      assert.equal(chunks.at(-1).finishReason, 'length');
    });

    await t.test('usage reaches the client', async () => {
      const { text } = await ask({ text: 'Hi.', usage: { input: 4321, output: 99 } });
      assert.ok(text.includes('4321') && text.includes('99'));
    });

    await t.test('a disconnect closes the connection to the model within 250 ms', async () => {
      const delays = [];
      for (const turn of [{ end: 'hang' }, { text: 'Some words', end: 'hang' }]) {
        model.script(turn);
        const leaving = new AbortController();
        const request = fetch(app.api, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ id: 'c', messages: [user('Hi')] }),
          signal: leaving.signal,
        }).then((response) => response.text());
        await until(() => model.requests.length === 1, 'the model receives the request');
        await new Promise((resolve) => setTimeout(resolve, 150));
        const left = performance.now();
        leaving.abort();
        await assert.rejects(request);
        await until(() => model.requests[0].closedAt, 'the connection closes', 2_000);
        delays.push(model.requests[0].closedAt - left);
      }
      t.diagnostic(`closed after ${delays.map((ms) => ms.toFixed(0)).join(' and ')} ms`);
      assert.ok(Math.max(...delays) <= 250, `${delays}`);
    });

    await t.test('50 simultaneous runs get their own answers', async () => {
      const say = (body) => ({ text: `echo ${JSON.stringify(body).match(/number-\d+-/)[0]}` });
      model.script(...Array.from({ length: 50 }, () => say));
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) => runOnce(app.api, [user(`number-${at}-`)], { id: `chat-${at}` })),
      );
      answers.forEach(({ chunks }, at) => assert.equal(textOf(chunks), `echo number-${at}-`));
    });
  });
}

test('an unreachable model server', async (t) => {
  const gone = await startFakeOpenAi();
  const { baseUrl } = gone;
  await gone.stop();
  const app = await startQuickstart(openai('openai', baseUrl));
  t.after(() => app.stop());
  const response = await post(app.api, { id: 'c', messages: [user('Hi')] });
  assert.equal(response.status, 200);
  const text = await response.text();
  assert.match(text, /"type":"error"/);
  assert.ok(!text.includes(new URL(baseUrl).port), 'the address does not reach the client');
});
