const SVG = 'http://www.w3.org/2000/svg';

/** The icons of the shell: paths in a square of 24. */
const PATHS = {
  attach: 'M20 11.5 12.3 19a4.8 4.8 0 0 1-6.8-6.8l7.8-7.7a3.2 3.2 0 0 1 4.5 4.5l-7.7 7.7a1.6 1.6 0 0 1-2.3-2.3l7-7',
  chats: 'M4 6h16M4 12h16M4 18h10',
  chevron: 'm6 9.5 6 6 6-6',
  close: 'm6 6 12 12M18 6 6 18',
  down: 'M12 5v14m-6-6 6 6 6-6',
  file: 'M13.5 3.5H7A1.5 1.5 0 0 0 5.5 5v14A1.5 1.5 0 0 0 7 20.5h10a1.5 1.5 0 0 0 1.5-1.5V8.5zM13.5 3.5v5h5',
  launcher:
    'M12 3.5c-5 0-9 3.5-9 8 0 2.300 1 4.300 2.700 5.800L5 20.800l4-1.700c1 .3 2 .4 3 .4 5 0 9-3.5 9-8s-4-8-9-8z',
  new: 'M12 5v14M5 12h14',
  send: 'M12 19V5m-6 6 6-6 6 6',
  stop: 'M8 8h8v8H8z',
  warning: 'M12 8.5v4.5m0 3h.01M12 3.5 2.800 19.5h18.400z',
};

export type IconName = keyof typeof PATHS;

/** Makes an icon. It has no name for screen readers. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.classList.add('icon', `icon-${name}`);
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}
