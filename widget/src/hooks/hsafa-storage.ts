import { useMemo } from 'react';

import { createChatStorage } from './hsafa.js';

/** Returns the chats of an agent in the browser. */
export const useChatStorage = (
  agentId: string,
  { prefix }: { prefix?: string } = {},
): ReturnType<typeof createChatStorage> => useMemo(() => createChatStorage(agentId, { prefix }), [agentId, prefix]);
