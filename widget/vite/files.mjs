// Routes that a framework derives from the names of files.

import { relative, sep } from 'node:path';
import { merged } from './routes.mjs';

/** Returns the routes of Next.js, Nuxt and similar `pages`, SvelteKit, and React Router's `routes` folder. */
export function routesOfFiles(root, paths) {
  const names = paths.map((path) => relative(root, path).split(sep).join('/'));
  const hasRoot = names.some((name) => /(?:^|\/)root\.[jt]sx$/.test(name));
  const found = names.flatMap((name) => {
    const parts = name.split('/');
    const file = parts.pop();
    const after = (folder) => (parts.includes(folder) ? parts.slice(parts.indexOf(folder) + 1) : undefined);
    if (/^page\.[jt]sx?$/.test(file) && after('app')) return pathOf(after('app'));
    if (/^\+page\.svelte$/.test(file) && after('routes')) return pathOf(after('routes'));
    const [, base] = /^(.+)\.(?:vue|svelte|[jt]sx)$/.exec(file) ?? [];
    if (!base) return [];
    const pages = after('pages');
    if (pages && pages[0] !== 'api' && !/^(?:_\w+|404|500|error)$/.test(base)) {
      return pathOf(base === 'index' ? pages : [...pages, base]);
    }
    const flat = after('routes');
    // A folder of React Router has its route in `route.tsx`, and other files beside it.
    if (hasRoot && flat && (flat.length === 0 || base === 'route')) return flatPath(flat.length === 0 ? base : flat[0]);
    return [];
  });
  return merged(found.map((path) => ({ path })));
}

function pathOf(parts) {
  if (parts.some((part) => part.startsWith('_'))) return [];
  const segments = parts
    .filter((part) => !/^(?:\(.*\)|@.*)$/.test(part))
    .map((part) =>
      part
        .replace(/^\[\[\.{3}(\w+)\]\]$/, ':$1*')
        .replace(/^\[\.{3}(\w+)\]$/, ':$1*')
        .replace(/^\[\[(\w+)(?:=\w+)?\]\]$/, ':$1?')
        .replace(/\[(\w+)(?:=\w+)?\]/g, ':$1'),
    );
  return [`/${segments.join('/')}`];
}

function flatPath(base) {
  const segments = base
    .split('.')
    .filter((part) => !part.startsWith('_'))
    .map((part) =>
      part
        .replace(/_$/, '')
        .replace(/^\((.*)\)$/, '$1?')
        .replace(/^\$$/, '*')
        .replace(/^\$/, ':'),
    );
  return [`/${segments.join('/')}`];
}
