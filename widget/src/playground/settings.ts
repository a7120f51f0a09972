import { element } from '../ui/dom.js';
import type { ContextMessage } from '../widget.js';

/** The parts of `GET /manifest.json` that the playground shows. */
export interface Manifest {
  provider: string;
  model: string | null;
  agents?: { id: string; name?: string; description?: string }[];
  tools: { name: string; side: 'server' | 'front-end' }[];
}

const EFFORTS = ['minimal', 'low', 'medium', 'high'];
const CHOICES = ['auto', 'none', 'required'];

type Read = () => unknown;

/** The form with the agent, the options of the model and the context. */
export class Settings {
  readonly agent: HTMLSelectElement;
  readonly #form = element('form', { autocomplete: 'off' });
  readonly #read = new Map<string, Read>();
  readonly #choice: HTMLSelectElement;
  readonly #model: HTMLInputElement;

  constructor(place: Element) {
    this.agent = this.#field('agent', 'Agent', element('select'));
    this.#model = this.#text('model', 'Model');
    this.#number('temperature', 'Temperature', { min: '0', max: '2', step: '0.1' });
    this.#number('topP', 'Top P', { min: '0', max: '1', step: '0.05' });
    this.#number('maxOutputTokens', 'Output tokens, at most', { min: '1', step: '1' });
    const effort = this.#field('reasoningEffort', 'Reasoning effort', element('select'));
    offer(effort, EFFORTS);
    this.#choice = this.#field('toolChoice', 'Tool choice', element('select'));
    this.#field('system', 'System prompt, instead of the assistant’s', element('textarea', { rows: '3' }));
    this.#json('extra', 'Further fields for the provider', '{"seed": 1}', isObject);
    this.#json('context', 'Context', '[{"type": "page", "data": {}}]', Array.isArray);
    this.#json('headers', 'Headers', '{"authorization": "Bearer …"}', isObject);
    this.#form.addEventListener('submit', (event) => event.preventDefault());
    place.append(this.#form);
  }

  /** Shows what an agent has, and the agents if the manifest is that of the assistant. */
  show({ agents, tools, model, provider }: Manifest): void {
    if (agents) {
      this.agent.replaceChildren(new Option('The assistant', ''));
      for (const { id, name } of agents) this.agent.append(new Option(name ?? id, id));
    }
    this.#model.placeholder = model ?? provider;
    const chosen = this.#choice.value;
    offer(this.#choice, [...CHOICES, ...tools.map(({ name }) => `tool ${name}`)]);
    if ([...this.#choice.options].some(({ value }) => value === chosen)) this.#choice.value = chosen;
  }

  get headers(): Record<string, string> {
    return (this.#value('headers') ?? {}) as Record<string, string>;
  }

  get context(): ContextMessage[] {
    return (this.#value('context') ?? []) as ContextMessage[];
  }

  /** Returns the member `playground` of a run. */
  get asked(): Record<string, unknown> {
    const value = (name: string): unknown => this.#value(name);
    const choice = value('toolChoice') as string | undefined;
    const named = choice?.startsWith('tool ') ? { tool: choice.slice(5) } : choice;
    const options = present({
      temperature: value('temperature'),
      topP: value('topP'),
      maxOutputTokens: value('maxOutputTokens'),
      reasoningEffort: value('reasoningEffort'),
      extra: value('extra'),
    });
    return present({
      model: value('model'),
      system: value('system'),
      toolChoice: named,
      options: Object.keys(options).length ? options : undefined,
    });
  }

  #value(name: string): unknown {
    return this.#read.get(name)?.();
  }

  #field<N extends HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>(name: string, label: string, node: N): N {
    node.name = name;
    this.#read.set(name, () => node.value.trim() || undefined);
    this.#form.append(element('label', {}, element('span', {}, label), node));
    return node;
  }

  #text(name: string, label: string): HTMLInputElement {
    return this.#field(name, label, element('input', { type: 'text', spellcheck: 'false' }));
  }

  #number(name: string, label: string, limits: Record<string, string>): void {
    const node = this.#field(name, label, element('input', { type: 'number', ...limits }));
    this.#read.set(name, () => (node.value && node.validity.valid ? node.valueAsNumber : undefined));
  }

  #json(name: string, label: string, example: string, isValid: (value: unknown) => boolean): void {
    const area = element('textarea', { rows: '2', spellcheck: 'false', class: 'code', placeholder: example });
    const node = this.#field(name, `${label} (JSON)`, area);
    const problem = element('span', { class: 'problem', role: 'status' });
    node.parentElement?.after(problem);
    let value: unknown;
    this.#read.set(name, () => value);
    node.addEventListener('input', () => {
      const read = parsed(node.value, isValid);
      ({ value } = read);
      problem.textContent = read.problem ? `Not used: ${read.problem}` : '';
      node.toggleAttribute('aria-invalid', read.problem !== undefined);
      if (read.problem) node.setAttribute('aria-invalid', 'true');
    });
  }
}

/** Reads JSON that a developer wrote. Empty text is no value. */
export function parsed(text: string, isValid: (value: unknown) => boolean): { value?: unknown; problem?: string } {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isValid(value) ? { value } : { problem: 'it is another kind of value' };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

export const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const present = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

function offer(node: HTMLSelectElement, names: readonly string[]): void {
  node.replaceChildren(new Option('as the assistant has it', ''), ...names.map((name) => new Option(name, name)));
}
