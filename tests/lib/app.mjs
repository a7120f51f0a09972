// The tools of the quickstart for the suites, with valid arguments and with questions that lead to them.

export const tools = {
  lookUp: { name: 'order_status', args: { order_id: 1001 } },
  search: { name: 'search_orders', args: { status: 'shipped' } },
  ticket: { name: 'create_ticket', args: { subject: 'Parcel is damaged', priority: 'high' } },
  refund: { name: 'refund_order', args: { order_id: 1002 } },
  slow: { name: 'export_report', args: {} },
  navigate: { name: 'navigate', args: { page: 'customers' } },
  fillForm: { name: 'fill_form', args: { subject: 'Parcel is damaged' } },
};

/** Tools that run in the server, and tools that the page answers. */
export const serverTools = [
  'order_status', 'search_orders', 'list_customers', 'create_ticket', 'refund_order', 'export_report',
];
export const pageTools = ['navigate', 'fill_form', 'request_input'];

/** Questions for the demo model, and the tool that each leads to. */
export const demo = {
  lookUp: { question: 'What is the status of order 1012?', tool: 'order_status', order: 1012 },
  navigate: { question: 'Open the customers page', tool: 'navigate' },
  fillForm: { question: 'Fill in the form: Late delivery', tool: 'fill_form', subject: 'Late delivery' },
  refund: (order) => ({ question: `Refund order ${order}`, tool: 'refund_order' }),
  address: { question: 'Ask me for my address', tool: 'request_input' },
  complaint: { question: 'Open a complaint form', tool: 'request_input' },
  slow: { question: 'Export the sales report', tool: 'export_report' },
  sales: { question: 'Show sales by region', tool: 'sales_by_region', shows: 'ui_table' },
  chat: { question: 'Hmm?' },
  handbook: { question: 'How long is the warranty of a desk?', tool: 'read_handbook', chapter: 'warranty' },
};
