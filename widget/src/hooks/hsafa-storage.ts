import { useMemo } from 'react';

import type { ChatStorage } from '../chat/storage.js';
import { createChatStorage } from './hsafa.js';

/** Returns the chats of an agent in the browser. */
export const useChatStorage = (agentId: string, { prefix }: { prefix?: string } = {}): ChatStorage =>
  useMemo(() => createChatStorage(agentId, { prefix }), [agentId, prefix]);
