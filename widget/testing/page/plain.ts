// A page without a framework: a form with each kind of field, secrets, and things to click.

import { page } from './chat.js';

type Attributes = Record<string, string | boolean>;

function make(tag: string, attributes: Attributes = {}, ...children: (Node | string)[]): HTMLElement {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== false) node.setAttribute(name, value === true ? '' : value);
  node.append(...children);
  return node;
}

const label = (text: string, control: Node): Node => make('p', {}, make('label', {}, text, ' ', control));
const input = (name: string, attributes: Attributes = {}): HTMLElement => make('input', { name, ...attributes });

const secret = (number: number): string => `planted-${number}-secret`;

/** Twenty values that must never leave the page. */
const secrets = [
  label('Word', input('field_1', { type: 'password', value: secret(1) })),
  label('Shown password', input('shown_password', { type: 'text', value: secret(2) })),
  label('Card', input('card', { autocomplete: 'cc-number', value: secret(3) })),
  label('Valid until', input('until', { autocomplete: 'billing cc-exp', value: secret(4) })),
  label('Code from the message', input('message_code', { autocomplete: 'one-time-code', value: secret(5) })),
  label('New', input('fresh', { autocomplete: 'new-password', value: secret(6) })),
  label('Old', input('old', { autocomplete: 'section-a current-password', value: secret(7) })),
  input('field_2', { type: 'hidden', value: secret(8) }),
  label('Note', input('ignored', { 'data-assistant-ignore': true, value: secret(9) })),
  make(
    'div',
    { 'data-assistant-ignore': true },
    label('Inside', make('textarea', { name: 'inside' }, secret(10))),
    make('button', { type: 'button' }, secret(11)),
  ),
  label('Session', input('session', { readonly: true, value: secret(12) })),
  label('Disabled', input('disabled', { disabled: true, value: secret(13) })),
  make('fieldset', { disabled: true }, label('In a group', make('textarea', { name: 'group' }, secret(14)))),
  label('API key', input('field_7', { value: secret(15) })),
  label('CVC', input('field_8', { value: secret(16) })),
  label('Access', input('accessToken', { value: secret(17) })),
  label('Masked', input('masked', { class: 'masked', value: secret(18) })),
  make(
    'p',
    {},
    make('span', { id: 'pin-label' }, 'PIN'),
    make('input', { 'aria-labelledby': 'pin-label', value: secret(19) }),
  ),
  make('div', { inert: true }, label('Inert', input('inert', { value: secret(20) }))),
];

const form = make(
  'form',
  { 'data-assistant': true, id: 'ticket', method: 'post', action: '/submitted' },
  // A form with such a field has no `form.id`.
  label('Id', input('id', { value: '17' })),
  label('Subject', input('subject', { required: true, maxlength: '40', value: 'Old subject' })),
  label('Details', make('textarea', { name: 'details' }, 'Old details')),
  label(
    'Priority',
    make(
      'select',
      { name: 'priority' },
      make('option', { value: 'l' }, 'Low'),
      make('option', { value: 'n' }, 'Normal'),
      make('option', { value: 'h' }, 'High'),
      make('option', { value: 'x', disabled: true }, 'Closed'),
    ),
  ),
  label(
    'Labels',
    make(
      'select',
      { name: 'labels', multiple: true },
      make('option', {}, 'red'),
      make('option', { selected: true }, 'green'),
      make('option', {}, 'blue'),
    ),
  ),
  label('Urgent', input('urgent', { type: 'checkbox' })),
  make(
    'fieldset',
    {},
    make('legend', {}, 'Channel'),
    label('By mail', input('channel', { type: 'radio', value: 'mail', checked: true })),
    label('By phone', input('channel', { type: 'radio', value: 'phone' })),
  ),
  make(
    'fieldset',
    {},
    make('legend', {}, 'Days'),
    label('Monday', input('days', { type: 'checkbox', value: 'mo' })),
    label('Friday', input('days', { type: 'checkbox', value: 'fr', checked: true })),
  ),
  label('Due', input('due', { type: 'date' })),
  label('Amount', input('amount', { type: 'number', min: '0', max: '100' })),
  label('E-mail', input('email', { type: 'email' })),
  make('div', { id: 'remarks', contenteditable: 'true', 'aria-label': 'Remarks' }, make('b', {}, 'Old'), ' remarks'),
  ...secrets,
  make('button', { id: 'send', 'data-assistant-click': true }, 'Send'),
);
const other = make(
  'form',
  { id: 'other', action: '/submitted', method: 'post' },
  label('Nickname', input('nickname', { value: 'not opened' })),
);

const hasSubmitted: string[] = [];
form.addEventListener('change', () => {
  if (document.body.dataset.submitsAtChange === 'request') (form as HTMLFormElement).requestSubmit();
  if (document.body.dataset.submitsAtChange === 'submit') (form as HTMLFormElement).submit();
});
form.addEventListener('submit', (event) => {
  hasSubmitted.push('submit');
  event.preventDefault();
});

const clicks: string[] = [];
const button = (id: string, attributes: Attributes = {}, text = id): HTMLElement => {
  const node = make('button', { id, type: 'button', ...attributes }, text);
  node.addEventListener('click', () => clicks.push(id));
  return node;
};

const sheet = new CSSStyleSheet();
sheet.replaceSync('.masked { -webkit-text-security: disc } #far { margin-top: 3000px }');
document.adoptedStyleSheets.push(sheet);
document
  .getElementById('root')
  ?.append(
    make('h1', {}, 'Tickets'),
    make(
      'nav',
      {},
      make('a', { href: '/orders?token=planted-in-a-link&page=2' }, 'Orders'),
      ' ',
      make('a', { href: 'https://example.com/x?y=z' }, 'Manual'),
    ),
    button('open-details', { 'data-assistant-click': true }, 'Open details'),
    button('plain', {}, 'Not opened'),
    form,
    other,
    make('label', { for: 'send', 'data-assistant-click': true, id: 'send-label' }, 'Send it'),
    button('far', { 'data-assistant-click': true }, 'Far away'),
  );

Object.assign(window, { make, clicks, hasSubmitted, ready: true });
export { page };
