/** A path from the root of a value: keys of objects and indices of arrays. */
export type Path = readonly (string | number)[];

/** The state of the value at a path: it has not begun or does not exist, it is open, or it is complete. */
export type Status = 'pending' | 'streaming' | 'done';

type Container = Record<string | number, unknown>;

/** The number of objects and arrays that may contain each other. */
const DEPTH = 64;

const UNEXPECTED = 'an unexpected character';
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;
const WORDS: Record<string, string> = { t: 'true', f: 'false', n: 'null' };

/** The tokens that the parser expects, or the token that it is in. */
const enum State {
  Value,
  /** A value, or the end of the array. */
  FirstItem,
  /** A key, or the end of the object. */
  FirstKey,
  NextKey,
  Colon,
  /** A comma, or the end of the object or array. */
  Next,
  End,
  InKey,
  InText,
  InNumber,
  InWord,
}

/**
 * A parser of JSON that arrives in parts. It reads each character once and builds the value in place, like
 * `partial_json::Growing` of `omniassist-core`, which documents the rules.
 */
export class Growing {
  /** The first error. Text after it is ignored, and the value stays as it is. */
  error: string | undefined;

  /** The root in an object of its own, and the open objects and arrays. */
  #containers: Container[] = [{}];
  /** The current member of each. */
  #members: (string | number)[] = ['root'];
  #state = State.Value;
  /** The open number, word or escape. */
  #token = '';

  /** The value so far, or `undefined` while there is none. The same object grows with each delta. */
  get value(): unknown {
    return this.#containers[0]!.root;
  }

  /** `true` if the value is complete, without an error. */
  get complete(): boolean {
    return this.#state === State.End && this.error === undefined;
  }

  /**
   * The path of the innermost open value, or `undefined` if no value is open. That value does not appear yet if it is a
   * number, `true`, `false` or `null`.
   */
  get open(): Path | undefined {
    const members = this.#members;
    if (this.#state >= State.InText) return members.slice(1);
    return members.length > 1 ? members.slice(1, -1) : undefined;
  }

  /** Reads the next part of the text. */
  push(delta: string): void {
    try {
      for (let at = 0; at < delta.length && this.error === undefined; ) at = this.#read(delta, at);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends the text. An open value is then an error. */
  end(): void {
    try {
      if (this.#state === State.InNumber) this.#closeNumber();
      if (this.#state !== State.End) throw 'the text ends before the value';
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Returns the status of the value at a path. */
  status(path: Path): Status {
    return statusAt(this.value, this.open, path);
  }

  #fail(error: unknown): void {
    this.error ??= typeof error === 'string' ? error : UNEXPECTED;
  }

  /** Reads a token, or a part of one. Returns the offset after it. */
  #read(delta: string, at: number): number {
    const char = delta[at]!;
    switch (this.#state) {
      case State.InKey:
      case State.InText:
        return this.#readString(delta, at);
      case State.InNumber: {
        let end = at;
        while (end < delta.length && '0123456789+-.eE'.includes(delta[end]!)) end++;
        this.#token += delta.slice(at, end);
        if (end < delta.length) this.#closeNumber();
        return end;
      }
      case State.InWord: {
        const word = WORDS[this.#token[0] ?? char]!;
        if (char !== word[this.#token.length]) throw UNEXPECTED;
        this.#token += char;
        if (this.#token === word) {
          this.#token = '';
          this.#put(JSON.parse(word));
          this.#closed();
        }
        return at + 1;
      }
    }
    return ' \t\n\r'.includes(char) ? at + 1 : at + this.#readMark(char);
  }

  /** Reads the first character of a token. Returns 0 if the token is not a mark. */
  #readMark(char: string): number {
    const state = this.#state;
    const last = this.#members.length - 1;
    const inArray = typeof this.#members[last] === 'number';
    if (state === State.End) throw 'text after the end of the value';
    if ((state === State.FirstKey || state === State.NextKey) && char === '"') {
      this.#members[last] = '';
      this.#state = State.InKey;
    } else if (state === State.Colon && char === ':') {
      this.#state = State.Value;
    } else if (state === State.Next && char === ',') {
      if (inArray) (this.#members[last] as number)++;
      this.#state = inArray ? State.Value : State.NextKey;
    } else if (
      (char === ']' && (state === State.FirstItem || (state === State.Next && inArray))) ||
      (char === '}' && (state === State.FirstKey || (state === State.Next && !inArray)))
    ) {
      this.#containers.pop();
      this.#members.pop();
      this.#closed();
    } else if (state > State.FirstItem) {
      throw UNEXPECTED;
    } else if (char === '"') {
      this.#put('');
      this.#state = State.InText;
    } else if (char === '{' || char === '[') {
      if (last >= DEPTH) throw 'too many nested objects and arrays';
      const container = (char === '{' ? {} : []) as Container;
      this.#put(container);
      this.#containers.push(container);
      this.#members.push(char === '{' ? '' : 0);
      this.#state = char === '{' ? State.FirstKey : State.FirstItem;
    } else if (char === '-' || (char >= '0' && char <= '9')) {
      this.#state = State.InNumber;
      return 0;
    } else if (Object.hasOwn(WORDS, char)) {
      this.#state = State.InWord;
      return 0;
    } else {
      throw UNEXPECTED;
    }
    return 1;
  }

  #readString(delta: string, at: number): number {
    if (this.#token) {
      this.#append(this.#readEscape(delta[at]!));
      return at + 1;
    }
    let end = at;
    let code = 0;
    for (; end < delta.length; end++) {
      code = delta.charCodeAt(end);
      if (code === 34 || code === 92 || code < 32) break;
    }
    if (end > at) this.#append(delta.slice(at, end));
    if (end === delta.length) return end;
    if (code < 32) throw UNEXPECTED;
    if (code === 92) this.#token = '\\';
    else if (this.#state === State.InKey) this.#state = State.Colon;
    else this.#closed();
    return end + 1;
  }

  /** Adds a character to the open escape. Returns its text if it is complete. A surrogate pair is one escape. */
  #readEscape(char: string): string {
    const escape = (this.#token += char);
    const missing = escape[1] === 'u' ? '\\u0000'.slice(escape.length % 6 || 6) : '';
    const text: string = JSON.parse(`"${escape}${missing}"`);
    const isHalf = /[\ud800-\udfff]/u.test(text);
    if (!'\\u'.startsWith(escape.slice(6, 8))) throw UNEXPECTED;
    if (missing || (isHalf && escape.length === 6 && text < '\udc00')) return '';
    if (isHalf) throw UNEXPECTED;
    this.#token = '';
    return text;
  }

  #append(text: string): void {
    const last = this.#members.length - 1;
    const member = this.#members[last]!;
    if (this.#state === State.InKey) this.#members[last] = member + text;
    else this.#containers[last]![member] += text;
  }

  #closeNumber(): void {
    const number = Number(this.#token);
    if (!NUMBER.test(this.#token) || !Number.isFinite(number)) throw UNEXPECTED;
    this.#token = '';
    this.#put(number);
    this.#closed();
  }

  #closed(): void {
    this.#state = this.#members.length > 1 ? State.Next : State.End;
  }

  /** Adds the current member to the innermost open object or array. */
  #put(value: unknown): void {
    const last = this.#members.length - 1;
    const [container, member] = [this.#containers[last]!, this.#members[last]!];
    if (member !== '__proto__') container[member] = value;
    else Object.defineProperty(container, member, { value, configurable: true, enumerable: true, writable: true });
  }
}

/** Returns the status of a path in a value whose innermost open value is at `open`. */
export function statusAt(value: unknown, open: Path | undefined, path: Path): Status {
  if (open && path.length <= open.length && path.every((step, index) => `${step}` === `${open[index]}`)) {
    return 'streaming';
  }
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return 'pending';
    value = (value as Container)[step];
  }
  return value === undefined ? 'pending' : 'done';
}
