// Points at an element: scrolls to it, rings it and moves a visible pointer there.

import { elementOf, isReference } from './references.js';
import { isIgnored } from './fields.js';
import { operables } from './discover.js';
import { nameOf } from './names.js';
import { addStyle } from './style.js';

const MOVE = 450;
const STAY = 4_000;
const SVG = 'http://www.w3.org/2000/svg';

/** Removes the pointer and the ring. */
export let unpoint = (): void => {};
/** The place of the pointer in the window, from where it moves to the next element. */
let place: [number, number] | undefined;

export interface PointInput {
  /** The reference, the id or the name of an element. */
  target: string;
  click?: boolean;
}

/** Points at an element. `click` clicks it, if the page allows that for this element. */
export async function point(
  { target, click }: { target: string; click?: boolean },
  signal: AbortSignal,
): Promise<object> {
  const element = resolve(target);
  if (click) allowClick(element);
  const { top, bottom } = element.getBoundingClientRect();
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  // An element within the window may be out of the view of a part that scrolls.
  const block = top < 0 || bottom > innerHeight ? 'center' : 'nearest';
  element.scrollIntoView({ block, inline: 'nearest', behavior: isStill ? 'instant' : 'smooth' });
  show(element, isStill);
  if (!isStill) await new Promise((done) => setTimeout(done, MOVE));
  signal.throwIfAborted();
  if (click) {
    // The page may have changed the element in the meantime.
    allowClick(element);
    element.click();
  }
  return { [click ? 'clicked' : 'pointed_at']: nameOf(element) || target };
}

function resolve(target: string): HTMLElement {
  if (isReference(target)) return elementOf(target);
  const wanted = target.trim().toLowerCase();
  const [element, other] = operables().filter((element) =>
    [element.id, element.getAttribute('name'), nameOf(element)].some((name) => name?.toLowerCase() === wanted),
  );
  if (element && !other) return element;
  throw new Error(`${element ? 'More than one element is' : 'No element of this page is'} called ${target}.`);
}

function allowClick(element: HTMLElement): void {
  // A click on a label clicks its control too, and one within a button that button.
  const controls = [element, element.closest('button, input'), element.closest('label')?.control];
  const submits = controls.some((control) => {
    const { type, form } = (control ?? {}) as { type?: string; form?: unknown };
    return form && /^(?:submit|image|reset)$/.test(type ?? '');
  });
  const isShown = element.isConnected && element.checkVisibility({ visibilityProperty: true }) && !isIgnored(element);
  const reason =
    (!isShown && 'it is hidden') ||
    (!element.hasAttribute('data-assistant-click') && 'the page did not allow it') ||
    (submits && 'it submits or resets a form') ||
    (controls.some((control) => control?.matches(':disabled, [aria-disabled=true]')) && 'it is disabled');
  if (reason) throw new Error(`Only the user clicks this element: ${reason}.`);
}

function show(element: HTMLElement, isStill: boolean): void {
  addStyle();
  unpoint();
  const ring = document.createElement('div');
  const pointer = ring.appendChild(document.createElementNS(SVG, 'svg'));
  const arrow = pointer.appendChild(document.createElementNS(SVG, 'path'));
  pointer.setAttribute('viewBox', '0 0 24 24');
  arrow.setAttribute('d', 'M4 2l15 11-7 1-4 7z');
  ring.setAttribute('data-assistant-pointer', '');
  ring.ariaHidden = 'true';
  ring.popover = 'manual';
  document.body.append(ring);
  ring.showPopover();
  const follow = (): void => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const box = { left: left - 6, top: top - 6, width: width + 12, height: height + 12 };
    for (const [name, size] of Object.entries(box)) ring.style.setProperty(name, `${size}px`);
    place = [left + width / 2, top + height / 2];
    if (!element.isConnected) unpoint();
    else if (ring.isConnected) requestAnimationFrame(follow);
  };
  const [x, y] = place ?? [innerWidth / 2, innerHeight / 2];
  const timer = setTimeout(() => unpoint(), STAY);
  unpoint = () => {
    clearTimeout(timer);
    ring.remove();
  };
  follow();
  if (isStill || !place) return;
  const from = { transform: `translate(${x - place[0]}px, ${y - place[1]}px)` };
  pointer.animate([from, { transform: 'none' }], { duration: MOVE, easing: 'ease-in-out' });
}
