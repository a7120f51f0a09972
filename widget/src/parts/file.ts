import type { FilePart } from '../chat/types.js';
import { button } from '../ui/button.js';
import { element, filled } from '../ui/dom.js';
import { icon } from '../ui/icon.js';
import type { Texts } from '../ui/texts.js';
import type { ViewContext } from '../ui/view.js';
import type { PartView } from './kinds.js';
import { seen } from './values.js';

/** The longest address of a file that the page does not hold itself. */
const ADDRESS_LIMIT = 8_192;

/** Returns the address of a file if the page may load it without a click: its own, or data that it holds. */
function ownAddress(url: URL, mediaType: string): boolean {
  // A document in a `data:` address is only ever downloaded.
  if (url.protocol === 'data:') return !/^(text\/html|image\/svg|application\/xhtml)/i.test(mediaType);
  return url.protocol === 'blob:' || url.origin === location.origin;
}

/** Makes a preview. Audio and video are loaded once the user plays them; a policy of the page may forbid that. */
function preview(kind: string, src: string, name: string, texts: Texts): HTMLElement | undefined {
  if (kind === 'image') return element('img', { part: 'image', src, alt: name, loading: 'lazy', decoding: 'async' });
  if (kind !== 'audio' && kind !== 'video') return undefined;
  const play = button(filled(texts.play, { name }), 'quiet', () => {
    const player = element(kind, { part: kind, controls: true, autoplay: true, src, 'aria-label': name });
    player.addEventListener('error', () => player.remove());
    play.replaceWith(player);
  });
  return play;
}

/** A file: a preview if the page may load it, and a link that downloads or opens it. */
export function fileView({ texts, imageOrigins }: ViewContext): PartView<FilePart> {
  const node = element('div', { part: 'attachment', 'data-part': 'file' });
  let shown: string | undefined;
  return {
    node,
    update({ url: given, mediaType, filename }) {
      if (given === shown) return;
      shown = given;
      const name = seen(filename || texts.file);
      const parsed = URL.canParse(given, document.baseURI) ? new URL(given, document.baseURI) : undefined;
      const url = parsed && (parsed.protocol === 'data:' || given.length <= ADDRESS_LIMIT) ? parsed : undefined;
      const isOwn = !!url && ownAddress(url, mediaType);
      const kind = mediaType.split('/')[0] ?? '';
      const mayLoad = isOwn || (kind === 'image' && !!url && imageOrigins.includes(url.origin));
      const label = element('span', {}, name);
      const isWeb = !!url && /^https?:$/.test(url.protocol);
      const target = isOwn ? { download: filename || 'file' } : { target: '_blank', rel: 'noopener noreferrer nofollow' };
      const link =
        url && (isOwn || isWeb)
          ? element('a', { part: 'file-link', href: url.href, ...target, title: isOwn ? texts.download : url.host })
          : element('span', { part: 'file-link' });
      link.append(icon('file'), label);
      const media = mayLoad ? preview(kind, url.href, name, texts) : undefined;
      node.replaceChildren(...(media ? [media] : []), link);
      media?.addEventListener('error', () => media.remove());
    },
  };
}
