import { type Block, Blocks } from './blocks.js';
import { copyCode } from './copying.js';
import { Drawer, type Slot } from './drawer.js';

export interface MarkdownOptions {
  /** The origins of images besides the page's own. Default: none. */
  imageOrigins?: readonly string[];
  texts?: { copy: string; copied: string };
}

/** A line that has no text yet. It is not shown, since the next character may change its kind. */
const ONLY_MARKS = /^[\s>]*(?:\d{1,9}[.)]?)?[-+*_=#`~|:$<\s]*$/;
const LINE_END = /\r\n?|\n/g;

/**
 * Shows a Markdown text that grows. A finished block is not touched again, except that a reference to a later definition
 * becomes a link at the end.
 */
export class MarkdownView {
  readonly #drawer: Drawer;
  readonly #root: HTMLElement;
  #blocks = new Blocks();
  #slot: Slot;
  #text = '';
  /** The position after the last complete line. */
  #read = 0;
  #isDone = false;

  constructor(root: HTMLElement, options: MarkdownOptions = {}) {
    const { imageOrigins = [], texts = { copy: 'Copy', copied: 'Copied' } } = options;
    this.#root = root;
    this.#drawer = new Drawer({ imageOrigins }, texts.copy);
    this.#slot = this.#drawer.rootSlot(root);
    root.addEventListener('click', (event) => copyCode(event, texts));
  }

  /** Shows a text. `done` says that it is complete. */
  set(text: string, done: boolean): void {
    if (text === this.#text && done === this.#isDone) return;
    if (this.#isDone || !text.startsWith(this.#text)) this.#clear();
    this.#text = text;
    this.#isDone = done;
    this.#blocks.undo();
    const rest = this.#readLines();
    if (done) {
      if (rest) this.#blocks.push(rest);
      this.#blocks.finish();
    } else if (!ONLY_MARKS.test(rest)) this.#blocks.try(rest);
    const isFinal = (block: Block) => this.#blocks.isFinal(block);
    this.#drawer.draw(this.#blocks.root, this.#slot, this.#blocks.definitions, isFinal);
    if (done) this.#drawer.finish(this.#blocks.definitions);
  }

  /** Reads the complete lines. Returns the rest. */
  #readLines(): string {
    const text = this.#text;
    LINE_END.lastIndex = this.#read;
    for (let found; (found = LINE_END.exec(text)); this.#read = LINE_END.lastIndex) {
      // The other half of the end of a line may follow.
      if (found[0] === '\r' && LINE_END.lastIndex === text.length && !this.#isDone) return text.slice(this.#read, -1);
      this.#blocks.push(text.slice(this.#read, found.index));
    }
    return text.slice(this.#read);
  }

  #clear(): void {
    this.#root.replaceChildren();
    this.#blocks = new Blocks();
    this.#slot = this.#drawer.rootSlot(this.#root);
    this.#read = 0;
  }
}
