import { createContext, createElement, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';

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
  /** Changes the state of a chat. `undefined` forgets it. */
  setChatState(key: string, change: Partial<ChatState> | undefined): void;
}

export interface HsafaProviderProps extends HsafaSettings {
  children?: ReactNode;
}

const NONE: Hsafa = { chats: {}, isStreaming: () => false, isOpen: () => false, setChatState: () => {} };
const Context = createContext<Hsafa>(NONE);

/** Gives its settings to all chats in it, and knows which of them are open and which receive an answer. */
export function HsafaProvider({ baseUrl, dir, theme, children }: HsafaProviderProps): ReactNode {
  const [chats, setChats] = useState<Record<string, ChatState>>({});
  const setChatState = useCallback((key: string, change: Partial<ChatState> | undefined) => {
    setChats(({ [key]: known = { streaming: false, open: false }, ...others }) =>
      change ? { ...others, [key]: { ...known, ...change } } : others,
    );
  }, []);
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

/** Returns the settings and the chats of the provider. */
export const useHsafa = (): Hsafa => useContext(Context);

/** Reports the state of a chat to the provider, as long as the component is there. */
export function useHsafaChatState(key: string, state: Partial<ChatState>): void {
  const { setChatState } = useHsafa();
  const { streaming, open } = state;
  useEffect(() => {
    setChatState(key, { ...(streaming !== undefined && { streaming }), ...(open !== undefined && { open }) });
  }, [key, setChatState, streaming, open]);
  useEffect(() => () => setChatState(key, undefined), [key, setChatState]);
}
