use omniassist_core::Text;

use super::{Component, Environment};
use crate::tool::Tool;

/// Components by their names, in the order of their registration.
///
/// [`AssistantBuilder::components`](crate::AssistantBuilder::components) takes those of [`list`](Self::list).
#[derive(Debug, Clone, Default)]
pub struct ComponentRegistry {
    components: Vec<Component>,
}

impl ComponentRegistry {
    /// Creates a registry without components.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a component. It takes the place of an earlier one of its name, which is logged.
    pub fn register(&mut self, component: Component) {
        match self.components.iter_mut().find(|known| known.name() == component.name()) {
            Some(known) => {
                tracing::debug!(component = component.name().as_str(), "a component is registered again");
                *known = component;
            }
            None => self.components.push(component),
        }
    }

    /// Returns the component of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|component| component.name() == name)
    }

    /// Returns the components of an environment, with those that are [universal](Environment::Universal). `None` returns
    /// all.
    #[must_use]
    pub fn list(&self, environment: Option<Environment>) -> Vec<&Component> {
        let fits = |component: &&Component| {
            environment.is_none_or(|environment| component.environment_of().fits(environment))
        };
        self.components.iter().filter(fits).collect()
    }

    /// Returns the names of the components, in their order.
    #[must_use]
    pub fn names(&self) -> Vec<&Text> {
        self.components.iter().map(Component::name).collect()
    }

    /// Returns the tools that show the components. Each has the name of its component after `ui_`.
    #[must_use]
    pub fn to_tools(&self) -> Vec<Tool> {
        self.components.iter().cloned().map(Component::into_tool).collect()
    }
}

impl Extend<Component> for ComponentRegistry {
    fn extend<T: IntoIterator<Item = Component>>(&mut self, components: T) {
        components.into_iter().for_each(|component| self.register(component));
    }
}

impl FromIterator<Component> for ComponentRegistry {
    fn from_iter<T: IntoIterator<Item = Component>>(components: T) -> Self {
        let mut registry = Self::new();
        registry.extend(components);
        registry
    }
}
