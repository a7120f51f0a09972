import { iconButton } from './button.js';
import { isComposing } from './composing.js';
import { element } from './dom.js';
import { focused } from './focused.js';
import { icon } from './icon.js';
import type { Texts } from './texts.js';

export const MODES = ['popup', 'panel', 'sidebar', 'page'] as const;
export type Mode = (typeof MODES)[number];

/** On a screen of this size an open window covers the page. */
const PHONE = '(max-width: 480px), (max-height: 420px)';

interface Host {
  mode: Mode;
  heading: string;
  texts: Texts;
  /** Asks the element to open or close the window. */
  setOpen(isOpen: boolean): void;
  /** Makes the content, when it is needed first. */
  fill(window: ChatWindow): void;
  /** Moves the focus into the content. */
  focus(): void;
}

/**
 * The place of the chat in the page. `panel` and `page` are always there. `popup` and `sidebar` open in the top layer,
 * so that no style of the page covers them. Closed, they are not in the accessibility tree.
 */
export class ChatWindow {
  readonly nodes: readonly HTMLElement[];
  readonly node: HTMLElement;
  readonly #host: Host;
  readonly #launcher: HTMLElement | undefined;
  readonly #button: HTMLButtonElement | undefined;
  readonly #count = element('span', { part: 'count', hidden: true });
  readonly #dialog: HTMLDialogElement | undefined;
  readonly #phone = matchMedia(PHONE);
  readonly #end = new AbortController();
  #isFilled = false;
  #cameFrom: HTMLElement | undefined;

  constructor(host: Host) {
    this.#host = host;
    const { heading, mode, texts } = host;
    if (mode === 'panel' || mode === 'page') {
      this.node = element('section', { part: `window ${mode}`, 'aria-label': heading });
      this.nodes = [this.node];
      return;
    }
    this.#dialog = element('dialog', { part: `window ${mode}`, popover: 'manual', 'aria-label': heading });
    this.node = this.#dialog;
    this.#button = iconButton('launcher', texts.openChat, 'icon-button launcher', () => {});
    this.#button.append(icon('chevron'), this.#count);
    this.#button.setAttribute('aria-haspopup', 'dialog');
    const slot = element('slot', { name: 'launcher' }, this.#button);
    this.#launcher = element('section', { part: 'launcher-place', popover: 'manual', 'aria-label': heading }, slot);
    this.#launcher.addEventListener('click', () => host.setOpen(!this.isOpen));
    this.nodes = [this.#launcher, this.#dialog];
    const { signal } = this.#end;
    this.#dialog.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.defaultPrevented || isComposing(event)) return;
      event.preventDefault();
      event.stopPropagation();
      host.setOpen(false);
    });
    this.#dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      host.setOpen(false);
    });
    this.#phone.addEventListener('change', () => this.isOpen && this.#reopen(), { signal });
    visualViewport?.addEventListener('resize', () => this.#fit(), { signal });
    visualViewport?.addEventListener('scroll', () => this.#fit(), { signal });
  }

  get isOpen(): boolean {
    return this.#dialog?.hasAttribute('data-open') ?? true;
  }

  /** Shows the launcher. The nodes must be in the document. */
  start(): void {
    this.#launcher?.showPopover();
    this.#mark();
    if (!this.#dialog) this.fill();
  }

  /** Makes the content, unless it is there. */
  fill(): void {
    if (this.#isFilled) return;
    this.#isFilled = true;
    this.#host.fill(this);
  }

  /** Opens the window. With `focus`, the user asked for it. */
  open(focus: boolean): void {
    if (this.isOpen || !this.#dialog) return;
    // A window that covers a page on load would take the page from the user.
    if (this.#phone.matches && !focus) return this.#host.setOpen(false);
    this.fill();
    this.#cameFrom = focused();
    this.#dialog.toggleAttribute('data-open', true);
    this.#show();
    if (focus) this.#host.focus();
    this.#mark();
  }

  /** Closes the window. The focus goes back to where it was. */
  close(): void {
    if (!this.isOpen || !this.#dialog) return;
    const hadFocus = this.#dialog.matches(':focus-within');
    this.#hide();
    this.#dialog.toggleAttribute('data-open', false);
    this.#mark();
    if (!hadFocus) return;
    const back = this.#cameFrom?.isConnected && this.#cameFrom !== document.body ? this.#cameFrom : this.#button;
    back?.focus();
    this.#cameFrom = undefined;
  }

  /** Shows the number of answers and questions that came while the window was closed. */
  count(answers: number): void {
    this.#count.hidden = answers === 0;
    this.#count.textContent = String(answers);
    if (!this.#button || this.isOpen) return;
    const { openChat } = this.#host.texts;
    this.#button.setAttribute('aria-label', answers ? `${openChat} (${answers})` : openChat);
  }

  remove(): void {
    this.#end.abort();
    for (const node of this.nodes) node.remove();
  }

  #mark(): void {
    const { closeChat, openChat } = this.#host.texts;
    this.#button?.setAttribute('aria-expanded', String(this.isOpen));
    this.#button?.setAttribute('aria-label', this.isOpen ? closeChat : openChat);
    this.#button?.setAttribute('title', this.isOpen ? closeChat : openChat);
    this.#launcher?.toggleAttribute('data-open', this.isOpen);
  }

  /** A modal dialog makes the rest of the page inert. Elsewhere the page stays usable beside the window. */
  #show(): void {
    const dialog = this.#dialog;
    if (!dialog) return;
    const modal = this.#phone.matches;
    dialog.toggleAttribute('data-modal', modal);
    // A dialog takes the focus when it is shown, unless nothing in it can have it.
    dialog.inert = true;
    if (modal) {
      dialog.removeAttribute('popover');
      dialog.showModal();
    } else {
      dialog.setAttribute('popover', 'manual');
      dialog.showPopover();
    }
    dialog.inert = false;
    this.#fit();
  }

  #hide(): void {
    if (this.#dialog?.open) this.#dialog.close();
    else this.#dialog?.hidePopover();
  }

  #reopen(): void {
    const before = focused();
    this.#hide();
    this.#show();
    before?.focus();
  }

  /** Keeps the window above the keyboard of a phone. A page that the user has enlarged shows a part of the window. */
  #fit(): void {
    if (!this.#dialog || !visualViewport) return;
    const { height, offsetTop, scale } = visualViewport;
    const modal = this.#dialog.hasAttribute('data-modal');
    this.#dialog.style.blockSize = modal ? `${height * scale}px` : '';
    this.#dialog.style.insetBlockStart = modal && scale === 1 ? `${offsetTop}px` : '';
  }
}
