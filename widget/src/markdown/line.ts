// A line and the position in it. A tab reaches to the next column that is a multiple of four, and a block may take a part
// of a tab.

export class Line {
  readonly text: string;
  at = 0;
  column = 0;
  #isWithinTab = false;
  #next = -1;
  #nextColumn = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The position of the first character from here that is no space or tab. */
  get next(): number {
    if (this.#next < this.at) {
      this.#next = this.at;
      this.#nextColumn = this.column;
      for (let char; (char = this.text[this.#next]) === ' ' || char === '\t'; this.#next++) {
        this.#nextColumn += char === ' ' ? 1 : 4 - (this.#nextColumn % 4);
      }
    }
    return this.#next;
  }

  get indent(): number {
    return this.next < 0 ? 0 : this.#nextColumn - this.column;
  }

  get isBlank(): boolean {
    return this.next >= this.text.length;
  }

  /** The text from the first character that is no space or tab. */
  get rest(): string {
    return this.text.slice(this.next);
  }

  /** The text from here, with spaces in place of a tab that is partly taken. */
  get remaining(): string {
    return this.#isWithinTab ? ' '.repeat(4 - (this.column % 4)) + this.text.slice(this.at + 1) : this.text.slice(this.at);
  }

  /** Takes up to `columns` columns of spaces and tabs. */
  takeSpace(columns: number): void {
    for (let char; columns > 0 && ((char = this.text[this.at]) === ' ' || char === '\t'); ) {
      const width = char === ' ' ? 1 : 4 - (this.column % 4);
      this.#isWithinTab = width > columns;
      this.column += Math.min(width, columns);
      columns -= width;
      if (!this.#isWithinTab) this.at++;
    }
  }

  /** Takes the indent and `count` characters after it. */
  take(count: number): void {
    const next = this.next;
    this.column = this.#nextColumn + count;
    this.at = next + count;
    this.#isWithinTab = false;
  }
}
