//! The template of `navigation`: the page that was opened, and the previous page.

use serde_json::Value;

use super::generic::{self, is_empty, text};
use super::write;

const TO: [&str; 9] = ["to", "path", "url", "href", "pathname", "fullPath", "location", "route", "page"];
const FROM: [&str; 3] = ["from", "referrer", "previous"];
const TITLE: [&str; 3] = ["title", "pageTitle", "name"];
const PARAMS: [&str; 4] = ["params", "query", "searchParams", "search"];

/// A page that was opened.
#[derive(Debug)]
pub(super) struct Navigation<'a> {
    to: Address<'a>,
    from: Option<Address<'a>>,
    title: Option<&'a str>,
    params: Vec<&'a Value>,
}

/// An address: a text, or the parts of a location object.
#[derive(Debug, Clone, Copy)]
struct Address<'a> {
    path: &'a str,
    search: &'a str,
    hash: &'a str,
}

impl<'a> Address<'a> {
    fn read(value: &'a Value) -> Option<Self> {
        match value {
            Value::String(path) if !path.is_empty() => Some(Self { path, search: "", hash: "" }),
            Value::Object(map) => {
                let path = ["fullPath", "pathname", "path", "href", "url", "name"].iter().find_map(|key| {
                    text(map, &[*key]).filter(|path| !path.is_empty()).map(|path| (*key, path))
                });
                let (key, path) = path?;
                let whole = matches!(key, "fullPath" | "href" | "url");
                let part = |name| if whole { "" } else { text(map, &[name]).unwrap_or_default() };
                Some(Self { path, search: part("search"), hash: part("hash") })
            }
            _ => None,
        }
    }

    /// Returns the part that all addresses of one page share: everything but the query, and the fragment unless it is a
    /// path.
    fn page(&self) -> (&'a str, &'a str) {
        let (path, fragment) =
            self.path.split_once('#').unwrap_or((self.path, self.hash.trim_start_matches('#')));
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        let routed = fragment.starts_with('/') || fragment.starts_with("!/");
        let fragment = fragment.split_once('?').map_or(fragment, |(fragment, _)| fragment);
        (path, if routed { fragment } else { "" })
    }

    fn write(&self, out: &mut String) {
        if self.search.is_empty() && self.hash.is_empty() {
            write::address(out, self.path);
        } else {
            write::address(out, &[self.path, self.search, self.hash].concat());
        }
    }
}

impl<'a> Navigation<'a> {
    /// Reads the data of a navigation. Returns `None` if it names no page.
    pub(super) fn read(data: &'a Value) -> Option<Self> {
        let Value::Object(map) = data else {
            return Address::read(data).map(|to| Self { to, from: None, title: None, params: Vec::new() });
        };
        let (key, mut to) = TO.iter().find_map(|key| Some((*key, Address::read(map.get(*key)?)?)))?;
        if to.search.is_empty() && !to.path.contains('?') {
            to.search = text(map, &["search"]).filter(|search| search.starts_with('?')).unwrap_or_default();
        }
        let inner = map.get(key).and_then(Value::as_object);
        let params = [Some(map), inner]
            .into_iter()
            .flatten()
            .flat_map(|map| PARAMS.iter().filter_map(|key| map.get(*key)))
            .filter(|value| !is_empty(value) && value.as_str().is_none_or(|text| text != to.search));
        Some(Self {
            to,
            from: FROM.iter().find_map(|key| Address::read(map.get(*key)?)),
            title: text(map, &TITLE).filter(|title| !title.is_empty()),
            params: params.collect(),
        })
    }

    pub(super) fn is_same_page(&self, other: &Self) -> bool {
        self.to.page() == other.to.page()
    }

    /// Keeps the origin of consecutive navigations to one page.
    pub(super) fn follow(&mut self, earlier: &Self) {
        self.from = earlier.from;
    }

    pub(super) fn write(&self, out: &mut String, previous: Option<&Self>) {
        out.push_str("Opened ");
        self.to.write(out);
        if let Some(title) = self.title {
            out.push_str(" (");
            write::quoted(out, title);
            out.push(')');
        }
        // The previous bullet already names the page that the user came from.
        let known = |from: &Address<'_>| previous.is_some_and(|previous| previous.to.page() == from.page());
        if let Some(from) = self.from.filter(|from| from.page() != self.to.page() && !known(from)) {
            out.push_str(" from ");
            from.write(out);
        }
        for (index, value) in self.params.iter().enumerate() {
            out.push_str(if index == 0 { " with " } else { ", " });
            match value {
                Value::Object(map) => generic::pairs(out, map),
                _ => write::value(out, value),
            }
        }
    }
}
