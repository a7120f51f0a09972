// The template of `navigation`: the page that was opened, and the previous page.

import type { Json } from './json.js';
import { isFull, isMap, isText, text, values } from './read.js';
import * as write from './write.js';

/** An address: a text, or the parts of a location object. */
interface Address {
  path: string;
  search: string;
  hash: string;
}

/** A page that was opened. */
export interface Navigation {
  to: Address;
  from?: Address | undefined;
  title?: string | undefined;
  params: Json[];
}

/** Reads the data of a navigation. Returns `undefined` if it names no page. */
export function readNavigation(data: Json): Navigation | undefined {
  const inner = isMap(data) ? values(data, 'to path url href pathname fullPath location route page').find(readAddress) : data;
  const to = readAddress(inner);
  if (!to || !isMap(data)) return to && { to, params: [] };
  const search = text(data, 'search');
  if (!to.search && !to.path.includes('?') && search?.startsWith('?')) to.search = search;
  return {
    to,
    from: values(data, 'from referrer previous').map(readAddress).find(Boolean),
    title: text(data, 'title pageTitle name'),
    params: [data, inner]
      .flatMap((map) => (isMap(map) ? values(map, 'params query searchParams search') : []))
      .filter((value) => isFull(value) && value !== to.search) as Json[],
  };
}

function readAddress(value: Json | undefined): Address | undefined {
  if (isText(value)) return value ? { path: value, search: '', hash: '' } : undefined;
  if (!isMap(value)) return undefined;
  const key = 'fullPath pathname path href url name'.split(' ').find((key) => text(value, key));
  const part = (name: string): string => (/fullPath|href|url/.test(key!) ? '' : (text(value, name) ?? ''));
  return key ? { path: text(value, key)!, search: part('search'), hash: part('hash') } : undefined;
}

/**
 * Returns the part that all addresses of one page share: everything but the query, and the fragment unless it is a path.
 */
export function page({ path, hash }: Address): string {
  const [, name, , inside] = /^([^?#]*)([^#]*)(?:#([^]*))?$/.exec(path)!;
  const fragment = inside ?? hash.replace(/^#+/, '');
  return `${name}#${/^!?\//.test(fragment) ? fragment.split('?')[0] : ''}`;
}

export function writeNavigation({ to, from, title, params }: Navigation, previous: Navigation | undefined): string {
  let out = `Opened ${writeAddress(to)}`;
  if (title) out += ` (${write.quoted(title)})`;
  // The previous bullet already names the page that the user came from.
  if (from && page(from) !== page(to) && page(from) !== (previous && page(previous.to))) out += ` from ${writeAddress(from)}`;
  params.forEach((value, index) => {
    out += (index ? ', ' : ' with ') + (isMap(value) ? write.pairs(value) : write.value(value));
  });
  return out;
}

const writeAddress = ({ path, search, hash }: Address): string => write.address(path + search + hash);
