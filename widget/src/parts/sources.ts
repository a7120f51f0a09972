import type { SourcePart } from '../chat/types.js';
import { element, setText } from '../ui/dom.js';
import { counted } from '../ui/texts.js';
import type { ViewContext } from '../ui/view.js';
import type { PartView } from './kinds.js';
import { seen } from './values.js';

/** Returns the address of a link that may be opened in another tab. */
function webAddress(url: string | undefined): URL | undefined {
  const parsed = url && URL.canParse(url) ? new URL(url) : undefined;
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed : undefined;
}

function row({ url, title, filename, sourceId }: SourcePart): HTMLElement {
  const address = webAddress(url);
  const label = seen(title || filename || address?.host || url || sourceId);
  const name = element('span', {}, label);
  if (!address) return element('li', {}, element('span', { part: 'source' }, name));
  const link = { part: 'source', href: address.href, target: '_blank', rel: 'noopener noreferrer nofollow', title: address.href };
  const host = label === address.host ? undefined : element('span', { part: 'host' }, address.host);
  return element('li', {}, element('a', link, name, ' ', host));
}

/** The sources of an answer: links to pages, and the names of documents. */
export function sourcesView({ texts, locale }: ViewContext): PartView<SourcePart[]> {
  const title = element('p', { part: 'label' });
  const list = element('ol', { part: 'source-list' });
  const node = element('div', { part: 'sources', 'data-part': 'source' }, title, list);
  const shown = new Set<string>();
  return {
    node,
    update(parts) {
      for (const part of parts) {
        const key = part.url ?? part.sourceId;
        if (shown.has(key)) continue;
        shown.add(key);
        list.append(row(part));
      }
      setText(title, counted(texts.sources, shown.size, locale));
    },
  };
}
