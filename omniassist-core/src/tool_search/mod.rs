//! The search among the tools of a run: BM25 over names, titles, tags, descriptions and examples.
//!
//! The words of a query often differ from those of tools. Words are therefore reduced to stems, and shortened words are
//! written out. The verbs of a query also find the tools that begin with a synonym: “add” finds `create_invoice`. Its nouns
//! find similar ones: “voucher” finds `list_coupons`. Stems with a common beginning are related: “deploy” finds
//! `list_deployments`. A tool whose whole name or summary is in the query ranks above a tool that only mentions the same
//! words. Words that many descriptions share, but few names, count in names only.
//!
//! The tables of verbs and nouns are English, and general: a query in the jargon of one trade needs the words of its tools.
//!
//! [`rank`] searches some tools once. A [`SearchIndex`] is for thousands of tools.
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

mod index;
mod nouns;
mod rank;
mod text;
mod verbs;
mod words;

pub use index::SearchIndex;
pub use rank::rank;
pub use text::SearchText;

#[expect(clippy::cast_precision_loss, reason = "a count of tools or words")]
fn count(number: usize) -> f32 {
    number as f32
}
