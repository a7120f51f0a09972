// A chat that a test drives: `window.chat` is the last one that was made.

export function createChat(options, registry) {
  const listeners = new Set();
  const chat = {
    api: options.api ?? '/assistant',
    agent: options.agent,
    options,
    chatId: options.chatId ?? 'chat-1',
    messages: [],
    status: 'ready',
    error: undefined,
    isStored: false,
    ready: Promise.resolve(),
    onConfirm: undefined,
    calls: [],
    /** Changes the chat as an answer does. */
    change(change) {
      Object.assign(chat, change);
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async sendMessage(message) {
      chat.calls.push(['sendMessage', message]);
      const files = (message.files ?? []).map((file) => ({
        type: 'file',
        mediaType: file.type,
        filename: file.name,
        url: '',
      }));
      chat.messages.push({
        id: `u${chat.messages.length}`,
        role: 'user',
        parts: [{ type: 'text', text: message.text }, ...files],
      });
      chat.change({ status: 'submitted', error: undefined });
    },
    stop() {
      chat.calls.push(['stop']);
      chat.change({ status: 'ready' });
    },
    async loadOlder() {},
    async setChatId(chatId) {
      chat.calls.push(['setChatId', chatId]);
      chat.change({ chatId, messages: [], status: 'ready' });
    },
    newChat() {
      chat.calls.push(['newChat']);
      chat.change({ chatId: `chat-${chat.calls.length}`, messages: [], status: 'ready' });
    },
    /** What the server would know: the chats, and the branches of messages by id. */
    list: [{ id: 'chat-1', title: 'The first chat' }],
    branchesOf: {},
    incomplete: [],
    async threads({ query = '' } = {}) {
      const threads = chat.list.filter(({ title }) => title.toLowerCase().includes(query.toLowerCase()));
      return { threads, nextCursor: null };
    },
    async renameThread(id, title) {
      chat.calls.push(['renameThread', id, title]);
      chat.list = chat.list.map((one) => (one.id === id ? { ...one, title } : one));
    },
    async deleteThread(id) {
      chat.calls.push(['deleteThread', id]);
      chat.list = chat.list.filter((one) => one.id !== id);
    },
    branches: (id) => chat.branchesOf[id] ?? { count: 1, current: 0 },
    isIncomplete: (id) => chat.incomplete.includes(id),
    isOpen: (part) => ['approval-requested', 'input-available'].includes(part.state),
    state: () => undefined,
    registry,
    registerTool: (tool, handler) => registry.registerTool(tool, handler),
    close: () => chat.calls.push(['close']),
  };
  for (const name of [
    'regenerate',
    'edit',
    'approve',
    'addToolResult',
    'selectBranch',
    'setState',
    'dispatch',
    'registerContext',
    'addContext',
  ]) {
    chat[name] ??= async (...words) => void chat.calls.push([name, ...words]);
  }
  window.chat = chat;
  return chat;
}
