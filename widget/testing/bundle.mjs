// Bundles the widget for tests. `replaced` maps sources of the widget to others, as `chat/index` to a chat that a test
// drives.

import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { styles } from '../build-data.mjs';

const folder = fileURLToPath(new URL('..', import.meta.url));
const built = new Map();

/** A chat that a test drives, instead of the client. */
export const DRIVEN = { 'chat/deferred': 'testing/driven-chat.js' };
/** Returns the modules of the bundle by name. The entry is `widget.js`. */
export function bundle(replaced = {}) {
  const key = JSON.stringify(replaced);
  if (!built.has(key)) built.set(key, make(replaced));
  return built.get(key);
}

async function make(replaced) {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    bundle: true,
    charset: 'utf8',
    chunkNames: '[name]-[hash]',
    entryPoints: ['src/widget.ts'],
    format: 'esm',
    logLevel: 'warning',
    minify: true,
    outdir: 'out/bundle',
    plugins: [{ name: 'sources', setup: (here) => sources(here, replaced) }, styles],
    splitting: true,
    target: 'es2022',
    write: false,
  });
  return new Map(outputFiles.map(({ path, text }) => [path.slice(path.lastIndexOf('/') + 1), text]));
}

function sources(here, replaced) {
  here.onResolve({ filter: /^\.\.?\// }, ({ importer, path }) => {
    const full = join(dirname(importer), path);
    const name = relative(join(folder, 'src'), full).replace(/\.js$/, '');
    const other = replaced[name];
    return other ? { path: join(folder, other) } : undefined;
  });
}
