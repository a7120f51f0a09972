import base from './base.css';
import composer from './composer.css';
import log from './log.css';
import shell from './window.css';
import parts from '../../parts/style.css';

let made: CSSStyleSheet | undefined;

/** Returns the style sheet that all elements share. */
export function sheet(): CSSStyleSheet {
  if (!made) {
    made = new CSSStyleSheet();
    made.replaceSync([base, shell, log, composer, parts].join('\n'));
  }
  return made;
}
