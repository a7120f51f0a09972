/**
 * Takes the value that a page gave to a property of an element before the class of the element was defined. Returns
 * `undefined` if there is none.
 */
export function early<T extends object, K extends keyof T>(host: T, name: K): T[K] | undefined {
  const value = Object.getOwnPropertyDescriptor(host, name)?.value as T[K] | undefined;
  Reflect.deleteProperty(host, name);
  return value;
}
