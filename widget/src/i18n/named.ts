/** Texts by name, or one text in each line, in the order of the names. The build writes the short form. */
export type Named<T> = T | string;

/** Returns the texts by name. Those that are missing are English. */
export function named<T extends object>(english: T, texts: Named<Partial<T>> = {}): T {
  if (typeof texts !== 'string') return { ...english, ...texts };
  const lines = texts.split('\n');
  const names = Object.keys(english).sort();
  return Object.fromEntries(names.map((name, at) => [name, lines[at]])) as T;
}
