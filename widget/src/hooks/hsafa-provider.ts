import { createContext, createElement, type ReactNode, useCallback, useContext, useEffect, useId, useMemo, useState } from 'react';

export interface HsafaSettings {
  /** The URL of the assistant. Default: that of the module. */
  baseUrl?: string;
  dir?: 'ltr' | 'rtl';
  theme?: 'light' | 'dark';
}

interface ChatState {
  streaming: boolean;
  open: boolean;
}

/** The settings, and the state of each chat in the provider. */
export interface Hsafa extends HsafaSettings {
  readonly chats: Readonly<Record<string, ChatState>>;
  isStreaming(key: string): boolean;
  isOpen(key: string): boolean;
  /** Changes the state of a chat. `undefined` forgets it. `user` is the component that reports, if a chat has several. */
  setChatState(key: string, change: Partial<ChatState> | undefined, user?: string): void;
}

/** What one component reports about a chat. */
interface Report extends ChatState {
  key: string;
  user: string;
}

export interface HsafaProviderProps extends HsafaSettings {
  children?: ReactNode;
}

const NONE: Hsafa = { chats: {}, isStreaming: () => false, isOpen: () => false, setChatState: () => {} };
const Context = createContext<Hsafa>(NONE);

/** Gives its settings to all chats in it, and knows which of them are open and which receive an answer. */
export function HsafaProvider({ baseUrl, dir, theme, children }: HsafaProviderProps): ReactNode {
  const [reports, setReports] = useState<readonly Report[]>([]);
  const setChatState = useCallback((key: string, change: Partial<ChatState> | undefined, user = '') => {
    setReports((all) => {
      const known = all.find((one) => one.key === key && one.user === user);
      const others = all.filter((one) => one !== known);
      return change ? [...others, { key, user, streaming: false, open: false, ...known, ...change }] : others;
    });
  }, []);
  const chats = useMemo(() => chatsOf(reports), [reports]);
  const value = useMemo<Hsafa>(
    () => ({
      baseUrl,
      dir,
      theme,
      chats,
      isStreaming: (key) => chats[key]?.streaming ?? false,
      isOpen: (key) => chats[key]?.open ?? false,
      setChatState,
    }),
    [baseUrl, dir, theme, chats, setChatState],
  );
  return createElement(Context.Provider, { value }, children);
}

/** A chat receives an answer, or is open, if one of its components says so. */
function chatsOf(reports: readonly Report[]): Record<string, ChatState> {
  const chats: Record<string, ChatState> = {};
  for (const { key, streaming, open } of reports) {
    const known = chats[key];
    chats[key] = { streaming: streaming || !!known?.streaming, open: open || !!known?.open };
  }
  return chats;
}

/** Returns the settings and the chats of the provider. */
export const useHsafa = (): Hsafa => useContext(Context);

/** Reports the state of a chat to the provider, as long as the component is there. */
export function useHsafaChatState(key: string, state: Partial<ChatState>): void {
  const { setChatState } = useHsafa();
  const user = useId();
  const { streaming, open } = state;
  useEffect(() => {
    setChatState(key, { ...(streaming !== undefined && { streaming }), ...(open !== undefined && { open }) }, user);
  }, [key, user, setChatState, streaming, open]);
  useEffect(() => () => setChatState(key, undefined, user), [key, user, setChatState]);
}
