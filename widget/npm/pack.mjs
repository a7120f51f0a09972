// Writes the npm package of the chat without a user interface to `out/npm`: modules, types and a `package.json`.

import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const widget = fileURLToPath(new URL('..', import.meta.url));
const folder = `${widget}out/npm`;
const workspace = readFileSync(`${widget}../Cargo.toml`, 'utf8');
const setting = (name) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(workspace)[1];

rmSync(folder, { recursive: true, force: true });
await build({
  absWorkingDir: widget,
  bundle: true,
  charset: 'utf8',
  entryPoints: { index: 'src/npm.ts' },
  format: 'esm',
  logLevel: 'warning',
  outdir: folder,
  splitting: true,
  target: 'es2022',
});
execFileSync('node', [`${widget}node_modules/typescript/bin/tsc`, '--project', `${widget}npm`], { stdio: 'inherit' });

const description = {
  name: 'omniassist-client',
  version: setting('version'),
  description: 'The chat of OmniAssist without a user interface.',
  license: setting('license'),
  repository: setting('repository'),
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20' },
  exports: { '.': { types: './types/npm.d.ts', default: './index.js' } },
};
writeFileSync(`${folder}/package.json`, `${JSON.stringify(description, null, 2)}\n`);
copyFileSync(`${widget}npm/README.md`, `${folder}/README.md`);
for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) copyFileSync(`${widget}../${name}`, `${folder}/${name}`);
