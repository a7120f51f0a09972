import assert from 'node:assert/strict';
import { call, partsSuite } from '../testing/parts-page.mjs';

const test = partsSuite();
const input = { order_id: 1002, amount: 12.5, notify: true, note: '' };
const ask = { state: 'approval-requested', input, approval: { id: 'approval-t1' } };

const line = (view) => view.root.locator('[part~=tool] summary').innerText().then((text) => text.replace(/\s+/g, ' ').trim());

const warning = (tool) => `No handler runs the tool ${tool}. Call registerTool() or addToolResult().`;

test('a call says what happens in each of its states', async (view) => {
  const cases = [
    [{ state: 'input-streaming', rawInput: '{"ord' }, 'streaming', 'Refund order preparing'],
    [{ state: 'input-available' }, 'streaming', 'Refund order running'],
    [{ state: 'output-available', output: 'half', preliminary: true }, 'streaming', 'Refund order in progress'],
    [{ state: 'output-available', output: 'all' }, 'ready', 'Refund order done'],
    [{ state: 'output-error', errorText: 'No such order.' }, 'ready', 'Refund order failed'],
    [{ state: 'output-denied', approval: { id: 'x', approved: false } }, 'ready', 'Refund order denied'],
    [{ state: 'input-streaming', rawInput: '{"ord' }, 'ready', 'Refund order stopped'],
    [{ state: 'input-available', providerExecuted: true }, 'ready', 'Refund order stopped'],
    [{ state: 'input-available' }, 'ready', 'Refund order not answered by this page'],
    [{ ...ask }, 'ready', 'Refund order waiting for your approval'],
  ];
  for (const [part, status, expected] of cases) {
    await view.open({ ...call(part), status });
    assert.equal(await line(view), expected);
  }
  assert.deepEqual(view.problems.splice(0), [warning('refund_order')]);
  await view.open({ ...call({ state: 'output-error', errorText: 'No such order.' }) });
  assert.equal(await view.root.locator('[part~=error]').innerText(), 'No such order.');
});

test('a call is named as the server says, and has its summary', async (view) => {
  const label = { tools: { t1: { title: 'Give money back', summary: '12.50 € for order 1002' } } };
  await view.open(call({ state: 'output-available', output: 1 }, label));
  assert.equal(await line(view), 'Give money back done 12.50 € for order 1002');
  assert.equal(await view.root.getByRole('group', { name: 'Give money back' }).count(), 1);
});

test('a call without a handler in the page can be skipped, and the console names the tool once', async (view) => {
  const messages = ['s1', 's2'].map((toolCallId) => ({ type: 'tool-open_lamps', toolCallId, state: 'input-available', input: {} }));
  await view.open({ messages: [{ id: 'a', role: 'assistant', parts: messages }] });
  const [first] = await view.root.getByRole('button', { name: 'Skip' }).all();
  await first.focus();
  await view.page.keyboard.press('Enter');
  const errorText = 'This page does not offer this tool.';
  assert.deepEqual(await view.calls(), [['addToolResult', { toolCallId: 's1', errorText }]]);
  assert.equal(await view.root.getByRole('button', { name: 'Skip' }).count(), 1);
  assert.equal(await view.page.evaluate(() => root.activeElement.localName), 'summary');
  assert.deepEqual(view.problems.splice(0), [warning('open_lamps')]);
});

test('a call that an element of the page answers has no button to skip it', async (view) => {
  for (const slot of ['tool-refund_order', 'call-t1']) {
    await view.open({ ...call({ state: 'input-available' }), slots: [slot] });
    assert.equal(await view.root.getByRole('button', { name: 'Skip' }).count(), 0, slot);
  }
  assert.equal(await line(view), 'Refund order waiting for you');
});

test('progress is a bar, or a text', async (view) => {
  await view.open({ ...call({ state: 'output-available', preliminary: true, output: { done: 3, of: 4, text: 'Row 3' } }), status: 'streaming' });
  const bar = view.root.getByRole('progressbar', { name: 'Progress of Refund order' });
  assert.deepEqual(await bar.evaluate(({ value, max }) => [value, max]), [3, 4]);
  assert.equal(await view.root.locator('[part~=note]').innerText(), 'Row 3');
  await view.change({ output: { percent: 50 } });
  assert.deepEqual(await bar.evaluate(({ value, max }) => [value, max]), [50, 100]);
  await view.change({ output: 'Nearly there' });
  assert.equal(await bar.count(), 0);
  assert.equal(await view.root.locator('[part~=note]').innerText(), 'Nearly there');
  await view.change({ output: { rows: 4 }, preliminary: false });
  assert.equal(await view.root.locator('[part~=note]').innerText(), '');
});

test('arguments and output are shown on demand', async (view) => {
  await view.open(call({ state: 'output-available', input, output: { refunded: '12.50' } }));
  assert.equal(await view.root.locator('[part~=json]').count(), 0);
  await view.root.locator('[part~=tool] summary').click();
  assert.deepEqual(JSON.parse(await view.root.getByLabel('Input', { exact: true }).innerText()), input);
  assert.deepEqual(JSON.parse(await view.root.getByLabel('Output').innerText()), { refunded: '12.50' });
});

test('an approval shows the question and all arguments, and is sent once', async (view) => {
  await view.open({ ...call(ask, { approvals: { t1: { message: 'Refund the order?' } } }), composer: true });
  const card = view.root.getByRole('group', { name: 'Refund the order?' });
  await card.waitFor();
  const answer = view.root.getByRole('article', { name: 'Assistant' });
  assert.equal(await answer.getByRole('button', { name: 'Try again' }).count(), 0, 'the answer is not over');
  assert.deepEqual(await card.locator('dt').allInnerTexts(), ['Order id', 'Amount', 'Notify', 'Note']);
  assert.deepEqual(await card.locator('dd').allInnerTexts(), ['1002', '12.5', 'Yes', '–']);
  // The chat has not answered yet when the button is pressed again.
  await view.page.evaluate(() => {
    window.answers.approve = (part) =>
      new Promise((done) => {
        window.release = () => (Object.assign(part, { state: 'approval-responded', approval: { id: 'x', approved: true } }), window.refresh(), done());
      });
  });
  const approve = card.getByRole('button', { name: 'Approve' });
  await approve.focus();
  await approve.evaluate((button) => (button.click(), button.click()));
  assert.equal(await approve.getAttribute('aria-disabled'), 'true');
  await card.getByRole('button', { name: 'Deny' }).evaluate((button) => button.click());
  await view.page.evaluate(() => window.release());
  assert.deepEqual(await view.calls(), [['approve', 't1', true, {}]]);
  assert.equal(await card.count(), 0);
  assert.equal(await answer.getByRole('button', { name: 'Try again' }).count(), 1);
  assert.equal(await view.page.evaluate(() => window.focused()), 'Message');
});

test('a denial has the reason, and is told in words', async (view) => {
  await view.open({ ...call(ask), composer: true, status: 'ready' });
  const card = view.root.getByRole('group', { name: 'May “Refund order” run with these values?' });
  await card.getByLabel('Reason for decision (optional)').fill('  Too much ');
  await card.getByRole('button', { name: 'Deny' }).click();
  assert.deepEqual(await view.calls(), [['approve', 't1', false, { reason: 'Too much' }]]);
  await view.change({ state: 'output-denied' });
  assert.equal(await view.root.locator('[part~=note]').innerText(), 'Denied by you: Too much');
});

test('an approval that could not be sent can be sent again', async (view) => {
  await view.open(call(ask));
  await view.page.evaluate(() => (window.answers.approve = () => Promise.reject(new Error('offline'))));
  const approve = view.root.getByRole('button', { name: 'Approve' });
  await approve.click();
  await approve.click();
  assert.equal((await view.calls()).length, 2);
});

test('the next question gets the focus', async (view) => {
  const { messages } = call(ask);
  messages[1].parts.push({ ...messages[1].parts[0], toolCallId: 't2' });
  await view.open({ messages, composer: true });
  await view.root.getByRole('button', { name: 'Approve' }).first().click();
  assert.equal(await view.page.evaluate(() => window.root.activeElement.closest('[data-tool-call-id]').dataset.toolCallId), 't2');
});

test('arguments are edited where the server allows it, and sent with their types', async (view) => {
  await view.open(call(ask));
  const edit = view.root.locator('[part~=approval]').getByRole('button', { name: 'Edit' });
  assert.equal(await edit.count(), 0);
  await view.open(call({ ...ask, input: { ...input, lines: [1, { a: 2 }] } }, { approvals: { t1: { editable: true } } }));
  await edit.click();
  const field = (name) => view.root.getByLabel(new RegExp(`^${name}`));
  await field('Amount').fill('7.25');
  await field('Notify').uncheck();
  await field('Lines').fill('[1');
  const approve = view.root.getByRole('button', { name: 'Approve' });
  await approve.click();
  assert.match(await view.root.locator('[part~=approval]').innerText(), /Lines: this is not valid JSON\./);
  assert.deepEqual(await view.calls(), []);
  await field('Lines').fill('[1, 2]');
  await approve.click();
  assert.deepEqual(await view.calls(), [
    ['approve', 't1', true, { input: { order_id: 1002, amount: 7.25, notify: false, note: '', lines: [1, 2] } }],
  ]);
});

test('an argument that the user clears does not come back', async (view) => {
  const values = { to: 'ann@x.example', cc: 'boss@x.example', amount: 12, note: '' };
  await view.open(call({ ...ask, input: values }, { approvals: { t1: { editable: true } } }));
  await view.root.locator('[part~=approval]').getByRole('button', { name: 'Edit' }).click();
  await view.root.getByLabel('Cc').fill('');
  await view.root.getByLabel('Amount').fill('');
  await view.root.getByRole('button', { name: 'Approve' }).click();
  assert.deepEqual(await view.calls(), [['approve', 't1', true, { input: { to: 'ann@x.example', cc: '', note: '' } }]]);
});

test('arguments that the user did not change are sent as they were', async (view) => {
  const values = { to: 'ann@x.example', body: 'One\nTwo', note: 'a\r\nb', lines: [1], amount: 12 };
  await view.open(call({ ...ask, input: values }, { approvals: { t1: { editable: true } } }));
  await view.root.locator('[part~=approval]').getByRole('button', { name: 'Edit' }).click();
  assert.equal(await view.root.getByLabel('Body').inputValue(), 'One\nTwo');
  await view.root.getByLabel('To').fill('bob@x.example');
  await view.root.getByRole('button', { name: 'Approve' }).click();
  assert.deepEqual(await view.calls(), [['approve', 't1', true, { input: { ...values, to: 'bob@x.example' } }]]);
});

test('an approval without arguments cannot be edited, and empty ones are shown', async (view) => {
  const edit = view.root.locator('[part~=approval]').getByRole('button', { name: 'Edit' });
  await view.open(call({ ...ask, input: {} }, { approvals: { t1: { editable: true } } }));
  assert.equal(await edit.count(), 0);
  await view.open(call({ ...ask, input: { tags: [], words: [''], more: {} } }, { approvals: { t1: { editable: true } } }));
  assert.equal(await edit.count(), 1);
  assert.deepEqual(await view.root.locator('[part~=approval] dd').allInnerTexts(), ['–', '–', '{}']);
});

test('an error names the field, whatever characters are in its title', async (view) => {
  const properties = { size: { type: 'string', title: 'Size | colour', minLength: 3 } };
  const form = { type: 'tool-request_input', toolCallId: 't1', state: 'input-available', input: { message: 'Which?', schema: { type: 'object', properties } } };
  await view.open({ messages: [{ id: 'a', role: 'assistant', parts: [form] }] });
  await view.root.getByLabel('Size | colour').fill('a');
  await view.root.getByRole('button', { name: 'Send' }).click();
  await view.root.getByText('Size | colour: enter at least 3 characters.').waitFor();
});

test('the view of an older call that is made again leaves the newest one in the element of the page', async (view) => {
  const { messages } = call({ state: 'output-available', output: 1 });
  const newer = structuredClone(messages);
  newer.forEach((message) => (message.id += '2'));
  newer[1].parts[0].toolCallId = 't2';
  await view.page.evaluate(() => {
    const own = Object.assign(document.createElement('b'), { slot: 'tool-refund_order', textContent: 'Our view' });
    document.querySelector('#root').append(own);
  });
  await view.open({ messages: [...messages, ...newer], slots: ['tool-refund_order'] });
  // The log makes the view of a message again that was scrolled away.
  await view.page.evaluate(() => window.again('t1'));
  const shown = await view.page.evaluate(() =>
    ['t1', 't2'].map((id) => window.root.querySelector(`[data-tool-call-id=${id}] slot`).assignedNodes().length),
  );
  assert.deepEqual(shown, [0, 1]);
  await view.page.evaluate(() => document.querySelector('#root > b').remove());
});

test('a page shows the newest call of a tool itself', async (view) => {
  const { messages } = call({ state: 'output-available', output: 1 });
  messages[1].parts.push({ ...messages[1].parts[0], toolCallId: 't2' });
  await view.page.evaluate(() => {
    const own = Object.assign(document.createElement('b'), { slot: 'tool-refund_order', textContent: 'Our view' });
    document.querySelector('#root').append(own);
  });
  await view.open({ messages, slots: ['tool-refund_order'] });
  const shown = await view.page.evaluate(() =>
    [...window.root.querySelectorAll('[part~=tool]')].map((tool) => tool.querySelector('slot').assignedNodes().length),
  );
  assert.deepEqual(shown, [0, 1]);
  await view.page.evaluate(() => document.querySelector('#root > b').remove());
});

test('a component is drawn, with its state and its answer', async (view) => {
  const part = { type: 'tool-ui_form', toolCallId: 'u1', state: 'input-available' };
  part.input = { title: 'Address', fields: [{ name: 'city', label: 'City', kind: 'text', required: true }], submit: 'Save' };
  await view.open({ messages: [{ id: 'a', role: 'assistant', parts: [part] }] });
  await view.root.getByLabel('City').fill('Bonn');
  await view.root.getByRole('button', { name: 'Save' }).click();
  assert.deepEqual(await view.calls(), [['addToolResult', { toolCallId: 'u1', output: { values: { city: 'Bonn' } } }]]);
  await view.root.getByText('Sent').waitFor();

  const table = { type: 'tool-ui_table', toolCallId: 'u2', state: 'output-available', output: { instanceId: 'i1' } };
  table.input = { columns: [{ label: 'City', kind: 'text' }], rows: [['Bonn'], ['Aachen']] };
  await view.open({ messages: [{ id: 'a', role: 'assistant', parts: [table] }], states: { i1: { sort: { column: 0, descending: false } } } });
  await view.root.locator('tbody').waitFor();
  assert.deepEqual(await view.root.locator('tbody th').allInnerTexts(), ['Aachen', 'Bonn']);
  await view.root.getByRole('columnheader', { name: 'City' }).getByRole('button').click();
  assert.deepEqual(await view.calls(), [['setState', 'i1', { sort: { column: 0, descending: true } }]]);
});

test('a form and choices take no answer after a later message', async (view) => {
  const form = { type: 'tool-ui_form', toolCallId: 'u1', state: 'input-available' };
  form.input = { title: 'Address', fields: [{ name: 'city', label: 'City', kind: 'text' }] };
  const choices = { type: 'tool-ui_choices', toolCallId: 'u2', state: 'input-available' };
  choices.input = { question: 'Which?', multiple: true, options: [{ id: 'a', label: 'Apple' }] };
  await view.open({ messages: [{ id: 'a', role: 'assistant', parts: [form, choices] }] });
  await view.root.getByLabel('City').fill('Bonn');
  await view.root.getByRole('checkbox', { name: 'Apple' }).click();
  await view.page.evaluate(() => {
    window.chat.messages.push({ id: 'q', role: 'user', parts: [{ type: 'text', text: 'Never mind' }] });
    window.refresh();
  });
  await view.root.getByText('not answered').nth(1).waitFor();
  assert.equal(await view.root.getByLabel('City').count(), 0);
  assert.equal(await view.root.getByRole('button', { name: /Submit|Confirm/ }).count(), 0);
  await view.root.getByRole('checkbox', { name: 'Apple' }).click({ force: true });
  assert.equal(await view.root.getByRole('checkbox', { checked: true }).count(), 0);
  assert.equal(await view.root.getByText('Sent').count(), 0);
  assert.deepEqual(await view.calls(), []);
});

test('an answer that the chat does not take is not shown as sent', async (view) => {
  const part = { type: 'tool-ui_form', toolCallId: 'u1', state: 'input-available' };
  part.input = { title: 'Address', fields: [{ name: 'city', label: 'City', kind: 'text' }] };
  await view.open({ messages: [{ id: 'a', role: 'assistant', parts: [part] }] });
  await view.page.evaluate(() => (window.answers.addToolResult = async () => {}));
  await view.root.getByLabel('City').fill('Bonn');
  await view.root.getByRole('button', { name: 'Submit' }).click();
  await view.root.getByText('The answer was not sent. Try again.').waitFor();
  assert.equal(await view.root.getByLabel('City').inputValue(), 'Bonn');
});

test('a chart is shown, also within a stack', async (view) => {
  const chart = { kind: 'bar', labels: ['A', 'B'], series: [{ name: 'Sales', values: [1, 2] }] };
  const parts = [
    { type: 'tool-ui_chart', toolCallId: 'u1', state: 'output-available', input: chart, output: { instanceId: 'i1' } },
    {
      type: 'tool-ui_stack',
      toolCallId: 'u2',
      state: 'output-available',
      input: { children: [{ component: 'chart', props: chart }] },
      output: { instanceId: 'i2' },
    },
  ];
  await view.open({ messages: [{ id: 'a', role: 'assistant', parts }] });
  await view.root.getByRole('img', { name: 'Bar chart' }).nth(1).waitFor();
  assert.equal(await view.root.getByRole('img', { name: 'Bar chart' }).count(), 2);
});

test('a component that the page registers is drawn', async (view) => {
  await view.page.evaluate(() =>
    window.registerComponent('weather', {
      schema: { type: 'object', properties: { city: { type: 'string' } } },
      render: (root, { props }) => (root.textContent = `Sun in ${props.city}`),
    }),
  );
  const part = { type: 'dynamic-tool', toolName: 'ui_weather', toolCallId: 'u1', state: 'input-available', input: { city: 'Bonn' } };
  await view.open({ messages: [{ id: 'a', role: 'assistant', parts: [part] }] });
  await view.root.getByText('Sun in Bonn').waitFor();
});

test('an action of a component goes to the server, unless the page handles it', async (view) => {
  await view.page.evaluate(() =>
    window.registerComponent('offer', {
      schema: { type: 'object' },
      render: (root, { dispatch }) => {
        const buy = Object.assign(document.createElement('button'), { textContent: 'Buy' });
        buy.addEventListener('click', () => dispatch('buy', { count: 2 }));
        root.append(buy);
      },
    }),
  );
  const part = { type: 'tool-ui_offer', toolCallId: 'u1', state: 'output-available', input: {}, output: { instanceId: 'i1' } };
  const messages = [{ id: 'a', role: 'assistant', parts: [part] }];
  const event = ['omni-component', { component: 'offer', instanceId: 'i1', action: 'buy', payload: { count: 2 } }];
  for (const prevented of [false, true]) {
    await view.open({ messages, prevented });
    await view.root.getByRole('button', { name: 'Buy' }).click();
    assert.deepEqual(await view.page.evaluate(() => window.fired), [event]);
    assert.deepEqual(await view.calls(), prevented ? [] : [['dispatch', 'i1', 'buy', { count: 2 }]]);
  }
});


/** A call that asks the user to fill in a form. */
const form = (schema, message = 'Where to?') => ({
  messages: [
    {
      id: 'a',
      role: 'assistant',
      parts: [{ type: 'tool-request_input', toolCallId: 'f1', state: 'input-available', input: { message, schema } }],
    },
  ],
  composer: true,
});

const schema = {
  type: 'object',
  required: ['email', 'name', 'tags'],
  properties: {
    note: { type: 'string', maxLength: 500, description: 'Anything else' },
    name: { type: 'string', title: 'Full name', minLength: 2, maxLength: 20 },
    email: { type: 'string', format: 'email' },
    site: { type: 'string', format: 'uri' },
    day: { type: 'string', format: 'date' },
    code: { type: 'string', pattern: '^[A-Z]{3}$' },
    count: { type: 'integer', minimum: 1, maximum: 10, default: 3 },
    price: { type: ['number', 'null'] },
    gift: { type: 'boolean', default: true },
    speed: { type: 'string', enum: ['slow', 'fast'], default: 'fast' },
    size: { oneOf: [{ const: 1, title: 'Small' }, { const: 2, title: 'Large' }] },
    tags: { type: 'array', items: { type: 'string', enum: ['red', 'blue'] } },
    address: { type: 'object', properties: { city: { type: 'string' } } },
  },
};

const field = (view, name) => view.root.getByLabel(name, { exact: true });
const send = (view) => view.root.getByRole('button', { name: 'Send' }).click();
const openForm = async (view, options) => {
  await view.open(options);
  await view.root.locator('form').waitFor();
};

test('each kind of field answers with the type of its schema', async (view) => {
  await openForm(view, form(schema));
  assert.equal(await view.root.getByRole('group', { name: 'Where to?' }).count(), 1);
  const names = await view.root.locator('[part~=field]').evaluateAll((nodes) => nodes.map((node) => node.querySelector('[name]').getAttribute('name')));
  assert.deepEqual(names.slice(0, 3), ['email', 'name', 'tags'], 'the required ones come first');
  await field(view, 'Full name').fill('Ada L.');
  await field(view, 'Email').fill('ada@example.com');
  await field(view, 'Site (optional)').fill('https://example.com/a');
  await field(view, 'Day (optional)').fill('2026-03-01');
  await field(view, 'Code (optional)').fill('ABC');
  await field(view, 'Price (optional)').fill('0');
  await field(view, 'Gift').uncheck();
  await field(view, 'Size (optional)').selectOption({ label: 'Large' });
  await field(view, 'blue').check();
  await field(view, 'Note (optional)').fill('Two\nlines');
  await field(view, 'Address (optional)').fill('{"city": "Bonn"}');
  await send(view);
  const output = {
    name: 'Ada L.',
    email: 'ada@example.com',
    site: 'https://example.com/a',
    day: '2026-03-01',
    code: 'ABC',
    count: 3,
    price: 0,
    gift: false,
    speed: 'fast',
    size: 2,
    tags: ['blue'],
    note: 'Two\nlines',
    address: { city: 'Bonn' },
  };
  assert.deepEqual(await view.calls(), [['addToolResult', { toolCallId: 'f1', output }]]);
  assert.equal(await view.page.evaluate(() => window.focused()), 'Message');
  assert.match(await view.root.locator('dl').innerText(), /Full name|Name/);
});

test('invalid values are named, and nothing is sent', async (view) => {
  await openForm(view, form(schema));
  await field(view, 'Full name').fill('A');
  await field(view, 'Email').fill('ada');
  await field(view, 'Site (optional)').fill('example');
  await field(view, 'Code (optional)').fill('abc');
  await field(view, 'Count (optional)').fill('12');
  await field(view, 'Address (optional)').fill('{');
  await send(view);
  assert.deepEqual((await view.root.locator('[part~=field] [part~=error]').allInnerTexts()).filter(Boolean), [
    'Email: enter an email address.',
    'Full name: enter at least 2 characters.',
    'Tags: choose at least 1.',
    'Site: enter a web address, such as https://example.com.',
    'Code: this value does not have the expected form.',
    'Count: enter at most 10.',
    'Address: this is not valid JSON.',
  ]);
  assert.deepEqual(await view.calls(), []);
  const email = field(view, 'Email');
  assert.ok(await email.evaluate((node) => node.getRootNode().activeElement === node), 'the first fault has the focus');
  assert.equal(await email.getAttribute('aria-invalid'), 'true');
  const described = await email.evaluate((node) => node.getRootNode().getElementById(node.getAttribute('aria-describedby')).textContent);
  assert.equal(described, 'Email: enter an email address.');
  await email.fill('ada@example.com');
  assert.equal(await email.getAttribute('aria-invalid'), null, 'the message goes with the fault');
  await field(view, 'Count (optional)').fill('2.5');
  assert.match(await view.root.locator('form').innerText(), /Count: enter a whole number\./);
  await field(view, 'Email').fill('');
  await send(view);
  assert.match(await view.root.locator('form').innerText(), /Email: enter a value\./);
});

test('a date or a time that is not complete is named, and nothing is sent', async (view) => {
  const properties = { day: { type: 'string', format: 'date' }, hour: { type: 'string', format: 'time' } };
  await openForm(view, form({ properties }));
  for (const name of ['Day (optional)', 'Hour (optional)']) {
    await field(view, name).focus();
    await view.page.keyboard.type('1');
  }
  await send(view);
  assert.deepEqual((await view.root.locator('[part~=field] [part~=error]').allInnerTexts()).filter(Boolean), [
    'Day: this value does not have the expected form.',
    'Hour: this value does not have the expected form.',
  ]);
  assert.deepEqual(await view.calls(), []);
});

test('a form may have a field with the name of a member of its node', async (view) => {
  const names = ['addEventListener', 'append', 'remove', 'matches', 'contains'];
  await openForm(view, form({ properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) }));
  await view.root.getByRole('textbox').first().fill('x');
  await send(view);
  assert.deepEqual(await view.calls(), [['addToolResult', { toolCallId: 'f1', output: { addEventListener: 'x' } }]]);
});

test('a form is declined, once', async (view) => {
  await openForm(view, form(schema));
  // The chat has not answered yet when the button is pressed again.
  await view.page.evaluate(() => {
    window.answers.addToolResult = (result) =>
      new Promise((done) => {
        window.release = () => (window.change({ state: 'output-error', errorText: result.errorText }), done());
      });
  });
  await view.root.getByRole('button', { name: 'Decline' }).evaluate((button) => (button.click(), button.click()));
  await view.page.evaluate(() => window.release());
  assert.deepEqual(await view.calls(), [
    ['addToolResult', { toolCallId: 'f1', errorText: 'The user declined to fill in this form.' }],
  ]);
  assert.ok(await view.root.getByLabel('Email').isDisabled());
});

test('an answer that could not be sent stays and can be sent again', async (view) => {
  await openForm(view, form({ properties: { city: { type: 'string' } } }));
  await view.page.evaluate(() => (window.answers.addToolResult = () => Promise.reject(new Error('offline'))));
  await field(view, 'City (optional)').fill('Bonn');
  await send(view);
  await view.root.getByText('The answer was not sent. Try again.').waitFor();
  assert.equal(await field(view, 'City (optional)').inputValue(), 'Bonn');
  await send(view);
  assert.equal((await view.calls()).length, 2);
});

test('what was entered survives updates of the chat', async (view) => {
  await openForm(view, form(schema));
  await field(view, 'Full name').fill('Ada');
  await view.page.evaluate(() => {
    for (let time = 0; time < 50; time += 1) window.refresh();
  });
  assert.equal(await field(view, 'Full name').inputValue(), 'Ada');
  assert.ok(await field(view, 'Full name').evaluate((node) => node.getRootNode().activeElement === node));
});

test('a form without a usable schema can still be sent', async (view) => {
  for (const odd of [undefined, null, 'text', [], { properties: { a: null, b: 5 } }, { properties: { c: { pattern: '(' } } }]) {
    await openForm(view, form(odd));
    await send(view);
    assert.deepEqual(await view.calls(), [['addToolResult', { toolCallId: 'f1', output: {} }]]);
  }
});

test('an element of the page that shows a call leaves the question for the user', async (view) => {
  await view.page.evaluate(() => {
    const card = document.createElement('b');
    card.slot = 'tool-refund_order';
    card.textContent = 'CARD';
    document.querySelector('#root').append(card);
  });
  await view.open({ ...call(ask), slots: ['tool-refund_order'] });
  await view.page.getByText('CARD').waitFor();
  assert.equal(await view.root.locator('summary').first().isVisible(), false);
  await view.root.getByRole('button', { name: 'Approve' }).click();
  assert.equal((await view.calls()).at(-1)[0], 'approve');
});
