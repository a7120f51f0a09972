//! Components of a user interface, which models and tools show.
//!
//! A [`Component`] has props of a type. It becomes a tool with the name `ui_NAME`: a model shows it by a call, whose
//! arguments are the props, and clients display the call as they display other calls. All that applies to tools applies to
//! components: visibility, limits, hooks, records and registration while serving.
//!
//! - A **displayed** component is rendered at once. The model reads the id of the new instance.
//! - An **awaiting** component ([`Component::awaiting`]) ends the run. The user's answer becomes the output of the call.
//!
//! # State
//!
//! An instance can have a state of two parts. The user may change the first one ([`Component::state`]) in the page, and only
//! the server the second one ([`Component::server_state`]), which is sealed. The state travels with the conversation in a data
//! part `data-ui-state` with the id of the instance, and in AG-UI below `/ui` in the shared state. The newest valid state
//! counts. The model is sent the states of the newest instances as one context message of the type
//! `shown-components`, which clients cannot post. [`Limits`](omniassist_core::Limits) bound the states and their number.
//!
//! # Actions
//!
//! An action ([`Component::on_action`]) is a function with the extractors of a tool. A page calls it with
//! `POST /ui/{instance}/{action}`, without a model call, also while an answer streams.
//!
//! ```
//! use omniassist_server::component::{Component, ComponentContext};
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::tool::{Args, ToolError};
//! use omniassist_server::Assistant;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Cart {
//!     /// The articles.
//!     articles: Vec<String>,
//! }
//!
//! #[derive(Default, Serialize, Deserialize, JsonSchema)]
//! struct Paid {
//!     paid: bool,
//! }
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Checkout {
//!     cents: u64,
//! }
//!
//! async fn checkout(Args(order): Args<Checkout>, cart: ComponentContext) -> Result<u64, ToolError> {
//!     cart.update_server_state(|state: &mut Paid| state.paid = true).await?;
//!     Ok(order.cents)
//! }
//!
//! let cart = Component::new::<Cart>("cart", "Shows the user's cart")
//!     .server_state::<Paid>()
//!     .on_action("checkout", checkout);
//! let assistant = Assistant::builder(ScriptedProvider::new()).component(cart).build()?;
//! assert_eq!(assistant.tools().names(), ["ui_cart"]);
//! # Ok::<(), omniassist_server::Error>(())
//! ```

mod boundary;
mod context;
mod data;
mod definition;
mod instance_id;
mod output;
mod registry;
mod render;
mod render_function;
mod show;
mod stream;

pub use crate::tool::{Environment, TextArea};
pub use boundary::ComponentErrorBoundary;
pub(crate) use context::ActionOn;
pub use context::ComponentContext;
pub use data::StateData;
pub use definition::Component;
pub use output::{ComponentOutput, IntoComponentOutput};
pub use registry::ComponentRegistry;
pub use show::Ui;
pub use stream::{
    ComponentProps, ComponentPropsError, ComponentStreamCoordinator, PartialComponentProps, PartialKind,
};
