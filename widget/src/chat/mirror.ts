import type { Conversation } from './conversation.js';
import type { Runner } from './runner.js';
import type { TabMessage, Tabs } from './tabs.js';

/** The time between two reports of a running answer to other tabs. */
const REPORT_MS = 250;
/** The time after which the run of a silent tab counts as ended. */
const SILENT_MS = 5_000;

/** Shows the runs of this tab in other tabs, and theirs in this one. */
export class Mirror {
  readonly #tabs: Tabs;
  readonly #conversation: Conversation;
  readonly #runner: Runner;
  /** The position of the first message that a report has. */
  #from = 0;
  #reports: ReturnType<typeof setInterval> | undefined;
  #reportedAt = 0;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(tabs: Tabs, conversation: Conversation, runner: Runner) {
    this.#tabs = tabs;
    this.#conversation = conversation;
    this.#runner = runner;
  }

  /** Reports the status of this tab's run, and its messages while it runs. A server with a store has the messages. */
  report(isStored: boolean): void {
    clearInterval(this.#reports);
    this.#reports = undefined;
    if (this.#runner.isMirror) return;
    this.#report(isStored ? undefined : 0);
    if (!this.#runner.isBusy || isStored) return;
    this.#from = Math.max(this.#conversation.messages.length - 1, 0);
    this.#reports = setInterval(() => this.#report(this.#from), REPORT_MS);
  }

  /** Reports what has arrived. The timers of a hidden tab may come once a minute only. */
  progress(): void {
    if (this.#reports !== undefined && Date.now() - this.#reportedAt >= REPORT_MS) this.#report(this.#from);
  }

  /** Shows the run of another tab. */
  show({ status, from, messages, ...saved }: Extract<TabMessage, { type: 'status' }>): void {
    const runner = this.#runner;
    if (runner.isBusy && !runner.isMirror) return;
    clearTimeout(this.#silence);
    if (from === undefined) {
      if (status !== 'submitted' && !runner.isBusy) void runner.run(runner.sync(false), true);
      return;
    }
    // A message stays the same object, so that its view, with an edit that was begun, stays too.
    const known = new Map(this.#conversation.messages.map((message) => [message.id, message]));
    const next = (messages ?? []).map((message) => Object.assign(known.get(message.id) ?? {}, message));
    this.#conversation.messages.splice(from, this.#conversation.messages.length, ...next);
    this.#conversation.restore(saved);
    // The reason of an error is known in the other tab alone.
    runner.mirror(status === 'error' ? 'ready' : status);
    if (runner.isBusy) this.#silence = setTimeout(() => this.#silent(), SILENT_MS);
  }

  #silent(): void {
    const { cut, last } = this.#conversation;
    if (last?.role === 'assistant') cut.add(last.id);
    this.#runner.mirror('ready');
  }

  close(): void {
    clearInterval(this.#reports);
    this.#reports = undefined;
    clearTimeout(this.#silence);
  }

  #report(from: number | undefined): void {
    this.#reportedAt = Date.now();
    const { id: chatId, messages, branches, ...saved } = this.#conversation.saved(false, false);
    const kept = from === undefined ? {} : { ...saved, from, messages: messages.slice(from), branches: from ? undefined : branches };
    if (messages.length) this.#tabs.post({ type: 'status', chatId, status: this.#runner.status, ...kept });
  }
}
