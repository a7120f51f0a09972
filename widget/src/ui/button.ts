import { element } from './dom.js';
import { icon, type IconName } from './icon.js';

type Press = (event: MouseEvent) => void;

/** Makes a button. `part` names it for style sheets, besides `button`. */
export function button(label: string, part: string, press: Press): HTMLButtonElement {
  const node = element('button', { type: 'button', part: `button ${part}` }, label);
  node.addEventListener('click', press);
  return node;
}

/** Makes a button that shows an icon. Its name is `label`. */
export function iconButton(name: IconName, label: string, part: string, press: Press): HTMLButtonElement {
  const node = element('button', { type: 'button', part, 'aria-label': label, title: label }, icon(name));
  node.addEventListener('click', press);
  return node;
}
