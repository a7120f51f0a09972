// Asks the research desk over its WebSocket, with the client of agent-tree-client.mjs in a process of its own.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Older releases of Node have `WebSocket` behind a flag. */
const flags = process.allowedNodeEnvironmentFlags.has('--experimental-websocket') ? ['--experimental-websocket'] : [];
const client = fileURLToPath(new URL('agent-tree-client.mjs', import.meta.url));

/** Returns the nodes and the frames of a tree that works on `prompt`, and gives `answer` to each of its questions. */
export async function explore(desk, prompt, answer, timeout = 60_000) {
  const url = `${desk.origin.replace(/^http/, 'ws')}/assistant/ws`;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, client, url, prompt, answer],
    { timeout, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout);
}
