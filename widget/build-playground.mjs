// Builds the page of the playground. Its script imports `widget.js` of the same server, so the widget is in it only once.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const sources = fileURLToPath(new URL('src/playground/', import.meta.url));

/** Returns the files of the page by name. */
export async function playground(options) {
  const widget = ({ onResolve }) =>
    onResolve({ filter: /^\.\.\/widget\.js$/ }, ({ path }) => ({ path, external: true }));
  const plugins = [{ name: 'widget', setup: widget }, ...options.plugins];
  const { outputFiles } = await build({ ...options, entryPoints: [`${sources}index.ts`], plugins });
  return { 'page.html': readFileSync(`${sources}page.html`, 'utf8'), 'page.js': outputFiles[0].text };
}

/** Writes `assets/playground/` in the folder of the server's crate, or checks it. */
export async function buildPlayground(options, crate, isCheck) {
  const folder = `${crate}assets/playground/`;
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await playground(options))) {
    if (!isCheck) writeFileSync(folder + name, text);
    else if (readFileSync(folder + name, 'utf8') !== text)
      throw new Error(`assets/playground/${name} is not what the sources build to: run \`npm run build\``);
  }
}
