// A suite that is cut short leaves no server behind, however its process ends.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

import { until } from '../lib/quickstart.mjs';

const LIBRARY = new URL('../lib/server.mjs', import.meta.url).href;

/** Starts a server, says where it is, and then never comes to rest. */
const BUSY = `
  import { writeSync } from 'node:fs';
  import { startServer } from '${LIBRARY}';
  const { origin } = await startServer('RUNTIME_EVENTS_BIN', { PATH: process.env.PATH });
  writeSync(1, origin);
  for (;;);
`;

const isThere = (origin) => fetch(origin).then(() => true, () => false);

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`a server goes with a process that ${signal} ends`, { timeout: 60_000 }, async () => {
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
