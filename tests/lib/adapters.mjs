// The adapter that serves the hosts. Default: axum, as in the examples. `OMNIASSIST_ADAPTER` names another one
// (tests/served).

import { basename } from 'node:path';

const AXUM = 'axum';

/** The adapter that this process tests. */
export const adapter = process.env.OMNIASSIST_ADAPTER || AXUM;

/** Files of tests/clients that start no server. They do not depend on the adapter, and run once, with axum. */
const SERVERLESS = [
  'ag-ui-runs.test.mjs', 'answers.test.mjs', 'canonical.test.mjs', 'completions.test.mjs', 'strict.test.mjs',
];

/** Files that run once because they are long, or compare with others. What they test lies below the adapters. */
const LONG = [
  'agent-bytes.test.mjs', 'agent-limits.test.mjs', 'forgery.test.mjs', 'mcp-questions.test.mjs',
  'resumed-agents.test.mjs', 'resumed.test.mjs', 'types.test.mjs',
];

/** Returns the files of a suite that run over this adapter, and prints the ones that do not. */
export function filesOfAdapter(names) {
  if (adapter === AXUM) return names;
  const once = [...SERVERLESS, ...LONG];
  const missing = once.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`no such file of the suite: ${missing.join(', ')}`);
  console.log(`over ${adapter}; files that run once are left out: ${once.join(', ')}`);
  return names.filter((name) => !once.includes(name));
}

/**
 * Returns the command that serves a host. `variable` is the environment variable with the path of its own binary, such
 * as `QUICKSTART_BIN` for examples/quickstart.
 * @returns {[string, string[]]}
 */
export function commandFor(variable, words = []) {
  if (SERVERLESS.includes(basename(process.argv[1] ?? ''))) {
    throw new Error(`${basename(process.argv[1])} starts a server: take it off the list in tests/lib/adapters.mjs`);
  }
  if (adapter === AXUM) return [binary(variable), words];
  const host = variable.replace(/_BIN$/, '').toLowerCase().replaceAll('_', '-');
  return [binary('SERVED_BIN'), [adapter, host]];
}

function binary(variable) {
  const path = process.env[variable];
  if (!path) throw new Error(`${variable} is not set: run \`cargo xtask test\`, or set it to the built binary`);
  return path;
}
