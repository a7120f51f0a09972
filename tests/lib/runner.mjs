// Runs the test files of a suite. Tests named `CLIENT · SCENARIO` are also listed in a table at the end.

import { setMaxListeners } from 'node:events';
import { appendFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

import { filesOfAdapter } from './adapters.mjs';

/** The tables, with a column for each client. */
const tables = {
  'AI SDK client': ['v5', 'v6', 'v7', 'workflow'],
  'OpenAI client': ['openai 6', 'openai 7'],
  'AG-UI client': ['0.0.59', '1.0.0'],
  'CopilotKit core, by route': ['rest', 'single'],
};

/** The time limit of one file. */
const FILE_MS = 10 * 60_000;

/** The most files with failed tests that run again. With more, the code is broken. */
const FILES_AGAIN = 3;

/**
 * Runs the test files in the folder of `module`: those named on the command line, or all except those
 * of the real model and of clusters. At most `concurrency` files run at the same time.
 *
 * Files with failed tests run again, once, after the others. Appends the tests that failed in the first run to the file that
 * `OMNIASSIST_FAILED_TESTS` names, a line each. Sets the exit code to 0 if at least one test ran and no file failed twice.
 */
export async function runSuite(module, { concurrency = 1 } = {}) {
  const folder = fileURLToPath(new URL('.', module));
  const named = process.argv.slice(2);
  const all = () => readdirSync(folder).filter((name) => /^(?!real-model)(?!.*-cluster).*\.test\.mjs$/.test(name));
  const files = (named.length ? named : filesOfAdapter(all())).sort().map((name) => `${folder}${name}`);

  const rows = Object.fromEntries(Object.keys(tables).map((title) => [title, new Map()]));
  // Ends the running file and this process. Waiting for the output of a killed file could take forever.
  const running = new AbortController();
  // Each file listens.
  setMaxListeners(0, running.signal);
  const end = (code) => {
    running.abort();
    process.exit(code);
  };
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
    process.once(signal, () => end(128 + number));
  }
  // If this process ends early, it fails.
  process.exitCode = 1;

  const first = await runFiles(files, { concurrency, signal: running.signal, rows, end });
  for (const { line } of first.failed) append(line);
  let { failed } = first;
  const again = [...new Set(failed.map(({ file }) => file))];
  if (again.length > 0 && again.length <= FILES_AGAIN) {
    console.log(`\nfiles with failed tests run again: ${again.join(', ')}`);
    ({ failed } = await runFiles(again, { concurrency: 1, signal: running.signal, rows, end }));
    if (failed.length === 0) console.log(`passed in the second run only:\n${first.failed.map(({ line }) => line).join('\n')}`);
  }
  for (const [title, clients] of Object.entries(tables)) {
    if (rows[title].size > 0) print(title, clients, rows[title]);
  }
  process.exitCode = first.ran > 0 && failed.length === 0 ? 0 : 1;
}

/**
 * Runs files, and prints the tests of each at its end. Returns the number of tests, and those that failed, with their files.
 * Each file has a run of its own: the file of a test is the one that defines it, which may be a module with several suites.
 */
async function runFiles(files, { concurrency, signal, rows, end }) {
  const queue = [...files];
  const failed = [];
  let ran = 0;
  const note = (name, word) => {
    const [client, scenario] = name.split(' · ');
    const title = Object.keys(tables).find((title) => tables[title].includes(client));
    if (!title || !scenario) return;
    rows[title].set(scenario, { ...rows[title].get(scenario), [client]: word });
  };
  async function runNext() {
    const file = queue.shift();
    if (!file) return;
    const stream = run({ files: [file], timeout: FILE_MS, signal });
    stream.on('test:pass', (event) => {
      ran += event.details.type === 'suite' ? 0 : 1;
      note(event.name, event.skip === undefined ? 'ok' : 'skipped');
    });
    stream.on('test:fail', (event) => {
      note(event.name, 'FAILED');
      failed.push({ file, line: `${event.name}: ${`${reason(event)}`.split('\n')[0]}` });
      if (process.env.FIRST_FAILURE !== 'ends') return;
      console.log(`first failure: ${event.name}\n${reason(event)?.stack ?? reason(event)}`);
      end(1);
    });
    // `spec` is a stream in some releases and a constructor of one in others. A stream ends with its first run.
    const reporter = typeof spec === 'function' ? new spec() : spec;
    let printed = `\n${basename(file)}\n`;
    for await (const text of stream.compose(reporter)) printed += text;
    process.stdout.write(printed);
    await runNext();
  }
  await Promise.all(Array.from({ length: concurrency }, runNext));
  console.log(`\n${ran} tests passed, ${failed.length} failed`);
  return { ran, failed };
}

function append(line) {
  const list = process.env.OMNIASSIST_FAILED_TESTS;
  if (list) appendFileSync(list, `${line}\n`);
}

/** The error of a failed test. */
function reason({ details: { error } }) {
  return error?.cause ?? error;
}

function print(title, clients, rows) {
  const width = Math.max(title.length, ...[...rows.keys()].map((name) => name.length));
  const column = Math.max(7, ...clients.map((client) => client.length + 1));
  const row = (name, cells) => `${name.padEnd(width)}  ${cells.map((cell) => cell.padEnd(column)).join('')}`.trimEnd();
  const lines = [...rows].map(([name, cells]) => row(name, clients.map((client) => cells[client] ?? '-')));
  console.log(['', row(title, clients), ...lines, ''].join('\n'));
}
