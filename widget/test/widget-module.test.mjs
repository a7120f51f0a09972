// What a page imports from the module of the widget.

import assert from 'node:assert/strict';
import { widgetSuite } from '../testing/widget-page.mjs';

const test = widgetSuite();

test('the module checks messages as the npm package does', {}, async ({ page }) => {
  const results = await page.evaluate(async () => {
    const { validateMessages } = await import('/assistant/widget.js');
    const check = (messages) => validateMessages(messages).then(({ messages }) => messages.length, ({ path }) => path);
    return [await check([{ role: 'user', content: 'Hi' }]), await check([{ role: 'user', content: [{ type: 'text' }] }])];
  });
  assert.deepEqual(results, [1, 'messages[0].content[0].text']);
});

test('a component that is registered with the module is drawn in the element', { attributes: 'mode="panel"' }, async ({ page, change }) => {
  await page.evaluate(async () => {
    const { registerComponent } = await import('/assistant/widget.js');
    registerComponent('weather', { schema: { type: 'object' }, render: (root) => (root.textContent = 'Sun') });
  });
  const part = { type: 'tool-ui_weather', toolCallId: 'u1', state: 'output-available', input: {}, output: { instanceId: 'i1' } };
  await change({ messages: [{ id: 'a', role: 'assistant', parts: [part] }] });
  await page.getByText('Sun', { exact: true }).waitFor();
});
