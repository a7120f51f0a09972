// What the suites know of the quickstart: its tools and arguments that fit them.

export const tools = {
  lookUp: { name: 'order_status', args: { order_id: 1042 } },
  search: { name: 'search_orders', args: { status: 'shipped' } },
  ticket: { name: 'create_ticket', args: { title: 'Parcel is damaged', priority: 'high' } },
  refund: { name: 'refund_order', args: { order_id: 1042, reason: 'damaged' } },
  slow: { name: 'export_report', args: { kind: 'orders' } },
  navigate: { name: 'navigate', args: { path: '/orders' } },
  fillForm: { name: 'fill_form', args: { fields: { title: 'Parcel is damaged' } } },
};

/** Tools that run in the server, and those that run in the page. */
export const serverTools = ['order_status', 'search_orders', 'create_ticket', 'refund_order', 'export_report'];
export const pageTools = ['navigate', 'fill_form'];
