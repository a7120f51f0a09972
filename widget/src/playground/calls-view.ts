import { element, setText } from '../ui/dom.js';
import { button } from '../ui/button.js';
import { isTool } from '../chat/part.js';
import type { Chat, ToolPart } from '../widget.js';
import { groupOf, messageOf, type Run } from './recorder.js';
import { parsed } from './settings.js';
import { type Call, callsOf, played, turnsOf } from './turns.js';

/** The members of the page that the view uses. */
export interface CallsHost {
  readonly runs: readonly Run[];
  chat(): Chat;
  /** Runs the question of a run again, with these turns of the model instead of its calls; one list for each request. */
  again(run: Run, turns: Record<string, unknown>[][]): void;
}

/** The tool calls of a run. Their arguments can be changed. */
export class CallsView {
  readonly #host: CallsHost;
  readonly #list = element('ul', { class: 'calls' });
  readonly #note = element('p', { class: 'muted' });
  readonly #rows = new Map<string, CallRow>();
  #run: Run | undefined;

  constructor(place: Element, host: CallsHost) {
    this.#host = host;
    place.append(this.#note, this.#list);
    this.#explain();
  }

  show(run: Run): void {
    this.#run = run;
    this.#rows.clear();
    this.#list.replaceChildren();
    this.update();
  }

  /** Adds calls that are new, and shows what came of the others. */
  update(): void {
    const chat = this.#host.chat();
    const parts = chat.messages.flatMap((message) => message.parts).filter(isTool);
    const group = this.#group();
    const answer = group[0] && messageOf(group[0]);
    const canRun = /ready|error/.test(chat.status) && chat.messages.some(({ id }) => id === answer);
    for (const call of callsOf(turnsOf(group))) {
      let row = this.#rows.get(call.id);
      if (!row) {
        row = new CallRow(call, {
          again: () => this.#again(call.id),
          settle: (result) => void chat.addToolResult({ toolCallId: call.id, ...result }),
        });
        this.#rows.set(call.id, row);
        this.#list.append(row.node);
      }
      const part = parts.find(({ toolCallId }) => toolCallId === call.id);
      row.update(call, part, part !== undefined && chat.isOpen(part), canRun);
    }
    this.#explain();
  }

  #group(): Run[] {
    return this.#run ? groupOf(this.#run, this.#host.runs) : [];
  }

  /** Runs the turns up to this call again, with the arguments as they are written. */
  #again(id: string): void {
    const changed = new Map([...this.#rows].map(([id, row]) => [id, row.input]));
    const posts: Record<string, unknown>[][] = [];
    const group = this.#group();
    for (const run of group) {
      const turns = turnsOf([run]);
      const last = turns.findIndex((turn) => callsOf([turn]).some((call) => call.id === id));
      posts.push(turns.slice(0, last < 0 ? undefined : last + 1).map((turn) => played(turn, changed)));
      if (last >= 0) break;
    }
    if (group[0]) this.#host.again(group[0], posts);
  }

  #explain(): void {
    const note = this.#rows.size
      ? 'Change arguments and run the call again: the calls before it run again too, and then the model goes on. Results of the server are sealed and cannot be changed.'
      : 'The calls of the shown run appear here.';
    setText(this.#note, note);
  }
}

interface RowHost {
  again(): void;
  settle(result: { output?: unknown; errorText?: string }): void;
}

class CallRow {
  readonly node: HTMLElement;
  /** The arguments as they are written. Arguments that are not valid JSON stay as they were. */
  input: unknown;
  readonly #state = element('span', { class: 'muted' });
  readonly #outcome = element('pre', {});
  readonly #answer: HTMLElement;
  readonly #again: HTMLButtonElement;
  #isValid = true;
  #canRun = true;

  constructor({ name, input }: Call, host: RowHost) {
    this.input = input;
    this.#again = button('Run again', 'again', () => host.again());
    const written = JSON.stringify(input, null, 2);
    const area = this.#area(`Arguments of ${name}`, written, (value) => {
      if (value !== undefined) this.input = value;
      this.#isValid = value !== undefined;
      this.#allow();
    });
    let output: unknown = null;
    const send = button('Send the result', 'settle', () => host.settle({ output }));
    const result = this.#area(`Result of ${name}`, 'null', (value) => {
      output = value;
      send.disabled = value === undefined;
    });
    const fail = button('Fail', 'fail', () => host.settle({ errorText: 'The tool failed.' }));
    this.#answer = element('div', { class: 'answer' }, result, element('div', { class: 'tools' }, send, fail));
    const head = element('div', { class: 'tools' }, element('b', {}, name), this.#state, this.#again);
    this.node = element('li', {}, head, area, this.#outcome, this.#answer);
  }

  /** Shows the state of the call. A call that waits for the page can be settled, and one of an answer of the chat run again. */
  update(call: Call, part: ToolPart | undefined, isOpen: boolean, canRun: boolean): void {
    this.#canRun = canRun;
    this.#allow();
    const { state, output, errorText } = { ...call, ...(call.state === 'input-available' ? part : {}) };
    setText(this.#state, state);
    setText(this.#outcome, errorText ?? (output === undefined ? '' : JSON.stringify(output, null, 2)));
    this.#outcome.hidden = this.#outcome.textContent === '';
    this.#answer.hidden = !(isOpen && state === 'input-available');
  }

  #allow(): void {
    this.#again.disabled = !(this.#isValid && this.#canRun);
  }

  #area(label: string, text: string, changed: (value: unknown) => void): HTMLElement {
    const rows = String(Math.min(10, text.split('\n').length));
    const area = element('textarea', { class: 'code', rows, spellcheck: 'false' }, text);
    const problem = element('span', { class: 'problem', role: 'status' });
    area.addEventListener('input', () => {
      const { value, problem: reason } = parsed(area.value, () => true);
      setText(problem, reason ?? '');
      area.setAttribute('aria-invalid', String(reason !== undefined));
      changed(value);
    });
    return element('div', {}, element('label', {}, element('span', {}, label), area), problem);
  }
}
