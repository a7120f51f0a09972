import { iconButton } from './button.js';
import { element, filled } from './dom.js';
import { icon } from './icon.js';
import { smallImage } from './images.js';
import type { ViewContext } from './view.js';

/** The files of the next message: chosen, dropped or pasted, with previews. */
export class Attachments {
  readonly node = element('ul', { part: 'files', hidden: true });
  readonly button: HTMLButtonElement;
  readonly #context: ViewContext;
  readonly #accept: string;
  readonly #changed: (refusal: string) => void;
  readonly #input: HTMLInputElement;
  #files: { chosen: File; file: Promise<File>; row: HTMLElement; url: string | undefined }[] = [];

  constructor(context: ViewContext, accept: string, changed: (refusal: string) => void) {
    this.#context = context;
    this.#accept = accept;
    this.#changed = changed;
    this.#input = element('input', { type: 'file', multiple: true, accept });
    this.#input.addEventListener('change', () => {
      this.add(this.#input.files);
      this.#input.value = '';
    });
    this.button = iconButton('attach', context.texts.attach, 'icon-button attach-button', () => this.#input.click());
  }

  get count(): number {
    return this.#files.length;
  }

  /** The files as the user has chosen them. */
  get chosen(): File[] {
    return this.#files.map(({ chosen }) => chosen);
  }

  /** Takes files into the next message. Without the attribute `attachments` there are none. */
  add(files: Iterable<File> | null | undefined): void {
    const refusals: string[] = [];
    for (const file of files ?? []) {
      if (accepts(this.#accept, file)) this.#add(file);
      else refusals.push(filled(this.#context.texts.fileRefused, { name: file.name }));
    }
    const refusal = refusals.join(' ');
    if (refusal) this.#context.announce(refusal);
    this.#show(refusal);
  }

  all(): Promise<File[]> {
    return Promise.all(this.#files.map(({ file }) => file));
  }

  /** Takes files out of the next message. Default: all of them. */
  clear(files: readonly File[] = this.chosen): void {
    for (const { chosen, row, url } of this.#files) {
      if (!files.includes(chosen)) continue;
      row.remove();
      if (url) URL.revokeObjectURL(url);
    }
    this.#files = this.#files.filter(({ chosen }) => !files.includes(chosen));
    this.#show();
  }

  #add(file: File): void {
    const url = file.type.startsWith('image/') ? URL.createObjectURL(file) : undefined;
    const label = filled(this.#context.texts.remove, { name: file.name });
    const remove = iconButton('close', label, 'icon-button remove-file', () => {
      this.clear([file]);
      this.button.focus();
    });
    const preview = url ? element('img', { src: url, alt: '' }) : icon('document');
    const row = element('li', { part: 'file' }, preview, element('span', {}, file.name), remove);
    this.#files.push({ chosen: file, file: smallImage(file), row, url });
    this.node.append(row);
  }

  /** Shows the files. `refusal` says which ones were not taken. */
  #show(refusal = ''): void {
    this.node.hidden = this.#files.length === 0;
    this.#changed(refusal);
  }
}

/** Returns `true` if a list as of `accept` has the kind of a file. An empty list has all. */
function accepts(list: string, { name, type }: File): boolean {
  const kinds = list
    .split(',')
    .map((kind) => kind.trim().toLowerCase())
    .filter(Boolean);
  return (
    kinds.length === 0 ||
    kinds.some((kind) => {
      if (kind.startsWith('.')) return name.toLowerCase().endsWith(kind);
      return kind.endsWith('/*') ? type.startsWith(kind.slice(0, -1)) : type === kind;
    })
  );
}
