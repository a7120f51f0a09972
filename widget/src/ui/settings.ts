import { localeOf } from '../i18n/index.js';
import { suggestionsOf } from './empty.js';
import { MODES, type Mode } from './window.js';

/** The attributes of the element that need the shell to be made anew. */
export const SHELL_ATTRIBUTES = ['mode', 'locale', 'attachments', 'image-origins', 'follow', 'suggestions', 'heading', 'dir'];
/** The attributes that need another chat. */
export const CHAT_ATTRIBUTES = ['agent', 'api', 'persist', 'storage-prefix'];
/** The other attributes. `theme` and `density` are read by the style sheet alone. */
export const LIVE_ATTRIBUTES = ['chat', 'open'];

export interface Settings {
  mode: Mode;
  locale: string;
  heading: string | undefined;
  accept: string | undefined;
  imageOrigins: string[];
  follow: string;
  suggestions: string[];
  isKept: boolean;
}

export function settingsOf(host: HTMLElement): Settings {
  const read = (name: string): string | undefined => host.getAttribute(name) ?? undefined;
  return {
    mode: MODES.find((mode) => mode === read('mode')) ?? 'popup',
    locale: localeOf(host),
    heading: read('heading'),
    accept: read('attachments'),
    imageOrigins: (read('image-origins') ?? '')
      .split(/[\s,]+/)
      .filter((url) => URL.canParse(url))
      .map((url) => new URL(url).origin),
    follow: read('follow') ?? 'end',
    suggestions: suggestionsOf(read('suggestions')),
    isKept: read('persist') !== 'none',
  };
}
