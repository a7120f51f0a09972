// The cases that the tests of omniassist-core wrote: both compressors give the same bytes and the same numbers.

import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { compress } from '../out/context/index.js';

const file = process.env.OMNIASSIST_CONTEXT_VECTORS;
const skip = file ? false : 'OMNIASSIST_CONTEXT_VECTORS is not set';
const templates = { template: ({ data }) => (typeof data?.line === 'string' ? data.line : undefined) };

test('contract_001_08 the compressors of server and browser give the same bytes', { skip }, async () => {
  let cases = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { messages, options, block, needsSummary, receipt } = JSON.parse(line);
    const found = compress(messages, { ...options, templates });
    const numbers = Object.keys(found.receipt).every((key) => found.receipt[key] === receipt[key]);
    if (found.block !== block || found.needsSummary !== needsSummary || !numbers) {
      const { summarised, summaryFailed, ...counts } = receipt;
      assert.deepEqual(found, { block, needsSummary, receipt: counts }, line);
    }
    cases++;
  }
  assert.equal(cases, 100_000);
});
