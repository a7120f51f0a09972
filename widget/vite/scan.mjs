#!/usr/bin/env node
// Finds the routes, the forms and the schemas of an application in its sources, without running them:
//
//     node scan.mjs SRC [--out routes.json] [--files]
//
// `--files` adds the routes of file names, which is done without it if the sources declare no routes.

import { realpathSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { routesOfFiles } from './files.mjs';
import { formsOf } from './forms.mjs';
import { merged, routesOf } from './routes.mjs';
import { Sources, isFolder } from './sources.mjs';
import { schemasOf } from './zod.mjs';

/** Scans a folder. Returns the manifest and what could not be read. */
export function scan(root, { files = false } = {}) {
  const sources = new Sources(root);
  const declared = routesOf(sources);
  const named = files || declared.length === 0 ? routesOfFiles(root, sources.paths) : [];
  const manifest = {
    version: 1,
    routes: named.length > 0 ? merged([...named, ...declared]) : declared,
    forms: formsOf(sources).map(({ form, schema }) => ({ form, schema: withoutMarks(schema) })),
    schemas: withoutMarks(schemasOf(sources)),
  };
  return { manifest, warnings: sources.warnings };
}

/** Returns the manifest as the text of `routes.json`. The same sources give the same bytes. */
export const textOf = (manifest) => `${JSON.stringify(manifest, null, 2)}\n`;

const withoutMarks = (schema) =>
  JSON.parse(JSON.stringify(schema, (key, value) => (key === '$value' ? undefined : value)));

// A package manager may have a link at the path of the command.
if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { out: { type: 'string' }, files: { type: 'boolean' } },
  });
  const [root] = positionals;
  if (!root || !isFolder(root)) {
    console.error('Usage: node scan.mjs SRC [--out routes.json] [--files]');
    process.exit(2);
  }
  const { manifest, warnings } = scan(root, values);
  for (const warning of warnings) console.error(warning);
  if (values.out) writeFileSync(values.out, textOf(manifest));
  else process.stdout.write(textOf(manifest));
}
