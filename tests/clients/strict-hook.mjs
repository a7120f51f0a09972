// A module hook: whoever imports Zod gets one whose object schemas are all strict.

const ENTRIES = ['zod/v4', 'zod/v4/mini'];
const MARK = '?strict';

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const own = context.parentURL?.includes(MARK);
  return ENTRIES.includes(specifier) && !own ? { ...found, url: found.url + MARK } : found;
}

/** The marked module is Zod's with two names replaced; named exports of a module shadow those that it passes on. */
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
