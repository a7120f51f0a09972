import { useMemo, useSyncExternalStore } from 'react';

import type { Chat, ChatOptions } from '../chat/types.js';
import { type ChatSnapshot, ChatStore, emptySnapshot, functionsOf, identityOf } from './store.js';

/** A chat for a component: what it shows, and the functions of {@link Chat}. */
export interface UseOmniAssist
  extends ChatSnapshot,
    Pick<Chat, 'sendMessage' | 'stop' | 'regenerate' | 'edit' | 'approve' | 'addToolResult' | 'setChatId' | 'newChat'> {
  /** Returns the whole chat. It is made at the first use, so a server that renders the page must not call this. */
  getChat(): Chat;
}

/**
 * Returns a chat with the assistant. The component is drawn again after each change. Another `api`, `agent` or `persist` is
 * another chat; later changes of the other options have no effect.
 */
export function useOmniAssist(options: ChatOptions = {}): UseOmniAssist {
  const identity = identityOf(options);
  const store = useMemo(() => new ChatStore(options), [identity]);
  const snapshot = useSyncExternalStore(store.subscribe, store.snapshot, emptySnapshot);
  const functions = useMemo(() => functionsOf(store), [store]);
  return useMemo(() => ({ ...snapshot, ...functions }), [snapshot, functions]);
}
