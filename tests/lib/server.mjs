// Starts a built server on a free port, and stops it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { commandFor } from './adapters.mjs';

const START_MS = 20_000;

// A test file ends with its runner, even if the runner was killed.
if (process.env.NODE_TEST_CONTEXT) {
  const runner = process.ppid;
  setInterval(() => process.ppid !== runner && process.exit(1), 500).unref();
}

/** A script that kills a process when the script's standard input closes. */
const GUARD = "trap '' INT TERM HUP; read _; kill -9 \"$1\" 2>/dev/null";

/**
 * Ends a process when this process ends, even if a signal kills this one.
 * @returns {() => void} ends the watch
 */
export function guard({ pid }) {
  const watch = spawn('/bin/sh', ['-c', GUARD, 'guard', String(pid)], { stdio: ['pipe', 'ignore', 'ignore'] });
  watch.on('error', () => {});
  watch.unref();
  watch.stdin.on('error', () => {}).unref();
  return () => watch.kill('SIGKILL');
}

/**
 * Starts the binary of the variable, or the same host with another adapter, and waits until it prints its address.
 * `words` are its arguments. `stop` lets it end; `kill` ends it at once, as SIGKILL does.
 * @returns {Promise<{origin: string, log: () => string, stop: () => Promise<void>, kill: () => Promise<void>}>}
 */
export async function startServer(variable, env, port = '0', words = []) {
  const [binary, args] = commandFor(variable, words);
  const own = { ...env, PORT: port };
  const child = spawn(binary, args, { env: own, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) child.once('exit', guard(child));
  let log = '';
  let listening;
  const ready = new Promise((resolve, reject) => {
    listening = (text) => {
      log += text;
      const address = log.match(/listening on (http:\/\/127\.0\.0\.1:\d+)/)?.[1];
      if (address) resolve(address);
    };
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`${binary} ended (${code ?? signal}):\n${log}`)));
    setTimeout(() => reject(new Error(`${binary} does not listen after ${START_MS} ms:\n${log}`)), START_MS).unref();
  });
  child.stdout.setEncoding('utf8').on('data', listening);
  child.stderr.setEncoding('utf8').on('data', listening);
  const end = async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await gone;
    clearTimeout(timer);
  };
  const [stop, kill] = [() => end('SIGTERM'), () => end('SIGKILL')];
  try {
    return { origin: await ready, log: () => log, stop, kill };
  } catch (error) {
    await stop();
    throw error;
  }
}
