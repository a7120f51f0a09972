use std::collections::BTreeMap;

use omniassist_server::RunContext;
use rmcp::ErrorData;
use rmcp::model::{Resource as Listed, ResourceContents, ResourceTemplate as ListedTemplate};

use super::{Resource, ResourceRequest};
use crate::server::page::page;
use crate::server::refusal;

/// The resources that are exposed, by their URIs and templates.
#[derive(Debug, Clone, Default)]
pub(in crate::server) struct Resources(BTreeMap<String, Resource>);

impl Resources {
    /// Adds a resource. It replaces the one of the same URI or template.
    pub(in crate::server) fn insert(&mut self, resource: Resource) {
        self.0.insert(resource.address.as_str().to_owned(), resource);
    }

    pub(in crate::server) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::server) fn have_completions(&self) -> bool {
        self.0.values().any(|resource| !resource.completers.is_empty())
    }

    /// Returns one page of the resources without parameters.
    pub(in crate::server) fn list(
        &self,
        caller: &RunContext,
        after: Option<&str>,
        size: usize,
    ) -> (Vec<Listed>, Option<String>) {
        let (found, more) = page(self.visible(caller, false), after, size);
        (found.into_iter().map(listed).collect(), more)
    }

    /// Returns one page of the templates.
    pub(in crate::server) fn list_templates(
        &self,
        caller: &RunContext,
        after: Option<&str>,
        size: usize,
    ) -> (Vec<ListedTemplate>, Option<String>) {
        let (found, more) = page(self.visible(caller, true), after, size);
        (found.into_iter().map(listed_template).collect(), more)
    }

    fn visible(&self, caller: &RunContext, templates: bool) -> BTreeMap<&str, &Resource> {
        let of_kind = self.0.values().filter(|resource| resource.address.is_template() == templates);
        let visible = of_kind.filter(|resource| resource.visibility.holds(caller));
        visible.map(|resource| (resource.address.as_str(), resource)).collect()
    }

    /// Returns the resource with this URI or template, as it is in a list.
    pub(in crate::server) fn get(&self, address: &str, caller: &RunContext) -> Result<&Resource, ErrorData> {
        let found = self.0.get(address).filter(|resource| resource.visibility.holds(caller));
        found.ok_or_else(|| refusal::unknown_resource(address))
    }

    /// Reads the resource of a URI: the one of exactly this URI, or else the first one in the order of the list that has it.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller sees no such resource, or it cannot be read.
    pub(in crate::server) async fn read(
        &self,
        uri: String,
        caller: RunContext,
    ) -> Result<ResourceContents, ErrorData> {
        let exact = self.0.get(&uri).filter(|resource| !resource.address.is_template());
        let templates = self.0.values().filter(|resource| resource.address.is_template());
        for resource in exact.into_iter().chain(templates) {
            let Some(parameters) = resource.address.read_uri(&uri) else { continue };
            if !resource.visibility.holds(&caller) {
                continue;
            }
            let request = ResourceRequest { uri: uri.clone(), parameters, caller: caller.clone() };
            let content = (resource.read)(request).await.map_err(|error| refusal::of_host(&error))?;
            if let Some(content) = content {
                return Ok(content.into_contents(uri, resource.media_type.as_deref()));
            }
        }
        Err(refusal::unknown_resource(&uri))
    }
}

fn listed(resource: &Resource) -> Listed {
    let mut listed = Listed::new(resource.address.as_str(), &resource.name);
    listed.title.clone_from(&resource.title);
    listed.description.clone_from(&resource.description);
    listed.mime_type.clone_from(&resource.media_type);
    listed
}

fn listed_template(resource: &Resource) -> ListedTemplate {
    let mut listed = ListedTemplate::new(resource.address.as_str(), &resource.name);
    listed.title.clone_from(&resource.title);
    listed.description.clone_from(&resource.description);
    listed.mime_type.clone_from(&resource.media_type);
    listed
}
