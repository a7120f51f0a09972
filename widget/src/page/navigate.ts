// Opens another page. Another origin, or a page that the router does not show, needs the agreement of the user.

import type { ToolRun } from '../chat/types.js';
import { type Router, below, navigateBy } from './routers.js';
import { here, pathOf } from './secrets.js';

/** A page of the application. The manifest of routes has these members. */
export interface Route {
  /** The path, with parameters such as `/orders/:id`. */
  path: string;
  title?: string;
}

export interface NavigateTexts {
  /** Asks for a page of another site. */
  foreign: string;
  /** Asks for a page that replaces this one. */
  load: string;
}

const QUIET = 100;
const LONGEST = 2_000;

export async function navigate(
  path: string,
  router: Router,
  routes: readonly Route[],
  texts: NavigateTexts,
  run: ToolRun,
): Promise<object> {
  const url = parsed(path);
  const asks = async (text: string): Promise<void> => {
    if (!(await run.confirm(text.replace('{url}', () => url.href))))
      throw new Error('The user did not agree to leave this page.');
    run.signal.throwIfAborted();
  };
  if (url.origin !== location.origin) {
    await asks(texts.foreign);
    window.open(url.href, '_blank', 'noopener,noreferrer');
    return { opened_in_new_tab: url.href, ...here() };
  }
  const paths = routes.map((route) => route.path);
  const forms = [url.pathname, below(router, url.pathname), url.hash.replace(/^#!?|\?.*/g, '')];
  if (paths.length > 0 && !paths.some((path) => forms.some((form) => fits(path, form))))
    throw new Error(`There is no page ${url.pathname}. Pages: ${paths.join(', ')}.`);
  const before = location.href;
  const { quiet, end } = watchPage();
  const mayIgnore = router === true;
  try {
    await navigateBy(router)(url.pathname + url.search + url.hash);
  } catch (error) {
    end();
    throw error;
  }
  // A page without a router never changes. One that loads data first changes late, and so does one whose router only begins.
  const isLate = mayIgnore || (location.href === before && url.href !== before);
  const isChanged = await quiet(run.signal, isLate ? LONGEST : 2 * QUIET);
  if (mayIgnore && !isChanged && !url.hash && before !== location.href) {
    history.back();
    await asks(texts.load);
    // The answer reaches the chat first.
    setTimeout(() => location.assign(url.href), QUIET);
    return { loading: pathOf(url) };
  }
  return here();
}

function parsed(path: string): URL {
  const url = URL.canParse(path, location.href) ? new URL(path, location.href) : undefined;
  // Routers and `location.assign` read a path with two slashes at its beginning as another site.
  if (url && /^https?:\/\/[^/@]*\/(?!\/)/.test(url.href)) return url;
  throw new Error(`${JSON.stringify(path)} is no path of a page.`);
}

/** Decodes a path, but no slash within a part of it. */
function plainOf(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Returns `true` if a path fits a pattern such as `/orders/:id?` or `/files/*`. The routers ignore the case too. */
const fits = (pattern: string, path: string): boolean =>
  new RegExp(
    `^${plainOf(pattern)
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\/(?::[\w-]+)?\*/g, '(/.*)?')
      .replace(/\/(:?[\w-]+)\?/g, '(/$1)?')
      .replace(/:[\w-]+(\\\+)?/g, (_, many) => (many ? '.+' : '[^/]+'))}/?$`,
    'i',
  ).test(plainOf(path));

/** Watches the page. `quiet` resolves when the page no longer changes: `true` if it has changed. `end` ends the watch before that. */
function watchPage(): { quiet(signal: AbortSignal, patience: number): Promise<boolean>; end(): void } {
  let isChanged = false;
  let changed = (): void => {};
  const observer = new MutationObserver(() => {
    isChanged = true;
    changed();
  });
  observer.observe(document, { childList: true, characterData: true, subtree: true });
  const quiet = (signal: AbortSignal, patience: number): Promise<boolean> =>
    new Promise((done) => {
      const end = (): void => {
        observer.disconnect();
        clearTimeout(timer);
        clearTimeout(deadline);
        done(isChanged);
      };
      const deadline = setTimeout(end, LONGEST);
      let timer = setTimeout(end, isChanged ? QUIET : patience);
      changed = () => {
        clearTimeout(timer);
        timer = setTimeout(end, QUIET);
      };
      signal.addEventListener('abort', end, { once: true });
    });
  return { quiet, end: () => observer.disconnect() };
}
