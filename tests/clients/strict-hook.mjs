// A module hook that replaces Zod by a version whose object schemas are all strict.

const ENTRIES = ['zod/v4', 'zod/v4/mini'];
const MARK = '?strict';

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const own = context.parentURL?.includes(MARK);
  return ENTRIES.includes(specifier) && !own ? { ...found, url: found.url + MARK } : found;
}

/** Returns Zod's module with two names replaced. A module's own exports take precedence over re-exports. */
export async function load(url, context, next) {
  if (!url.endsWith(MARK)) return next(url, context);
  const real = JSON.stringify(url.slice(0, -MARK.length));
  const source = `
    import * as zod from ${real};
    export * from ${real};
    export const object = zod.strictObject;
    export const looseObject = zod.strictObject;
    export const z = { ...(zod.z ?? zod), object, looseObject };
  `;
  return { format: 'module', shortCircuit: true, source };
}
