// Starts a built server on a free port and stops it again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

const START_MS = 20_000;

/**
 * Starts the binary that the variable names and waits until it says where it listens.
 * @returns {Promise<{origin: string, log: () => string, stop: () => Promise<void>}>}
 */
export async function startServer(variable, env) {
  const binary = process.env[variable];
  if (!binary) throw new Error(`${variable} is not set: run \`cargo xtask test\`, or set it to the built binary`);
  const child = spawn(binary, [], { env: { ...env, PORT: '0' }, stdio: ['ignore', 'pipe', 'pipe'] });
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
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    process.removeListener('exit', kill);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(kill, 5_000);
    await gone;
    clearTimeout(timer);
  };
  try {
    return { origin: await ready, log: () => log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
