// Starts the quickstart on a free port with its own database, and stops it.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startServer } from './server.mjs';

/** The variables that the quickstart must not inherit: the key or the model of a developer would change the tests. */
const OWN_SETTINGS = /^(OMNIASSIST_|OPENAI_|QUICKSTART_|PORT$|HTTP_PROXY$|HTTPS_PROXY$|ALL_PROXY$)/i;

/** The settings for the demo model. */
export const DEMO = { OMNIASSIST_PROVIDER: 'demo' };

/** The settings for a model server with OpenAI's API. `api` is `openai` (Responses) or `openai-chat`. */
export const openai = (api, baseUrl, model = 'scripted-model') => ({
  OMNIASSIST_PROVIDER: api,
  OPENAI_BASE_URL: baseUrl,
  OPENAI_API_KEY: 'sk-canary-of-the-suite',
  OMNIASSIST_MODEL: model,
});

/** Returns the environment of a quickstart. */
export const environment = (settings) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN_SETTINGS.test(name))),
  OMNIASSIST_DISCOVERY: 'off',
  ...settings,
});

/**
 * Starts the binary named by `QUICKSTART_BIN` and waits until it listens. `kill` ends it as SIGKILL does and `drain` as
 * SIGTERM, and `start` starts it again, at the same address and with the same files.
 * @returns {Promise<{origin: string, api: string, log: () => string, stop: () => Promise<void>,
 *   kill: () => Promise<void>, drain: () => Promise<void>, start: () => Promise<void>}>}
 */
export async function startQuickstart(settings, { stored = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'quickstart-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const env = environment({
    QUICKSTART_DB: join(folder, 'orders.sqlite3'),
    QUICKSTART_CHATS: stored ? join(folder, 'assistant.db') : 'off',
    ...settings,
  });
  try {
    let server = await startServer('QUICKSTART_BIN', env);
    const { origin } = server;
    return {
      origin,
      api: `${origin}/assistant`,
      log: () => server.log(),
      stop: () => server.stop().then(remove),
      kill: () => server.kill(),
      drain: () => server.stop(),
      async start() {
        server = await startServer('QUICKSTART_BIN', env, new URL(origin).port);
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Returns the messages of a chat as the server has stored them: roles and texts. */
export async function storedIn({ api }, chat) {
  const { messages } = await (await fetch(`${api}/threads/${chat}/messages`)).json();
  const text = ({ parts }) => parts.filter(({ type }) => type === 'text').map((part) => part.text).join('\n');
  return messages.map((message) => [message.role, text(message)]);
}

/** Waits until `test` returns a truthy value, and returns it. */
export async function until(test, what, ms = 10_000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await test();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${typeof what === 'function' ? what() : what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
