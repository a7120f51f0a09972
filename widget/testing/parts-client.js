// The script of the page for the views of messages: a chat that the tests drive, and a log of what it was asked.

import { registerComponent } from '../src/components/registry.ts';
import { ENGLISH as COMPONENTS } from '../src/components/texts.ts';
import { directionOf, textsFor, translationFor } from '../src/i18n/index.ts';
import { named } from '../src/i18n/named.ts';
import { messageView, threadList } from '../src/parts/index.ts';
import { ENGLISH as AGENTS } from '../src/tree/texts.ts';
import { Drafts } from '../src/ui/drafts.ts';
import { sheet } from '../src/ui/style/index.ts';

const host = document.querySelector('#root');
const root = host.attachShadow({ mode: 'open' });
root.adoptedStyleSheets = [sheet()];
/** The node with the messages. The shell has such nodes around them. */
const place = document.createElement('div');
place.setAttribute('part', 'window');
root.append(place);

function fakeChat({ messages = [], status = 'ready', threads = [], branches = {}, incomplete = [], states = {} }) {
  const record =
    (name, effect = () => {}) =>
    (...args) => {
      // Parts are named by their calls, so that the log can leave the page.
      window.calls.push([name, ...args.map((one) => one?.toolCallId && one.type ? one.toolCallId : one)]);
      return window.answers[name]?.(...args) ?? Promise.resolve(effect(...args));
    };
  const settled = (part) =>
    ['output-error', 'output-denied', 'approval-responded'].includes(part.state) ||
    (part.state === 'output-available' && !part.preliminary);
  return {
    api: '/assistant',
    chatId: 'c1',
    messages,
    status,
    isOpen: (part) => messages.at(-1)?.parts.includes(part) && !settled(part),
    isIncomplete: (id) => incomplete.includes(id),
    branches: (id) => branches[id] ?? { count: 1, current: 0 },
    selectBranch: record('selectBranch'),
    sendMessage: record('sendMessage'),
    regenerate: record('regenerate'),
    edit: record('edit'),
    approve: record('approve', (part, approved, { reason } = {}) => {
      Object.assign(part, { state: 'approval-responded', approval: { ...part.approval, approved, reason } });
      window.refresh();
    }),
    addToolResult: record('addToolResult', ({ toolCallId, output, errorText }) => {
      const part = messages.flatMap(({ parts }) => parts).find((one) => one.toolCallId === toolCallId);
      Object.assign(part, errorText ? { state: 'output-error', errorText } : { state: 'output-available', output });
      window.refresh();
    }),
    state: (id) => states[id],
    setState: record('setState'),
    dispatch: record('dispatch'),
    fetch: record('fetch', (url, init) => fetch(url, init)),
    registerContext: () => () => {},
    setChatId: record('setChatId', (id) => {
      window.chat.chatId = id;
      window.list?.update();
    }),
    renameThread: record('renameThread'),
    deleteThread: record('deleteThread', (id) => {
      const at = threads.findIndex((one) => one.id === id);
      threads.splice(at, 1);
    }),
    threads: record('threads', ({ cursor, query = '' }) => {
      const found = threads.filter(({ title }) => (title ?? '').toLowerCase().includes(query.toLowerCase()));
      const from = Number(cursor ?? 0);
      return { threads: found.slice(from, from + 3), nextCursor: found.length > from + 3 ? String(from + 3) : null };
    }),
  };
}

/** Shows the messages of a chat, in the place of what is there. */
window.open = async (options = {}) => {
  for (const view of window.views ?? []) view.remove?.();
  window.list?.remove();
  Object.assign(window, { calls: [], answers: {}, announced: [], fired: [], list: undefined });
  const { locale = 'en', slots = [], imageOrigins = [], prevented = false } = options;
  document.documentElement.lang = locale;
  document.documentElement.dir = directionOf(locale);
  window.chat = fakeChat(options);
  window.context = {
    chat: window.chat,
    drafts: new Drafts(false),
    texts: await textsFor(locale),
    locale,
    imageOrigins,
    announce: (sentence) => window.announced.push(sentence),
    fire: (type, detail) => (window.fired.push([type, detail]), !prevented),
    slotted: (name) => slots.includes(name),
  };
  window.views = window.chat.messages.map((message) => messageView(message, window.context));
  const composer = document.createElement('div');
  composer.setAttribute('part', 'composer');
  const field = document.createElement('textarea');
  field.setAttribute('aria-label', 'Message');
  composer.append(field);
  place.replaceChildren(...window.views.map(({ node }) => node), ...(options.composer ? [composer] : []));
  window.refresh();
};
window.refresh = () => {
  for (const view of window.views) view.update();
};
/** Makes the view of the message with a call again. */
window.again = (call) => {
  const at = window.chat.messages.findIndex(({ parts }) => parts.some(({ toolCallId }) => toolCallId === call));
  const before = window.views[at];
  window.views[at] = messageView(window.chat.messages[at], window.context);
  before.node.replaceWith(window.views[at].node);
  before.remove?.();
  window.refresh();
};
/** Changes a part and shows it. */
window.change = (change, part = window.chat.messages.at(-1).parts.at(-1)) => {
  Object.assign(part, change);
  window.refresh();
};
/** Shows the list of chats. */
window.openThreads = async (threads, options = {}) => {
  await window.open({ ...options, threads });
  window.list = threadList(window.context);
  place.replaceChildren(window.list.node);
  await window.list.load();
};
window.focused = () => {
  const node = root.activeElement;
  return node && (node.getAttribute('aria-label') || node.name || node.textContent || node.localName);
};
window.frame = () => new Promise((next) => requestAnimationFrame(() => next()));
/** Returns the texts of a language, with those of components and agents. */
window.textsFor = async (locale) => {
  const texts = await textsFor(locale);
  const { agents } = await translationFor(locale);
  return { ...texts, components: named(COMPONENTS, texts.components), agents: named(AGENTS, agents) };
};
Object.assign(window, { root, directionOf, registerComponent });
window.ready = true;
