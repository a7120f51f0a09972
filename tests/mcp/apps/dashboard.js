// An app of the official SDK. It shows what its host gives it, and asks for what hosts offer.

import { App } from '@modelcontextprotocol/ext-apps';

const app = new App({ name: 'dashboard', version: '1.0.0' }, {});
const at = (id) => document.getElementById(id);
const show = (id, value) => {
  at(id).textContent = typeof value === 'string' ? value : JSON.stringify(value);
};
const on = (id, run) => at(id).addEventListener('click', async () => {
  show('answer', '…');
  show('answer', await run().catch((error) => ({ failed: String(error.message ?? error) })));
});

app.ontoolinputpartial = ({ arguments: given }) => show('partial', given);
app.ontoolinput = ({ arguments: given }) => show('input', given);
app.ontoolresult = (result) => show('result', result);
app.ontoolcancelled = ({ reason }) => show('cancelled', reason ?? '');
app.onhostcontextchanged = ({ theme }) => show('theme', theme);
app.onteardown = async () => {
  await app.updateModelContext({ content: [{ type: 'text', text: 'bye' }] });
  return {};
};
on('refresh', () => app.callServerTool({ name: 'refresh', arguments: {} }));
on('pay', () => app.callServerTool({ name: 'pay', arguments: { cents: 700 } }));
on('internal', () => app.callServerTool({ name: 'internal', arguments: {} }));
on('note', () => app.readServerResource({ uri: 'shop://note' }));
on('link', () => app.openLink({ url: 'https://example.test/report' }));
on('script', () => app.openLink({ url: 'javascript:alert(1)' }));
on('message', () => app.sendMessage({ role: 'user', content: [{ type: 'text', text: 'Show May' }] }));
on('context', () => app.updateModelContext({ structuredContent: { month: 'May' } }));
on('away', async () => {
  location.href = 'about:blank';
});
on('leave', async () => {
  await app.requestTeardown();
  return 'asked';
});

await app.connect();
show('theme', app.getHostContext()?.theme ?? '');
show('host', app.getHostVersion()?.name ?? '');
