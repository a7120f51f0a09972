import base from './base.css';
import composer from './composer.css';
import log from './log.css';
import shell from './window.css';
import parts from '../../parts/style.css';
import questions from '../../parts/questions.css';
import references from '../../parts/references.css';
import threads from '../../parts/threads.css';

let made: CSSStyleSheet | undefined;

/**
 * Returns the unit of the sizes of letters: the size that the user has chosen in the browser, whatever the page sets for `html`.
 * A property that is not registered is no length, and `em` would be that of each element.
 */
function unit(): string {
  if (!('registerProperty' in CSS)) return '1rem';
  try {
    CSS.registerProperty({ name: '--o-rem', syntax: '<length>', inherits: true, initialValue: '16px' });
  } catch {
    // Another version of this module has registered it.
  }
  return '1em';
}

/** Returns the style sheet that all elements share. */
export function sheet(): CSSStyleSheet {
  if (!made) {
    made = new CSSStyleSheet();
    const size = `:host{font-size:medium;--o-rem:${unit()}}`;
    made.replaceSync([base, shell, log, composer, parts, questions, references, threads, size].join('\n'));
  }
  return made;
}
