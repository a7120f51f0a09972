import { adopt } from '../ui/adopt.js';
import css from './style.css';

/** Adds the style of what the assistant filled and points at. A sheet of the document needs no `style-src`. */
export const addStyle = (): void => adopt(document, css);
