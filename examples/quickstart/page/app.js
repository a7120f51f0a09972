// The pages of the back office, the two tools that run in the browser, and the context that the assistant receives.

import { Chat } from "/chat.js";
import { element } from "/dom.js";
import { mountPanel } from "/panel.js";
import { mountThreads } from "/threads.js";

const PAGES = { orders: "Orders", customers: "Customers", tickets: "Tickets", "new-ticket": "New ticket" };
const PRIORITIES = ["low", "normal", "high"];
const VISITS = 15;

const view = document.getElementById("view");
const visits = [];
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
  if (visits.at(-1)?.data.path !== path) {
    visits.push({ id: `visit-${crypto.randomUUID()}`, type: "navigation", data: { path, title } });
    visits.splice(0, visits.length - VISITS);
  }
  return { path, title };
}

function go(hash) {
  if (location.hash !== hash) history.pushState(null, "", hash);
  return visit();
}

const tools = {
  async navigate({ page, order_id: id }) {
    if (!Object.hasOwn(PAGES, page)) throw new Error(`There is no page ${page}.`);
    const wanted = page === "orders" && Number.isInteger(id);
    if (wanted) await api(`orders/${id}`);
    const { title } = await go(wanted ? `#orders/${id}` : `#${page}`);
    return { opened: title };
  },
  async fill_form(input) {
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
};

/** The pages that the user visited, and the values of the ticket form. */
function context() {
  const isEmpty = JSON.stringify(draft) === JSON.stringify(emptyDraft());
  const form = { id: "ticket-form", type: "form", data: { form: "new-ticket", fields: { ...draft } } };
  return isEmpty ? [...visits] : [...visits, form];
}

/** The tab keeps the chat when the page is reloaded, or its id if the server stores chats. */
const SAVED = "chat";
const stored = document.getElementById("chat").dataset.stored === "true";
function saved() {
  try {
    return JSON.parse(sessionStorage.getItem(SAVED)) ?? undefined;
  } catch {
    return undefined;
  }
}
function save() {
  try {
    sessionStorage.setItem(SAVED, JSON.stringify(chat.saved()));
  } catch {
    // The chat is larger than the storage of a tab. A reload then starts a new chat.
    sessionStorage.removeItem(SAVED);
  }
}

const chat = new Chat({ api: "/assistant", tools, context, stored, saved: stored ? undefined : saved() });
mountPanel(chat, [
  "Where is order 1001?",
  "Which orders are pending?",
  "Refund order 1002",
  "Export the sales report",
  "Open the customers page",
  "Fill in the form with high priority: Late delivery",
  "Open a complaint form",
]);

const loadThreads = stored ? mountThreads(chat) : () => {};

// A tool may have changed the data, so the page is loaded again. The ticket form stays: the user may be typing.
const { onChange } = chat;
chat.onChange = (status) => {
  onChange(status);
  if (status) save();
  if (status && status !== "submitted") loadThreads();
  if ((status === "ready" || status === "error") && view.dataset.page !== "new-ticket") show();
};

const toggle = document.getElementById("chat-toggle");
toggle.addEventListener("click", () => {
  const { dataset } = document.body;
  dataset.shows = dataset.shows === "chat" ? "page" : "chat";
  toggle.textContent = dataset.shows === "chat" ? "Back to the page" : "Assistant";
  if (dataset.shows === "chat") document.getElementById("chat-input").focus();
});

addEventListener("pagehide", save);
addEventListener("popstate", visit);
visit();
const { id } = (stored && saved()) || {};
if (id) chat.open(id);
