use rmcp::model::{Prompt, Resource, ResourceTemplate};

use crate::client::cleaned;

/// A resource of a server, or a template of some, as the server lists it. Its texts have no hidden characters and at most 2
/// KiB.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpResource {
    /// The URI, or the template of URIs, as the server wrote it.
    pub uri: String,
    /// `true` for a template (RFC 6570).
    pub is_template: bool,
    /// The name.
    pub name: String,
    /// The title that people read.
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The media type.
    pub media_type: Option<String>,
}

/// A prompt of a server, as the server lists it. Its texts have no hidden characters and at most 2 KiB.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpPrompt {
    /// The name, as the server wrote it.
    pub name: String,
    /// The title that people read.
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The arguments, in their order.
    pub arguments: Vec<McpArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpArgument {
    /// The name, as the server wrote it.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// `true` if the prompt cannot be read without it.
    pub is_required: bool,
}

fn clean(text: Option<String>) -> Option<String> {
    text.map(|text| cleaned::description(&text))
}

impl From<Resource> for McpResource {
    fn from(resource: Resource) -> Self {
        Self {
            uri: resource.uri,
            is_template: false,
            name: cleaned::description(&resource.name),
            title: clean(resource.title),
            description: clean(resource.description),
            media_type: clean(resource.mime_type),
        }
    }
}

impl From<ResourceTemplate> for McpResource {
    fn from(template: ResourceTemplate) -> Self {
        Self {
            uri: template.uri_template,
            is_template: true,
            name: cleaned::description(&template.name),
            title: clean(template.title),
            description: clean(template.description),
            media_type: clean(template.mime_type),
        }
    }
}

impl From<Prompt> for McpPrompt {
    fn from(prompt: Prompt) -> Self {
        let arguments = prompt.arguments.unwrap_or_default().into_iter().map(|argument| McpArgument {
            name: argument.name,
            description: clean(argument.description),
            is_required: argument.required == Some(true),
        });
        Self {
            name: prompt.name,
            title: clean(prompt.title),
            description: clean(prompt.description),
            arguments: arguments.collect(),
        }
    }
}
