// Calls of agents that wait for their user, in `<omniassist-agents>` with the back office.

import assert from 'node:assert/strict';
import { after, before, test as testAlways } from 'node:test';

import { startBackOffice } from '../../tests/lib/back-office.mjs';
import { startFakeOpenAi } from '../../tests/lib/fake-openai.mjs';
import { openBrowser } from '../testing/page.mjs';
import { axe, bundle, openBefore } from '../testing/tree-page.mjs';
import { program } from '../testing/programs.mjs';

program('BACK_OFFICE_BIN', 'back-office');
const test = (name, run) => testAlways(name, { timeout: 60_000 }, run);

/** Returns the turn of a model that makes `call` once and then says what came of it. It asks nothing else. */
const turns = (call) => (body) => {
  const schema = body.text?.format?.name;
  if (schema === 'question') return { text: '{"ask":null}' };
  if (schema === 'questions') return { text: '{"questions":[]}' };
  const result = body.input.find((item) => item.type === 'function_call_output');
  return result ? { text: `The tool said: ${result.output}` } : { calls: [{ id: 'call_1', ...call }] };
};
const refund = { name: 'refund_order', args: { order_id: 1004, amount: 110 } };

let call;
let browser;
let model;
let office;
let script;
before(async () => {
  script = await bundle(`
    import { defineAgents } from './tree/index.js';
    const tree = document.createElement('omniassist-agents');
    defineAgents();
    customElements.upgrade(tree);
    tree.setAttribute('api', '/assistant');
    const agent = new URLSearchParams(location.search).get('agent');
    if (agent) tree.setAttribute('agent', agent);
    tree.token = async () => 'ada-token';
    document.querySelector('main').append(tree);`);
  model = await startFakeOpenAi({ answer: (body) => turns(call)(body) });
  [browser, office] = await Promise.all([openBrowser(), startBackOffice(model)]);
});
after(async () => {
  await browser?.close();
  await office?.stop();
  await model?.stop();
});

const start = async (search = '') => {
  const view = await openBefore(browser, office.origin, script, { search });
  await view.page.locator('[part=connection]', { hasText: /^connected$/ }).waitFor();
  await view.page.getByLabel('Task for the agents').fill('Refund order 1004');
  await view.page.keyboard.press('Enter');
  return view;
};
const result = async (page) => {
  await page.locator('[data-final]').waitFor();
  return page.locator('[data-final] [part~=content]').innerText();
};

test('contract_004_24 a call is approved in place, with the bearer token of the user', async () => {
  call = refund;
  const { page, close } = await start();
  const question = page.getByRole('group', { name: /Refund more than 100 EUR\?/ });
  await question.waitFor();
  assert.equal(await page.locator('[role=treeitem]').getAttribute('data-status'), 'waiting-for-user');
  assert.match(await question.innerText(), /Order id\s+1004/);
  await page.evaluate(axe);
  assert.deepEqual((await page.evaluate(() => window.axe.run())).violations.map(({ id }) => id), []);
  await question.getByRole('button', { name: 'Approve' }).click();
  assert.match(await result(page), /The tool said: \{.*1004/);
  assert.equal(await question.count(), 0);
  await close();
});

test('contract_004_24 a denied call does not run, and the model reads the reason', async () => {
  call = refund;
  const { page, close } = await start();
  await page.getByLabel('Reason for decision (optional)').fill('It is too much.');
  await page.getByRole('button', { name: 'Deny' }).click();
  assert.match(await result(page), /It is too much\./);
  await close();
});

test('contract_004_24 a form is filled in place, and its values have the types of the schema', async () => {
  const schema = {
    type: 'object',
    required: ['reason', 'pieces'],
    properties: {
      reason: { type: 'string', title: 'Reason', description: 'It is printed.' },
      pieces: { type: 'integer' },
      size: { type: 'string', enum: ['small', 'large'] },
      insured: { type: 'boolean' },
      note: { type: 'string' },
    },
  };
  call = { name: 'requestInput', args: { message: 'What is returned?', schema } };
  const { page, close } = await start('?agent=sales');
  const question = page.getByRole('group', { name: 'What is returned?' });
  const send = question.getByRole('button', { name: 'Send' });
  await question.getByLabel('Reason').fill('It was <x>broken</x>.');
  await send.click();
  assert.equal(await question.getByLabel('Pieces').getAttribute('aria-invalid'), 'true');
  assert.equal(await page.locator('[role=treeitem]').getAttribute('data-status'), 'waiting-for-user');
  await question.getByLabel('Pieces').fill('2');
  await question.getByLabel('Size').selectOption('large');
  await question.getByLabel('Insured').check();
  await page.evaluate(axe);
  assert.deepEqual((await page.evaluate(() => window.axe.run())).violations.map(({ id }) => id), []);
  await send.click();
  const output = JSON.parse((await result(page)).replace('The tool said: ', ''));
  assert.deepEqual(output, { reason: 'It was <x>broken</x>.', pieces: 2, size: 'large', insured: true });
  await close();
});

test('contract_004_24 an answer that the server refuses can be changed', async () => {
  const schema = { type: 'object', required: ['code'], properties: { code: { type: 'integer', multipleOf: 5 } } };
  call = { name: 'requestInput', args: { message: 'Which code?', schema } };
  const { page, close } = await start('?agent=sales');
  const code = page.getByLabel('Code');
  await code.fill('16');
  await page.keyboard.press('Enter');
  await page.locator('[part=error]', { hasText: /code/ }).waitFor();
  await code.fill('15');
  await page.keyboard.press('Enter');
  assert.match(await result(page), /"code":15/);
  await close();
});

test('the token and the texts of an element in the markup can be set before its class is defined', async () => {
  const early = await bundle(`
    import { defineAgents } from './tree/index.js';
    Object.assign(document.querySelector('omniassist-agents'), { token: () => 'ada-token', texts: { connected: 'HERE' } });
    defineAgents();`);
  const body = '<omniassist-agents api="/assistant"></omniassist-agents>';
  const { page, close } = await openBefore(browser, office.origin, early, { body });
  await page.locator('[part=connection]', { hasText: 'HERE' }).waitFor();
  await close();
});
