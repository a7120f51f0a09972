// Every type of chunk against the official packages' own schemas, with all objects made strict. Releases before
// 5.0.217, 6.0.231 and 7.0.32 refuse a chunk with an unlisted key, and all releases refuse null for an absent field.

import assert from 'node:assert/strict';
import { register } from 'node:module';
import { before, test } from 'node:test';

import { readStreams } from '../lib/streams.mjs';

/** The packages that must read the chunks for a version. */
const READERS = { 5: ['ai5', 'ai6', 'ai7'], 6: ['ai5', 'ai6', 'ai7'], 7: ['ai7'] };
/** The chunks that version 5 never receives. Without `?ai-sdk=5`, a page of that version must not use approvals. */
const NOT_FOR_5 = ['tool-approval-request', 'tool-output-denied'];
/** The fields that may be null, because they may have any value. */
const ANYTHING = ['input', 'output', 'data'];
/** The fields that the schemas accept as absent, although the later validation of the message requires them. */
const REQUIRED = {
  'tool-input-available': 'input',
  'tool-input-error': 'input',
  'tool-output-available': 'output',
  'message-metadata': 'messageMetadata',
};

const validators = {};
let lines;

before(async () => {
  register('./strict-hook.mjs', import.meta.url);
  for (const name of ['ai5', 'ai6', 'ai7']) {
    const schema = (await import(name)).uiMessageChunkSchema;
    const { validate } = typeof schema === 'function' ? schema() : schema;
    validators[name] = async (chunk) => (await validate(structuredClone(chunk))).success;
  }
  lines = readStreams('ai-sdk-chunks.jsonl');
});

test('the schemas are strict', async () => {
  for (const [name, accepts] of Object.entries(validators)) {
    assert.equal(await accepts({ type: 'text-start', id: 't' }), true, name);
    assert.equal(await accepts({ type: 'text-start', id: 't', more: 1 }), false, `${name}: a key that is not listed`);
    assert.equal(await accepts({ type: 'text-start', id: 't', providerMetadata: null }), false, `${name}: null`);
    assert.equal(await accepts({ type: 'text-begin', id: 't' }), false, `${name}: a type that is not listed`);
  }
});

for (const [version, readers] of Object.entries(READERS)) {
  for (const name of readers) {
    test(`${name} reads the chunks for version ${version}`, async () => {
      const refused = [];
      let checked = 0;
      for (const { chunk, event } of lines.filter((line) => String(line.version) === version)) {
        if (name === 'ai5' && NOT_FOR_5.includes(chunk.type)) continue;
        checked += 1;
        if (!(await validators[name](chunk))) refused.push({ event, chunk });
      }
      assert.deepEqual(refused, []);
      console.log(`${name}: ${checked} chunks for version ${version}`);
    });
  }
}

test('no field is null, and no required field is absent', () => {
  for (const { chunk } of lines) {
    const nulls = Object.keys(chunk).filter((key) => chunk[key] === null && !ANYTHING.includes(key));
    assert.deepEqual(nulls, [], JSON.stringify(chunk));
    const required = chunk.type.startsWith('data-') ? 'data' : REQUIRED[chunk.type];
    if (required) assert.ok(required in chunk, JSON.stringify(chunk));
  }
});

test('every chunk type of the common subset is covered', () => {
  const types = new Set(lines.filter((line) => line.version === 6).map((line) => line.chunk.type));
  assert.deepEqual([...types].sort(), [
    'abort', 'data-agent', 'data-agent-delta', 'data-statement', 'data-ui', 'data-ui-event', 'data-ui-state', 'error', 'file', 'finish', 'finish-step', 'message-metadata',
    'reasoning-delta', 'reasoning-end',
    'reasoning-start', 'source-document', 'source-url', 'start', 'start-step', 'text-delta', 'text-end', 'text-start',
    'tool-approval-request', 'tool-input-available', 'tool-input-delta', 'tool-input-error', 'tool-input-start',
    'tool-output-available', 'tool-output-denied', 'tool-output-error',
  ]);
});
