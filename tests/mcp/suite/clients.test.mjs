// The official clients against the server at MCP_URL, and against the program MCP_SERVER over its standard input and output.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const url = new URL(process.env.MCP_URL);
const info = { name: 'omniassist-suite', version: '1' };
const GUARDED = 'refund';

const program = { command: process.env.MCP_SERVER, args: ['stdio'] };
const http = { v1: () => new TransportV1(url), v2: () => new v2.StreamableHTTPClientTransport(url) };
const stdio = { v1: () => new StdioV1(program), v2: () => new StdioV2(program) };

/** Connects the client of version 2, whose user answers each question with `answer`. */
async function connectV2(mode, capabilities, answer, to = http) {
  const client = new v2.Client(info, { capabilities, versionNegotiation: { mode } });
  const asked = [];
  if (answer) {
    client.setRequestHandler('elicitation/create', async request => {
      asked.push(request.params.message);
      return answer;
    });
  }
  await client.connect(to.v2());
  return { client, asked };
}

async function connectV1(capabilities, to = http) {
  const client = new ClientV1(info, { capabilities });
  await client.connect(to.v1());
  return { client };
}

const clients = {
  'client 2, 2026-07-28': () => connectV2({ pin: '2026-07-28' }, {}),
  'client 2, negotiated': () => connectV2('auto', {}),
  'client 2, 2025-11-25': () => connectV2('legacy', {}),
  'sdk 1': () => connectV1({}),
  'stdio, client 2, 2026-07-28': () => connectV2({ pin: '2026-07-28' }, {}, undefined, stdio),
  'stdio, client 2, negotiated': () => connectV2('auto', {}, undefined, stdio),
  'stdio, client 2, 2025-11-25': () => connectV2('legacy', {}, undefined, stdio),
  'stdio, sdk 1': () => connectV1({}, stdio),
};

/** Returns the one content of a tool's result, a resource or a message. */
const only = list => {
  assert.equal(list.length, 1);
  return list[0];
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

  test(`${name}: reads resources, prompts and media`, async () => {
    const { client } = await connect();
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map(resource => resource.uri), ['test://static-binary', 'test://static-text']);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.equal(only(resourceTemplates).uriTemplate, 'test://template/{id}/data');
    const record = only((await client.readResource({ uri: 'test://template/a%20b/data' })).contents);
    assert.equal(JSON.parse(record.text).id, 'a b');
    const image = only((await client.readResource({ uri: 'test://static-binary' })).contents);
    assert.equal(Buffer.from(image.blob, 'base64').subarray(1, 4).toString(), 'PNG');
    const shown = only((await client.callTool({ name: 'test_image_content', arguments: {} })).content);
    assert.deepEqual([shown.type, shown.mimeType, shown.data], ['image', 'image/png', image.blob]);
    await assert.rejects(client.readResource({ uri: 'test://absent' }));

    const { prompts } = await client.listPrompts();
    assert.equal(prompts.length, 5);
    const name = 'test_prompt_with_arguments';
    const prompt = await client.getPrompt({ name, arguments: { arg1: 'x', arg2: 'y' } });
    assert.equal(only(prompt.messages).content.text, "Prompt with arguments: arg1='x', arg2='y'");
    await assert.rejects(client.getPrompt({ name, arguments: { arg1: 'x' } }), /arg2/);
    const { completion } = await client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: 'arg1', value: 'part' } });
    assert.deepEqual(completion.values, ['party']);
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
    const result = name.includes('sdk') ? await client.callTool(call, undefined, options) : await client.callTool(call, options);
    assert.equal(result.content[0].text, 'Done.');
    assert.deepEqual(seen, ['0', '50', '100']);
    await client.close();
  });

  test(`${name}: cancels a call`, async () => {
    const { client } = await connect();
    // Over standard input and output, each client has a server of its own.
    const { client: other } = name.startsWith('stdio') ? { client } : await connect();
    const cancelled = async () => Number((await other.callTool({ name: 'cancelled_calls' })).content[0].text);
    const before = await cancelled();
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 200);
    const call = { name: 'slow', arguments: {} };
    const options = { signal: abort.signal };
    await assert.rejects(name.includes('sdk') ? client.callTool(call, undefined, options) : client.callTool(call, options));
    // Without sessions, the notification of the older protocol names no call: the end of the request cancels it.
    if (other !== client) await client.close();
    for (let tries = 0; tries < 100 && (await cancelled()) === before; tries += 1) await sleep(20);
    assert.equal(await cancelled(), before + 1);
    await other.close();
  });
}

for (const [where, to] of Object.entries({ http, stdio })) {
  test(`client 2 asks its user over ${where}, and the approved call runs`, async () => {
    const answer = { action: 'accept', content: { approve: true } };
    const { client, asked } = await connectV2({ pin: '2026-07-28' }, { elicitation: { form: {} } }, answer, to);
    const result = await client.callTool({ name: GUARDED, arguments: {} });
    assert.equal(result.content[0].text, 'Refunded.');
    assert.deepEqual(asked, [`Give this back?\n\n${GUARDED} {}`]);
    await client.close();
  });

  test(`client 2 asks its user over ${where} for the argument of a prompt`, async () => {
    const answer = { action: 'accept', content: { context: 'the weather' } };
    const { client, asked } = await connectV2({ pin: '2026-07-28' }, { elicitation: { form: {} } }, answer, to);
    const prompt = await client.getPrompt({ name: 'test_input_required_result_prompt' });
    assert.equal(only(prompt.messages).content.text, 'Consider: the weather');
    assert.deepEqual(asked, ['Asks for its argument']);
    await client.close();
  });
}

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
