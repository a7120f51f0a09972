import assert from 'node:assert/strict';
import { suite } from '../page-tools.mjs';

const calls = (toolName, input) => [
  { type: 'start' },
  { type: 'start-step' },
  { type: 'tool-input-available', toolCallId: `call-${toolName}`, toolName, input },
  { type: 'finish-step' },
  { type: 'finish' },
];
const says = (delta) => [
  { type: 'start' },
  { type: 'start-step' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta },
  { type: 'text-end', id: 't' },
  { type: 'finish-step' },
  { type: 'finish' },
];

suite('client', (test) => {
  test('a chat runs the tools of the page, and posts none of twenty planted secrets', async (view) => {
    view.server.turns.push(
      calls('discover_page', { whole_page: true }),
      calls('fill_form', { fields: [{ field: 'subject', value: 'Late delivery' }] }),
      says('The subject is filled in.'),
    );
    const last = await view.page.evaluate(async () => {
      window.page.tools({ fill: true, discover: true, point: true, navigate: true });
      window.page.capture({ navigation: true, forms: true });
      const chat = window.createChat({ api: '/assistant', persist: 'none' });
      await chat.ready;
      await chat.sendMessage({ text: 'Fill in the form' });
      return chat.messages
        .at(-1)
        .parts.filter(({ type }) => type === 'text')
        .map(({ text }) => text);
    });
    assert.deepEqual(last, ['The subject is filled in.']);
    assert.equal(await view.page.getByLabel('Subject').inputValue(), 'Late delivery');
    const { posts } = view.server;
    assert.equal(posts.length, 3);
    assert.match(posts[0], /"name":"fill_form"/);
    assert.match(posts[0], /"type":"navigation"/);
    assert.match(posts[1], /Open details/, 'the list of the page is posted');
    assert.match(posts[2], /"filled":\{"subject":"Late delivery"\}/);
    assert.doesNotMatch(posts.join('\n'), /planted/);
  });

  test(
    'tools of other code whose names or number a server refuses are not posted, and the others work',
    async (view) => {
      view.server.turns.push(calls('cart_total', {}), says('It is 12.'));
      await view.page.evaluate(async () => {
        window.registry.registerTool({ name: 'first', description: 'Of the page' }, () => 1);
        window.page.webmcp();
        await window.listed;
        const chat = window.createChat({ api: '/assistant', persist: 'none' });
        chat.registerTool({ name: 'own', description: 'Of the chat' }, () => 1);
        await chat.sendMessage({ text: 'What is in the cart?' });
      });
      const names = JSON.parse(view.server.posts[0].slice('/assistant?ai-sdk=7 '.length)).tools.map(({ name }) => name);
      assert.deepEqual(names.filter((name) => !/^[\w-]{1,64}$/.test(name)), []);
      assert.equal(names.length, 64);
      for (const name of ['cart_total', 'own']) assert.ok(names.includes(name), name);
      assert.match(view.server.posts[1], /"output":12/);
    },
    { init: many },
  );
});

/** A browser whose list has many tools of other code. `window.listed` resolves when it was read. */
function many() {
  const names = ['shop.search', 'x'.repeat(65), 'cart_total', ...Array.from({ length: 80 }, (_, at) => `tool-${at}`)];
  const tools = names.map((name) => ({ name, description: name, inputSchema: '{}' }));
  window.listed = new Promise((listed) => {
    const context = Object.assign(new EventTarget(), {
      registerTool() {},
      async getTools() {
        setTimeout(listed);
        return tools;
      },
      executeTool: async () => '12',
    });
    for (const place of [document, navigator]) Object.defineProperty(place, 'modelContext', { value: context });
  });
}
