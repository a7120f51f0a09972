//! The chat widget for web pages: modules that the assistant serves, and the tag that loads them.
//!
//! A page shows the assistant with two lines. The element finds the assistant by the URL of its module:
//!
//! ```html
//! <script type="module" src="/assistant/widget.js"></script>
//! <omniassist-chat mode="popup"></omniassist-chat>
//! ```
//!
//! `GET /widget.js` is short and revalidated at each load. It loads a module below `/w/{folder}/`, which loads others
//! there when they are needed. Browsers keep them for a year: the name of the folder changes with each of them. They are
//! compressed with brotli or gzip where the browser accepts
//! it. Like every script of a page, they are served without credentials; they are the same for every caller, and have
//! nothing secret.
//!
//! Where pages are rendered by the application, [`tag`] names the module itself. That saves a request, and the browser
//! checks its hash. The downside: a page that was rendered by an earlier release names modules that are gone, so use
//! `/widget.js` if pages are cached. In both cases, a server has the modules of its own release only. A page that is open
//! while the application is updated may ask for a part that is gone, and works again after a reload.
//!
//! A layer of the application that authenticates requests also sees those for scripts, which carry cookies at most. Let
//! `GET /widget.js` and the paths below `/w/` pass such a layer if it expects a header.
//!
//! The page needs `script-src` and `connect-src` for the assistant's origin in its `Content-Security-Policy`, and no
//! `style-src`. Pages of other origins need [`allow_origin`](crate::AssistantBuilder::allow_origin).

mod asset;
mod assets;

use std::iter;

pub(crate) use asset::Asset;

/// Returns the module of this name in this folder.
pub(crate) fn asset(folder: &str, name: &str) -> Option<&'static Asset> {
    let assets = iter::once(&assets::ENTRY).chain(assets::LAZY);
    assets.filter(|_| folder == assets::FOLDER).find(|asset| asset.name == name)
}

/// Returns the path below the assistant of the module that a page loads at once.
pub(crate) fn entry() -> String {
    format!("w/{}/{}", assets::FOLDER, assets::ENTRY.name)
}

/// Returns the HTML element that loads the widget of the assistant at `mount`, with the hash of its module.
///
/// `mount` is the path at which clients see the assistant, or its URL for a page of another origin.
///
/// ```
/// let tag = omniassist_server::widget::tag("/assistant");
///
/// assert!(tag.starts_with(r#"<script type="module" src="/assistant/w/"#));
/// assert!(tag.contains(r#"integrity="sha384-"#));
/// ```
#[must_use]
pub fn tag(mount: &str) -> String {
    let mount = mount.trim_end_matches('/').replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let (path, integrity) = (entry(), assets::ENTRY.integrity);
    format!(r#"<script type="module" src="{mount}/{path}" integrity="{integrity}" crossorigin></script>"#)
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn a_tag_cannot_be_left_by_the_mount() {
        let tag = tag(r#"/a"><script>&"#);
        assert!(tag.contains(r#"src="/a&quot;>&lt;script>&amp;/w/"#), "{tag}");
        assert!(!tag.contains(r#""><script>"#), "{tag}");
    }

    #[test]
    fn a_mount_at_the_root_needs_no_name() {
        for mount in ["", "/"] {
            assert!(tag(mount).contains(r#"src="/w/"#));
        }
        assert!(
            tag("https://api.example.com/assistant/")
                .contains(r#"src="https://api.example.com/assistant/w/"#)
        );
    }
}
