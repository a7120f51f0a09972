// What `<omniassist-agents>` makes of frames and connections that the tests write.

import assert from 'node:assert/strict';
import { asking, framesSuite, state } from '../testing/tree-frames.mjs';

const test = framesSuite();

test('enter in the reason of an approval decides nothing', async ({ page, say, sent }) => {
  await say(asking('r', null, 'Refund 5000 EUR?', { input: { amount: 5000 } }));
  const reason = page.getByLabel('Reason (optional)');
  await reason.fill('This is far too much');
  await reason.press('Enter');
  await reason.press('Shift+Enter');
  assert.deepEqual(await sent(), []);
  await page.getByRole('button', { name: 'Deny' }).click();
  assert.deepEqual(await sent(), [
    { type: 'call-response', agentId: 'r', queryId: 'query-r', approved: false, reason: 'This is far too much' },
  ]);
});

test('enter in a check box of a form sends the form, and declines nothing', async ({ page, say, sent }) => {
  await say(asking('r', null, 'What is returned?', { schema: { properties: { insured: { type: 'boolean' } } } }));
  await page.getByLabel('Insured').press('Enter');
  assert.deepEqual(await sent(), [
    { type: 'call-response', agentId: 'r', queryId: 'query-r', approved: true, output: { insured: false } },
  ]);
});
