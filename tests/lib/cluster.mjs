// Three quickstarts on one PostgreSQL, behind the proxy of examples/cluster.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { commandFor } from './adapters.mjs';
import { environment } from './quickstart.mjs';
import { startServer } from './server.mjs';

const SERVERS = 3;

/** Starts a database, and returns its URL. It ends with this process. */
async function startDatabase() {
  const child = spawn(...commandFor('CLUSTER_BIN', ['database']), { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const stop = async () => {
    const gone = once(child, 'exit');
    child.stdin.end();
    await gone;
  };
  return { url: line.trim(), stop };
}

/**
 * Starts the servers and the proxy, with the interface of `startQuickstart`.
 *
 * `gather` leaves one server, so that it drives the runs that begin then, and `spread` starts the others beside it. `kill`
 * and `drain` end the server that was alone. The others go on with its runs, so there is nothing to `start`.
 */
export async function startCluster(settings) {
  const database = await startDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'cluster-'));
  const env = environment({
    QUICKSTART_DB: join(folder, 'orders.sqlite3'),
    QUICKSTART_CHATS: database.url,
    OMNIASSIST_SEAL_KEYS: `cluster:${'5a'.repeat(32)}`,
    // All pages belong to one user.
    QUICKSTART_RUNS: '100',
    ...settings,
  });
  const servers = [];
  for (let number = 0; number < SERVERS; number += 1) servers.push({ server: await startServer('QUICKSTART_BIN', env), isUp: true });
  for (const each of servers) each.port = new URL(each.server.origin).port;
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  const proxy = await startServer('CLUSTER_BIN', env, '0', ['proxy', '0', ...addresses]);
  let owner = 0;
  const end = async (each, how) => {
    await each.server[how]();
    each.isUp = false;
  };
  const launch = async (each) => {
    if (each.isUp) return;
    each.server = await startServer('QUICKSTART_BIN', env, each.port);
    each.isUp = true;
  };
  const others = () => servers.filter((_, number) => number !== owner);
  return {
    origin: proxy.origin,
    api: `${proxy.origin}/assistant`,
    log: () => servers.map(({ server }) => server.log()).join('\n'),
    async gather() {
      owner = (owner + 1) % SERVERS;
      await launch(servers[owner]);
      await Promise.all(others().filter(({ isUp }) => isUp).map((each) => end(each, 'stop')));
    },
    spread: async () => void (await Promise.all(others().map(launch))),
    kill: () => end(servers[owner], 'kill'),
    drain: () => end(servers[owner], 'stop'),
    start: async () => {},
    async stop() {
      await Promise.all([proxy.stop(), ...servers.map(({ server }) => server.stop())]);
      await database.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
