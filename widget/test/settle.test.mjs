// The part of a growing value that is shown, and the check of its complete parts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Growing } from '../out/components/growing.js';
import { settle } from '../out/components/settle.js';

const SCHEMA = {
  $defs: {
    Kind: { oneOf: [{ const: 'bar' }, { const: 'line' }] },
    Row: {
      type: 'object',
      properties: { id: { type: 'integer', minimum: 1 }, url: { type: 'string', format: 'uri' } },
      required: ['id'],
      additionalProperties: false,
    },
  },
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 3, maxLength: 8 },
    kind: { anyOf: [{ $ref: '#/$defs/Kind' }, { type: 'null' }] },
    time: { type: 'string', 'x-stream': 'atomic' },
    note: { type: 'string', pattern: '^.*$', 'x-stream': 'text' },
    rows: { type: 'array', minItems: 2, items: { $ref: '#/$defs/Row' } },
  },
  required: ['title'],
};

function settled(text, schema = SCHEMA) {
  const growing = new Growing();
  growing.push(text);
  assert.equal(growing.error, undefined, text);
  return settle(growing, schema);
}

test('parts with another meaning than the whole are not shown', () => {
  for (const [text, props] of [
    ['{"title": "Sa', { title: 'Sa' }],
    ['{"kind": "ba', {}],
    ['{"kind": "bar"', { kind: 'bar' }],
    ['{"time": "12:0', {}],
    ['{"note": "No', { note: 'No' }],
    ['{"rows": [{"id": 1, "url": "https://exa', { rows: [{ id: 1 }] }],
    ['{"rows": [{"id": 1, "url": "https://exa"', { rows: [{ id: 1, url: 'https://exa' }] }],
  ]) {
    assert.deepEqual(settled(text).props, props, text);
  }
  assert.equal(settled('"https://exa', { format: 'uri' }).props, undefined);
});

test('no part of an address, a word or a date is shown', () => {
  const props = { url: 'https://example.com/a', kind: 'line', when: '2026-11-30', text: 'a "b" c', size: 12.5 };
  const schema = {
    properties: {
      url: { type: 'string', format: 'uri' },
      kind: { enum: ['line', 'lin'] },
      when: { type: 'string', format: 'date' },
    },
  };
  const growing = new Growing();
  let texts = 0;
  for (const char of JSON.stringify(props)) {
    growing.push(char);
    const shown = settle(growing, schema).props ?? {};
    for (const key of ['url', 'kind', 'when', 'size']) assert.ok([undefined, props[key]].includes(shown[key]), key);
    texts += shown.text !== undefined && shown.text !== props.text;
  }
  assert.deepEqual(settle(growing, schema).props, props);
  assert.ok(texts > 4, 'the text grew');
});

test('complete parts are checked, and open ones by their type', () => {
  for (const [text, ...errors] of [
    ['{"title": "a'],
    ['{"title": "a"', ['/title', 'minLength 3']],
    ['{"title": "too long for it"', ['/title', 'maxLength 8']],
    ['{"title": 7'],
    ['{"title": 7,', ['/title', 'type string']],
    ['{"title": {', ['/title', 'type string']],
    ['{"rows": [{"id": 0'],
    ['{"rows": [{"id": 0,', ['/rows/0/id', 'minimum 1']],
    ['{"rows": [{"url": "a"'],
    ['{"rows": [{"url": "a"}', ['/rows/0/id', 'required']],
    ['{"rows": [{"id": 1.5,', ['/rows/0/id', 'type integer']],
    ['{"rows": [{"id": 1, "a/b": 1}', ['/rows/0/a~1b', 'false']],
    ['{"rows": [{"id": 1}]', ['/rows', 'minItems 2']],
    ['{"kind": "pie"', ['/kind', 'enum ["bar"] | enum ["line"] | type null']],
    ['{"kind": null}', ['/title', 'required']],
    ['[', ['', 'type object']],
  ]) {
    const found = settled(text).errors.map(({ path, message }) => [path, message]);
    assert.deepEqual(found, errors, text);
  }
});

test('a value that another parser repaired is open at its last members', () => {
  const value = { title: 'a', kind: 'ba', rows: [{ id: 1 }, { id: 2, url: 'https://exa' }] };
  const open = settle({ value, open: true }, SCHEMA);
  assert.deepEqual(open.props.rows, [{ id: 1 }, { id: 2 }]);
  assert.deepEqual([open.status(['rows', 0]), open.status(['rows', 1, 'url'])], ['done', 'streaming']);
  assert.deepEqual(settle({ value: { title: 'abc', size: 1 }, open: true }, SCHEMA).props, { title: 'abc' });
  assert.deepEqual(settle({ value: { rows: [{ id: 0 }] }, open: true }, SCHEMA).errors, [], 'the number is open');
  assert.equal(settle({ value, open: false }, SCHEMA).props, value);
  assert.equal(settle({ value: undefined, open: true }, SCHEMA).props, undefined);
});

test('a schema that contains itself ends', () => {
  const endless = { $ref: '#', anyOf: [{ $ref: '#' }, { items: { $ref: '#' } }] };
  const text = `${'['.repeat(60)}"a`;
  assert.deepEqual(settled(text, endless).errors, []);
  assert.deepEqual(settled(`${text}"${']'.repeat(60)}`, endless).errors, []);
});

test('complete parts are checked once', () => {
  let checks = 0;
  const item = { type: 'object', get required() { checks++; return ['id']; } };
  const growing = new Growing();
  growing.push('[');
  for (let id = 0; id < 200; id++) {
    growing.push(`{"id": ${id}},`);
    settle(growing, { items: item });
  }
  assert.equal(checks, 200);
});
