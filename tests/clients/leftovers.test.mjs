// No server outlives the process of a suite, even if a signal kills that process.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

import { until } from '../lib/quickstart.mjs';

const LIBRARY = new URL('../lib/server.mjs', import.meta.url).href;

/** A program that starts a server, prints its address, and then loops forever. */
const BUSY = `
  import { writeSync } from 'node:fs';
  import { startServer } from '${LIBRARY}';
  const { origin } = await startServer('RUNTIME_EVENTS_BIN', { PATH: process.env.PATH });
  writeSync(1, origin);
  for (;;);
`;

const isThere = (origin) => fetch(origin).then(() => true, () => false);

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`a server ends with a process that ${signal} kills`, { timeout: 60_000 }, async () => {
    const busy = spawn(process.execPath, ['--input-type=module', '-e', BUSY], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [origin] = await once(busy.stdout.setEncoding('utf8'), 'data');
      assert.ok(await isThere(origin), origin);
      busy.kill(signal);
      await once(busy, 'exit');
      await until(async () => !(await isThere(origin)), 'the server is gone');
    } finally {
      busy.kill('SIGKILL');
    }
  });
}
