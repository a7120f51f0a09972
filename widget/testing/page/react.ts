// Forms and routes of React, with state in React only.

import { createElement as h, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Outlet, RouterProvider, createBrowserRouter, createHashRouter, useParams } from 'react-router';
import { page } from './chat.js';

type State = Record<string, unknown>;
const initial: State = {
  subject: 'old',
  details: '',
  priority: 'low',
  urgent: false,
  channel: 'mail',
  due: '',
  amount: '1',
  days: [],
};

function Ticket() {
  const [state, setState] = useState(initial);
  useEffect(() => void Object.assign(window, { state }));
  // Many pages write it like this, and lose a value if two change before React has drawn the first.
  const set = (name: string, value: unknown) => setState({ ...state, [name]: value });
  const onChange = (event: { target: { name: string; value: string } }) => set(event.target.name, event.target.value);
  const text = (name: string, type = 'text') => h('input', { name, type, value: state[name] as string, onChange });
  const radio = (value: string) =>
    h(
      'label',
      { key: value },
      value,
      h('input', { type: 'radio', name: 'channel', value, checked: state.channel === value, onChange }),
    );
  return h(
    'form',
    { 'data-assistant': 'ticket', onSubmit: () => Object.assign(window, { submitted: true }), method: 'post' },
    text('subject'),
    h('textarea', { name: 'details', value: state.details as string, onChange }),
    h(
      'select',
      { name: 'priority', value: state.priority as string, onChange },
      h('option', null, 'low'),
      h('option', null, 'high'),
    ),
    h('input', {
      type: 'checkbox',
      name: 'urgent',
      checked: state.urgent as boolean,
      onChange: (event) => set('urgent', event.target.checked),
    }),
    radio('mail'),
    radio('phone'),
    text('due', 'date'),
    text('amount', 'number'),
    h('input', { type: 'password', name: 'password', defaultValue: 'planted-secret' }),
    h('button', null, 'Send'),
  );
}

function Order() {
  const { id } = useParams();
  useEffect(() => {
    document.title = `Order ${id}`;
  });
  return h('p', null, `Order ${id}`);
}

let loads = 0;
const routes = [
  {
    path: '/',
    element: h('main', null, h(Outlet)),
    children: [
      { index: true, element: h(Ticket) },
      {
        path: 'orders/:id',
        element: h(Order),
        loader: async () => {
          await new Promise((done) => setTimeout(done, 50));
          return { loads: ++loads };
        },
      },
    ],
  },
];
const create = location.pathname.startsWith('/hash') ? createHashRouter : createBrowserRouter;
const router = create(routes, { basename: location.pathname.startsWith('/app') ? '/app' : '/' });
Object.assign(window, { router });
createRoot(document.getElementById('root') as HTMLElement).render(h(RouterProvider, { router }));
page.tools({ navigate: router, fill: true });
page.capture({ navigation: true, forms: true });
const timer = setInterval(() => {
  if (!document.querySelector('main')) return;
  clearInterval(timer);
  Object.assign(window, { ready: true });
}, 5);
