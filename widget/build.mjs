// Builds what the server contains: the components as one module, the page of the playground, and the widget as modules with
// their compressed forms.
// For the tests, it also writes one file per source to `out/`. With `--check`, it writes to `out/` only, and fails if
// the server's files are not those that would be built.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { data, withColours } from './build-data.mjs';
import { buildPlayground } from './build-playground.mjs';
import { buildWidget } from './build-widget.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
const isCheck = process.argv.includes('--check');
const shared = { absWorkingDir: folder, charset: 'utf8', format: 'esm', logLevel: 'warning', target: 'es2022' };
const bundled = {
  ...shared,
  bundle: true,
  legalComments: 'none',
  minify: true,
  plugins: [data],
  write: false,
};

const sources = readdirSync(`${folder}src`, { recursive: true })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
  .sort();
await build({ ...shared, entryPoints: sources.map((name) => `src/${name}`), outbase: 'src', outdir: 'out' });

const product = `${folder}../omniassist-server/assets/components.js`;
const components = await build({ ...bundled, entryPoints: ['src/components/index.ts'] });
const [{ text }] = components.outputFiles;
if (!isCheck) writeFileSync(product, text);
else if (readFileSync(product, 'utf8') !== text)
  throw new Error('assets/components.js is not what the sources build to: run `npm run build`');

await buildPlayground(bundled, `${folder}../omniassist-server/`, isCheck);
await buildWidget({ ...bundled, plugins: [withColours, data] }, `${folder}../omniassist-server/`, isCheck);
