import { isAnswering, isTool } from '../chat/part.js';
import { withheld } from '../parts/incomplete.js';
import { answerText } from './answer-text.js';
import { element } from './dom.js';
import type { Chat } from '../chat/types.js';
import type { Texts } from './texts.js';

/** The characters of an answer that are said. The rest is in the log. */
const LONGEST = 300;

/**
 * The one line that screen readers say by themselves. The log is silent, since a live log would be read token by token.
 * An answer gives two sentences: that it has begun, and its text.
 */
export class Announcer {
  readonly node = element('p', { role: 'status', part: 'hidden' });
  readonly #chat: Chat;
  readonly #texts: Texts;
  #isBusy = false;

  constructor(chat: Chat, texts: Texts) {
    this.#chat = chat;
    this.#texts = texts;
    this.#isBusy = isAnswering(chat);
  }

  say(sentence: string): void {
    // A text that is the same again is said if it differs in a space.
    this.node.textContent = this.node.textContent === sentence ? `${sentence}\u00a0` : sentence;
  }

  update(): void {
    const busy = isAnswering(this.#chat);
    if (busy === this.#isBusy) return;
    this.#isBusy = busy;
    if (busy) this.say(this.#texts.answering);
    // An error is said by the notice that shows it.
    else if (this.#chat.status === 'ready') this.#sayAnswer();
  }

  #sayAnswer(): void {
    const last = this.#chat.messages.at(-1);
    if (last?.role !== 'assistant') return;
    const waiting = last.parts.find((part) => isTool(part) && this.#chat.isOpen(part));
    const question =
      waiting && isTool(waiting) ? (waiting.approval?.requestReason ?? this.#texts.decisionNeeded) : '';
    const text = [answerText(last) || withheld(last, this.#texts), question].filter(Boolean).join(' ');
    this.say(text.length > LONGEST ? `${text.slice(0, LONGEST).replace(/\s+\S*$/u, '')}…` : text);
  }
}
