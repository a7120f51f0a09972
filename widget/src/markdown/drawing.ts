// Makes the children of an element equal to spans. Nodes that are right stay, and text grows in place, so that a
// selection in it survives.

import { isAllowed, isForeign, isPicture } from './addresses.js';
import type { Span } from './spans.js';

export interface Linking {
  readonly imageOrigins: readonly string[];
}

/** Makes an element with a class and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = '',
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (children.length) node.append(...children);
  return node;
}

/** Changes the text of a node from the first character that differs. */
function setData(node: CharacterData, text: string): void {
  const { data } = node;
  if (data === text) return;
  if (text.startsWith(data)) return node.appendData(text.slice(data.length));
  let same = 0;
  while (same < data.length && data[same] === text[same]) same++;
  node.replaceData(same, data.length - same, text.slice(same));
}

export function drawSpans(parent: Node, spans: Span, linking: Linking, isInLink = false): void {
  let node = parent.firstChild;
  const place = <T extends ChildNode>(made: T): T => {
    if (node) node.replaceWith(made);
    else parent.appendChild(made);
    return made;
  };
  for (let span = spans.first; span; span = span.next) {
    if (span.tag === '') {
      let text = span.text;
      while (span.next?.tag === '') text += (span = span.next).text;
      if (text === '') continue;
      if (node instanceof Text) setData(node, text);
      else node = place(document.createTextNode(text));
    } else {
      const isText = /^(?:code|math|display|html)$/.test(span.tag);
      const [tag, className] = look(span, linking, isInLink);
      let element = node as HTMLElement | null;
      if (element?.localName !== tag || element.className !== className || !hasTarget(element, span)) {
        element = place(make(tag, className));
        setTarget(element, span);
      }
      node = element;
      if (isText) drawText(element, span.text);
      else if (span.tag === 'img') tag === 'img' ? element.setAttribute('alt', plain(span)) : drawText(element, linkText(span));
      else if (span.tag !== 'br') drawSpans(element, span, linking, isInLink || span.tag === 'a');
    }
    node = node.nextSibling;
  }
  while (node) {
    const { nextSibling } = node as ChildNode;
    node.remove();
    node = nextSibling;
  }
}

export function drawText(parent: Node, text: string): void {
  if (parent.firstChild) setData(parent.firstChild as Text, text);
  else if (text) parent.appendChild(document.createTextNode(text));
}

function look({ tag, target }: Span, linking: Linking, isInLink: boolean): [keyof HTMLElementTagNameMap, string] {
  if (tag === 'math' || tag === 'display') return ['code', tag === 'math' ? tag : 'math display'];
  if (tag === 'html') return ['span', tag];
  if (tag === 'img' && !isPicture(target!.address, linking.imageOrigins))
    return [isInLink || !isAllowed(target!.address) ? 'span' : 'a', 'image'];
  if (tag === 'a' && isInLink) return ['span', ''];
  return [tag as keyof HTMLElementTagNameMap, ''];
}

function hasTarget(element: HTMLElement, { target }: Span): boolean {
  const address = element.getAttribute('href') ?? element.getAttribute('src');
  return address === (target && element.localName !== 'span' ? target.address : null) && element.title === (target?.title ?? '');
}

function setTarget(element: HTMLElement, { target }: Span): void {
  if (!target) return;
  if (target.title) element.title = target.title;
  if (element instanceof HTMLAnchorElement) {
    element.setAttribute('href', target.address);
    element.rel = 'noopener noreferrer';
    if (isForeign(target.address)) element.target = '_blank';
  } else if (element instanceof HTMLImageElement) {
    element.loading = 'lazy';
    element.decoding = 'async';
    element.referrerPolicy = 'no-referrer';
    element.setAttribute('src', target.address);
  }
}

/** Returns the text of an image that is not loaded: its own, and the host that would have been asked. */
function linkText(span: Span): string {
  const { address } = span.target!;
  const text = plain(span);
  const host = URL.canParse(address, document.baseURI) ? new URL(address, document.baseURI).host : '';
  return text && host ? `${text} (${host})` : text || address;
}

/** Returns the text of the spans in an image. */
function plain(spans: Span): string {
  let text = spans.text;
  for (let span = spans.first; span; span = span.next) text += span.tag === 'br' ? '' : plain(span);
  return text;
}
