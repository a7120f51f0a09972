// The pages of the back office, the two tools that run in the browser, and the context that the assistant receives.

import { addContext, registerContext, registerTool } from "/assistant/widget.js";

const PAGES = { orders: "Orders", customers: "Customers", tickets: "Tickets", "new-ticket": "New ticket" };
const PRIORITIES = ["low", "normal", "high"];

const view = document.getElementById("view");
/** The page that the user visits: its path and title. */
let here;
/** The values of the ticket form. They stay while another page is open. */
let draft = emptyDraft();

function emptyDraft() {
  return { subject: "", details: "", priority: "normal", order_id: "" };
}

async function api(path, options) {
  const response = await fetch(`/api/${path}`, options).catch(() => {
    throw new Error("The server does not answer.");
  });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error ?? `Status ${response.status}`);
  return body;
}

/** Makes an element. A child is text or an element, never markup. */
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

const link = (hash, text) => element("a", { href: hash }, text);
const badge = (word) => element("span", { class: "badge", "data-status": word }, word);

function table(caption, columns, rows) {
  const head = element("tr", {}, ...columns.map(([title]) => element("th", { scope: "col" }, title)));
  const body = rows.map((row) =>
    element("tr", { "data-id": String(row.id) }, ...columns.map(([, cell]) => element("td", {}, cell(row)))),
  );
  return element("table", {}, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body));
}

const shows = {
  async orders(id) {
    if (id) return order(await api(`orders/${encodeURIComponent(id)}`));
    const orders = await api("orders");
    return table(`${orders.length} orders`, [
      ["Order", (row) => link(`#orders/${row.id}`, String(row.id))],
      ["Date", (row) => row.ordered_on],
      ["Customer", (row) => row.customer],
      ["Item", (row) => `${row.quantity} × ${row.item}`],
      ["Total", (row) => row.total],
      ["Status", (row) => badge(row.status)],
    ], orders);
  },
  async customers() {
    const customers = await api("customers");
    return table(`${customers.length} customers`, [
      ["Name", (row) => row.name],
      ["E-mail", (row) => row.email],
      ["City", (row) => row.city],
      ["Orders", (row) => String(row.orders)],
    ], customers);
  },
  async tickets() {
    const tickets = await api("tickets");
    return table(`${tickets.length} tickets`, [
      ["Ticket", (row) => String(row.id)],
      ["Opened", (row) => row.created_on],
      ["Subject", (row) => row.subject],
      ["Priority", (row) => badge(row.priority)],
      ["Order", (row) => (row.order_id ? link(`#orders/${row.order_id}`, String(row.order_id)) : "")],
      ["Status", (row) => row.status],
    ], tickets);
  },
  "new-ticket": async () => ticketForm(),
};

function order(found) {
  const rows = [
    ["Customer", found.customer],
    ["Item", `${found.quantity} × ${found.item}`],
    ["Total", found.total],
    ["Refunded", found.refunded],
    ["Status", badge(found.status)],
    ["Ordered on", found.ordered_on],
  ];
  const list = rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  return element("div", { id: "order-detail", "data-id": String(found.id) }, element("dl", {}, ...list), link("#orders", "All orders"));
}

function ticketForm() {
  const field = (name, title, control) => {
    control.id = `ticket-${name}`;
    control.name = name;
    control.value = draft[name];
    return element("div", { class: "field" }, element("label", { for: control.id }, title), control);
  };
  const options = PRIORITIES.map((word) => element("option", { value: word }, word));
  const result = element("p", { id: "ticket-result", role: "status" });
  const form = element(
    "form",
    { id: "ticket-form", autocomplete: "off" },
    field("subject", "Subject", element("input", { required: true, maxlength: "200" })),
    field("details", "Details", element("textarea", { rows: "5" })),
    field("priority", "Priority", element("select", {}, ...options)),
    field("order_id", "Order (optional)", element("input", { inputmode: "numeric", pattern: "[0-9]*" })),
    element("button", { type: "submit" }, "Open the ticket"),
    result,
  );
  form.addEventListener("input", () => {
    draft = Object.fromEntries(new FormData(form));
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const ticket = await api("tickets", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...draft, order_id: draft.order_id === "" ? null : Number(draft.order_id) }),
      });
      draft = emptyDraft();
      form.reset();
      result.textContent = `Ticket ${ticket.id} is open.`;
    } catch (error) {
      result.textContent = error.message;
    }
  });
  return form;
}

/** The page of the address: [page, id]. */
function place() {
  const [page, id] = location.hash.slice(1).split("/");
  return Object.hasOwn(PAGES, page) ? [page, id] : ["orders"];
}

let turn = 0;
async function show() {
  const [page, id] = place();
  const mine = ++turn;
  const title = page === "orders" && id ? `Order ${id}` : PAGES[page];
  let content;
  let failure;
  try {
    content = await shows[page](id);
  } catch (error) {
    failure = element("p", { class: "failure", role: "alert" }, error.message);
  }
  // The user or a tool may have opened another page in the meantime.
  if (mine !== turn) return title;
  view.querySelector(".failure")?.remove();
  // What this page showed before is better than nothing.
  if (failure && view.dataset.place === location.hash) {
    view.querySelector("h2").after(failure);
    return title;
  }
  content ??= failure;
  view.dataset.place = location.hash;
  view.replaceChildren(element("h2", {}, title), content);
  view.dataset.page = page;
  document.title = `${title} – Back office`;
  for (const anchor of document.querySelectorAll("#nav a")) {
    if (anchor.hash === `#${page}`) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  return title;
}

async function visit() {
  const path = `/${place().filter(Boolean).join("/")}`;
  const title = await show();
  if (here && here.path !== path) addContext({ type: "navigation", data: here });
  here = { path, title };
  return title;
}

function go(hash) {
  if (location.hash !== hash) history.pushState(null, "", hash);
  return visit();
}

const text = (description) => ({ type: "string", description });

registerTool(
  {
    name: "navigate",
    description: "Opens a page of the back office in the browser of the user.",
    inputSchema: {
      type: "object",
      properties: {
        page: { enum: Object.keys(PAGES) },
        order_id: { type: "integer", description: "Opens this order. Only with the page orders." },
      },
      required: ["page"],
    },
  },
  async ({ page, order_id: id }) => {
    if (!Object.hasOwn(PAGES, page)) throw new Error(`There is no page ${page}.`);
    const wanted = page === "orders" && Number.isInteger(id);
    if (wanted) await api(`orders/${id}`);
    return { opened: await go(wanted ? `#orders/${id}` : `#${page}`) };
  },
);

registerTool(
  {
    name: "fill_form",
    description: "Fills in the form for a new ticket in the browser of the user. The user sends it.",
    inputSchema: {
      type: "object",
      properties: {
        subject: text("One line"),
        details: text("What happened"),
        priority: { enum: PRIORITIES },
        order_id: { type: "integer" },
      },
    },
  },
  async (input) => {
    const known = Object.keys(emptyDraft()).filter((name) => input[name] !== undefined && input[name] !== null);
    const filled = Object.fromEntries(known.map((name) => [name, String(input[name])]));
    if (filled.priority && !PRIORITIES.includes(filled.priority)) {
      throw new Error(`There is no priority ${filled.priority}.`);
    }
    draft = { ...draft, ...filled };
    await go("#new-ticket");
    for (const name of known) document.getElementById(`ticket-${name}`)?.classList.add("filled");
    return { filled, sent: false };
  },
);

// The open page goes with each message, and so does the form unless it is empty. A page that was left goes with the next.
registerContext("navigation", () => here);
registerContext("form", () => {
  const isEmpty = JSON.stringify(draft) === JSON.stringify(emptyDraft());
  return isEmpty ? undefined : { form: "new-ticket", fields: draft };
});

// A tool may have changed the data, so the page is loaded again. The ticket form stays: the user may be typing.
for (const type of ["omni-tool", "omni-error"]) {
  addEventListener(type, ({ detail }) => {
    const isOver = type === "omni-error" || (detail.part.state === "output-available" && !detail.part.preliminary);
    if (isOver && view.dataset.page !== "new-ticket") show();
  });
}

addEventListener("popstate", visit);
visit();
