import type { ToolPart } from '../chat/types.js';
import type { Hooks, Part as ComponentPart } from '../components/component.js';
import { mount } from '../components/index.js';
import { ENGLISH } from '../components/texts.js';
import { named } from '../i18n/named.js';
import { element, setAttribute } from '../ui/dom.js';
import type { ViewContext } from '../ui/view.js';
import { instanceOf, newestOf } from './instances.js';
import { COMPONENT, type PartView, toolName } from './kinds.js';

const STATUS: Partial<Record<ToolPart['state'], ComponentPart['status']>> = {
  'input-streaming': 'streaming',
  'input-available': 'complete',
  'output-available': 'complete',
};

/** A component. */
export function componentView(first: ToolPart, { chat, texts, locale, imageOrigins, fire }: ViewContext): PartView<ToolPart> {
  const component = toolName(first).slice(COMPONENT.length);
  const node = element('div', { part: 'component', 'data-tool-name': toolName(first) });
  let part = first;
  const hooks: Hooks = {
    // A part that shows an instance again takes its place.
    thread: chat,
    locale,
    imageOrigins,
    texts: named(ENGLISH, texts.components),
    setState: (change) => chat.setState(instanceOf(part), change),
    // A page that prevents the default of the event runs the action itself.
    dispatch: async (action, payload) => {
      const instanceId = instanceOf(part);
      if (fire('omni-component', { component, instanceId, action, payload })) await chat.dispatch(instanceId, action, payload);
    },
    respond: async (output) => {
      await chat.addToolResult({ toolCallId: part.toolCallId, output });
      if (part.state === 'input-available') throw new Error(texts.answerFailed);
    },
    componentError: (event) => void fire('omni-error', event),
  };
  let view: ReturnType<typeof mount> | undefined;
  return {
    node,
    update(next, { busy }) {
      part = newestOf(chat, next);
      const { state, errorText, output, input, rawInput } = part;
      setAttribute(node, 'data-tool-state', state);
      const isCut = !busy && state === 'input-streaming';
      const error = isCut ? texts.answerStopped : errorText;
      const id = instanceOf(part);
      const { instanceId } = Object(output) as { instanceId?: unknown };
      const drawn: ComponentPart = {
        component,
        instanceId: id,
        props: input ?? rawInput ?? '',
        state: chat.state(id),
        status: isCut ? 'error' : (STATUS[state] ?? 'error'),
        ...(error !== undefined && { error }),
        output: instanceId === undefined ? output : undefined,
        ...(state === 'input-available' && !chat.isOpen(part) && { closed: texts.toolUnanswered }),
      };
      if (view) view.update(drawn);
      else view = mount(node, drawn, hooks);
    },
    remove: () => view?.unmount(),
  };
}
