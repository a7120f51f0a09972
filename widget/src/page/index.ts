// The tools that the page itself offers to the assistant. All of them are off until the page asks for them.

import { page as registry } from '../chat/registry.js';
import type { ToolHandler } from '../chat/types.js';
import { localeOf, textsFor } from '../i18n/index.js';
import { capture } from './capture.js';
import { discover } from './discover.js';
import { fieldsOf, formName, formSelector, formsOf } from './fields.js';
import { type FillInput, fill, undo, watchCompositions, watchEdits } from './fill.js';
import { type NavigateTexts, type Route, navigate } from './navigate.js';
import { type PointInput, point, unpoint } from './point.js';
import type { Navigate, ReactRouter, Router, VueRouter } from './routers.js';
import { watchPasswords } from './secrets.js';
import { webmcp } from './webmcp.js';

export type { CaptureOptions } from './capture.js';
export type { Navigate, NavigateTexts, ReactRouter, Route, Router, VueRouter };

export interface PageToolsOptions {
  /**
   * Opens pages of this site: by the router of React Router or Vue Router, by a function, or by the History API (`true`).
   * Another site, and a page that the History API does not show, need the agreement of the user. Default: `false`.
   */
  navigate?: false | Router;
  /**
   * The pages that `navigate` knows, such as those of `routes.json`. A path may have the folder in which the router works,
   * or not. Default: any path.
   */
  routes?: readonly Route[];
  /**
   * The forms that the assistant fills. `true`: `form[data-assistant]`. Fields for passwords, cards and codes, hidden and
   * locked ones, and those with `data-assistant-ignore` are neither read nor filled. Default: none.
   */
  fill?: boolean | string;
  /** Lists what can be operated on the page. Default: `false`. */
  discover?: boolean;
  /** Points at elements, and clicks those with `data-assistant-click`. Default: `false`. */
  point?: boolean;
  /**
   * The questions for the user, in which `{url}` stands for the address, and the titles of the tools by their names. Default:
   * those of the language of the chat in the page, or of the page.
   */
  texts?: Partial<NavigateTexts & Record<ToolName, string>>;
}

/** The tools of the page. */
type ToolName = 'navigate' | 'fill_form' | 'undo_fill' | 'discover_page' | 'point_at';

const object = (properties: Record<string, object>, ...required: string[]): Record<string, unknown> => ({
  type: 'object',
  properties,
  required,
});
const text = (description: string): object => ({ type: 'string', description });
const flag = (description: string): object => ({ type: 'boolean', description });

const FILL_INPUT = object(
  {
    form: text('The name of the form, if the page has several.'),
    fields: {
      type: 'array',
      items: object(
        {
          field: text('The name, label or reference of the field.'),
          value: text('Check box: true or false. Date: 2026-01-31. Several choices: a JSON array.'),
        },
        'field',
        'value',
      ),
    },
  },
  'fields',
);

/** Registers tools for all chats. Returns a function that removes them. */
async function tools(options: PageToolsOptions): Promise<() => void> {
  const texts = { ...(await textsFor(localeOf(document.querySelector('omniassist-chat')))), ...options.texts };
  const ends = [watchPasswords()];
  const add = (
    name: ToolName,
    description: string,
    inputSchema: Record<string, unknown>,
    handler: ToolHandler,
  ): void => void ends.push(registry.registerTool({ name, title: texts[name], description, inputSchema }, handler));
  const { navigate: router, routes = [] } = options;
  const selector = options.fill ? formSelector(options.fill) : undefined;
  if (router) {
    const listed = routes.map(({ path, title }) => (title ? `${path}: ${title}` : path));
    add(
      'navigate',
      ['Opens a page of the application, and returns the page that is open then.', ...listed].join('\n'),
      object({ path: text('The path, such as /orders?status=open.') }, 'path'),
      ({ path }: { path: string }, run) => navigate(path, router, routes, texts, run),
    );
  }
  if (selector) {
    add(
      'fill_form',
      'Fills fields of a form on the open page. Only the user submits the form.',
      FILL_INPUT,
      (input: FillInput, run) => fill(input, selector, run, texts.undo_fill),
    );
    add(
      'undo_fill',
      'Restores what the last fill_form that is not undone replaced, except fields that were changed since then.',
      object({}),
      undo,
    );
    ends.push(
      watchEdits(),
      watchCompositions(),
      registry.registerContext('fillable forms', () => listForms(selector)),
    );
  }
  if (options.discover) {
    add(
      'discover_page',
      'Lists the links, buttons, fields and headings that the user sees, with references and the values of fillable forms.',
      object({ whole_page: flag('true: also what is out of view.') }),
      (input: { whole_page?: boolean }) => discover(input, selector),
    );
  }
  if (options.point) {
    add(
      'point_at',
      'Scrolls to an element of the page and marks it for the user.',
      object(
        {
          target: text('The reference, id or name of the element.'),
          click: flag('true: also click it, which only elements with "click": true allow.'),
        },
        'target',
      ),
      (input: PointInput, { signal }) => point(input, signal),
    );
    ends.push(() => unpoint());
  }
  return () => {
    for (const end of ends.splice(0)) end();
  };
}

/** Lists the fields of the open forms, so that the model needs no other tool to fill them. */
function listForms(selector: string): Record<string, string> | undefined {
  const forms = formsOf(selector).map((form) => {
    const names = fieldsOf(form, selector).open.map(({ name }) => name);
    return [formName(form, selector), names.join(', ')] as const;
  });
  return forms.length > 0 ? Object.fromEntries(forms) : undefined;
}

/** The tools and the context of the page. Each function but `undo` returns a function that removes it, or a promise of it. */
export const page = { capture, tools, undo, webmcp };
