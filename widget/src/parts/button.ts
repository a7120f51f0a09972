import { element } from '../ui/dom.js';

const PATHS = {
  check: 'm3 8.5 3.2 3.2L13 5',
  copy: 'M6 5.5h7v8H6zM10 5.5v-3H3v8h3',
  cross: 'm4 4 8 8M12 4l-8 8',
  delete: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9',
  down: 'M5 2.5v7m0-7h6.2l1.8 7H9.2l.6 3.5-1.3.5L5 9.5H2.5v-7H5',
  edit: 'm3 13 .7-3L11 2.7l2.3 2.3L6 12.3z',
  file: 'M4 1.5h5.5L12.5 5v9.5H4zM9 2v3.5h3.5',
  next: 'm6 3.5 4.5 4.5L6 12.5',
  pause: 'M6 4v8M10 4v8',
  previous: 'M10 3.5 5.5 8l4.5 4.5',
  retry: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  up: 'M5 13.5v-7m0 7h6.2l1.8-7H9.2l.6-3.5L8.5 2.5 5 6.5H2.5v7H5',
} as const;

export type IconName = keyof typeof PATHS;

/** Makes an icon. It says nothing: the text beside it, or the label of its button, does. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(path);
  setIcon(svg, name);
  return svg;
}

export const setIcon = (svg: SVGSVGElement, name: IconName): void => {
  if (svg.dataset['icon'] === name) return;
  svg.dataset['icon'] = name;
  svg.firstElementChild?.setAttribute('d', PATHS[name]);
};

/** Makes a button. `part` names it for style sheets, besides `button`. */
export function button(label: string, part: string, run: (event: MouseEvent) => void): HTMLButtonElement {
  const node = element('button', { type: 'button', part: `button ${part}` }, label);
  node.addEventListener('click', run);
  return node;
}

/** Makes a button that shows an icon. */
export function iconButton(name: IconName, label: string, part: string, run: () => void): HTMLButtonElement {
  const node = element('button', { type: 'button', part: `action ${part}`, 'aria-label': label, title: label });
  node.append(icon(name));
  node.addEventListener('click', run);
  return node;
}
