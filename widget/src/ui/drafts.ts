/** What was begun and not sent: the texts for each chat and edited message, and files. Texts last as long as the tab. */
export class Drafts {
  /** The files that were chosen in a chat which is no longer shown. */
  readonly files = new Map<string, File[]>();
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

  read(id: string): string {
    try {
      return this.#here.get(id) ?? this.#store?.getItem(key(id)) ?? '';
    } catch {
      return '';
    }
  }

  /** Removes what was begun in a chat. */
  forget(id: string): void {
    this.write(id, '');
    this.files.delete(id);
  }

  write(id: string, text: string): void {
    if (text) this.#here.set(id, text);
    else this.#here.delete(id);
    try {
      if (text) this.#store?.setItem(key(id), text);
      else this.#store?.removeItem(key(id));
    } catch {
      // The store is full.
    }
  }
}

const key = (id: string): string => `omniassist:draft:${id}`;
