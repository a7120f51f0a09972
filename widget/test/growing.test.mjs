// The parser of growing JSON by its rules. growing-vectors.test.mjs compares it with the parser in Rust.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Growing } from '../out/components/growing.js';

function grown(text) {
  const growing = new Growing();
  growing.push(text);
  return growing;
}

test('incomplete tokens are omitted', () => {
  for (const [text, value, open] of [
    ['', undefined, undefined],
    ['nul', undefined, []],
    ['12', undefined, []],
    ['12 ', 12, undefined],
    ['"a 12', 'a 12', []],
    ['{"a":', {}, []],
    ['{"a": 1.5e3', {}, ['a']],
    ['{"a": 1,', { a: 1 }, []],
    ['{"a": "x\\ud83d\\ude0', { a: 'x' }, ['a']],
    ['{"a": "x\\ud83d\\ude00', { a: 'x😀' }, ['a']],
    ['[1, [{"a/~": [', [1, [{ 'a/~': [] }]], [1, 0, 'a/~']],
    ['{"a": [1], "a": "', { a: '' }, ['a']],
  ]) {
    const growing = grown(text);
    assert.deepEqual([growing.value, growing.open, growing.error], [value, open, undefined], text);
  }
});

test('an error ends the value, which stays as it is', () => {
  for (const text of ['nulx', '{a', '[1}', '[1,]', '[1e999]', '[01,', '\ufeff1', '["\\x', '["\\ude00', '["\\ud83da', '["a\nb', '{} {']) {
    const growing = grown(text);
    assert.equal(typeof growing.error, 'string', text);
    const [value, error] = [structuredClone(growing.value), growing.error];
    growing.push(']}"');
    growing.end();
    assert.deepEqual([growing.value, growing.error, growing.complete], [value, error, false], text);
  }
  assert.equal(grown('['.repeat(64) + ']'.repeat(64)).complete, true);
  assert.match(grown('['.repeat(65)).error, /nested/);
});

test('the end of the text completes a number and refuses an open value', () => {
  const growing = grown('12');
  growing.end();
  assert.deepEqual([growing.value, growing.complete], [12, true]);
  for (const text of ['', '-', '[1', 'tru', '"a']) {
    const open = grown(text);
    open.end();
    assert.notEqual(open.error, undefined, text);
  }
});

test('each member has a status', () => {
  const growing = grown('{"title": "a", "rows": [{"name": "b"}, {"name": "');
  const statuses = (...paths) => paths.map((path) => growing.status(path));
  const paths = [[], ['title'], ['rows', 0], ['rows', '1', 'name'], ['other'], ['title', 'a'], ['constructor']];
  assert.deepEqual(statuses(...paths), ['streaming', 'done', 'done', 'streaming', 'pending', 'pending', 'pending']);
  growing.push('c"}]}');
  assert.deepEqual(statuses(...paths.slice(0, 4)), ['done', 'done', 'done', 'done']);
});

test('a key of the prototype is an ordinary member', () => {
  const text = '{"__proto__": {"polluted": "ye';
  const growing = grown(text);
  assert.equal(Object.getPrototypeOf(growing.value), Object.prototype);
  growing.push('s"}, "__proto__": "te');
  growing.push('xt"}');
  assert.deepEqual(growing.value, JSON.parse('{"__proto__": "text"}'));
  assert.equal({}.polluted, undefined);
});

test('the work is linear in the length of the text', () => {
  // The time of the processor for 4 times the text. A parser that starts again for each delta needs 16 times as much.
  const work = (rows) => {
    const list = Array.from({ length: rows }, (_, id) => ({ id, name: `name ${id}\n`, done: null }));
    const text = JSON.stringify({ rows: list, text: 'x'.repeat(rows * 20) });
    const times = Array.from({ length: 3 }, () => {
      const before = process.cpuUsage();
      const growing = new Growing();
      for (let at = 0; at < text.length; at += 4) growing.push(text.slice(at, at + 4));
      assert.ok(growing.complete);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return [text.length, Math.min(...times)];
  };
  work(2_000);
  const [, small] = work(4_500);
  const [length, large] = work(18_000);
  assert.ok(length >= 2 ** 20, `${length}`);
  assert.ok(large / small < 9, `${large} µs, and ${small} µs for a quarter`);
});
