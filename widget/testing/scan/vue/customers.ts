import type { RouteRecordRaw } from 'vue-router';
import Ticket from './pages/Ticket.vue';

const customers: RouteRecordRaw[] = [
  { path: '/customers/:name?', components: { default: Ticket }, meta: { title: 'Customers' } },
];
export default customers;
