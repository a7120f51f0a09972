// Runs the suites of this folder one file after the other and closes with a table: scenario by version.
// Arguments: names of test files; all but the real model's when there are none.

import { readdirSync } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const named = process.argv.slice(2);
const files = (named.length ? named : readdirSync(folder).filter((name) => /^(?!real-model).*\.test\.mjs$/.test(name)))
  .sort()
  .map((name) => `${folder}${name}`);

const versions = ['v5', 'v6', 'v7'];
const table = new Map();
const note = (name, word) => {
  const [version, scenario] = name.split(' · ');
  if (!versions.includes(version) || !scenario) return;
  table.set(scenario, { ...table.get(scenario), [version]: word });
};

let ran = 0;
const stream = run({ files, concurrency: 1 });
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
  console.log(['', row('AI SDK client', versions), ...[...table].map(([name, cells]) => row(name, versions.map((v) => cells[v] ?? '-'))), ''].join('\n'));
}).pipe(process.stdout);
