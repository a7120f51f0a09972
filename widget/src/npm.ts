// The entry of the npm package: the chat without a user interface. It needs no DOM.

export { addContext, createChat, isTool, registerContext, registerTool, textOf, toolName } from './chat/index.js';
export type * from './chat/types.js';
export { compress, type Compressed, type CompressOptions, type ContextReceipt, type ContextTemplate } from './context/index.js';
export { validateMessages, type ValidationError } from './validate/index.js';
