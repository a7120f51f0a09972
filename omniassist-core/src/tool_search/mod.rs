//! The search among the tools of a run: BM25 over names, titles, tags, descriptions and examples.
//!
//! The words of a query often differ from the names of tools. Words are therefore reduced to stems, and the verbs of a
//! query also find their synonyms: “add” finds `create_invoice`. A tool whose whole name is in the query ranks above a
//! tool that only mentions the same words.
//!
//! ```
//! use omniassist_core::tool_search::{SearchText, rank};
//!
//! let invoice = SearchText::new("create_invoice", "Creates a draft for a customer.");
//! let refund = SearchText::new("refund_order", "Pays the money of an order back.");
//! let tools = [&invoice, &refund];
//! assert_eq!(rank("give the customer a refund for her orders", &tools), [1, 0]);
//! assert_eq!(rank("add an invoice", &tools), [0]);
//! assert!(rank("weather", &tools).is_empty());
//! ```

mod rank;
mod text;
mod verbs;
mod words;

pub use rank::rank;
pub use text::SearchText;
