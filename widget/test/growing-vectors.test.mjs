// The cases that the tests of omniassist-core wrote: both parsers show the same after each part of a text. Numbers are
// compared as doubles, with the sign of zero. Integers beyond 2^53 are exact in Rust and are rounded here.

import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { Growing } from '../out/components/growing.js';
import { settle } from '../out/components/settle.js';

const file = process.env.OMNIASSIST_GROWING_VECTORS;

test('both parsers show the same', { skip: file ? false : 'OMNIASSIST_GROWING_VECTORS is not set' }, async () => {
  let cases = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { chunks, schema, steps } = JSON.parse(line);
    const growing = new Growing();
    steps.forEach((step, index) => {
      if (index < chunks.length) growing.push(chunks[index]);
      else growing.end();
      const shown = settle(growing, schema).props;
      const expected = 'shown' in step ? step.shown[0] : step.value;
      const found = [growing.error !== undefined, growing.open && pointer(growing.open), growing.value, shown];
      const wanted = [step.failed, step.open, step.value, expected];
      if (!found.every((part, at) => same(part, wanted[at]))) {
        const where = `after part ${index} of ${JSON.stringify(chunks)} with ${JSON.stringify(schema)}`;
        assert.deepEqual(found, wanted, where);
        assert.fail(where);
      }
    });
    assertStrict(growing, chunks.join(''));
    cases++;
  }
  assert.equal(cases, 100_000);
});

/** Compares the value at the end with that of JSON.parse, which also accepts half surrogate pairs and endless numbers. */
function assertStrict(growing, text) {
  let strict;
  try {
    strict = JSON.parse(text);
  } catch {
    assert.equal(growing.complete, false, text);
    return;
  }
  if (growing.complete) assert.equal(JSON.stringify(growing.value), JSON.stringify(strict), text);
  else assert.ok(isRefused(text), `${text}: ${growing.error}`);
}

/** A value that a later one of the same key replaces counts too, so only the text can tell. */
function isRefused(text) {
  const numbers = text.match(/-?\d[\d.eE+-]*/g) ?? [];
  return text.split(/[[{]/).length > 64 || /\\ud[89a-f]/i.test(text) || !numbers.map(Number).every(Number.isFinite);
}

function pointer(path) {
  return path.map((step) => `/${`${step}`.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function same(found, expected) {
  if (typeof found !== 'object' || typeof expected !== 'object' || found === null || expected === null) {
    return Object.is(found, expected);
  }
  const keys = Object.keys(found);
  return (
    Array.isArray(found) === Array.isArray(expected) &&
    keys.length === Object.keys(expected).length &&
    keys.every((key) => Object.hasOwn(expected, key) && same(found[key], expected[key]))
  );
}
