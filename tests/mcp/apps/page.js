// A page of a host: it sends what the address asks for, and shows the apps of the calls.

import { McpApp } from '../../../widget/src/mcp-app/index.js';

const log = [];
const answers = [];
window.log = log;
window.answers = answers;
localStorage.setItem('planted', 'the secret of the page');

const hooks = {
  ask: async (question) => {
    log.push(['ask', question]);
    return answers.shift() ?? false;
  },
  sendMessage: (text) => log.push(['message', text]),
  updateContext: (context) => log.push(['context', context]),
  openLink: (url) => log.push(['open', url]),
  closed: () => log.push(['closed']),
};

window.show = async (text) => {
  const response = await fetch('/assistant?ai-sdk=7', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'chat-1', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text }] }] }),
  });
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  for (const chunk of lines.map((line) => JSON.parse(line.slice('data: '.length)))) {
    if (chunk.type === 'tool-input-start' && chunk.toolMetadata?.app) {
      const { server, resourceUri } = chunk.toolMetadata.app;
      const tool = { name: chunk.toolName, callId: chunk.toolCallId };
      const source = { base: '/assistant', server, resourceUri, chatId: 'chat-1' };
      window.app = new McpApp(document.body, { ...source, title: `App of ${server}`, theme: 'dark', tool, hooks });
      window.app.toolInputPartial({ region: 'No' });
      window.app.toolInputPartial({ region: 'Nor' });
    }
    if (chunk.type === 'tool-input-available') window.app?.toolInput(chunk.input);
    if (chunk.type === 'data-mcp-app') window.app?.toolResult(chunk.data.result);
  }
};
window.wrong = (resourceUri) => {
  try {
    new McpApp(document.body, { base: '/assistant', server: 'shop', resourceUri, title: '', hooks });
    return 'shown';
  } catch (error) {
    return error.name;
  }
};
