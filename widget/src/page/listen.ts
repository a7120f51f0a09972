/** Listens to events of the document before the page does. Returns a function that ends that. */
export function listen(types: readonly string[], listener: (event: Event) => void): () => void {
  for (const type of types) document.addEventListener(type, listener, true);
  return () => {
    for (const type of types) document.removeEventListener(type, listener, true);
  };
}
