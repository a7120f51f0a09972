// Writes the npm package of the chat without a user interface to `out/npm`: modules, hooks, types, the plugin for Vite and a
// `package.json`.

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  // Bundlers replace it by the path of the file on the machine that builds.
  define: { 'import.meta.url': '""' },
  entryPoints: { index: 'src/npm.ts', react: 'src/hooks/react.ts', vue: 'src/hooks/vue.ts' },
  external: ['react', 'vue'],
  format: 'esm',
  logLevel: 'warning',
  outdir: folder,
  splitting: true,
  target: 'es2022',
});
execFileSync('node', [`${widget}node_modules/typescript/bin/tsc`, '--project', `${widget}npm`], { stdio: 'inherit' });

/** The oldest versions that the entries with their names work with. */
const peers = { react: '>=18', typescript: '>=5', vite: '>=5', vue: '>=3.2' };
const description = {
  name: 'omniassist-client',
  version: setting('version'),
  description: 'The chat of OmniAssist without a user interface.',
  license: setting('license'),
  repository: setting('repository'),
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20' },
  exports: {
    '.': { types: './types/npm.d.ts', default: './index.js' },
    './react': { types: './types/hooks/react.d.ts', default: './react.js' },
    './vite': { types: './vite/omniassist.d.mts', default: './vite/omniassist.mjs' },
    './vite/client': { types: './vite/client.d.ts' },
    // The types of what the server has at `/widget.js`.
    './widget': { types: './types/widget.d.ts' },
    './vue': { types: './types/hooks/vue.d.ts', default: './vue.js' },
  },
  peerDependencies: peers,
  peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
};
writeFileSync(`${folder}/package.json`, `${JSON.stringify(description, null, 2)}\n`);
cpSync(`${widget}vite`, `${folder}/vite`, { recursive: true });
copyFileSync(`${widget}npm/README.md`, `${folder}/README.md`);
for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) copyFileSync(`${widget}../${name}`, `${folder}/${name}`);
