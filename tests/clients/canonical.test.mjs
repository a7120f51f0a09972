// The recorded vectors of the canonical form of JSON must equal the output of this JavaScript engine.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { vectors } from '../../omniassist-core/tests/canonical/make.mjs';

test('the recorded canonical forms are those of this engine', async () => {
  const file = new URL('../../omniassist-core/tests/canonical/vectors.jsonl', import.meta.url);
  const recorded = (await readFile(file, 'utf8')).trimEnd().split('\n');
  assert.deepEqual(recorded, [...vectors()]);
});
