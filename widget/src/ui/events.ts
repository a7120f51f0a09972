import { isAnswering, isTool } from '../chat/part.js';
import type { Chat, ChatError } from '../chat/types.js';

/** Fires the events of what happens in a chat. What was there when the chat was opened is no event. */
export class ChatEvents {
  readonly #chat: Chat;
  readonly #fire: (type: string, detail: unknown) => void;
  readonly #messages = new Set<string>();
  readonly #tools = new Map<string, string>();
  #error: ChatError | undefined;
  #chatId = '';
  #isReady = false;

  constructor(chat: Chat, fire: (type: string, detail: unknown) => void) {
    this.#chat = chat;
    this.#fire = fire;
    void chat.ready.then(() => {
      this.#look(false);
      this.#chatId = chat.chatId;
      this.#isReady = true;
    });
  }

  update(): void {
    const isSame = this.#chatId === this.#chat.chatId;
    this.#chatId = this.#chat.chatId;
    if (!isSame) {
      this.#messages.clear();
      this.#tools.clear();
    }
    this.#look(isSame && this.#isReady);
    const { error, status } = this.#chat;
    // An error of a request that is sent again is none for the page.
    if (error && status === 'error' && error !== this.#error) this.#fire('omni-error', { error });
    this.#error = error;
  }

  #look(fires: boolean): void {
    const busy = isAnswering(this.#chat);
    // Only the last messages change.
    for (const message of fires ? this.#chat.messages.slice(-2) : this.#chat.messages) {
      for (const part of message.parts) {
        if (!isTool(part)) continue;
        // Progress has the state of the result.
        const state = part.preliminary ? 'progress' : part.state;
        if (this.#tools.get(part.toolCallId) === state) continue;
        this.#tools.set(part.toolCallId, state);
        if (fires) this.#fire('omni-tool', { messageId: message.id, part });
      }
      if (this.#messages.has(message.id) || (busy && message.role === 'assistant')) continue;
      this.#messages.add(message.id);
      if (fires) this.#fire('omni-message', { message });
    }
  }
}
