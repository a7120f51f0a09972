/** Returns the URL of the assistant that serves this module, without a slash at its end. */
export const ownBase = (): string => new URL('.', import.meta.url).href.replace(/\/(w\/[^/]+\/)?$/, '');

/**
 * Returns `true` if the server of this module answers. If another module cannot be loaded then, the server has a newer
 * version of it.
 */
export const isOutdated = (): Promise<boolean> =>
  fetch(import.meta.url, { method: 'HEAD', cache: 'no-store' }).then(({ status }) => status < 500, () => false);

/** Returns an option that may be a function. */
export const valueOf = <T>(option: T | (() => T)): T => (typeof option === 'function' ? (option as () => T)() : option);

export const NO_SERVER = 'The server does not answer. Check the connection, then try again.';
