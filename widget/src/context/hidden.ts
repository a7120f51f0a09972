/** What a class of characters contains for those that are not seen, and those that change the direction of text. */
export const HIDDEN =
  '\\xad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\u{e0000}-\\u{e0fff}';

/** Returns a character as the `\uXXXX` of JSON: one for each unit of UTF-16. */
export const writtenOut = (char: string): string =>
  char.replace(/[^]/g, (unit) => `\\u${(0x10000 + unit.charCodeAt(0)).toString(16).slice(1)}`);
