export { createChat } from './deferred.js';
export { isTool, textOf, toolName } from './part.js';
export { addContext, page, Registry, registerContext, registerTool } from './registry.js';
export { ChatStorage, type StoredChat, type StoredThread } from './storage.js';
export type * from './types.js';
