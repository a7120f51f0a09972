// The entry of the browser code: the element, and what a page registers. Its address is that of the script tag.

// Here, so that no lazy module loads another one for it.
import './ui/adopt.js';
import type { Message } from './chat/types.js';
import { define } from './ui/element.js';
import type { page as loadedPage } from './page/index.js';

export { addContext, registerContext, registerTool } from './chat/registry.js';
export { createChat } from './chat/deferred.js';
export { registerComponent } from './components/registry.js';
export { OmniAssistChat } from './ui/element.js';
export type * from './chat/types.js';
export type { Component, ComponentContext } from './components/component.js';
export type * from './elements.js';
export type { CaptureOptions, PageToolsOptions, Route } from './page/index.js';

type Page = typeof loadedPage;

const later =
  <K extends keyof Page>(name: K) =>
  async (...words: Parameters<Page[K]>): Promise<Awaited<ReturnType<Page[K]>>> => {
    const { page } = await import('./page/index.js');
    return (page[name] as (...words: Parameters<Page[K]>) => Awaited<ReturnType<Page[K]>>)(...words);
  };

/** The tools and the context of the page. The code is loaded at the first call. */
export const page = {
  capture: later('capture'),
  tools: later('tools'),
  undo: later('undo'),
  webmcp: later('webmcp'),
};

/** Checks messages as `validateMessages` of the npm package does. The code is loaded at the first call. */
export const validateMessages = async (messages: unknown): Promise<{ messages: Message[] }> =>
  (await import('./chat/client.js')).validateMessages(messages);

/** Defines `<omniassist-agents>`, the tree of agents. The code is loaded at the first call. */
export const defineAgents = async (): Promise<void> => (await import('./tree/index.js')).defineAgents();

define();
// Such an element that is added later is defined by a call of the page.
if (document.querySelector('omniassist-agents')) void defineAgents();
