// A page with `<omniassist-agents>`, whose connections and frames the tests make.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser } from './page.mjs';
import { documentOf, HTML, SCRIPT, serve, watch } from './serving.mjs';
import { bundle } from './tree-page.mjs';

const PAGE = documentOf(
  'Agents',
  '<main><h1>Agents</h1><omniassist-agents api="/assistant" chat="one"></omniassist-agents></main><script type="module" src="/page.js"></script>',
);

/** Runs in the page before its script: connections that open at once, unless `refuses` is set. */
function connections() {
  Object.assign(window, { sent: [], sockets: [], refuses: false });
  window.WebSocket = class {
    static OPEN = 1;
    readyState = 0;
    constructor(url) {
      this.url = String(url);
      window.sockets.push(this);
      setTimeout(() => {
        if (window.refuses) return this.drop();
        this.readyState = 1;
        this.onopen?.();
      });
    }
    send(text) {
      const frame = JSON.parse(text);
      if (frame.type !== 'get-agent-tree') window.sent.push(frame);
    }
    close() {
      this.readyState = 3;
    }
    drop() {
      this.readyState = 3;
      this.onclose?.();
    }
  };
}

/** The frame with the state of an agent. */
export const state = (agentId, parentId, more) => ({
  type: 'agent-state',
  agentId,
  state: { agentId, parentId, status: 'running', userContent: `Part ${agentId}`, subagents: [], messages: [], result: null, metadata: {}, createdAt: 0, ...more },
});

/** The frame with the state of an agent that waits for the answer to a question about a call. */
export const asking = (agentId, parentId, prompt, call) =>
  state(agentId, parentId, {
    status: 'waiting-for-user',
    queries: [{ queryId: `query-${agentId}`, prompt, call: { toolCallId: 'c', toolName: 'tool', expiresAt: 9e15, ...call } }],
  });

/**
 * Returns a function that adds a test with a page of its own, which may log no error. Its view has `page`, `problems`, which
 * has the errors so far, and what the server does.
 */
export function framesSuite() {
  let browser;
  let server;
  before(async () => {
    const script = await bundle("import { defineAgents } from './tree/index.js'; defineAgents();");
    const files = { '/': [HTML, PAGE], '/page.js': [SCRIPT, script] };
    [browser, server] = await Promise.all([openBrowser(), serve((path) => files[path])]);
  });
  after(async () => {
    await browser?.close();
    server?.stop();
  });
  return (name, run) =>
    test(name, { timeout: 30_000 }, async () => {
      const page = await browser.newPage();
      page.setDefaultTimeout(5_000);
      const problems = watch(page, server);
      await page.addInitScript(connections);
      await page.goto(server.origin);
      const isConnected = (value) => page.locator('[part=connection]', { hasText: value ? /^connected$/ : /^not connected$/ }).waitFor();
      await isConnected(true);
      await run({
        page,
        problems,
        /** Sends frames of the server, and waits until they are drawn. */
        say: (...frames) =>
          page.evaluate(async (frames) => {
            for (const frame of frames) window.sockets.at(-1).onmessage({ data: JSON.stringify(frame) });
            await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
          }, frames),
        sent: () => page.evaluate(() => window.sent),
        /** Ends the connection. `refuses`: the next ones fail. */
        async drop({ refuses = false } = {}) {
          await page.evaluate((refuses) => (Object.assign(window, { refuses }), window.sockets.at(-1).drop()), refuses);
          await isConnected(false);
          if (!refuses) await isConnected(true);
        },
        /** Lets the next connection open. */
        async connect() {
          await page.evaluate(() => ((window.refuses = false), dispatchEvent(new Event('online'))));
          await isConnected(true);
        },
      });
      assert.deepEqual([...problems, ...server.reports.splice(0)], []);
      await page.close();
    });
}
