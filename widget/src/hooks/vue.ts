// The hook for Vue. Vue is the host's own.

import { type ComputedRef, computed, getCurrentScope, onScopeDispose, shallowRef } from 'vue';

import type { ChatOptions } from '../chat/types.js';
import { type ChatSnapshot, ChatStore, functionsOf } from './store.js';

/** A chat for a component: what it shows as refs, and the functions of the chat. */
export type UseOmniAssist = { readonly [K in keyof ChatSnapshot]: ComputedRef<ChatSnapshot[K]> } & ReturnType<
  typeof functionsOf
>;

/** Returns a chat with the assistant. It is closed with the scope of the component. Use it in the browser only. */
export function useOmniAssist(options: ChatOptions = {}): UseOmniAssist {
  const store = new ChatStore(options);
  const shown = shallowRef(store.snapshot());
  const end = store.subscribe(() => (shown.value = store.snapshot()));
  shown.value = store.snapshot();
  if (getCurrentScope()) onScopeDispose(end);
  return {
    messages: computed(() => shown.value.messages),
    status: computed(() => shown.value.status),
    error: computed(() => shown.value.error),
    chatId: computed(() => shown.value.chatId),
    isStored: computed(() => shown.value.isStored),
    ...functionsOf(store),
  };
}
