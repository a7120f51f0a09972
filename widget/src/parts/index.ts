export { messageView } from './message.js';
export { threadList } from './threads.js';
