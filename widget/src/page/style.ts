// The style of what the assistant filled and points at. One sheet of the document, which needs no `style-src`.

import { adopt } from '../ui/adopt.js';

const COLOUR = 'light-dark(#7a4bd0, #b79bff)';
const CSS = `
:where([data-assistant-filled]) { outline: 2px dashed ${COLOUR}; outline-offset: 2px }
[data-assistant-pointer] {
position: fixed; inset: auto; box-sizing: border-box; margin: 0; padding: 0; overflow: visible; pointer-events: none;
border: 3px solid ${COLOUR}; border-radius: 8px; background: none;
svg { position: absolute; inset: 50% auto auto 50%; width: 28px; fill: ${COLOUR}; stroke: #fff; forced-color-adjust: none }
}`;

/** Adds the sheet to the document. Rules of the page have precedence. */
export const addStyle = (): void => adopt(document, CSS);
