// The plain page with the real chat.

import { createChat } from '../../src/chat/index.js';
import './plain.js';

Object.assign(window, { createChat });
