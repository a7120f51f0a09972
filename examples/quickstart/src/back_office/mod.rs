//! The application as it was before it got an assistant: data in SQLite, a JSON API and a page.
//!
//! Only the page has a part of the assistant: `chat.js`, `panel.js`, `tool.js`, `form.js` and `markdown.js`.

mod api;
mod store;

pub use api::{HEADERS, is_for_this_machine};
pub(crate) use api::{guard, router};
pub(crate) use store::{
    Customer, Money, NewTicket, Order, OrderFilter, OrderStatus, Priority, Refund, Report, Store, StoreError,
    Ticket,
};
