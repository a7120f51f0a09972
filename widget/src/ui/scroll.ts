/** The distance from the end, in pixels, that counts as the end: positions can be fractions. */
const NEAR = 2;
const UPWARD_KEYS = new Set(['ArrowUp', 'PageUp', 'Home']);

/**
 * The only code that scrolls the log. The log follows its end only while the user is there. A movement of the user
 * upward ends that at once, and nothing moves by itself until the user is at the end again.
 */
export class Scroll {
  readonly #node: HTMLElement;
  readonly #content: HTMLElement;
  readonly #changed: () => void;
  readonly #resized: ResizeObserver;
  #isFollowing = true;
  #isAtStart = false;
  #last = 0;
  #touch = 0;

  constructor(node: HTMLElement, content: HTMLElement, changed: () => void) {
    this.#node = node;
    this.#content = content;
    this.#changed = changed;
    const passive = { passive: true };
    node.addEventListener('wheel', ({ deltaY }) => deltaY < 0 && this.#release(), passive);
    node.addEventListener('touchstart', ({ touches }) => (this.#touch = touches[0]?.clientY ?? 0), passive);
    node.addEventListener(
      'touchmove',
      ({ touches }) => (touches[0]?.clientY ?? 0) > this.#touch && this.#release(),
      passive,
    );
    node.addEventListener('keydown', (event) => {
      const { altKey, ctrlKey, key, metaKey, shiftKey } = event;
      // The field may be within a component.
      const [target] = event.composedPath();
      if (altKey || ctrlKey || metaKey || (target as Element).matches('input, textarea, select')) return;
      if (UPWARD_KEYS.has(key) || (key === ' ' && shiftKey)) this.#release();
      // Older messages are added on the way, and the end may have moved on when the browser gets there.
      if (key === 'Home') this.#toStart();
      else if (key === 'End') this.toEnd();
      else return;
      event.preventDefault();
    });
    node.addEventListener('scroll', () => this.#scrolled(), passive);
    this.#resized = new ResizeObserver(() => this.settle());
    this.#resized.observe(node);
    this.#resized.observe(content);
  }

  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** `true` after the Home key, until the user goes elsewhere. The first message is shown, also after older ones are loaded. */
  get isAtStart(): boolean {
    return this.#isAtStart;
  }

  get isAtEnd(): boolean {
    const { scrollTop, scrollHeight, clientHeight } = this.#node;
    return this.#isEmpty || scrollTop >= scrollHeight - clientHeight - NEAR;
  }

  /** `true` without messages. What the log shows then is read from its beginning. */
  get #isEmpty(): boolean {
    return this.#content.offsetHeight === 0;
  }

  /** Goes to the end, and follows it. */
  toEnd(): void {
    this.#isFollowing = true;
    this.#isAtStart = false;
    this.settle();
    this.#changed();
  }

  /** Goes to a position, and follows nothing. */
  moveTo(top: number): void {
    this.#isFollowing = this.#isAtStart = false;
    this.keepAt(top);
  }

  /** Corrects the position after a change of what is above it. */
  keepAt(top: number): void {
    this.#node.scrollTop = this.#isAtStart ? 0 : top;
    this.#last = this.#node.scrollTop;
  }

  /** Goes to the end after a change of the content, if the log follows it. */
  settle(): void {
    if (this.#isFollowing) this.#node.scrollTop = this.#isEmpty ? 0 : this.#node.scrollHeight;
    this.#last = this.#node.scrollTop;
  }

  remove(): void {
    this.#resized.disconnect();
  }

  #toStart(): void {
    this.moveTo(0);
    this.#isAtStart = true;
    this.#changed();
  }

  #release(): void {
    if (this.#node.scrollHeight <= this.#node.clientHeight) return;
    this.#isFollowing = false;
    this.#changed();
  }

  #scrolled(): void {
    const wasFollowing = this.#isFollowing;
    const top = this.#node.scrollTop;
    if (top) this.#isAtStart = false;
    // A position that falls at the end is that of content that has become shorter.
    if (top < this.#last && !this.isAtEnd) this.#isFollowing = false;
    else if (top > this.#last && this.isAtEnd) this.#isFollowing = true;
    this.#last = top;
    // While the log follows its end, it scrolls with each line of an answer, and nothing else changes.
    if (!wasFollowing || !this.#isFollowing) this.#changed();
  }
}
