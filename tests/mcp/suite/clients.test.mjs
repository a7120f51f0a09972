// The official clients against the server at MCP_URL.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import * as v2 from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const url = new URL(process.env.MCP_URL);
const info = { name: 'omniassist-suite', version: '1' };
const GUARDED = 'refund';

/** Connects the client of version 2, whose user answers each question with `answer`. */
async function connectV2(mode, capabilities, answer) {
  const client = new v2.Client(info, { capabilities, versionNegotiation: { mode } });
  const asked = [];
  if (answer) {
    client.setRequestHandler('elicitation/create', async request => {
      asked.push(request.params.message);
      return answer;
    });
  }
  await client.connect(new v2.StreamableHTTPClientTransport(url));
  return { client, asked };
}

async function connectV1(capabilities) {
  const client = new ClientV1(info, { capabilities });
  await client.connect(new TransportV1(url));
  return { client };
}

const clients = {
  'client 2, 2026-07-28': () => connectV2({ pin: '2026-07-28' }, {}),
  'client 2, negotiated': () => connectV2('auto', {}),
  'client 2, 2025-11-25': () => connectV2('legacy', {}),
  'sdk 1': () => connectV1({}),
};

for (const [name, connect] of Object.entries(clients)) {
  test(`${name}: lists and calls tools`, async () => {
    const { client } = await connect();
    const { tools } = await client.listTools();
    assert.ok(tools.some(tool => tool.name === 'add' && tool.annotations.readOnlyHint));
    const sum = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
    assert.deepEqual(sum.content, [{ type: 'text', text: '3.0' }]);
    const failed = await client.callTool({ name: 'add', arguments: { a: 'x' } });
    assert.ok(failed.isError);
    await assert.rejects(client.callTool({ name: 'absent', arguments: {} }), error => error.code === -32602);
    await client.close();
  });

  test(`${name}: learns that it cannot approve`, async () => {
    const { client } = await connect();
    const refused = await client.callTool({ name: GUARDED, arguments: {} });
    assert.ok(refused.isError);
    assert.match(refused.content[0].text, /cannot ask for it\. It was not run/);
    await client.close();
  });

  test(`${name}: reads progress`, async () => {
    const { client } = await connect();
    const seen = [];
    const call = { name: 'test_tool_with_progress', arguments: {} };
    const onprogress = progress => seen.push(progress.message);
    const options = { onprogress };
    const result = name.startsWith('sdk') ? await client.callTool(call, undefined, options) : await client.callTool(call, options);
    assert.equal(result.content[0].text, 'Done.');
    assert.deepEqual(seen, ['0', '50', '100']);
    await client.close();
  });

  test(`${name}: cancels a call`, async () => {
    const { client } = await connect();
    const { client: other } = await connect();
    const cancelled = async () => Number((await other.callTool({ name: 'cancelled_calls' })).content[0].text);
    const before = await cancelled();
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 200);
    const call = { name: 'slow', arguments: {} };
    const options = { signal: abort.signal };
    await assert.rejects(name.startsWith('sdk') ? client.callTool(call, undefined, options) : client.callTool(call, options));
    // Without sessions, the notification of the older protocol names no call: the end of the request cancels it.
    await client.close();
    for (let tries = 0; tries < 100 && (await cancelled()) === before; tries += 1) await sleep(20);
    assert.equal(await cancelled(), before + 1);
    await other.close();
  });
}

test('client 2 asks its user, and the approved call runs', async () => {
  const answer = { action: 'accept', content: { approve: true } };
  const { client, asked } = await connectV2({ pin: '2026-07-28' }, { elicitation: { form: {} } }, answer);
  const result = await client.callTool({ name: GUARDED, arguments: {} });
  assert.equal(result.content[0].text, 'Refunded.');
  assert.deepEqual(asked, [`Give this back?\n\n${GUARDED} {}`]);
  await client.close();
});

test('client 2 denies', async () => {
  const { client } = await connectV2({ pin: '2026-07-28' }, { elicitation: { form: {} } }, { action: 'decline' });
  const result = await client.callTool({ name: GUARDED, arguments: {} });
  assert.ok(result.isError);
  assert.match(result.content[0].text, /denied/);
  await client.close();
});

test('client 2 fills in the form of an agent', async () => {
  const answer = { action: 'accept', content: { name: 'Ann' } };
  const { client, asked } = await connectV2({ pin: '2026-07-28' }, { elicitation: { form: {} } }, answer);
  const result = await client.callTool({ name: 'ask_greeter', arguments: { message: 'Hi' } });
  assert.equal(result.content[0].text, 'Hello, {"name":"Ann"}!');
  assert.deepEqual(asked, ['What is your name?']);
  await client.close();
});
