use omniassist_server::tool::{UserAnswer, UserForm};
use reqwest::Url;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::cleaned;
use crate::client::loopback::is_loopback;

/// The bytes of a form's schema.
const MAX_SCHEMA: usize = 16 * 1024;

/// The bytes of a URL.
const MAX_URL: usize = 2048;

/// A question that can be shown: without hidden characters, and within the limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::client) enum Question {
    /// A form.
    Form { message: String, schema: Value },
    /// A page that the user opens. It is never fetched here.
    Url { message: String, url: String, host: String },
}

/// The reason for which a question is not shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::client) struct Unshown(pub(in crate::client) &'static str);

impl Question {
    /// Checks what a server asks.
    ///
    /// # Errors
    ///
    /// Returns the reason for which users are not asked.
    pub(in crate::client) fn new(asked: ElicitRequestParams) -> Result<Self, Unshown> {
        match asked {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(requested_schema).map_err(|_| Unshown("no schema"))?;
                Self::form_of(&message, schema)
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => Self::page(&message, &url),
            _ => Err(Unshown("the mode is not known")),
        }
    }

    fn form_of(message: &str, mut schema: Value) -> Result<Self, Unshown> {
        cleaned::schema(&mut schema);
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("$schema");
        }
        // Names and values are those of the server, so they cannot be changed.
        if cleaned::has_hidden(&schema) {
            return Err(Unshown("the form has hidden characters"));
        }
        if schema.to_string().len() > MAX_SCHEMA {
            return Err(Unshown("the form is too large"));
        }
        Ok(Self::Form { message: cleaned::description(message), schema })
    }

    fn page(message: &str, url: &str) -> Result<Self, Unshown> {
        let url = Url::parse(url).map_err(|_| Unshown("the URL cannot be read"))?;
        let host = url.host_str().ok_or(Unshown("the URL has no host"))?.to_owned();
        let is_safe = match url.scheme() {
            "https" => true,
            "http" => is_loopback(&host),
            _ => false,
        };
        if !is_safe {
            return Err(Unshown("the URL is not https"));
        }
        // `https://bank.example@evil.example` shows another host first.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Unshown("the URL has a user name"));
        }
        if url.as_str().len() > MAX_URL {
            return Err(Unshown("the URL is too long"));
        }
        Ok(Self::Url { message: cleaned::description(message), host, url: url.into() })
    }

    /// Returns the form for the user.
    pub(in crate::client) fn form(&self, server: &str) -> UserForm {
        let schema = match self {
            Self::Form { schema, .. } => schema.clone(),
            Self::Url { .. } => json!({"type": "object", "properties": {}}),
        };
        UserForm::new(self.text(server), schema)
    }

    /// Returns the text of the form. Its first line is ours: it names the server, and the host of a page.
    fn text(&self, server: &str) -> String {
        match self {
            Self::Form { message, .. } => format!("The server “{server}” asks:\n{message}"),
            Self::Url { message, url, host } => {
                format!("The server “{server}” asks you to open a page of {host}:\n{url}\n\n{message}")
            }
        }
    }

    /// Returns the answer for the server. That to a page has no content.
    pub(in crate::client) fn result(&self, answer: UserAnswer) -> ElicitResult {
        match (self, answer) {
            (Self::Form { .. }, UserAnswer::Accepted(content)) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }
            (Self::Url { .. }, UserAnswer::Accepted(_)) => ElicitResult::new(ElicitationAction::Accept),
            _ => ElicitResult::new(ElicitationAction::Decline),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(params: Value) -> Result<Question, Unshown> {
        Question::new(serde_json::from_value(params).unwrap())
    }

    fn page(url: &str) -> Result<Question, Unshown> {
        asked(json!({"mode": "url", "message": "Sign in", "url": url, "elicitationId": "e"}))
    }

    #[test]
    fn a_page_is_https_and_shows_its_host() {
        let shown = page("https://xn--e1awd7f.example/a?b=c").unwrap().text("docs");
        assert_eq!(
            shown,
            "The server “docs” asks you to open a page of xn--e1awd7f.example:\n\
             https://xn--e1awd7f.example/a?b=c\n\nSign in"
        );
        for url in ["http://127.0.0.1:80/", "http://localhost/", "http://[::1]/"] {
            assert!(page(url).is_ok(), "{url}");
        }
        let refused = [
            "http://example.com/",
            "http://127.0.0.1.example.com/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "https://bank.example@evil.example/",
            "not a url",
        ];
        for url in refused {
            assert!(page(url).is_err(), "{url}");
        }
        assert!(page(&format!("https://a.example/{}", "x".repeat(3000))).is_err());
    }

    #[test]
    fn the_host_of_a_page_is_not_a_look_alike() {
        // A Cyrillic letter.
        let Question::Url { host, .. } = page("https://аpple.example/").unwrap() else { unreachable!() };
        assert_eq!(host, "xn--pple-43d.example");
    }

    #[test]
    fn a_form_has_no_hidden_characters() {
        let form = |name: &str| {
            asked(json!({"message": "Na\u{202e}me?", "requestedSchema": {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {name: {"type": "string", "title": "Na\u{200b}me"}},
            }}))
        };
        let expected = json!({"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}});
        assert_eq!(form("name"), Ok(Question::Form { message: "Name?".to_owned(), schema: expected }));
        assert!(form("na\u{202e}me").is_err());
    }

    #[test]
    fn a_form_has_a_size() {
        let values: Vec<_> = (0..5000).map(|value| format!("value{value}")).collect();
        let property = json!({"type": "string", "enum": values});
        let schema = json!({"type": "object", "properties": {"a": property}});
        assert!(asked(json!({"message": "Which?", "requestedSchema": schema})).is_err());
    }

    #[test]
    fn an_answer_is_accepted_or_declined() {
        let question =
            asked(json!({"message": "?", "requestedSchema": {"type": "object", "properties": {}}}));
        let result = question.unwrap().result(UserAnswer::Accepted(json!({"a": 1})));
        assert_eq!(serde_json::to_value(result).unwrap(), json!({"action": "accept", "content": {"a": 1}}));
        let result = page("https://a.example/").unwrap().result(UserAnswer::Accepted(json!({})));
        assert_eq!(serde_json::to_value(result).unwrap(), json!({"action": "accept"}));
    }
}
