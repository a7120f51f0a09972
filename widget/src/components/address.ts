// Links and images of the model. An address that is not allowed becomes text.

import type { AnyContext } from './component.js';
import { type Child, h } from './node.js';

const LINKS = new Set(['http:', 'https:', 'mailto:', 'tel:']);
/** The longest address that is not an inline image. */
const ADDRESS_LIMIT = 8_192;
const INLINE_IMAGE = /^data:image\/(?!svg)[a-z0-9.+-]+[;,]/i;

function parse(address: unknown): URL | undefined {
  try {
    const url = typeof address === 'string' ? new URL(address, document.baseURI) : undefined;
    return url && (url.href.length <= ADDRESS_LIMIT || url.protocol === 'data:') ? url : undefined;
  } catch {
    return undefined;
  }
}

/** Describes a link, or the label and the address as text if the address is not allowed. */
export function link(label: Child, address: unknown, part = 'link'): Child {
  const url = parse(address);
  if (!url || !LINKS.has(url.protocol)) {
    return h(
      'span',
      { part: 'text' },
      label,
      typeof address === 'string' && address !== label ? ` (${address.slice(0, 200)})` : null,
    );
  }
  const outside = url.origin !== location.origin;
  return h(
    'a',
    {
      part,
      href: url.href,
      rel: 'noopener noreferrer nofollow',
      target: outside ? '_blank' : null,
      title: outside ? url.host || null : null,
    },
    label,
  );
}

/** Describes an image. An image of another origin that the page does not allow becomes a link, and no request is sent. */
export function picture(address: unknown, alt: string, context: AnyContext): Child {
  const url = parse(address);
  const label = alt || context.texts.image;
  const allowed =
    url &&
    (url.protocol === 'blob:' ||
      (url.protocol === 'data:' && INLINE_IMAGE.test(url.href)) ||
      (/^https?:$/.test(url.protocol) &&
        (url.origin === location.origin || context.imageOrigins.includes(url.origin))));
  if (!allowed) return link(label, address, 'link image-link');
  return h('img', { part: 'image', src: url.href, alt, decoding: 'async', referrerpolicy: 'no-referrer' });
}
