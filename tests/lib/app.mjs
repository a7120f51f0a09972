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

/** Questions for the demo model, and what they lead to. */
export const demo = {
  lookUp: {
    question: 'What is the status of order 1042?',
    tool: 'order_status',
    input: /1042/,
    result: (output) => output.status,
  },
  navigate: { question: 'Open the orders page', tool: 'navigate' },
  fillForm: { question: 'Fill the ticket form: title "Parcel is damaged"', tool: 'fill_form' },
  slow: { question: 'Export a report of all orders', tool: 'export_report' },
  chat: { question: 'Hello there' },
};
