// The binaries of the workspace that the tests start.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Names a binary in its variable, unless one is named. Throws if it is not built. */
export function program(variable, name) {
  const path = (process.env[variable] ??= fileURLToPath(new URL(`../../target/debug/${name}`, import.meta.url)));
  if (existsSync(path) || process.env.OMNIASSIST_ADAPTER) return;
  throw new Error(`${path} is missing: run \`cargo build -p ${name}\`, or \`cargo xtask test widget\``);
}
