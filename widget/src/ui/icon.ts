const SVG = 'http://www.w3.org/2000/svg';

/** The icons of the shell: paths in a square of 24. */
const LARGE = {
  attach: 'M20 11.5 12.3 19a4.8 4.8 0 0 1-6.8-6.8l7.8-7.7a3.2 3.2 0 0 1 4.5 4.5l-7.7 7.7a1.6 1.6 0 0 1-2.3-2.3l7-7',
  chats: 'M4 6h16M4 12h16M4 18h10',
  chevron: 'm6 9.5 6 6 6-6',
  close: 'm6 6 12 12M18 6 6 18',
  document: 'M13.5 3.5H7A1.5 1.5 0 0 0 5.5 5v14A1.5 1.5 0 0 0 7 20.5h10a1.5 1.5 0 0 0 1.5-1.5V8.5zM13.5 3.5v5h5',
  end: 'M12 5v14m-6-6 6 6 6-6',
  launcher:
    'M12 3.5c-5 0-9 3.5-9 8 0 2.300 1 4.300 2.700 5.800L5 20.800l4-1.700c1 .3 2 .4 3 .4 5 0 9-3.5 9-8s-4-8-9-8z',
  new: 'M12 5v14M5 12h14',
  send: 'M12 19V5m-6 6 6-6 6 6',
  stop: 'M8 8h8v8H8z',
  warning: 'M12 8.5v4.5m0 3h.01M12 3.5 2.800 19.5h18.400z',
};

/** The icons of messages and of the list of chats: paths in a square of 16. */
const SMALL = {
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
};

const PATHS = { ...LARGE, ...SMALL };

export type IconName = keyof typeof PATHS;

/** Makes an icon. It says nothing: the text beside it, or the label of its button, does. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('viewBox', name in SMALL ? '0 0 16 16' : '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(document.createElementNS(SVG, 'path'));
  setIcon(svg, name);
  return svg;
}

/** Shows another icon, of a square of the same size. */
export function setIcon(svg: SVGSVGElement, name: IconName): void {
  if (svg.dataset['icon'] === name) return;
  svg.dataset['icon'] = name;
  svg.firstElementChild?.setAttribute('d', PATHS[name]);
}
