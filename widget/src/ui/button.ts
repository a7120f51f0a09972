import { element } from './dom.js';
import { icon, type IconName } from './icon.js';

/** Makes a button that shows an icon. Its name is `label`. */
export function iconButton(part: string, name: IconName, label: string, press: (event: MouseEvent) => void): HTMLButtonElement {
  const node = element(
    'button',
    { type: 'button', part: `icon-button ${part}`, 'aria-label': label, title: label },
    icon(name),
  );
  node.addEventListener('click', press);
  return node;
}

/** Makes a button that shows a text. */
export function textButton(part: string, text: string, press: () => void): HTMLButtonElement {
  const node = element('button', { type: 'button', part: `button ${part}` }, text);
  node.addEventListener('click', press);
  return node;
}
