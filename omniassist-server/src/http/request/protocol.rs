use http::Uri;
use omniassist_core::Error;
use percent_encoding::percent_decode_str;

/// The stream protocol that a client asks for in the request's query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::http) enum Protocol {
    /// The AI SDK's UI message stream.
    #[default]
    Data,
    Text,
}

impl Protocol {
    /// Reads `?protocol=`, which has the values of the AI SDK's `streamProtocol`.
    pub(in crate::http) fn of(uri: &Uri) -> Result<Self, Error> {
        match query_value(uri, "protocol") {
            None | Some("data") => Ok(Self::Data),
            Some("text") => Ok(Self::Text),
            Some(_) => Err(Error::invalid_field("?protocol", "data or text", "another value")),
        }
    }
}

/// Decodes the value of a query parameter, in which a form writes a space as `+`.
pub(in crate::http) fn decoded(value: &str) -> Vec<u8> {
    percent_decode_str(&value.replace('+', " ")).collect()
}

/// Returns the value of a query parameter without decoding it.
pub(in crate::http) fn query_value<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let pairs = uri.query().unwrap_or_default().split('&');
    pairs.filter_map(|pair| pair.split_once('=')).find_map(|(key, value)| (key == name).then_some(value))
}
