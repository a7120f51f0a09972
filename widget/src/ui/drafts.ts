/** The texts that were begun and not sent, for each chat. They last as long as the tab. */
export class Drafts {
  readonly #store: Storage | undefined;
  readonly #here = new Map<string, string>();

  /** Without `isKept`, the texts are gone after a reload. */
  constructor(isKept: boolean) {
    try {
      this.#store = isKept ? sessionStorage : undefined;
    } catch {
      // The page may not store anything.
    }
  }

  read(chatId: string): string {
    return this.#here.get(chatId) ?? this.#store?.getItem(key(chatId)) ?? '';
  }

  write(chatId: string, text: string): void {
    if (text) this.#here.set(chatId, text);
    else this.#here.delete(chatId);
    try {
      if (text) this.#store?.setItem(key(chatId), text);
      else this.#store?.removeItem(key(chatId));
    } catch {
      // The store is full.
    }
  }
}

const key = (chatId: string): string => `omniassist:draft:${chatId}`;
