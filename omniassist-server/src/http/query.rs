use http::Uri;
use omniassist_core::Error;

/// What clients ask for in a request's query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Protocol {
    /// The AI SDK's UI message stream.
    #[default]
    Data,
    /// Plain text.
    Text,
}

impl Protocol {
    /// `?protocol=`, in the words of the AI SDK's `streamProtocol`.
    pub(super) fn of(uri: &Uri) -> Result<Self, Error> {
        match value(uri, "protocol") {
            None | Some("data") => Ok(Self::Data),
            Some("text") => Ok(Self::Text),
            Some(_) => Err(Error::invalid_field("?protocol", "data or text", "another value")),
        }
    }
}

/// The value of a parameter, as it is written.
pub(super) fn value<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let pairs = uri.query().unwrap_or_default().split('&');
    pairs.filter_map(|pair| pair.split_once('=')).find_map(|(key, value)| (key == name).then_some(value))
}
