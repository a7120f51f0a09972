//! The application without its assistant: data in SQLite, a JSON API and a page.
//!
//! Only the page has a part of the assistant: the element `<omniassist-chat>` and the two tools of `app.js`.

mod api;
mod store;

pub use api::{HEADERS, is_for_this_machine};
pub(crate) use api::{guard, router};
pub use store::{Customer, Money, Order, Refund, Store};
pub(crate) use store::{
    NewTicket, OrderFilter, OrderStatus, Priority, RegionSales, Report, StoreError, Ticket,
};
