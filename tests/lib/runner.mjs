// Runs the test files of a suite one after the other. Tests named `VERSION · SCENARIO` also end up in a closing table.

import { readdirSync } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const versions = ['v5', 'v6', 'v7'];

/** The longest that one file may take. */
const FILE_MS = 10 * 60_000;

/**
 * Runs the files that the command line names, or all but the real model's, of the folder that `module` is in.
 * Sets the exit code: 0 only if something ran and nothing failed.
 */
export function runSuite(module) {
  const folder = fileURLToPath(new URL('.', module));
  const named = process.argv.slice(2);
  const files = (named.length ? named : readdirSync(folder).filter((name) => /^(?!real-model).*\.test\.mjs$/.test(name)))
    .sort()
    .map((name) => `${folder}${name}`);

  const table = new Map();
  const note = (name, word) => {
    const [version, scenario] = name.split(' · ');
    if (!versions.includes(version) || !scenario) return;
    table.set(scenario, { ...table.get(scenario), [version]: word });
  };

  let ran = 0;
  const stream = run({ files, concurrency: 1, timeout: FILE_MS });
  stream.on('test:pass', (event) => {
    ran += event.details.type === 'suite' ? 0 : 1;
    note(event.name, event.skip === undefined ? 'ok' : 'skipped');
  });
  stream.on('test:fail', (event) => {
    process.exitCode = 1;
    note(event.name, 'FAILED');
  });
  stream.on('end', () => {
    if (ran === 0) process.exitCode = 1;
  });
  // `spec` is a stream in some releases and a constructor of one in others.
  const reporter = typeof spec === 'function' && spec.prototype ? new spec() : spec;
  stream.compose(reporter).on('end', () => {
    if (table.size === 0) return;
    const width = Math.max(...[...table.keys()].map((name) => name.length));
    const row = (name, cells) => `${name.padEnd(width)}  ${cells.map((cell) => cell.padEnd(7)).join('')}`.trimEnd();
    const rows = [...table].map(([name, cells]) => row(name, versions.map((version) => cells[version] ?? '-')));
    console.log(['', row('AI SDK client', versions), ...rows, ''].join('\n'));
  }).pipe(process.stdout);
}
