import { textButton } from './button.js';
import { element } from './dom.js';
import type { ViewContext } from './view.js';

/** Shows the questions of tools of the page, one at a time, in order. */
export class Questions {
  readonly node = element('div', { part: 'questions' });
  readonly #context: Pick<ViewContext, 'announce' | 'texts'>;
  readonly #end = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  constructor(context: Pick<ViewContext, 'announce' | 'texts'>) {
    this.#context = context;
  }

  ask(question: string, signal: AbortSignal): Promise<boolean> {
    const answer = this.#last.then(() => !signal.aborted && !this.#end.signal.aborted && this.#show(question, signal));
    this.#last = answer;
    return answer;
  }

  /** Refuses what is asked. */
  remove(): void {
    this.#end.abort();
  }

  #show(question: string, signal: AbortSignal): Promise<boolean> {
    const { announce, texts } = this.#context;
    const ends = [signal, this.#end.signal];
    return new Promise((resolve) => {
      const settle = (isAllowed: boolean): void => {
        card.remove();
        for (const end of ends) end.removeEventListener('abort', stopped);
        resolve(isAllowed);
      };
      const stopped = (): void => settle(false);
      const refuse = textButton('refuse', texts.deny, () => settle(false));
      const allow = textButton('primary allow', texts.approve, () => {});
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
      announce(question);
    });
  }
}
