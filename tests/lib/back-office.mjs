// Starts the back office with roles (examples/back-office) on a free port, with files of its own.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openai } from './quickstart.mjs';
import { startServer } from './server.mjs';

/** The headers that sign a member in. */
export const signedIn = (member) => ({ authorization: `Bearer ${member}-token` });

/**
 * Starts the binary named by `BACK_OFFICE_BIN` with a model server as its model. `audit` reads the audit file, and
 * `saved` fetches a saved conversation.
 * @returns {Promise<{origin: string, api: string, log: () => string, stop: () => Promise<void>,
 *   audit: () => Promise<object[]>, saved: (member: string, chat: string) => Promise<Response>}>}
 */
export async function startBackOffice(model, settings = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'back-office-'));
  const server = await startServer('BACK_OFFICE_BIN', {
    PATH: process.env.PATH,
    ...openai('openai', model.baseUrl),
    BACK_OFFICE_DATA: folder,
    ...settings,
  });
  const audit = async () => {
    const lines = (await readFile(join(folder, 'audit.jsonl'), 'utf8')).split('\n');
    return lines.filter(Boolean).map((line) => JSON.parse(line));
  };
  const saved = (member, chat) => fetch(`${server.origin}/conversations/${chat}`, { headers: signedIn(member) });
  const stop = () => server.stop().then(() => rm(folder, { recursive: true, force: true }));
  return { ...server, api: `${server.origin}/assistant`, audit, saved, stop };
}
