// Navigation by the router of the page: React Router, Vue Router, or the History API.

/** A router of React Router, from `createBrowserRouter`. */
export interface ReactRouter {
  navigate(to: string): Promise<void>;
  readonly state: { errors?: Record<string, unknown> | null };
  readonly basename?: string;
  createHref?(location: { pathname: string; search: string; hash: string }): string;
}

/** A router of Vue Router, from `createRouter`. */
export interface VueRouter {
  push(to: string): Promise<unknown>;
  resolve(to: string): { matched: readonly unknown[] };
  readonly options: { history: { base: string } };
}

export type Navigate = (path: string) => unknown;

/** The router of a page. `true`: the History API. */
export type Router = true | Navigate | ReactRouter | VueRouter;

/** Returns `path` without the folder in which the router works. */
export function below(router: Router, path: string): string {
  const base = typeof router !== 'object' ? '' : 'push' in router ? router.options.history.base : (router.basename ?? '');
  const root = base.replace(/\/$/, '');
  return root && path.startsWith(root) && /^(?:$|[/?#])/.test(path.slice(root.length))
    ? path.slice(root.length) || '/'
    : path;
}

function reasonOf(error: unknown): string {
  const { status, statusText, message } = (error ?? {}) as { status?: number; statusText?: string; message?: string };
  return status ? `${status} ${statusText ?? ''}`.trim() : (message ?? String(error));
}

/** Returns a function that opens a path in the page, and resolves when the router has opened it. */
export function navigateBy(router: Router): Navigate {
  if (router === true) return openInHistory;
  if (typeof router === 'function') return router;
  if ('push' in router) {
    return async (path) => {
      const target = below(router, path);
      if (router.resolve(target).matched.length === 0) throw new Error(`There is no page ${path}.`);
      const failure = await router.push(target);
      // A navigation to the page that is open already is no failure.
      const { type, message } = (failure ?? {}) as { type?: number; message?: string };
      if (failure && type !== 16)
        throw new Error(`The page ${path} was not opened: ${message ?? 'the router refused it'}`);
    };
  }
  const isOfHashes = router.createHref?.({ pathname: '/', search: '', hash: '' }).includes('#');
  return async (path) => {
    // `/#/orders` is the page `/orders` of a router that keeps its pages in the fragment.
    await router.navigate(below(router, isOfHashes ? path.replace(/^[^#]*#!?(?=\/)/, '') : path));
    const [error] = Object.values(router.state.errors ?? {});
    if (error !== undefined) throw new Error(`The page ${path} was not opened: ${reasonOf(error)}.`);
  };
}

/** Opens a path by the History API. Routers read the address at `popstate`. */
function openInHistory(path: string): void {
  const { pathname, search, hash } = new URL(path, location.href);
  if (hash && pathname === location.pathname && search === location.search) {
    location.hash = hash;
    return;
  }
  history.pushState(null, '', path);
  dispatchEvent(new PopStateEvent('popstate', { state: null }));
}
