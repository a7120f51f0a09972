import { write } from '../components/clipboard.js';
import { element, setHidden, setText } from '../ui/dom.js';
import { button } from '../ui/button.js';
import { questionOf, type Run, type RunEvent } from './recorder.js';

/** The list of the runs, and the events of one of them. */
export class RunsView {
  /** The run that is shown. */
  shown: Run | undefined;
  readonly #runs: readonly Run[];
  readonly #picked: (run: Run) => void;
  readonly #select = element('select', { 'aria-label': 'Run' });
  readonly #filter = element('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter the events' });
  readonly #list = element('ol', { class: 'events', tabindex: '0', 'aria-label': 'Events' });
  readonly #count = element('span', { class: 'muted', role: 'status' });
  readonly #empty = element('p', { class: 'muted' }, 'Send a message. The events of its run appear here.');
  readonly #tools: HTMLElement;
  readonly #rows = new Map<RunEvent, HTMLElement>();
  #isDue = false;

  constructor(place: Element, runs: readonly Run[], picked: (run: Run) => void, ...buttons: HTMLButtonElement[]) {
    this.#runs = runs;
    this.#picked = picked;
    const copy = button('Copy events', 'copy', () => void write(this.#text(), this.#tools));
    this.#tools = element('div', { class: 'tools' }, this.#select, ...buttons, this.#filter, copy, this.#count);
    setHidden(this.#tools, true);
    place.append(this.#tools, this.#empty, this.#list);
    this.#select.addEventListener('change', () => {
      const run = this.#runs[this.#select.selectedIndex];
      if (run) this.show(run);
    });
    this.#filter.addEventListener('input', () => this.#request());
  }

  /** Shows the events of a run. */
  show(run: Run): void {
    this.shown = run;
    this.#rows.clear();
    this.#list.replaceChildren();
    this.#request();
    this.#picked(run);
  }

  /** Draws a run that has changed. A new run is shown. */
  update(run: Run): void {
    if (run.number > this.#select.length) {
      this.#select.append(new Option(''));
      this.show(run);
      this.#select.selectedIndex = run.number - 1;
    }
    this.#request();
  }

  #request(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#draw();
    });
  }

  #draw(): void {
    for (const run of this.#runs) {
      const option = this.#select.options[run.number - 1];
      if (option) setText(option, titleOf(run));
    }
    const run = this.shown;
    setHidden(this.#tools, !run);
    setHidden(this.#empty, run !== undefined);
    if (!run) return;
    const isAtEnd = this.#list.scrollHeight - this.#list.scrollTop - this.#list.clientHeight < 40;
    for (const event of run.events) if (!this.#rows.has(event)) this.#list.append(this.#row(event));
    let count = 0;
    for (const [event, row] of this.#rows) {
      const isShown = this.#fits(event);
      setHidden(row, !isShown);
      if (isShown) count += 1;
    }
    setText(this.#count, `${count} of ${run.events.length} events${run.failure ? `. Failed: ${run.failure}` : ''}`);
    if (isAtEnd) this.#list.scrollTop = this.#list.scrollHeight;
  }

  #row(event: RunEvent): HTMLElement {
    const { type, ...rest } = event.chunk;
    const head = element(
      'summary',
      {},
      element('time', {}, `+${(event.at / 1000).toFixed(3)}`),
      ' ',
      element('b', {}, type),
      ' ',
      element('code', {}, JSON.stringify(rest)),
    );
    const details = element('details', {}, head);
    details.addEventListener('toggle', () => {
      if (details.childElementCount === 1) details.append(element('pre', {}, JSON.stringify(event.chunk, null, 2)));
    });
    const row = element('li', {}, details);
    this.#rows.set(event, row);
    return row;
  }

  #fits({ chunk }: RunEvent): boolean {
    const wanted = this.#filter.value.trim().toLowerCase();
    return !wanted || JSON.stringify(chunk).toLowerCase().includes(wanted);
  }

  /** Returns the shown events, one in a line. */
  #text(): string {
    const events = this.shown?.events.filter((event) => this.#fits(event)) ?? [];
    return events.map(({ at, chunk }) => `${JSON.stringify({ at: Math.round(at), ...chunk })}\n`).join('');
  }
}

function titleOf({ number, body, events, state, continues }: Run): string {
  const subject = continues ? `goes on with ${continues.number}` : questionOf(body).replace(/\s+/g, ' ').slice(0, 60) || 'no text';
  const seconds = ((events.at(-1)?.at ?? 0) / 1000).toFixed(1);
  return `${number} · ${subject} · ${state === 'ended' ? `${seconds} s` : state}`;
}
