// Starts the quickstart binary on a free port with a database of its own, and stops it again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const START_MS = 20_000;

/** What the quickstart must not inherit: a developer's own key or model would change what is tested. */
const OWN_SETTINGS = /^(OMNIASSIST_|OPENAI_|QUICKSTART_|PORT$|HTTP_PROXY$|HTTPS_PROXY$|ALL_PROXY$)/i;

/** The settings that make the demo model answer. */
export const DEMO = { OMNIASSIST_PROVIDER: 'demo' };

/** The settings that make a server with OpenAI's API answer. `api` is `openai` (Responses) or `openai-chat`. */
export const openai = (api, baseUrl, model = 'scripted-model') => ({
  OMNIASSIST_PROVIDER: api,
  OPENAI_BASE_URL: baseUrl,
  OPENAI_API_KEY: 'sk-canary-of-the-suite',
  OMNIASSIST_MODEL: model,
});

/**
 * Starts the binary named by `QUICKSTART_BIN` and waits until it listens.
 * @returns {Promise<{origin: string, api: string, log: () => string, stop: () => Promise<void>}>}
 */
export async function startQuickstart(settings) {
  const binary = process.env.QUICKSTART_BIN;
  if (!binary) throw new Error('QUICKSTART_BIN is not set: run `cargo xtask test`, or set it to the built quickstart');
  const folder = await mkdtemp(join(tmpdir(), 'quickstart-'));
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN_SETTINGS.test(name)));
  const child = spawn(binary, [], {
    env: {
      ...inherited,
      PORT: '0',
      OMNIASSIST_DISCOVERY: 'off',
      QUICKSTART_DB: join(folder, 'orders.sqlite3'),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  let listening;
  const ready = new Promise((resolve, reject) => {
    listening = (text) => {
      log += text;
      const address = log.match(/listening on (http:\/\/127\.0\.0\.1:\d+)/)?.[1];
      if (address) resolve(address);
    };
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`the quickstart ended (${code ?? signal}):\n${log}`)));
    setTimeout(() => reject(new Error(`the quickstart does not listen after ${START_MS} ms:\n${log}`)), START_MS).unref();
  });
  child.stdout.setEncoding('utf8').on('data', listening);
  child.stderr.setEncoding('utf8').on('data', listening);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    process.removeListener('exit', kill);
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(kill, 5_000);
      await gone;
      clearTimeout(timer);
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const origin = await ready;
    return { origin, api: `${origin}/assistant`, log: () => log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits until `test` gives something truthy and returns it. */
export async function until(test, what, ms = 10_000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await test();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
