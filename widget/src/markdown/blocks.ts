// The blocks of a text, read line by line as in the appendix of CommonMark. A line that is still open is tried, and undone
// before more of the text is read, so that the result does not depend on how the text arrives.

import { Line } from './line.js';
import { skipDefinitions, type Target } from './links.js';
import { decoded } from './entities.js';
import { endsHtml, htmlBlockEnd } from './html.js';
import { type Alignment, alignments } from './tables.js';

export type Kind =
  'root' | 'quote' | 'list' | 'item' | 'paragraph' | 'heading' | 'code' | 'html' | 'rule' | 'table' | 'row' | 'nothing';

export class Block {
  readonly children: Block[] = [];
  isOpen = true;
  /** The text of a block that has no blocks in it. */
  text = '';
  /** The character of a fence (`$`: math) or of the marks of a list, or what ends a block of HTML. */
  mark = '';
  /**
   * The level of a heading, the first number of a list, the width of a fence (0: indented code), or the columns before
   * the content of an item.
   */
  size = 0;
  /** The columns before a fence. */
  indent = 0;
  /** The language of a code block, the first row of a table, or the last line of a paragraph. */
  info = '';
  columns: Alignment[] = [];
  isLoose = false;
  /** The number of the last line that belongs to the block. */
  end = 0;
  readonly depth: number;

  constructor(
    public kind: Kind,
    readonly parent: Block | undefined,
    /** `true` if the line that began the block is not complete. */
    readonly isTried: boolean,
  ) {
    this.depth = parent ? parent.depth + 1 : 0;
  }
}

/** The most blocks. The rest of the text is shown as it is written. */
const COUNT_LIMIT = 10_000;
/** The deepest block that contains blocks. Marks below it are text. */
const DEPTH_LIMIT = 40;
const THEMATIC = /^(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$/;
const ITEM = /^(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)/;
const FENCE = /^(?:(`{3,})([^`]*)|(~{3,})(.*))$/;
const CONTAINERS = new Set<Kind>(['root', 'quote', 'item']);

export class Blocks {
  readonly root = new Block('root', undefined, false);
  readonly definitions = new Map<string, Target>();
  #tip = this.root;
  #line = new Line('');
  #number = 0;
  #count = 0;
  #saved: { block: Block; fields: Partial<Block>; count: number }[] | undefined;
  #savedCount = 0;

  /** Reads a complete line. */
  push(text: string): void {
    this.#number++;
    this.#line = new Line(text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text);
    this.#read();
  }

  /** Reads a line that is not complete. */
  try(text: string): void {
    this.#saved = [];
    this.#savedCount = this.#count;
    for (let block: Block | undefined = this.#tip; block; block = block.parent) {
      const { parent, children, depth, isTried, ...fields } = block;
      this.#saved.push({ block, fields, count: children.length });
    }
    this.push(text);
  }

  /** Undoes {@link try}. */
  undo(): void {
    if (!this.#saved) return;
    for (const { block, fields, count } of this.#saved) {
      Object.assign(block, fields);
      block.children.length = count;
    }
    this.#tip = this.#saved[0]!.block;
    this.#saved = undefined;
    this.#count = this.#savedCount;
    this.#number--;
  }

  /** Returns `true` if no further text changes the block. */
  isFinal(block: Block): boolean {
    return !block.isOpen && !block.isTried && !this.#saved?.some((saved) => saved.block === block);
  }

  finish(): void {
    this.#closeBelow(undefined);
  }

  #read(): void {
    const line = this.#line;
    if (this.#count > COUNT_LIMIT && this.#tip.kind !== 'code') {
      this.#closeBelow(this.root);
      this.#add(this.root, 'code').size = 3;
    }
    let container = this.root;
    for (let child; (child = container.children.at(-1))?.isOpen; container = child) {
      const matched = this.#continue(child);
      if (matched === 'closed') return;
      if (!matched) break;
    }
    const isVerbatim = container.kind === 'code' || container.kind === 'html';
    const tip = this.#tip;
    let started: Block | undefined;
    while (!isVerbatim && !line.isBlank && (started = this.#start(container))) {
      container = started;
      if (!CONTAINERS.has(container.kind)) break;
    }
    if (!container.isOpen) return this.#mark(container);
    if (this.#tip === tip && tip !== container && tip.kind === 'paragraph' && !line.isBlank) {
      this.#extend(tip); // A paragraph goes on without the marks of its containers.
      return this.#mark(tip);
    }
    if (!started) this.#closeBelow(container);
    if (container.kind === 'code') {
      if (started !== container || !container.size) container.text += line.remaining + '\n';
    } else if (container.kind === 'html') {
      container.text += line.remaining + '\n';
      if (endsHtml(line.rest, container.mark)) return void this.#end(container);
    } else if (container.kind === 'table') {
      if (container !== started) this.#close(Object.assign(this.#add(container, 'row'), { text: line.rest }));
    } else if (container.kind === 'paragraph') this.#extend(container);
    else if (!line.isBlank) this.#extend(this.#add(container, 'paragraph'));
    if (!line.isBlank || (container.kind === 'code' && container.size)) return this.#mark(this.#tip);
    let quote: Block | undefined = container;
    while (quote && quote.kind !== 'quote') quote = quote.parent;
    this.#mark(quote);
  }

  #extend(paragraph: Block): void {
    paragraph.info = this.#line.rest;
    paragraph.text += paragraph.text ? '\n' + paragraph.info : paragraph.info;
  }

  /** Takes the marks of an open block from the line. Returns `false` if the line does not continue the block. */
  #continue(block: Block): boolean | 'closed' {
    const line = this.#line;
    switch (block.kind) {
      case 'list':
        return true;
      case 'quote':
        if (line.indent > 3 || line.text[line.next] !== '>') return false;
        line.take(1);
        line.takeSpace(1);
        return true;
      case 'item':
        if (line.isBlank) {
          line.take(0);
          return block.children.length > 0;
        }
        if (line.indent < block.size) return false;
        line.takeSpace(block.size);
        return true;
      case 'code':
        if (!block.size) {
          if (line.indent < 4 && !line.isBlank) return false;
          line.takeSpace(4);
          return true;
        }
        if (line.indent < 4 && this.#endsFence(block, line.rest)) return this.#end(block);
        line.takeSpace(block.indent);
        return true;
      case 'html':
        return block.mark !== '' || !line.isBlank;
      case 'paragraph':
      case 'table':
        return !line.isBlank;
      default:
        return false;
    }
  }

  #endsFence({ mark, size }: Block, rest: string): boolean {
    if (rest[0] !== mark) return false;
    let width = 1;
    while (rest[width] === mark) width++;
    return width >= size && rest.slice(width).trim() === '';
  }

  #end(block: Block): 'closed' {
    this.#closeBelow(block.parent);
    this.#mark(block);
    return 'closed';
  }

  /** Begins the block that the line begins, if there is one. */
  #start(container: Block): Block | undefined {
    const line = this.#line;
    const { rest, indent } = line;
    if (indent > 3) {
      if (this.#tip.kind === 'paragraph' || container.kind === 'table') return undefined;
      line.takeSpace(4);
      return this.#add(container, 'code');
    }
    const isParagraph = container.kind === 'paragraph';
    switch (rest[0]) {
      case '>': {
        if (container.depth >= DEPTH_LIMIT) return undefined;
        line.take(1);
        line.takeSpace(1);
        return this.#add(container, 'quote');
      }
      case '#': {
        const found = /^#{1,6}(?=[ \t]|$)/.exec(rest);
        if (!found) return undefined;
        const heading = this.#add(container, 'heading');
        heading.size = found[0].length;
        heading.text = withoutClosing(rest.slice(heading.size));
        return this.#close(heading);
      }
      case '`':
      case '~': {
        const found = FENCE.exec(rest);
        if (!found) return undefined;
        const fence = this.#add(container, 'code');
        fence.mark = rest[0];
        fence.size = (found[1] ?? found[3])!.length;
        fence.indent = indent;
        fence.info = decoded((found[2] ?? found[4])!.trim());
        return fence;
      }
      case '$':
        if (rest.trimEnd() !== '$$') return undefined;
        return Object.assign(this.#add(container, 'code'), { mark: '$', size: 2 });
      case '<': {
        const mark = htmlBlockEnd(rest, this.#tip.kind === 'paragraph');
        if (mark !== undefined) return Object.assign(this.#add(container, 'html'), { mark });
      }
    }
    if (isParagraph) {
      const found = this.#table(container) ?? this.#underline(container);
      if (found) return found;
    }
    if (THEMATIC.test(rest)) return this.#close(this.#add(container, 'rule'));
    return this.#item(container);
  }

  #underline(paragraph: Block): Block | undefined {
    const { rest } = this.#line;
    const char = rest[0]!;
    if ((char !== '=' && char !== '-') || rest.trimEnd() !== char.repeat(rest.trimEnd().length)) return undefined;
    const start = skipDefinitions(paragraph.text);
    if (start === paragraph.text.length) return undefined;
    this.#define(paragraph);
    paragraph.kind = 'heading';
    paragraph.size = char === '=' ? 1 : 2;
    return this.#close(paragraph);
  }

  /** Makes the last line of a paragraph the first row of a table. */
  #table(paragraph: Block): Block | undefined {
    const header = paragraph.info;
    const columns = alignments(header, this.#line.rest);
    if (!columns) return undefined;
    let table = paragraph;
    if (paragraph.text.length > header.length) {
      paragraph.text = paragraph.text.slice(0, -header.length - 1);
      table = this.#add(paragraph, 'table');
    }
    this.#line.take(this.#line.rest.length);
    return Object.assign(table, { kind: 'table', info: header, text: '', columns });
  }

  #item(container: Block): Block | undefined {
    const line = this.#line;
    const found = ITEM.exec(line.rest);
    if (!found || container.depth >= DEPTH_LIMIT) return undefined;
    const [all, number] = found;
    const isEmpty = line.text.slice(line.next + all.length).trim() === '';
    if (container.kind === 'paragraph' && (isEmpty || (number !== undefined && Number(number) !== 1))) return undefined;
    const { indent } = line;
    const mark = all.at(-1)!;
    line.take(all.length);
    const space = line.indent;
    const padding = isEmpty || space > 4 ? 1 : space;
    line.takeSpace(padding);
    let list = container;
    if (list.kind !== 'list' || list.mark !== mark) {
      list = this.#add(container, 'list');
      list.mark = mark;
      list.size = number === undefined ? -1 : Number(number);
    }
    const item = this.#add(list, 'item');
    item.size = indent + all.length + padding;
    return item;
  }

  /** Adds a block, and closes the open blocks that cannot contain it. */
  #add(container: Block, kind: Kind): Block {
    let parent = container;
    while (kind === 'item' ? parent.kind !== 'list' : kind === 'row' ? parent.kind !== 'table' : !CONTAINERS.has(parent.kind))
      parent = parent.parent!;
    this.#closeBelow(parent);
    const before = parent.children.at(-1);
    if (before && before.end < this.#number - 1) {
      if (parent.kind === 'item') parent.parent!.isLoose = true;
      else if (parent.kind === 'list') parent.isLoose = true;
    }
    const block = new Block(kind, parent, this.#saved !== undefined);
    block.end = this.#number;
    this.#count += 1 + parent.columns.length;
    parent.children.push(block);
    this.#tip = block;
    return block;
  }

  #mark(block: Block | undefined): void {
    for (; block; block = block.parent) block.end = this.#number;
  }

  #close(block: Block): Block {
    if (block.kind === 'paragraph') {
      this.#define(block);
      if (block.text === '') block.kind = 'nothing';
    }
    block.isOpen = false;
    this.#tip = block.parent ?? block;
    return block;
  }

  #closeBelow(container: Block | undefined): void {
    while (this.#tip !== container && this.#tip.isOpen) this.#close(this.#tip);
  }

  /** Takes the definitions from the beginning of a paragraph. */
  #define(paragraph: Block): void {
    const start = skipDefinitions(paragraph.text, (key, target) => {
      if (!this.#saved && !this.definitions.has(key)) this.definitions.set(key, target);
    });
    paragraph.text = paragraph.text.slice(start);
  }
}

/** Returns the text of a heading without the `#` at its end. */
function withoutClosing(text: string): string {
  text = text.trim();
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return end === 0 || /[ \t]/.test(text[end - 1]!) ? text.slice(0, end).trimEnd() : text;
}
