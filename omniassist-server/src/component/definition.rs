use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use omniassist_core::Text;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::context::{Acting, ActionOn, ComponentType};
use super::data::{DataType, StateData};
use super::output::IntoComponentOutput;
use super::render::{self, INSTANCE_ID, Rendering};
use super::render_function::Render;
use crate::instances::TOOL_PREFIX;
use crate::tool::{
    AsyncResult, ComponentParts, Environment, IntoToolOutput, TextArea, Tool, ToolError, ToolHandler,
    ToolParameters, WriteText,
};
use crate::tool::{schema, typed};

/// A component of a user interface; see the [module](super). Cloning is cheap.
///
/// The name has 1 to 61 of `[A-Za-z0-9_-]`. The name, the description and the schemas are checked when the component is
/// registered.
#[derive(Clone)]
#[must_use = "a component does nothing until it is registered"]
pub struct Component {
    name: Text,
    description: Text,
    props: Value,
    environment: Environment,
    state: Option<DataType>,
    server_state: Option<DataType>,
    render: Option<Render>,
    actions: Vec<(Text, Tool)>,
    text: Option<WriteText>,
    output: Option<Value>,
}

impl Component {
    /// Creates a component with props of type `P`, which a model writes. Without a [`render`](Self::render) function, only
    /// the client renders it.
    pub fn new<P: JsonSchema>(name: impl Into<Text>, description: impl Into<Text>) -> Self {
        Self::with_schema(name, description, schema::generate::<P>())
    }

    /// Creates a component whose props have this JSON Schema. It must be of type `object`.
    pub fn with_schema(name: impl Into<Text>, description: impl Into<Text>, props: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            props,
            environment: Environment::Universal,
            state: None,
            server_state: None,
            render: None,
            actions: Vec::new(),
            text: None,
            output: None,
        }
    }

    /// Creates a component with props of type `P` in which the user answers. The run ends, the client posts the answer as
    /// the output of the call, and the model reads it. An answer that is not of type `Out` is an error for the model.
    ///
    /// The answer expires after [`Limits::approval_lifetime`](omniassist_core::Limits::approval_lifetime). Clients that
    /// cannot show forms are not offered the component. It has no state, actions or [`render`](Self::render) function.
    pub fn awaiting<P: JsonSchema, Out: JsonSchema>(
        name: impl Into<Text>,
        description: impl Into<Text>,
    ) -> Self {
        let output = Some(schema::generate::<Out>());
        Self { output, ..Self::new::<P>(name, description) }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &Text {
        &self.name
    }

    /// Returns the description, which models read.
    #[must_use]
    pub fn description(&self) -> &Text {
        &self.description
    }

    /// Returns the JSON Schema of the props.
    #[must_use]
    pub fn props_schema(&self) -> &Value {
        &self.props
    }

    /// Returns the JSON Schema of the part of the state that the user may change.
    #[must_use]
    pub fn state_schema(&self) -> Option<&Value> {
        self.state.as_ref().map(|state| &state.schema)
    }

    /// Returns the environment.
    #[must_use]
    pub fn environment_of(&self) -> Environment {
        self.environment
    }

    /// Sets the environment for which the component is made. Default: [`Environment::Universal`].
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Gives each instance a state that the user may change in the page. Do not trust it. Default: none.
    pub fn state<S: StateData>(mut self) -> Self {
        self.state = Some(DataType::of::<S>());
        self
    }

    /// Gives each instance a state that only the server may change. Clients see it, and the model reads it. Default: none.
    pub fn server_state<T: StateData>(mut self) -> Self {
        self.server_state = Some(DataType::of::<T>());
        self
    }

    /// Sets an async function that is called when a model shows the component. Its parameters are the extractors of a
    /// tool: the props are [`Args<P>`](crate::tool::Args), and the instance is a
    /// [`ComponentContext`](super::ComponentContext). Default: none.
    pub fn render<F, P>(mut self, function: F) -> Self
    where
        F: ToolHandler<P>,
        P: ToolParameters,
        F::Future: AsyncResult<Output: IntoComponentOutput> + Send + 'static,
    {
        self.render = Some(Arc::new(move |call| match P::from_call(&call) {
            Ok(parameters) => {
                let future = function.call(parameters);
                Box::pin(async move {
                    let mut future = pin!(future);
                    poll_fn(|cx| future.as_mut().poll_result(cx)).await.into_component_output()
                })
            }
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }));
        self
    }

    /// Adds an action: an async function with the extractors of a tool. The payload that the page sends is
    /// [`Args<T>`](crate::tool::Args), and is checked against its schema. The page gets the result as an event of the type
    /// `result`. The name `state` is reserved. Default: none.
    pub fn on_action<F, P>(mut self, name: impl Into<Text>, function: F) -> Self
    where
        F: ToolHandler<P>,
        P: ToolParameters,
        F::Future: AsyncResult<Output: IntoToolOutput> + Send + 'static,
    {
        let name = name.into();
        let tool = format!("{TOOL_PREFIX}{}__{name}", self.name);
        let description = format!("The action {name} of the component {}", self.name);
        self.actions.push((name, Tool::new(tool, description, function)));
        self
    }

    /// Sets a function that writes the component as text, for terminals and for clients that show no components. Default:
    /// none; such clients are not offered the component.
    pub fn cli<P: DeserializeOwned>(
        mut self,
        write: impl Fn(&P, &TextArea) -> String + Send + Sync + 'static,
    ) -> Self {
        self.text = Some(Arc::new(move |props, area| Some(write(&typed::read(props).ok()?, area))));
        self
    }

    /// Returns the component as text. `None` if it has no [`cli`](Self::cli) function, or if the props do not fit.
    #[must_use]
    pub fn text(&self, props: &Value, area: &TextArea) -> Option<String> {
        self.text.as_ref()?(&omniassist_core::JsonText::from_value(props), area)
    }

    pub(super) fn render_function(&self) -> Option<&Render> {
        self.render.as_ref()
    }

    /// Returns the tool that shows the component.
    pub fn into_tool(self) -> Tool {
        let Self {
            name,
            description,
            mut props,
            environment,
            state,
            server_state,
            render,
            actions,
            text,
            output,
        } = self;
        let tool_name = format!("{TOOL_PREFIX}{name}");
        let of = Arc::new(ComponentType {
            name,
            environment,
            state,
            server_state,
            has_actions: !actions.is_empty(),
        });
        let actions: Vec<_> = actions.into_iter().map(|(action, tool)| (action, acting(tool, &of))).collect();
        let parts = ComponentParts {
            name: of.name.clone(),
            environment,
            props: props.clone(),
            state: of.state.as_ref().map(|data| data.schema.clone()),
            server_state: of.server_state.as_ref().map(|data| data.schema.clone()),
            text: text.clone(),
            output: output.clone(),
        };
        if output.is_some() {
            return Tool::front_end_with_schema(tool_name, description, props).component(parts, actions);
        }
        add_instance_id(&mut props);
        let runs_again = render.is_none();
        let rendering = Arc::new(Rendering { of, render, text });
        let tool = Tool::from_fn_with_schema(tool_name, description, props, move |props, call| {
            render::render(Arc::clone(&rendering), props, call)
        });
        let tool = if runs_again { tool.read_only() } else { tool };
        tool.component(parts, actions)
    }
}

/// Gives the function of an action the instance on which it is called.
fn acting(tool: Tool, of: &Arc<ComponentType>) -> Tool {
    let of = Arc::clone(of);
    tool.around(move |call, context| {
        let Some(ActionOn(id)) = context.run().extensions().get().cloned() else {
            let error = ToolError::internal("an action is called on an instance");
            return Box::pin(std::future::ready(Err(error)));
        };
        let arguments = context.arguments().clone();
        call(context.attaching(arguments, Arc::new(Acting { id, of: Arc::clone(&of) })))
    })
}

/// Adds the property with which a model shows an instance again.
fn add_instance_id(schema: &mut Value) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(properties) = properties.filter(|properties| !properties.contains_key(INSTANCE_ID)) {
        let description = "To change an instance that is shown: its id. Otherwise absent.";
        properties.insert(INSTANCE_ID.to_owned(), json!({"type": "string", "description": description}));
    }
}

impl std::fmt::Debug for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Component").field("name", &self.name).finish_non_exhaustive()
    }
}
