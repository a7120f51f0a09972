use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{columns_of, joined, panel, wrapped};
use super::schema::compact;
use super::{Field, Link, Picture};
use crate::component::{Component, TextArea};

const DESCRIPTION: &str = "Shows one thing, such as a customer, an order or a place.";

/// Props of `card`: one thing, such as a customer, an order or a place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = compact)]
pub struct Card {
    /// The heading.
    #[schemars(description = "")]
    pub title: String,
    /// A line below the heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub subtitle: Option<String>,
    /// A paragraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub text: Option<String>,
    /// A picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub image: Option<Picture>,
    /// Details with their labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub fields: Option<Vec<Field>>,
    /// A link below the details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(description = "")]
    pub link: Option<Link>,
}

/// Returns `card`.
pub fn card() -> Component {
    Component::new::<Card>("card", DESCRIPTION).cli(text)
}

/// Returns the card in a box.
pub(super) fn text(card: &Card, area: &TextArea) -> String {
    let columns = columns_of(area);
    let inner = columns - 4;
    let mut lines = Vec::new();
    for text in [&card.subtitle, &card.text].into_iter().flatten() {
        lines.extend(wrapped(text, inner));
    }
    if let Some(image) = &card.image {
        lines.extend(super::image::lines(&image.url, &image.alt, inner));
    }
    lines.extend(super::field::lines(card.fields.as_deref().unwrap_or_default(), inner));
    if let Some(link) = &card.link {
        lines.extend(super::link::lines(link, inner));
    }
    joined(&panel(&card.title, &lines, columns), area)
}
