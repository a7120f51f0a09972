import type { DataPart, ToolPart } from '../chat/types.js';
import { McpApp, type Question } from '../mcp-app/index.js';
import { button } from '../ui/button.js';
import { element, filled } from '../ui/dom.js';
import type { ViewContext } from '../ui/view.js';
import { focusNext, hasFocus } from './focus.js';
import { isAnswering, isTool, labelOf, type PartView, toolName } from './kinds.js';
import { watchTheme } from './theme.js';
import { shownState } from './tool.js';
import { seen, valueList } from './values.js';

interface Shown {
  server: string;
  resourceUri: string;
  result?: unknown;
}

/** An app of a server of tools, in a frame. What it asks of the user is asked below the frame. */
export function appView(first: DataPart, context: ViewContext): PartView<DataPart> {
  const { chat, texts, locale } = context;
  const frame = element('div', { part: 'app' });
  const questions = element('div');
  const node = element('div', { 'data-part': 'app' }, frame, questions);
  const { server, resourceUri } = Object(first.data) as Shown;
  const end = new AbortController();
  let app: McpApp | undefined;
  /** The state of the call that was sent to the app last. */
  let sent: string | undefined;
  let forget = () => {};

  function textOf(question: Question): string {
    if (question.kind === 'open-link') return filled(texts.appLink, { server, url: question.url });
    if (question.kind === 'message') return filled(texts.appMessage, { server, text: question.text });
    const { message, toolName: title } = question.approval;
    return message ?? filled(texts.appTool, { server, title });
  }

  function ask(question: Question): Promise<boolean> {
    const text = textOf(question);
    return new Promise((answer) => {
      const close = (agrees: boolean) => {
        if (hasFocus(card)) focusNext(card);
        card.remove();
        answer(agrees);
      };
      const buttons = [button(texts.no, '', () => close(false)), button(texts.yes, 'primary', () => close(true))];
      const said = element('p', { part: 'ask' }, seen(text));
      const values = question.kind === 'tool-call' && valueList(question.approval.input, texts);
      const card = element('div', { part: 'approval', role: 'group', 'aria-label': text }, said, values, element('div', { part: 'buttons' }, ...buttons));
      questions.append(card);
      context.announce(text);
      end.signal.addEventListener('abort', () => close(false));
    });
  }

  const updateContext = (data: unknown) => {
    forget();
    forget = chat.registerContext(`app:${server}`, () => data);
  };
  const sendMessage = (text: string): Promise<void> => {
    if (isAnswering(chat)) throw new Error('The chat is busy.');
    return chat.sendMessage({ text });
  };
  const hooks = { ask, updateContext, sendMessage, fetch: chat.fetch };

  function open(call: ToolPart, title: string): void {
    const tool = { name: toolName(call), callId: call.toolCallId };
    const shown = watchTheme(frame, ({ theme, styles }) => app?.setTheme(theme, styles), end.signal);
    const from = { base: chat.api, server, resourceUri, chatId: chat.chatId };
    app = new McpApp(frame, { ...from, ...shown, title, locale, tool, hooks });
    app.toolInput(call.input);
  }

  /** Sends the end of the call to the app. After a lost connection, a result may follow. */
  function sendEnd(call: ToolPart, { result }: Shown, busy: boolean): void {
    const state = result === undefined ? shownState(call, busy, chat.isOpen(call)) : 'output-available';
    if (state === sent) return;
    sent = state;
    if (state === 'output-available') app?.toolResult(result ?? call.output);
    if (state === 'output-error') app?.toolError(call.errorText ?? '');
    if (state === 'stopped' || state === 'output-denied') app?.toolCancelled(texts.answerStopped);
  }

  return {
    node,
    update(part, { message, busy }) {
      const call = message.parts.find((one): one is ToolPart => isTool(one) && one.toolCallId === part.id);
      if (!call) return;
      if (sent === undefined) {
        sent = '';
        try {
          open(call, labelOf(call, message).title);
        } catch {
          // The address is none of an app.
          frame.append(element('p', { part: 'error' }, texts.loadFailed));
        }
      }
      sendEnd(call, Object(part.data) as Shown, busy);
    },
    remove() {
      end.abort();
      forget();
      void app?.close();
    },
  };
}
