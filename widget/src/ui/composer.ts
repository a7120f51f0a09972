import { isAnswering, lastQuestion, textOf } from '../chat/part.js';
import { Attachments } from './attachments.js';
import { iconButton } from './button.js';
import { isComposing } from './composing.js';
import { element, setHidden, setText } from './dom.js';
import { grow, watchWidth } from './grow.js';
import { icon } from './icon.js';
import { limited } from './limit.js';
import type { View, ViewContext } from './view.js';

interface Options {
  /** The kinds of files, as in `accept`. `undefined`: no files. */
  accept: string | undefined;
  /** Edits the last message of the user. */
  editLast(): void;
}

/** The field for messages, with its files and the button that sends, or stops the answer. */
export class Composer implements View {
  readonly node: HTMLFormElement;
  readonly input: HTMLTextAreaElement;
  readonly #context: ViewContext;
  readonly #options: Options;
  readonly #files: Attachments | undefined;
  readonly #send: HTMLButtonElement;
  /** Says that a text was too long, or that files were not taken. */
  readonly #refusal: HTMLElement;
  #chatId = '';
  #isSending = false;
  /** `true` if the chat did not take the last message. It is in the field. */
  #isUnsent = false;

  constructor(context: ViewContext, options: Options) {
    const { texts } = context;
    this.#context = context;
    this.#options = options;
    this.input = element('textarea', {
      part: 'input',
      rows: '1',
      placeholder: texts.placeholder,
      'aria-label': texts.message,
      enterkeyhint: 'send',
    });
    if (options.accept !== undefined) this.#files = new Attachments(context, options.accept, (refusal) => this.#filesChanged(refusal));
    watchWidth(this.input);
    this.#refusal = limited(this.input, context);
    this.#send = iconButton('send', texts.send, 'icon-button send-button', (event) => this.#press(event));
    this.#send.append(icon('stop'));
    const row = element('div', { part: 'composer-row' }, this.#files?.button, this.input, this.#send);
    this.node = element('form', { part: 'composer' }, this.#refusal, this.#files?.node, row);
    this.node.addEventListener('submit', (event) => event.preventDefault());
    this.input.addEventListener('input', () => this.#typed());
    this.input.addEventListener('keydown', (event) => this.#key(event));
    this.input.addEventListener('paste', (event) => {
      const { files, types } = event.clipboardData ?? {};
      // A spreadsheet adds a picture of the text.
      if (!this.#files || !files?.length || types?.includes('text/plain')) return;
      event.preventDefault();
      this.#files.add(files);
    });
  }

  /** Keeps the files for the next time that the chat is shown. */
  remove(): void {
    if (this.#files?.count) this.#context.drafts.files.set(this.#chatId, this.#files.chosen);
  }

  /** Takes files of the user, such as dropped ones. */
  add(files: Iterable<File>): void {
    this.#files?.add(files);
  }

  /** Sends the message that could not be sent. Returns `false` if there is none. */
  sendAgain(): boolean {
    if (this.#isUnsent) void this.#submit();
    return this.#isUnsent;
  }

  get takesFiles(): boolean {
    return this.#files !== undefined;
  }

  update(): void {
    const { chatId, status } = this.#context.chat;
    if (status !== 'error') this.#isUnsent = false;
    if (chatId !== this.#chatId) this.#open(chatId);
    this.#shown();
  }

  /** Shows the text that was begun in a chat. What the user has written before the first chat is loaded stays. */
  #open(chatId: string): void {
    const { drafts } = this.#context;
    const isFirst = this.#chatId === '';
    setHidden(this.#refusal, true);
    if (!isFirst) {
      this.remove();
      this.#files?.clear();
    }
    this.#chatId = chatId;
    for (const id of isFirst ? ['', chatId] : [chatId]) {
      this.#files?.add(drafts.files.get(id));
      drafts.files.delete(id);
    }
    const text = (isFirst && (this.input.value || drafts.read(''))) || drafts.read(chatId);
    if (isFirst) drafts.write('', '');
    if (text) drafts.write(chatId, text);
    if (text !== this.input.value) this.#write(text);
  }

  #key(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      if (!isAnswering(this.#context.chat)) void this.#submit();
    } else if (event.key === 'ArrowUp' && this.input.value === '') {
      event.preventDefault();
      this.#options.editLast();
    }
  }

  #press({ detail }: MouseEvent): void {
    // The second click of a double click would stop the answer to the first one.
    if (detail === 2) return;
    if (isAnswering(this.#context.chat)) this.#context.chat.stop();
    else void this.#submit();
    this.input.focus();
  }

  /** Sends the message. It stays in the field until the chat has it. */
  async #submit(): Promise<void> {
    const text = this.input.value.trim();
    if (this.#isSending || (text === '' && !this.#files?.count)) return;
    this.#isSending = true;
    this.#shown();
    const { chat } = this.#context;
    const { chatId } = chat;
    const chosen = this.#files?.chosen;
    const files = (await this.#files?.all()) ?? [];
    // Images are made smaller meanwhile. A chat that is still being loaded has no id.
    if (chatId && chat.chatId !== chatId) {
      this.#isSending = false;
      return this.#shown();
    }
    const before = lastQuestion(chat.messages);
    const taken = (): void => {
      const last = lastQuestion(chat.messages);
      if (!this.#isSending || !isAnswering(chat) || !last || last === before || textOf(last) !== text) return;
      this.#isSending = false;
      this.#files?.clear(chosen);
      if (this.input.value.trim() !== text) return;
      this.#write('');
      // The text that was typed before the first chat was shown may be the draft of either.
      for (const id of [this.#chatId, chat.chatId]) this.#context.drafts.write(id, '');
    };
    const end = chat.subscribe(taken);
    const sent = chat.sendMessage(files.length ? { text, files } : { text });
    taken();
    await sent;
    end();
    const isRefused = chat.error?.status === 413 && lastQuestion(chat.messages) === before;
    if (isRefused && !this.#isSending && chat.chatId === this.#chatId) {
      // The user may have gone on to write.
      this.#write([text, this.input.value].filter(Boolean).join('\n'));
      this.#files?.add(chosen);
    }
    this.#isUnsent = this.#isSending && chat.status === 'error';
    this.#isSending = false;
    this.#shown();
  }

  #filesChanged(refusal: string): void {
    setText(this.#refusal, refusal);
    setHidden(this.#refusal, !refusal);
    this.#shown();
  }

  #typed(): void {
    // The next frame may show another chat.
    this.#context.drafts.write(this.#context.chat.chatId, this.input.value);
    this.#shown();
    grow(this.input);
  }

  #write(text: string): void {
    this.input.value = text;
    setHidden(this.#refusal, true);
    this.#shown();
    grow(this.input);
  }

  #shown(): void {
    const busy = isAnswering(this.#context.chat);
    const { send, stop } = this.#context.texts;
    const isEmpty = this.input.value.trim() === '' && !this.#files?.count;
    const label = busy ? stop : send;
    if (this.#send.title !== label) {
      this.#send.title = label;
      this.#send.setAttribute('aria-label', label);
    }
    this.#send.toggleAttribute('data-busy', busy);
    this.#send.setAttribute('aria-disabled', String(!busy && (isEmpty || this.#isSending)));
  }
}
