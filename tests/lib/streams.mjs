// The files that the core's tests write for the official clients (omniassist-core/tests/official).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the values of a file with one JSON value per line. */
export function readStreams(name) {
  const folder = process.env.OMNIASSIST_STREAMS;
  if (!folder) throw new Error('OMNIASSIST_STREAMS is not set: run `cargo xtask test clients`');
  const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}
