// Access to the members of objects whose form is not known.

import type { Json, Members } from './json.js';

export const isMap = (value: Json | undefined): value is Members => value instanceof Map;
export const isText = (value: Json | undefined): value is string => typeof value === 'string';

/** Returns the values of these keys, which are separated by spaces. */
export const values = (map: Members, keys: string): (Json | undefined)[] => keys.split(' ').map((key) => map.get(key));

/** Returns the first of these entries that is a text. */
export const text = (map: Members, keys: string): string | undefined => values(map, keys).find(isText);

/** Returns `true` for a value that is not empty. */
export const isFull = (value: Json | undefined): value is Json =>
  value !== null && (isMap(value) ? value.size > 0 : (value as Json[] | undefined)?.length !== 0) && value !== undefined;
