// Firefox and WebKitGTK, driven without a library. Both know the commands of WebDriver: Firefox over its own protocol
// (Marionette), and WebKitGTK over the HTTP of WebKitWebDriver.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { until } from '../lib/quickstart.mjs';
import { guard } from '../lib/server.mjs';

const START_MS = 60_000;

/** Without these settings, Firefox requests updates and settings from its vendor. */
const QUIET = {
  'marionette.port': 0,
  'app.normandy.enabled': false,
  'browser.safebrowsing.provider.mozilla.updateURL': '',
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
};

/** Starts a program of a Debian package. `match` waits for a line of its output, and returns the first group of the match. */
async function start(program, args, debian, env = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  await once(child, 'spawn').catch(({ message }) => {
    throw new Error(`${message}. On Debian, as root: apt-get install -y --no-install-recommends ${debian}`);
  });
  const gone = once(child, 'exit');
  child.once('exit', guard(child));
  let log = '';
  for (const output of [child.stdout, child.stderr]) output.setEncoding('utf8').on('data', (text) => (log += text));
  const stop = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  const match = async (pattern) => {
    try {
      return await until(() => log.match(pattern)?.[1], () => `${program} is ready: ${log}`, START_MS);
    } catch (error) {
      await stop();
      throw error;
    }
  };
  return { match, stop };
}

/** Returns a browser from the functions that send a command and end the browser. */
function browserOf(name, send, stop) {
  return {
    name,
    stop,
    open: (url) => send('url', { url }),
    reload: () => send('refresh', {}),
    /** Runs a function in the page, and returns what it returns. */
    run: (script, ...args) => send('execute/sync', { script: `return (${script})(...arguments)`, args }),
    /** Clicks at a place of the page. */
    click: ({ x, y }) => send('actions', { actions: [pointer(x, y)] }),
    /** Presses and releases the keys of a text. */
    type: (text) => send('actions', { actions: [keys(text)] }),
  };
}

const pointer = (x, y) => ({
  type: 'pointer',
  id: 'mouse',
  parameters: { pointerType: 'mouse' },
  actions: [
    { type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 0 },
    { type: 'pointerDown', button: 0 },
    { type: 'pointerUp', button: 0 },
  ],
});
const keys = (text) => ({
  type: 'key',
  id: 'keyboard',
  actions: [...text].flatMap((value) => [{ type: 'keyDown', value }, { type: 'keyUp', value }]),
});

const MARIONETTE = {
  url: 'WebDriver:Navigate',
  refresh: 'WebDriver:Refresh',
  'execute/sync': 'WebDriver:ExecuteScript',
  actions: 'WebDriver:PerformActions',
};

/** Starts Firefox with a profile of its own. */
export async function openFirefox() {
  const profile = await mkdtemp(join(tmpdir(), 'firefox-'));
  const settings = Object.entries(QUIET).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
  await writeFile(join(profile, 'user.js'), settings.join(''));
  const args = ['--headless', '--marionette', '--no-remote', '--profile', profile];
  const firefox = await start('firefox-esr', args, 'firefox-esr');
  const { send, close } = await marionette(Number(await firefox.match(/Listening on port (\d+)/)));
  await send('WebDriver:NewSession', {});
  const command = (name, parameters) => send(MARIONETTE[name], parameters);
  return browserOf('Firefox', command, async () => {
    close();
    await firefox.stop();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  });
}

/** Connects to Marionette. A message is its length in bytes, a colon, and `[kind, number, …]` as JSON. */
async function marionette(port) {
  const socket = createConnection(port, '127.0.0.1');
  await once(socket, 'connect');
  const waiting = new Map();
  let number = 0;
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const colon = bytes.indexOf(':');
      const end = colon + 1 + Number(bytes.subarray(0, colon));
      if (colon < 0 || bytes.length < end) return;
      // Firefox greets with an object.
      const { 1: answered, 2: error, 3: result } = JSON.parse(bytes.subarray(colon + 1, end));
      bytes = bytes.subarray(end);
      const { resolve, reject } = waiting.get(answered) ?? {};
      if (error) reject?.(new Error(`${error.error}: ${error.message}`));
      else resolve?.(result?.value);
    }
  });
  const send = (name, parameters) =>
    new Promise((resolve, reject) => {
      waiting.set((number += 1), { resolve, reject });
      const message = JSON.stringify([0, number, name, parameters]);
      socket.write(`${Buffer.byteLength(message)}:${message}`);
    });
  return { send, close: () => socket.destroy() };
}

/** Starts WebKitGTK's MiniBrowser on a display of its own. */
export async function openWebKit() {
  const display = await start('Xvfb', ['-displayfd', '1', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'], 'xvfb');
  const env = { DISPLAY: `:${await display.match(/^(\d+)$/m)}`, GDK_BACKEND: 'x11' };
  const driver = await openDriver(env).catch(async (error) => {
    await display.stop();
    throw error;
  });
  return browserOf('WebKitGTK', driver.send, async () => {
    await driver.stop();
    await display.stop();
  });
}

/** Starts WebKitWebDriver, which prints no port, with one session. */
async function openDriver(env) {
  const port = await freePort();
  const driver = await start('WebKitWebDriver', [`--port=${port}`], 'webkit2gtk-driver', env);
  const ask = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  try {
    await until(() => ask('GET', '/status').then(() => true, () => false), 'WebKitWebDriver answers', START_MS);
    const { sessionId } = await ask('POST', '/session', { capabilities: {} });
    return { ...driver, send: (command, parameters) => ask('POST', `/session/${sessionId}/${command}`, parameters) };
  } catch (error) {
    await driver.stop();
    throw error;
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
