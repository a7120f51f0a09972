import type { Texts as ComponentTexts } from '../components/texts.js';
import type { Texts as AgentTexts } from '../tree/texts.js';
import { ENGLISH, type Texts } from '../ui/texts.js';
import { type Named, named } from './named.js';

/** The texts of a language. */
interface Translation {
  readonly chat: Named<typeof ENGLISH>;
  readonly components: Named<ComponentTexts>;
  /** The texts of `<omniassist-agents>`. */
  readonly agents: Named<AgentTexts>;
}

const LANGUAGES: Record<string, () => Promise<Translation>> = {
  ar: () => import('./ar.json'),
  de: () => import('./de.json'),
  es: () => import('./es.json'),
};

const RIGHT_TO_LEFT = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi']);

/** Returns the locale of an element: that of its attribute, of the page, or of the browser. One that is not valid is English. */
export function localeOf(host: Element | null): string {
  const locale = host?.getAttribute('locale') || document.documentElement.lang || navigator.language;
  try {
    return Intl.getCanonicalLocales(locale.replaceAll('_', '-'))[0] ?? 'en';
  } catch {
    return 'en';
  }
}

const languageOf = (locale: string): string => locale.toLowerCase().split('-')[0] ?? '';

/** Returns the texts in the language of `locale`, or none, which stands for English. It never rejects. */
export async function translationFor(locale: string): Promise<Partial<Translation>> {
  const language = languageOf(locale);
  const translation = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language]?.() : undefined;
  // The file of the language may not be loaded.
  return (await translation?.catch(() => undefined)) ?? {};
}

/** Returns the texts of the chat in the language of `locale`, or in English if there are none. It never rejects. */
export async function textsFor(locale: string): Promise<Texts> {
  const { chat, components } = await translationFor(locale);
  return { ...named(ENGLISH, chat), ...(components && { components }) };
}

/** Returns the direction in which a language is written. */
export const directionOf = (locale: string): 'ltr' | 'rtl' => (RIGHT_TO_LEFT.has(languageOf(locale)) ? 'rtl' : 'ltr');
