// The states of the widget that a user meets, for tests and screenshots. The test drives the chat.

const text = (text, state = 'done') => ({ type: 'text', text, state });
const thought = (text, state = 'done') => ({ type: 'reasoning', text, state });
const user = (id, words, ...files) => ({ id, role: 'user', parts: [text(words), ...files] });
const answer = (id, ...parts) => ({ id, role: 'assistant', parts });
const call = (name, id, state, more = {}) => ({ type: `tool-${name}`, toolCallId: id, state, input: {}, ...more });

const LONG = 'Rindfleischetikettierungsueberwachungsaufgabenuebertragungsgesetz'.repeat(2);
const ORDER = { order_id: 1002, amount: 12.5, reason: 'The parcel arrived two weeks late and the box was open' };
const MARKDOWN = `## Refunds

Order **1012** was delivered on *3 March*. Its [tracking page](https://example.com/1012) says \`delivered\`.

1. Open the order
2. Press *Refund*
   - the whole amount
   - or a part of it

| Item | Count | Price |
|---|--:|--:|
| Desk lamp | 1 | € 49.00 |
| Light bulb | 4 | € 12.80 |

\`\`\`js
const total = items.reduce((sum, { price }) => sum + price, 0);
\`\`\`

> A refund takes three days.
`;
const FIELDS = {
  required: ['name', 'tags'],
  properties: {
    name: { type: 'string', title: 'Name', description: 'As in the passport' },
    notes: { type: 'string', title: 'Notes', maxLength: 999 },
    speed: { type: 'string', title: 'Delivery', enum: ['slow', 'fast'] },
    gift: { type: 'boolean', title: 'Wrap as a gift' },
    tags: { type: 'array', title: 'Colours', items: { enum: ['red', 'blue'] } },
    extra: { type: 'object', title: 'More' },
  },
};
const TABLE = {
  title: 'Sales by region',
  columns: [{ label: 'Region' }, { label: 'Revenue (€)', kind: 'number' }, { label: 'Orders', kind: 'number' }],
  rows: [['North', 18200.5, 410], ['South', 9120, 233], ['East', 12850.25, 318]],
  selectable: true,
};
const CHART = {
  kind: 'bar',
  title: 'Sales by month',
  labels: ['Jan', 'Feb', 'Mar', 'Apr'],
  series: [{ name: 'This year', values: [32, 41, 38, 50] }, { name: 'Last year', values: [29, 38, 40, 45] }],
};
const CSV = { type: 'file', mediaType: 'text/csv', filename: 'orders-of-march.csv', url: 'data:text/csv,a' };
/** A bitmap of 160 × 100 points in one colour. */
function bitmap() {
  const data = Buffer.alloc(62 + 2_000);
  data.write('BM');
  for (const [at, value] of [[2, data.length], [10, 62], [14, 40], [18, 160], [22, 100], [54, 0x28536b]]) data.writeUInt32LE(value, at);
  data.writeUInt16LE(1, 26);
  data.writeUInt16LE(1, 28);
  return `data:image/bmp;base64,${data.toString('base64')}`;
}
const PHOTO = { type: 'file', mediaType: 'image/bmp', filename: 'photo.bmp', url: bitmap() };
const SOUND = { type: 'file', mediaType: 'audio/mpeg', filename: 'call.mp3', url: '/call.mp3' };
const QUESTION = user('q1', 'Where is order 1012, and can I still get my money back?');
const LIST = [
  { id: 'chat-1', title: 'Where is order 1012?', updatedAt: '2026-03-03T10:00:00Z' },
  { id: 'c2', title: 'Sales by region, a title that is longer than its line in any window', updatedAt: '2026-03-02T10:00:00Z', run: { state: 'waiting' } },
  { id: 'c3', title: 'Refund order 1004', updatedAt: '2026-02-20T10:00:00Z' },
  { id: 'c4', title: 'Chat', updatedAt: '2026-02-11T10:00:00Z' },
];

const agent = (agentId, parentId, status, userContent, more) => ({
  type: 'agent-state',
  agentId,
  state: { agentId, parentId, status, userContent, subagents: [], messages: [], result: null, metadata: {}, createdAt: 0, ...more },
});
const query = (agentId, prompt, call) => ({
  type: 'user-query',
  agentId,
  queryId: `q${agentId}`,
  prompt,
  call: { toolCallId: agentId, toolName: 'pay', expiresAt: 0, ...call },
});
const AGENTS = [
  agent('0', null, 'running', 'Compare three desk lamps'),
  agent('1', '0', 'completed', 'Find the prices', { result: 'The lamps cost **€ 29**, **€ 49** and **€ 79**.' }),
  agent('2', '0', 'waiting-for-user', 'Read the reviews'),
  agent('3', '2', 'failed', 'Reviews of the second lamp, whose title is longer than a line in any window'),
  agent('4', '0', 'waiting-for-user', 'Order samples'),
  agent('5', '0', 'paused', 'Write the table'),
  { type: 'text-delta', agentId: '0', delta: 'I compare the lamps by price, light and reviews.' },
  { type: 'user-query', agentId: '2', queryId: 'q2', prompt: 'Which shop do you trust?' },
  query('4', 'Pay € 12.50 for samples?', { input: { amount: 12.5 }, editable: true }),
  query('5', 'How shall the table look?', { schema: FIELDS }),
  { type: 'error', error: 'The reviews of the second lamp could not be read.' },
];

const press = (part) => async (view) => view.part(part).last().evaluate((node) => node.click());
const unfold = (view) =>
  view.page.evaluate(() => {
    for (const fold of document.querySelector('omniassist-chat').shadowRoot.querySelectorAll('details')) fold.open = true;
  });

/**
 * The states by name. `change` is what the chat then has, `act` what the user does, `after` the state before it, and `shows` a selector of what is then
 * seen. `attributes` are those of the element.
 */
export const states = {
  closed: { isClosed: true, shows: '[part~=launcher]' },
  empty: { shows: '[part~=greeting]' },
  suggestions: {
    attributes: { suggestions: 'Where is my order?|Refund order 1004|Show sales by region' },
    shows: '[part~=suggestion]',
  },
  thinking: { change: { status: 'submitted', messages: [QUESTION] }, shows: '[part~=waiting]' },
  streaming: {
    change: { status: 'streaming', messages: [QUESTION, answer('a1', text('The order was delivered on 3 March, and', 'streaming'))] },
    shows: '[part~=send-button][data-busy]',
  },
  finished: { change: { messages: [QUESTION, answer('a1', text(MARKDOWN))] }, shows: '.code code' },
  'long words': {
    change: {
      messages: [
        user('q1', LONG),
        answer('a1', call(`look_up_${LONG.toLowerCase()}`, 't1', 'output-available', { input: { [LONG]: LONG }, output: LONG }), text(`# ${LONG}\n\nSee ${LONG}, \`${LONG}\` and [${LONG}](https://example.com/${LONG}).\n\n- ${LONG}`)),
      ],
    },
    act: unfold,
    shows: '[part~=text] h1, [part~=text] h2',
  },
  reasoning: {
    change: {
      messages: [
        QUESTION,
        answer('a1', thought('The user asks for an order.\n\nI look it up first.'), text('It was delivered.')),
        user('q2', 'And the other one?'),
        answer('a2', thought('Order 1013 belongs to', 'streaming')),
      ],
      status: 'streaming',
    },
    act: unfold,
    shows: '[part~=reasoning] [part~=text]',
  },
  tools: {
    change: {
      status: 'streaming',
      messages: [
        QUESTION,
        answer(
          'a1',
          call('look_up_order', 't1', 'output-available', { input: { order_id: 1012 }, output: { status: 'delivered' } }),
          call('refund_order', 't2', 'output-error', { input: ORDER, errorText: 'There is no such order.' }),
          call('refund_order', 't3', 'output-denied', { input: ORDER, approval: { id: 'x', approved: false, reason: 'Too much' } }),
          call('export_report', 't4', 'output-available', { preliminary: true, output: { done: 2, of: 3, text: 'Row 2 of 3' } }),
          call('send_mail', 't5', 'input-streaming', { input: undefined, rawInput: '{"to": "ad' }),
        ),
      ],
    },
    act: unfold,
    shows: '[part~=bar]',
  },
  approval: {
    change: {
      messages: [
        user('q1', 'Refund order 1002'),
        {
          ...answer('a1', call('refund_order', 't1', 'approval-requested', { input: ORDER, approval: { id: 'x', requestReason: 'Refund € 12.50 for order 1002?' } })),
          metadata: { omniassist: { approvals: { t1: { editable: true } } } },
        },
      ],
    },
    shows: '[part~=approval]',
  },
  'approval with an edit': {
    act: async (view) => {
      await view.part('approval').locator('[part~=quiet]').click();
    },
    after: 'approval',
    shows: '[part~=approval] [part~=field]',
  },
  form: {
    change: {
      messages: [user('q1', 'Send it as a gift'), answer('a1', call('request_input', 't1', 'input-available', { input: { message: 'Where to?', schema: FIELDS } }))],
    },
    shows: 'form[part~=form]',
  },
  'form with faults': {
    act: (view) => view.page.locator('omniassist-chat form[part~=form] [type=submit]').click(),
    after: 'form',
    shows: '[part~=input][aria-invalid=true]',
  },
  'answered form': {
    change: {
      messages: [
        user('q1', 'Send it as a gift'),
        answer('a1', call('request_input', 't1', 'output-available', { input: { schema: FIELDS }, output: { name: 'Ada', gift: true } }), text('It is on its way.')),
      ],
    },
    shows: '[part~=values]',
  },
  components: {
    change: {
      messages: [
        user('q1', 'Show sales by region'),
        answer(
          'a1',
          call('ui_table', 't1', 'output-available', { input: TABLE, output: { instanceId: 'i1' } }),
          call('ui_chart', 't2', 'output-available', { input: CHART, output: { instanceId: 'i2' } }),
        ),
      ],
    },
    shows: 'svg[part=drawing]',
  },
  'sources and files': {
    change: {
      messages: [
        user('q1', 'Read these', CSV, PHOTO, SOUND),
        answer(
          'a1',
          text('Both are read. The report is below.'),
          { ...CSV, filename: 'a-report-with-a-name-that-is-longer-than-a-line-of-a-narrow-window.csv' },
          { type: 'source-url', sourceId: 's1', url: 'https://example.com/refunds', title: 'How refunds work' },
          { type: 'source-url', sourceId: 's2', url: 'https://docs.example.org/a/very/long/path/of/a/page' },
        ),
      ],
    },
    act: (view) => view.part('source').first().waitFor(),
    shows: '[part~=file-link]',
  },
  error: {
    change: { messages: [QUESTION], status: 'error', error: { message: 'The plan of this account ends here.', kind: 'failed', canRetry: true } },
    shows: '[part~=notice]',
  },
  offline: {
    change: { messages: [QUESTION] },
    act: (view) => view.page.context().setOffline(true),
    leave: (view) => view.page.context().setOffline(false),
    shows: '[part~=notice]',
  },
  stopped: {
    change: { messages: [QUESTION, answer('a1', text('The order was'))], incomplete: ['a1'] },
    shows: '[part~=incomplete]',
  },
  edit: {
    change: { messages: [QUESTION, answer('a1', text('It was delivered on 3 March.'))], branchesOf: { q1: { count: 3, current: 1 } } },
    act: press('edit'),
    shows: '[part~=editor]',
  },
  branches: {
    change: { messages: [QUESTION, answer('a1', text('It was delivered on 3 March.'))], branchesOf: { q1: { count: 3, current: 2 }, a1: { count: 2, current: 0 } } },
    shows: '[part~=branches]',
  },
  attachments: {
    attributes: { attachments: '' },
    change: { messages: [QUESTION, answer('a1', text('Send me a photo of it.'))] },
    act: (view) =>
      view.input.evaluate((input) => {
        const data = new DataTransfer();
        for (const name of ['photo-of-the-box.txt', 'a-second-file-with-a-long-name.csv']) data.items.add(new File(['x'], name, { type: 'text/plain' }));
        input.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
      }),
    shows: '[part~=file]',
  },
  'question of the page': {
    change: { messages: [QUESTION] },
    act: (view) =>
      view.page.evaluate(() => {
        window.asked = new AbortController();
        void window.chat.onConfirm('Leave this page and open https://example.com/orders?', window.asked.signal);
      }),
    leave: (view) => view.page.evaluate(() => window.asked.abort()),
    shows: '[part~=question]',
  },
  'away from the end': {
    change: { messages: Array.from({ length: 12 }, (_, at) => (at % 2 ? answer(`a${at}`, text(MARKDOWN)) : user(`q${at}`, 'Again, please'))) },
    act: (view) =>
      view.part('log').evaluate((log) => {
        log.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 }));
        log.scrollTop = 0;
      }),
    shows: '[part~=to-end]',
  },
  threads: {
    change: { messages: [QUESTION] },
    act: press('threads-button'),
    leave: press('threads-button'),
    shows: '[part~=thread-row]',
  },
  'threads: rename and delete': {
    change: { messages: [QUESTION] },
    act: async (view) => {
      await press('threads-button')(view);
      await view.part('thread-row').nth(3).waitFor();
      await view.part('thread-rename').nth(1).evaluate((node) => node.click());
      await press('thread-delete')(view);
    },
    leave: press('threads-button'),
    shows: '[part~=thread-form] [part~=danger]',
  },
  agents: {
    isClosed: true,
    act: showAgents,
    leave: (view) => view.page.evaluate(() => document.querySelector('omniassist-agents').remove()),
    shows: 'omniassist-agents form[part=form]',
  },
};

/** Shows a tree of agents in the page, without a server. */
async function showAgents(view) {
  await view.page.evaluate(async (frames) => {
    window.WebSocket = class {
      static OPEN = 1;
      readyState = 1;
      constructor() {
        setTimeout(() => this.onopen());
      }
      send() {}
      close() {}
    };
    const { defineAgents } = await import('/assistant/widget.js');
    await defineAgents();
    const tree = document.createElement('omniassist-agents');
    tree.setAttribute('prompt', 'Compare three desk lamps');
    const { locale } = document.querySelector('omniassist-chat').attributes;
    if (locale) tree.setAttribute('locale', locale.value);
    document.querySelector('main').append(tree);
    for (const frame of frames) tree.receive(frame);
  }, AGENTS);
  await view.page.locator('omniassist-agents [data-id="0"] > [part=node] [part=title]').click();
  await view.page.locator('omniassist-agents [part~=pause]').waitFor();
}

let chats = 0;

/** Brings a page of `openWidget` into a state. {@link leave} undoes what is not of its chat. */
export async function enter(view, name) {
  const { isClosed = false, attributes = {}, change, act, after, shows } = states[name];
  if (after) await enter(view, after);
  else await begin(view, isClosed, attributes, change);
  await act?.(view);
  await view.page.locator(shows).filter({ visible: true }).first().waitFor();
  await view.frame();
}

export const leave = (view, name) => states[name].leave?.(view);

async function begin(view, isClosed, attributes, change) {
  await view.page.evaluate(
    ([isClosed, attributes]) => {
      const node = document.querySelector('omniassist-chat');
      for (const name of ['suggestions', 'attachments']) {
        if (attributes[name] === undefined) node.removeAttribute(name);
        else node.setAttribute(name, attributes[name]);
      }
      if (isClosed) node.close();
      else node.open();
    },
    [isClosed, attributes],
  );
  await view.frame();
  if (isClosed) return;
  const chatId = `chat-${(chats += 1)}`;
  // The first chat of the list is the open one.
  const list = LIST.map((one, at) => (at ? one : { ...one, id: chatId }));
  await view.change({ chatId, list, status: 'ready', error: undefined, messages: [], branchesOf: {}, incomplete: [], ...change });
}
