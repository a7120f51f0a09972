/** Returns `true` for the key that ends the composition of a character. In Safari it follows the composition, and has the code 229. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;
