import { button } from './button.js';
import { element } from './dom.js';
import type { ViewContext } from './view.js';

/** Shows the questions of tools of the page, one at a time, in order. */
export class Questions {
  readonly node = element('div', { part: 'questions' });
  readonly #context: Pick<ViewContext, 'announce' | 'texts'>;
  readonly #changed: (hadFocus: boolean) => void;
  readonly #end = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  /** Calls `changed` when a question is there, and when it is answered, then with `true` if it had the focus. */
  constructor(context: Pick<ViewContext, 'announce' | 'texts'>, changed: (hadFocus: boolean) => void) {
    this.#context = context;
    this.#changed = changed;
  }

  /** `true` if a question waits for the user. */
  get isOpen(): boolean {
    return this.node.hasChildNodes();
  }

  /** Resolves with the answer of the user, with `false` if `signal` ends the question, and without one after `remove`. */
  ask(question: string, signal: AbortSignal): Promise<boolean | undefined> {
    const answer = this.#last.then(() => {
      if (this.#end.signal.aborted) return undefined;
      return !signal.aborted && this.#show(question, signal);
    });
    this.#last = answer;
    return answer;
  }

  /** Ends the questions without answers. */
  remove(): void {
    this.#end.abort();
  }

  #show(question: string, signal: AbortSignal): Promise<boolean | undefined> {
    const { announce, texts } = this.#context;
    const ends = [signal, this.#end.signal];
    return new Promise((resolve) => {
      const settle = (isAllowed: boolean | undefined): void => {
        const hadFocus = card.matches(':focus-within');
        card.remove();
        this.#changed(hadFocus);
        for (const end of ends) end.removeEventListener('abort', stopped);
        resolve(isAllowed);
      };
      const stopped = (): void => settle(signal.aborted ? false : undefined);
      const refuse = button(texts.deny, 'refuse', () => settle(false));
      const allow = button(texts.approve, 'primary allow', () => {});
      // No script, and no tool that clicks, agrees for the user.
      allow.addEventListener('click', ({ isTrusted }) => isTrusted && settle(true));
      const card = element(
        'div',
        { part: 'question', role: 'group', 'aria-label': question },
        element('p', {}, question),
        element('div', { part: 'row' }, refuse, allow),
      );
      for (const end of ends) end.addEventListener('abort', stopped);
      this.node.append(card);
      this.#changed(false);
      announce(question);
    });
  }
}
