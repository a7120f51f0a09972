// The parts of an answer beside text: data, progress, sources, files, reasoning and metadata.

import assert from 'node:assert/strict';

import { calls } from '../lib/ledger.mjs';
import { last, shape, textOf, toolParts } from './chat.mjs';
import { items, outputOf } from './kept.mjs';
import { call, ledgerSuite, states } from './ledger.mjs';

const { scenario, ran } = ledgerSuite();

scenario('parts: several steps', async ({ model, open }) => {
  const [one, two, three] = [call(calls.balance()), call(calls.small()), call(calls.balance())];
  model.script({ text: 'First ', calls: [one] }, { calls: [two] }, { text: 'then ', calls: [three] }, { text: 'done.' });
  const chat = open();
  await chat.sendMessage({ text: 'Check, pay, check' });
  assert.equal(textOf(last(chat)), 'First then done.');
  assert.equal(shape(last(chat)).filter((type) => type === 'step-start').length, 4);
  assert.deepEqual((await ran(chat)).map((entry) => entry.call), [one.id, two.id, three.id]);
  assert.ok(toolParts(last(chat)).every((part) => part.providerExecuted === undefined), 'the provider ran none of them');
  assert.deepEqual(last(chat).metadata.usage.inputTokens, 44, 'the tokens of all steps');
  return chat;
});

scenario('parts: text of any kind', async ({ model, open }) => {
  const text = '“ü” — ✓ 🦀\n\n\tdata: "{\\}"\r\n\u2028\u0085\u0001 end\n';
  model.script({ text });
  const chat = open();
  await chat.sendMessage({ text });
  assert.equal(textOf(last(chat)), text);
  return chat;
});

scenario('parts: reasoning with state, before a tool and after it', async ({ model, open }) => {
  const state = (word) => `gAAA+/=${word}"\\\n🦀`;
  model.script(
    { reasoning: 'They want a figure.', encrypted: state('one'), calls: [call(calls.balance())] },
    { reasoning: 'There it is.', encrypted: state('two'), text: 'It is fine.' },
  );
  const chat = open();
  await chat.sendMessage({ text: 'How much?' });
  const reasoning = last(chat).parts.filter((part) => part.type === 'reasoning');
  assert.deepEqual(reasoning.map((part) => [part.text, part.state]), [['They want a figure.', 'done'], ['There it is.', 'done']]);
  const [sent] = items(model.requests[1], 'reasoning');
  assert.equal(sent.encrypted_content, state('one'), 'the state is returned within the run');
  model.script({ text: 'Yes.' });
  await chat.sendMessage({ text: 'Sure?' });
  const kept = items(model.requests[0], 'reasoning').map((item) => item.encrypted_content);
  assert.deepEqual(kept, [state('one'), state('two')], 'the states are returned from the page');
  return chat;
});

scenario('parts: data that is kept, replaced or transient', async ({ model, open }) => {
  const passing = [];
  const statement = call(calls.statement());
  model.script({ calls: [statement] }, { text: 'Here it is.' });
  const chat = open({ onData: (part) => passing.push(part) });
  await chat.sendMessage({ text: 'My statement' });
  const data = last(chat).parts.filter((part) => part.type.startsWith('data-'));
  assert.deepEqual(data.map(({ type, id, data }) => ({ type, id, data })), [
    { type: 'data-statement', id: 'rent', data: { pages: 4 } },
    { type: 'data-receipt', id: undefined, data: { account: 'rent', pages: 4 } },
  ], 'one part per id, with the last data');
  const grown = chat.seen.flatMap((message) => message.parts).filter((part) => part.type === 'data-statement');
  assert.ok(new Set(grown.map((part) => part.data.pages)).size > 1, 'the page receives each new value');
  const pages = passing.filter((part) => part.type === 'data-page').map((part) => part.data.page);
  assert.deepEqual(pages, [1, 2, 3, 4]);
  return chat;
});

scenario('parts: progress of a tool', async ({ model, open }) => {
  const statement = call(calls.statement('savings'));
  model.script({ calls: [statement] }, { text: 'Here it is.' });
  const chat = open();
  await chat.sendMessage({ text: 'My statement' });
  const early = chat.seen.flatMap(toolParts).filter((part) => part.preliminary);
  assert.deepEqual([...new Set(early.map((part) => part.output.page))], [1, 2, 3, 4]);
  const [final] = toolParts(last(chat));
  assert.deepEqual([final.state, final.preliminary ?? false, final.output.account], ['output-available', false, 'savings']);
  assert.deepEqual(JSON.parse(outputOf(model.requests[1], statement.id)), final.output, 'the model receives only the last output');
  return chat;
});

scenario('parts: sources', async ({ model, open }) => {
  const sources = [{ url: 'https://example.org/a?b=1', title: 'A “source”' }, { url: 'https://example.org/c' }, { filename: 'terms.pdf' }];
  model.script({ text: 'As it says there.', sources });
  const chat = open();
  await chat.sendMessage({ text: 'Says who?' });
  const found = last(chat).parts.filter((part) => part.type.startsWith('source-'));
  assert.deepEqual(found.map(({ type, url, title, filename, mediaType }) => [type, url ?? filename, title ?? mediaType]), [
    ['source-url', sources[0].url, sources[0].title],
    ['source-url', sources[1].url, undefined],
    ['source-document', 'terms.pdf', 'terms.pdf'],
  ]);
  assert.equal(new Set(found.map((part) => part.sourceId)).size, 3);
  return chat;
});

scenario('parts: a file that the model made', async ({ model, open }) => {
  model.script({ text: 'A chart:', image: 'iVBORw0KGgo=' });
  const chat = open();
  await chat.sendMessage({ text: 'Draw it' });
  const file = last(chat).parts.find((part) => part.type === 'file');
  assert.deepEqual([file.mediaType, file.url], ['image/png', 'data:image/png;base64,iVBORw0KGgo=']);
  return chat;
});

scenario('parts: a file that the user sends', async ({ model, open }) => {
  model.script({ text: 'I see.' });
  const chat = open();
  const url = 'data:image/png;base64,iVBORw0KGgo=';
  await chat.sendMessage({ text: 'What is this?', files: [{ type: 'file', mediaType: 'image/png', url, filename: 'a.png' }] });
  assert.equal(textOf(last(chat)), 'I see.');
  assert.ok(model.requests[0].raw.includes(url), 'the model receives the file');
  return chat;
});

scenario('parts: metadata, with a schema that allows the server\'s fields', async ({ ai, model, open }) => {
  const schema = {
    type: 'object',
    properties: { usage: { type: 'object' }, omniassist: { type: 'object' } },
    required: [],
    additionalProperties: false,
  };
  const seen = [];
  const validate = (value) => {
    seen.push(structuredClone(value));
    const strange = Object.keys(value).filter((key) => !(key in schema.properties));
    return strange.length === 0 ? { success: true, value } : { success: false, error: new Error(strange.join()) };
  };
  model.script({ calls: [call(calls.balance())] }, { text: 'Counted.', usage: { input: 1000, output: 5 } });
  const chat = open({ messageMetadataSchema: ai.jsonSchema(schema, { validate }) });
  await chat.sendMessage({ text: 'How much?' });
  assert.equal(chat.status, 'ready', chat.error?.message);
  assert.deepEqual([last(chat).metadata.usage.inputTokens, last(chat).metadata.usage.outputTokens], [1011, 12]);
  assert.ok(seen.some((metadata) => metadata.omniassist?.seals), 'the schema validates the seals');
  return chat;
});

scenario('parts: the model stops at its limit', async ({ model, open, version }) => {
  model.script({ text: 'This goes on and', end: 'length' });
  const chat = open();
  await chat.sendMessage({ text: 'Tell me all' });
  assert.equal(chat.status, 'ready');
  if (version !== 'v5') assert.equal(chat.finishes[0].finishReason, 'length');
  assert.equal(last(chat).parts.at(-1).state, 'done');
  return chat;
});

scenario('parts: an empty answer', async ({ model, open }) => {
  model.script({});
  const chat = open();
  await chat.sendMessage({ text: 'Hm?' });
  assert.equal(chat.status, 'ready', chat.error?.message);
  return chat;
});

scenario('parts: a model that reuses call ids', async ({ model, open }) => {
  const numbered = (what) => ({ id: 'call_0', ...what });
  model.script({ calls: [numbered(calls.balance('rent'))] }, { calls: [numbered(calls.balance('travel'))] }, { text: 'Both.' });
  const chat = open();
  await chat.sendMessage({ text: 'How much?' });
  assert.equal(textOf(last(chat)), 'Both.');
  const parts = toolParts(last(chat));
  assert.deepEqual(parts.map((part) => part.output?.account), ['rent', 'travel']);
  assert.equal(new Set(parts.map((part) => part.toolCallId)).size, 2);
  return chat;
});

scenario('parts: calls that cannot run', async ({ model, open }) => {
  model.script(
    { calls: [call({ name: 'balance', args: { account: 7 } }), call({ name: 'balance', args: '{"account": ' })] },
    { calls: [call({ name: 'print_money', args: {} }), call(calls.balance())] },
    { text: 'At last.' },
  );
  const chat = open();
  await chat.sendMessage({ text: 'How much?' });
  assert.equal(textOf(last(chat)), 'At last.');
  assert.deepEqual(states(chat), ['output-error', 'output-error', 'output-error', 'output-available']);
  assert.equal((await ran(chat)).length, 1);
  return chat;
});
