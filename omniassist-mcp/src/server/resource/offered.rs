use omniassist_server::RunContext;
use rmcp::ErrorData;
use rmcp::model::{Resource as Listed, ResourceContents, ResourceTemplate as ListedTemplate};

use super::{Resource, ResourceRequest};
use crate::server::catalogue::{Catalogue, Entry, Page};
use crate::server::completion::Completers;
use crate::server::page::Found;
use crate::server::refusal;
use crate::server::visibility::Visibility;

/// The resources that are exposed, by their URIs and templates.
pub(in crate::server) type Resources = Catalogue<Resource>;

impl Entry for Resource {
    fn key(&self) -> &str {
        self.address.as_str()
    }

    fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    fn completers(&self) -> &Completers {
        &self.completers
    }
}

impl Resources {
    /// Returns one page of the resources without parameters.
    pub(in crate::server) fn list(&self, page: Page<'_>) -> Result<Found<Listed>, ErrorData> {
        self.page(|resource| !resource.address.is_template(), listed, page)
    }

    /// Returns one page of the templates.
    pub(in crate::server) fn list_templates(
        &self,
        page: Page<'_>,
    ) -> Result<Found<ListedTemplate>, ErrorData> {
        self.page(|resource| resource.address.is_template(), listed_template, page)
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
        let exact = self.get(&uri, &caller).filter(|resource| !resource.address.is_template());
        let templates = self.all().filter(|resource| resource.address.is_template());
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
