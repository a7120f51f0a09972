import { createRouter, createWebHistory, type RouteRecordRaw } from 'vue-router';
import Ticket from './pages/Ticket.vue';
import customers from '@/customers';

const routes = [
  { path: '/', redirect: '/orders' },
  { path: '/orders', name: 'orders', component: () => import('./pages/Ticket.vue'), meta: { title: 'Orders' } },
  {
    path: '/orders/:id(\\d+)',
    name: 'order',
    component: Ticket,
    props: true,
    children: [
      { path: '', name: 'order-detail', component: Ticket },
      { path: 'edit', component: Ticket, meta: { title: 'Edit the order' } },
    ],
  },
  ...customers,
  { path: '/:pathMatch(.*)*', component: Ticket },
] as const satisfies readonly RouteRecordRaw[];

export const router = createRouter({ history: createWebHistory(), routes });
