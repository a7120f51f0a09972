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
    if (/^page\.(?:mdx?|[jt]sx?)$/.test(file) && after('app')) return pathOf(after('app'));
    if (/^\+page(?:@.*)?\.svelte$/.test(file) && after('routes')) return pathOf(after('routes'));
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
  // `(.)photo` of Next.js shows a page that has its own file.
  if (parts.some((part) => /^(?:_|\(\.{1,3}\))/.test(part))) return [];
  const segments = parts
    .filter((part) => !/^(?:\(.*\)|@.*)$/.test(part))
    .map((part) =>
      part
        .replace(/^\[?\[\.{3}([\w-]+)(?:=\w+)?\]\]?$/, (_, name) => `${parameter(name)}*`)
        .replace(/^\[\[([\w-]+)(?:=\w+)?\]\]$/, (_, name) => `${parameter(name)}?`)
        .replace(/\[([\w-]+)(?:=\w+)?\]/g, (_, name) => parameter(name)),
    );
  return [`/${segments.join('/')}`];
}

/** The name of a parameter has no hyphen, which would end it. */
const parameter = (name) => `:${name.replaceAll('-', '_')}`;

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
