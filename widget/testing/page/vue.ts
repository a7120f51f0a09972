// Forms and routes of Vue, with state in Vue only.

import {
  createApp,
  h,
  onMounted,
  reactive,
  vModelCheckbox,
  vModelRadio,
  vModelSelect,
  vModelText,
  withDirectives,
} from 'vue';
import { RouterView, createRouter, createWebHistory } from 'vue-router';
import { page } from './chat.js';

const state = reactive({
  subject: 'old',
  details: '',
  priority: 'low',
  urgent: false,
  channel: 'mail',
  due: '',
  amount: 1 as number | string,
  days: ['fr'] as string[],
  lazy: 'old',
});
Object.assign(window, {
  get state() {
    return JSON.parse(JSON.stringify(state));
  },
});
Object.defineProperty(window, 'state', { get: () => JSON.parse(JSON.stringify(state)) });

type Key = keyof typeof state;
const bound = (
  name: Key,
  tag: string,
  directive: object,
  attributes: object = {},
  children: unknown[] = [],
  modifiers = {},
) =>
  withDirectives(
    h(
      tag,
      {
        name,
        ...attributes,
        'onUpdate:modelValue': (value: never) => void ((state as Record<Key, unknown>)[name] = value),
      },
      children as never,
    ),
    [[directive as never, state[name], '', modifiers]],
  );

const Ticket = {
  setup() {
    onMounted(() => {
      document.title = 'Ticket';
    });
    return () =>
      h('form', { 'data-assistant': 'ticket', method: 'post' }, [
        bound('subject', 'input', vModelText),
        bound('details', 'textarea', vModelText),
        bound('priority', 'select', vModelSelect, {}, [
          h('option', { value: 'low' }, 'low'),
          h('option', { value: 'high' }, 'high'),
        ]),
        bound('urgent', 'input', vModelCheckbox, { type: 'checkbox' }),
        bound('channel', 'input', vModelRadio, { type: 'radio', value: 'mail' }),
        bound('channel', 'input', vModelRadio, { type: 'radio', value: 'phone' }),
        bound('due', 'input', vModelText, { type: 'date' }),
        bound('amount', 'input', vModelText, { type: 'number' }, [], { number: true }),
        bound('days', 'input', vModelCheckbox, { type: 'checkbox', value: 'mo' }),
        bound('days', 'input', vModelCheckbox, { type: 'checkbox', value: 'fr' }),
        bound('lazy', 'input', vModelText, {}, [], { lazy: true }),
        h('p', `Subject: ${state.subject}`),
        h('button', 'Send'),
      ]);
  },
};
const Order = {
  setup() {
    onMounted(() => {
      document.title = 'Order';
    });
    return () => h('p', 'An order');
  },
};

const router = createRouter({
  history: createWebHistory('/app'),
  routes: [
    { path: '/', component: Ticket },
    { path: '/orders/:id', component: Order },
    { path: '/closed', component: Order, beforeEnter: () => false },
  ],
});
Object.assign(window, { router });
const app = createApp(RouterView).use(router);
app.mount('#root');
void router.isReady().then(() => Object.assign(window, { ready: true }));
page.tools({ navigate: router, fill: true });
page.capture({ navigation: true, forms: true });
