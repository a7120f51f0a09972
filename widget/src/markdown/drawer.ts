import type { Block, Kind } from './blocks.js';
import { drawSpans, drawText, type Linking, make } from './drawing.js';
import { withoutComments } from './html.js';
import { hasMarks, parseInline } from './inline.js';
import { skipDefinitions, type Target } from './links.js';
import { cells } from './tables.js';

type Definitions = ReadonlyMap<string, Target>;

/** The place of a block in the page. A block of the same kind at the same place takes it over. */
export interface Slot {
  readonly look: string;
  readonly node: ChildNode;
  /** The element for the children or the text. */
  readonly body: HTMLElement;
  readonly slots: (Slot | undefined)[];
  /** The number of children that never change again. */
  settled: number;
  /** The text whose marks are shown. */
  shown: string;
}

/** A longer text that grows is read anew after each eighth of it, so that the time stays linear. */
const EAGER_LENGTH = 4_096;
/** The most characters of marked texts that are read. What follows is shown as it is written. */
const LENGTH_LIMIT = 131_072;
const TAGS: Partial<Record<Kind, keyof HTMLElementTagNameMap>> = { quote: 'blockquote', item: 'li', rule: 'hr', row: 'tr' };
const TASK = /^\[([ x])\](?=\s)/i;

/** Draws blocks as elements. */
export class Drawer {
  readonly #linking: Linking;
  readonly #copy: string;
  #definitions: Definitions = new Map();
  #isFinal: (block: Block) => boolean = () => true;
  /** Draws the finished texts again that have a label without a definition. */
  #unresolved: (() => void)[] = [];
  /** The characters of marked texts that can still be read. */
  #limit = LENGTH_LIMIT;

  constructor(linking: Linking, copy: string) {
    this.#linking = linking;
    this.#copy = copy;
  }

  rootSlot(root: HTMLElement): Slot {
    this.#unresolved = [];
    this.#limit = LENGTH_LIMIT;
    return slot('root', root, root);
  }

  draw(root: Block, into: Slot, definitions: Definitions, isFinal: (block: Block) => boolean): void {
    this.#definitions = definitions;
    this.#isFinal = isFinal;
    this.#drawChildren(root, into);
  }

  /** Makes links of the labels that were defined after them. */
  finish(definitions: Definitions): void {
    this.#definitions = definitions;
    if (definitions.size) for (const draw of this.#unresolved) draw();
    this.#unresolved = [];
  }

  #drawChildren({ children }: Block, into: Slot): void {
    for (let index = into.settled; index < children.length; index++) {
      const block = children[index]!;
      const { kind } = block;
      const look = kind + (kind === 'heading' || kind === 'list' ? block.size : kind === 'code' || kind === 'table' ? block.mark + block.info : '');
      let there = into.slots[index];
      if (there?.look !== look) {
        const made = this.#make(block, look);
        if (there) there.node.replaceWith(made.node);
        else into.body.appendChild(made.node);
        into.slots[index] = there = made;
      }
      this.#drawBlock(block, there);
      if (!this.#isFinal(block)) continue;
      into.settled = index + 1;
      if (block.info && kind === 'code') void highlight(there.body, languageOf(block));
      into.slots[index] = undefined;
    }
    while (into.slots.length > children.length) into.slots.pop()!.node.remove();
  }

  #make(block: Block, look: string): Slot {
    const { kind, size } = block;
    if (kind === 'code') return this.#makeCode(block, look);
    if (kind === 'table') return this.#makeTable(block, look);
    if (kind === 'nothing') return slot(look, document.createComment(''), make('p'));
    if (kind === 'html') return slot(look, make('pre', kind));
    const tag = kind === 'heading' ? (`h${size}` as 'h1') : kind === 'list' ? (size < 0 ? 'ul' : 'ol') : (TAGS[kind] ?? 'p');
    const node = make(tag);
    if (tag === 'ol' && size !== 1) (node as HTMLOListElement).start = size;
    if (size > 99 && tag === 'ol') node.style.paddingInlineStart = `${String(size).length + 2.5}ch`;
    return slot(look, node);
  }

  #makeCode(block: Block, look: string): Slot {
    if (block.mark === '$') {
      const math = make('code', 'math display');
      return slot(look, make('p', '', math), math);
    }
    const language = languageOf(block);
    const code = make('code', language && `language-${language}`);
    const pre = make('pre', '', code);
    pre.tabIndex = 0;
    pre.dir = 'ltr';
    const copy = make('button', 'code-copy', this.#copy);
    copy.type = 'button';
    return slot(look, make('div', 'code', make('div', 'code-head', make('span', '', language), copy), pre), code);
  }

  #makeTable({ info, columns }: Block, look: string): Slot {
    const head = make('tr');
    this.#drawCells(head, 'th', info, columns, true);
    const body = make('tbody');
    const frame = make('div', 'table', make('table', '', make('thead', '', head), body));
    frame.tabIndex = 0;
    return slot(look, frame, body);
  }

  #drawBlock(block: Block, into: Slot): void {
    switch (block.kind) {
      case 'code': {
        const { text } = block;
        // Indented code ends with its last line that is not blank. While a block is open, its last line may go on.
        const end = block.size ? text.length : text.indexOf('\n', text.trimEnd().length) + 1;
        drawText(into.body, text.slice(0, block.isOpen || block.mark === '$' ? Math.max(0, end - 1) : end));
        break;
      }
      case 'html': {
        const text = withoutComments(block.text.slice(0, -1), block.isOpen);
        into.body.hidden = text === '';
        drawText(into.body, text);
        break;
      }
      case 'row':
        this.#drawCells(into.body, 'td', block.text, block.parent!.columns, this.#isFinal(block));
        break;
      case 'paragraph':
      case 'heading':
        this.#drawText(block, into);
        break;
      default:
        if (block.kind === 'list') into.body.className = block.isLoose ? 'loose' : '';
        this.#drawChildren(block, into);
    }
  }

  #drawText(block: Block, into: Slot): void {
    const { isOpen } = block;
    let text = block.text;
    if (isOpen) {
      const { shown, body } = into;
      if (text.length > EAGER_LENGTH && text.length < shown.length * 1.125 && text.startsWith(shown)) {
        // The marks of what is new are shown as text until then.
        const added = text.slice(shown.length);
        if (body.lastChild instanceof HTMLElement && body.lastChild.className === 'raw') drawText(body.lastChild, added);
        else body.append(make('span', 'raw', added));
        return;
      }
      into.shown = text;
      text = text.slice(skipDefinitions(text));
      // The next line says whether this is a table.
      if (/^\|.*$/.test(text)) text = '';
    }
    const { parent } = block;
    const task = parent?.kind === 'item' && parent.children[0] === block && block.kind === 'paragraph' && TASK.exec(text);
    if (task) text = text.slice(task[0].length);
    this.#drawInline(into.body, text, isOpen, !isOpen && this.#isFinal(block));
    if (parent?.kind === 'item' && parent.children[0] === block) drawBox(into.body.parentElement!, text, task ? task[1] !== ' ' : null);
  }

  #drawInline(node: HTMLElement, text: string, isOpen: boolean, isFinal: boolean, limit = this.#limit): void {
    const { spans, isUnresolved } = parseInline(text, this.#definitions, isOpen, limit);
    drawSpans(node, spans.root, this.#linking);
    if (!isFinal || !hasMarks(text)) return;
    this.#limit -= text.length;
    if (isUnresolved) this.#unresolved.push(() => this.#drawInline(node, text, false, false, limit));
  }

  #drawCells(row: HTMLElement, tag: 'td' | 'th', text: string, columns: Block['columns'], isFinal: boolean): void {
    const found = cells(text);
    columns.forEach((alignment, index) => {
      let cell = row.children[index] as HTMLElement | undefined;
      if (!cell) {
        cell = row.appendChild(make(tag));
        if (alignment) cell.style.textAlign = alignment;
      }
      this.#drawInline(cell, found[index] ?? '', !isFinal && index === found.length - 1, isFinal);
    });
  }
}

const languageOf = ({ info }: Block): string => info.split(/\s/, 1)[0]!;

async function highlight(code: HTMLElement, language: string): Promise<void> {
  // Without the module, the code stays as it is.
  const module = await import('../highlight/index.js').catch(() => undefined);
  module?.highlight(code, language);
}

const slot = (look: string, node: ChildNode, body = node as HTMLElement): Slot => ({
  look,
  node,
  body,
  slots: [],
  settled: 0,
  shown: '',
});

/** Shows the box of a task before its text. `isChecked` is `null` if the item is no task. */
function drawBox(item: HTMLElement, text: string, isChecked: boolean | null): void {
  let box = item.firstElementChild as HTMLInputElement | null;
  if ((isChecked !== null) !== (box?.localName === 'input')) {
    if (isChecked === null) box!.remove();
    else {
      item.prepend((box = make('input')));
      box.type = 'checkbox';
      box.disabled = true;
    }
    item.className = isChecked === null ? '' : 'task';
  }
  if (isChecked === null) return;
  box!.checked = isChecked;
  box!.ariaLabel = text.replace(/[*_`~]/g, '').trim();
}
