use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{columns_of, cut, joined, one_line, wrapped};
use super::schema::compact;
use crate::component::{Component, TextArea};

const DESCRIPTION: &str = "Shows a picture.";

/// Props of `image`: a picture with its caption.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Image {
    /// The address. A page loads it only from origins that it allows.
    #[schemars(url, description = "")]
    pub url: String,
    /// A description of the picture, for those who do not see it.
    #[schemars(description = "Text in place of the image.")]
    pub alt: String,
    /// A line below the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub caption: Option<String>,
}

/// A picture within another component.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Picture {
    /// The address.
    #[schemars(url, description = "")]
    pub url: String,
    /// A description of the picture.
    #[schemars(description = "")]
    pub alt: String,
}

/// Returns `image`.
pub fn image() -> Component {
    Component::new::<Image>("image", DESCRIPTION).cli(text)
}

/// Returns the description of the picture, its address and its caption.
pub(super) fn text(image: &Image, area: &TextArea) -> String {
    let columns = columns_of(area);
    let mut lines = lines(&image.url, &image.alt, columns);
    lines.extend(image.caption.iter().flat_map(|caption| wrapped(caption, columns)));
    joined(&lines, area)
}

/// Returns the description of a picture and its address. The content of a `data:` URL is no address and is left out.
pub(super) fn lines(url: &str, alt: &str, columns: usize) -> Vec<String> {
    let mut lines = wrapped(&format!("[image: {}]", one_line(alt)), columns);
    if !url.trim_start().starts_with("data:") && !url.is_empty() {
        lines.push(cut(url, columns));
    }
    lines
}
