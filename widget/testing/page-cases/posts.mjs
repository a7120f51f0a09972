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
});
