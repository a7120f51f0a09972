'use client';
// The hooks for React, with the names of Hsafa. React is the host's own.

export { type UseOmniAssist, useOmniAssist } from './react-chat.js';
export { type HsafaAgent, type HsafaAgentOptions, useHsafaAgent } from './hsafa-agent.js';
export { HsafaChat, type HsafaChatProps } from './hsafa-chat.js';
export { HsafaProvider, type HsafaProviderProps, type HsafaSettings, useHsafa, useHsafaChatState } from './hsafa-provider.js';
export { useChatStorage } from './hsafa-storage.js';
export * from './hsafa.js';
