import { createElement, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';

import type { Chat } from '../chat/types.js';
import { useHsafa, useHsafaChatState } from './hsafa-provider.js';
import { useChatStorage } from './hsafa-storage.js';
import { type HsafaTools, type HsafaUI, type RequestedUI, RequestedView, registerHsafa } from './hsafa-tools.js';

export interface HsafaChatProps {
  agentId?: string;
  /** Default: that of the provider. */
  baseUrl?: string;
  chatId?: string;
  HsafaTools?: HsafaTools;
  HsafaUI?: HsafaUI;
  mode?: 'popup' | 'panel' | 'sidebar' | 'page';
  dir?: 'ltr' | 'rtl';
  theme?: 'light' | 'dark';
  locale?: string;
  heading?: string;
}

type ChatElement = HTMLElement & { readonly chat: Chat; readonly isOpen: boolean };
const NO_TOOLS: HsafaTools = {};
const NO_UI: HsafaUI = {};

/** `<omniassist-chat>` in React. The page must load the module of the widget, which defines the element. */
export function HsafaChat(props: HsafaChatProps): ReactNode {
  const { agentId, chatId, HsafaTools: tools = NO_TOOLS, HsafaUI: ui = NO_UI, ...rest } = props;
  const provider = useHsafa();
  const host = useRef<ChatElement>(null);
  const [requested, setRequested] = useState<RequestedUI[]>([]);
  const [state, setState] = useState({ streaming: false, open: false });
  useHsafaChatState(agentId ?? 'assistant', state);
  const storage = useChatStorage(agentId ?? 'assistant');
  const api = rest.baseUrl ?? provider.baseUrl;

  // React sets the property of a custom element instead of the attribute, and the property `chat` is the conversation.
  useLayoutEffect(() => {
    if (chatId === undefined) host.current?.removeAttribute('chat');
    else host.current?.setAttribute('chat', chatId);
  }, [chatId]);

  // The window of each agent is as the user left it.
  useEffect(() => {
    host.current?.toggleAttribute('open', storage.isShown ?? false);
  }, [storage]);

  useEffect(() => {
    const node = host.current;
    let isOver = false;
    let end = () => {};
    void customElements.whenDefined('omniassist-chat').then(() => {
      if (!node || isOver) return;
      const { chat } = node;
      const remove = registerHsafa(chat, tools, ui, (one) => setRequested((all) => [...all, one]));
      const look = () => {
        const now = { streaming: chat.status === 'submitted' || chat.status === 'streaming', open: node.hasAttribute('open') };
        setState((last) => (last.streaming === now.streaming && last.open === now.open ? last : now));
      };
      const unsubscribe = chat.subscribe(look);
      const watch = new MutationObserver(() => {
        storage.isShown = node.hasAttribute('open');
        look();
      });
      watch.observe(node, { attributeFilter: ['open'] });
      look();
      end = () => (remove(), unsubscribe(), watch.disconnect());
    });
    return () => {
      isOver = true;
      end();
    };
  }, [api, storage, tools, ui]);

  // The components of the agent stand in the message, at the call that shows it.
  const shown = requested.map((one) =>
    createElement('div', { key: one.toolCallId, slot: `call-${one.toolCallId}` }, createElement(RequestedView, { requested: one, ui })),
  );
  const settings = {
    ref: host,
    api,
    agent: agentId,
    mode: rest.mode,
    locale: rest.locale,
    heading: rest.heading,
    dir: rest.dir ?? provider.dir,
    theme: rest.theme ?? provider.theme,
    persist: 'local',
  };
  const element = createElement('omniassist-chat', settings, ...shown);
  return createElement('div', { 'data-hsafa-chat': agentId ?? 'assistant' }, element);
}
