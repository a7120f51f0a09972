// The names of Hsafa that need no framework.

import { areaOf, ChatStorage } from '../chat/storage.js';
import { fieldsOf, firstFault, valuesOf } from '../parts/fields.js';
import { element } from '../ui/dom.js';
import { ENGLISH, type Texts } from '../ui/texts.js';

interface PreparedRequest {
  id?: string;
  messages: unknown[];
  body?: Record<string, unknown>;
  [member: string]: unknown;
}

/** The class `DefaultChatTransport` of the AI SDK. */
export type ChatTransportClass<T> = new (options: never) => T;

/**
 * Returns a transport of the AI SDK that posts to the agent and puts `chatId` into each body. `Transport` is the host's
 * `DefaultChatTransport`, and `options` are further ones of it.
 */
export function createHsafaTransport<T>(
  Transport: ChatTransportClass<T>,
  baseUrl: string,
  agentId: string,
  chatId: string,
  options: Record<string, unknown> = {},
): T {
  const prepare = options['prepareSendMessagesRequest'] as ((request: PreparedRequest) => unknown) | undefined;
  const prepareSendMessagesRequest = async (request: PreparedRequest) => {
    const { id, messages, body, trigger, messageId } = request;
    const prepared = ((await prepare?.(request)) ?? {}) as { body?: object };
    return { ...prepared, body: { ...body, id, messages, trigger, messageId, ...prepared.body, chatId } };
  };
  const api = `${baseUrl.replace(/\/$/, '')}/api/run/${encodeURIComponent(agentId)}`;
  return new Transport({ api, ...options, prepareSendMessagesRequest } as never);
}

/** The chats of an agent in the browser, and the state of their window. */
class HsafaStorage extends ChatStorage {
  readonly #area: Storage | undefined;
  readonly #key: string;

  constructor(area: Storage | undefined, agent: string, prefix = 'hsafaChat_') {
    super(area, agent, prefix);
    this.#area = area;
    this.#key = `${prefix}${agent}.showChat`;
  }

  /** `true` if the chat was visible when the page was left. `undefined` if that is not known. */
  get isShown(): boolean | undefined {
    const word = this.#area?.getItem(this.#key);
    return word ? word === 'true' : undefined;
  }

  set isShown(isShown: boolean | undefined) {
    try {
      if (isShown === undefined) this.#area?.removeItem(this.#key);
      else this.#area?.setItem(this.#key, String(isShown));
    } catch {
      // The storage is full.
    }
  }
}

/**
 * Returns the chats of an agent in the browser, under the keys `hsafaChat_AGENT.chats`, `.chat.ID`, `.currentChatId` and
 * `.showChat`. `prefix` replaces `hsafaChat_`.
 */
export const createChatStorage = (agentId: string, { prefix }: { prefix?: string } = {}): HsafaStorage =>
  new HsafaStorage(areaOf('local'), agentId, prefix);

export interface UserFormOptions {
  /** The question above the fields. */
  message?: string;
  /** The JSON Schema of the values, of type `object`. */
  schema: Record<string, unknown>;
  /** Called with the values when they fit the schema. */
  onSubmit(values: Record<string, unknown>): void;
  /** Called if the user does not answer. Default: there is no button for that. */
  onCancel?(): void;
  texts?: Partial<Texts>;
  /** The language of messages with numbers. Default: `en`. */
  locale?: string;
}

/** Makes the form of a `requestInput` call. */
export function renderUserForm({ message, schema, onSubmit, onCancel, texts, locale = 'en' }: UserFormOptions): HTMLFormElement {
  const words = { ...ENGLISH, ...texts };
  const fields = fieldsOf(schema, words, locale);
  const cancel = onCancel && element('button', { type: 'button', part: 'button' }, words.decline);
  cancel?.addEventListener('click', () => onCancel?.());
  const send = element('button', { part: 'button primary' }, words.send);
  const legend = element('legend', { part: 'ask', dir: 'auto' }, message ?? words.formAsk);
  const buttons = element('div', { part: 'buttons' }, cancel, send);
  const set = element('fieldset', {}, legend, ...fields.map(({ node }) => node), buttons);
  const form = element('form', { part: 'form', novalidate: true }, set);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (firstFault(fields)) return;
    const values = valuesOf(fields);
    set.disabled = true;
    onSubmit(values);
  });
  return form;
}
