use serde_json::Value;

use super::names::{Names, pascal_case};
use super::schema::SchemaWriter;
use super::write;

/// A component, for [`declarations_with`](super::declarations_with).
#[derive(Debug, Clone)]
#[must_use]
pub struct ComponentDeclaration<'a> {
    name: &'a str,
    tool: &'a str,
    props: &'a Value,
    state: Option<&'a Value>,
    server_state: Option<&'a Value>,
    output: Option<&'a Value>,
    actions: Vec<ActionDeclaration<'a>>,
}

/// An action of a [`ComponentDeclaration`].
#[derive(Debug, Clone)]
pub struct ActionDeclaration<'a> {
    name: &'a str,
    payload: &'a Value,
}

impl<'a> ActionDeclaration<'a> {
    /// Creates the declaration of an action whose arguments have this JSON Schema.
    #[must_use]
    pub fn new(name: &'a str, payload: &'a Value) -> Self {
        Self { name, payload }
    }
}

impl<'a> ComponentDeclaration<'a> {
    /// Creates the declaration of a component that this tool shows, and whose props have this JSON Schema.
    pub fn new(name: &'a str, tool: &'a str, props: &'a Value) -> Self {
        Self { name, tool, props, state: None, server_state: None, output: None, actions: Vec::new() }
    }

    /// Sets the JSON Schema of the state that the page may change. Default: none, and the page may change nothing.
    pub fn state(mut self, schema: Option<&'a Value>) -> Self {
        self.state = schema;
        self
    }

    /// Sets the JSON Schema of the state that only the server may change. Default: none.
    pub fn server_state(mut self, schema: Option<&'a Value>) -> Self {
        self.server_state = schema;
        self
    }

    /// Sets the JSON Schema of the user's answer. Default: none, and the output is `UiRendered`.
    pub fn output(mut self, schema: Option<&'a Value>) -> Self {
        self.output = schema;
        self
    }

    /// Sets the actions. Default: none.
    pub fn actions(mut self, actions: impl IntoIterator<Item = ActionDeclaration<'a>>) -> Self {
        self.actions = actions.into_iter().collect();
        self
    }
}

/// A component whose types have names.
pub(super) struct Named<'a> {
    of: &'a ComponentDeclaration<'a>,
    props: Type<'a>,
    state: Option<Type<'a>>,
    server_state: Option<Type<'a>>,
    output: Option<Type<'a>>,
    actions: Vec<(&'a str, Type<'a>)>,
}

/// A type of a schema.
struct Type<'a> {
    /// The words for it.
    about: String,
    name: String,
    schema: &'a Value,
}

/// Returns the components by name, and reserves the names of their types.
pub(super) fn named<'a>(components: &'a [ComponentDeclaration<'a>], names: &mut Names) -> Vec<Named<'a>> {
    let mut components: Vec<_> = components.iter().collect();
    components.sort_by_key(|component| component.name);
    components.dedup_by_key(|component| component.name);
    let named = components.into_iter().map(|of| {
        let stem = pascal_case(of.name, "Component");
        let mut named = |about: &str, suffix: &str, schema| Type {
            about: format!("{about} of `{}`.", of.name),
            name: names.take(&format!("{stem}{suffix}")),
            schema,
        };
        let mut actions: Vec<_> = of.actions.iter().collect();
        actions.sort_by_key(|action| action.name);
        actions.dedup_by_key(|action| action.name);
        Named {
            of,
            props: named("The props", "Props", of.props),
            state: of.state.map(|schema| named("The state that the page may change,", "State", schema)),
            server_state: of
                .server_state
                .map(|schema| named("The state that only the server may change,", "Server", schema)),
            output: of.output.map(|schema| named("The user's answer: the output", "Output", schema)),
            actions: actions
                .into_iter()
                .map(|action| {
                    let about = format!("Arguments of the action `{}`", action.name);
                    let suffix = format!("{}Payload", pascal_case(action.name, "Action"));
                    (action.name, named(&about, &suffix, action.payload))
                })
                .collect(),
        }
    });
    named.collect()
}

/// Declares the types of these components, and `OmniComponents`.
pub(super) fn declare(out: &mut String, components: &[Named<'_>], names: &mut Names) {
    for component in components {
        let parts = [&component.state, &component.server_state, &component.output];
        let actions = component.actions.iter().map(|(_, payload)| payload);
        let types = [&component.props].into_iter().chain(parts.into_iter().flatten()).chain(actions);
        for Type { about, name, schema } in types {
            out.push('\n');
            write::comment(out, 0, about);
            SchemaWriter::new(schema, name, name, names).declare(out);
        }
    }
    out.push_str("\n/** The components by name. */\nexport interface OmniComponents {\n");
    for component in components {
        let name = |of: &Option<Type<'_>>, other: &str| {
            of.as_ref().map_or_else(|| other.to_owned(), |of| of.name.clone())
        };
        out.push_str(&format!(
            "  {}: {{\n    props: {};\n    state: {};\n    server: {};\n    output: {};\n    actions: {};\n  }};\n",
            write::property_name(component.of.name),
            component.props.name,
            name(&component.state, "{ [key: string]: never }"),
            name(&component.server_state, "undefined"),
            name(&component.output, RENDERED),
            actions(component),
        ));
    }
    out.push_str("}\n");
}

/// The type of the output of a call that shows a component.
const RENDERED: &str = "UiRendered";

fn actions(component: &Named<'_>) -> String {
    let fields: Vec<String> = component
        .actions
        .iter()
        .map(|(action, payload)| format!("{}: {}", write::property_name(action), payload.name))
        .collect();
    if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join("; ")) }
}

/// Returns the type of the output of a component's tool.
pub(super) fn output_of<'a>(components: &'a [Named<'_>], tool: &str) -> Option<&'a str> {
    let component = components.iter().find(|component| component.of.tool == tool)?;
    Some(component.output.as_ref().map_or(RENDERED, |output| &output.name))
}
