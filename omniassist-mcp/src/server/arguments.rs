use omniassist_server::core::{JsonText, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The arguments of a call as the client wrote them. `rmcp` reads numbers beyond 64 bits as doubles.
#[derive(Debug, Clone)]
pub(super) struct WrittenArguments(pub(super) JsonText);

#[derive(Deserialize)]
struct Posted<'a> {
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: &'a RawValue,
}

impl WrittenArguments {
    /// Reads the arguments in the body of a request. `None` for a request without any.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        let posted: Posted<'_> = serde_json::from_slice(body).ok()?;
        JsonText::parse(Text::from(posted.params.arguments.get())).ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let read =
            |body: &str| WrittenArguments::read(body.as_bytes()).map(|read| read.0.as_str().to_owned());
        let body = r#"{"id":1,"params":{"name":"t","arguments":{"id":123456789012345678901234567890}}}"#;
        assert_eq!(read(body).unwrap(), r#"{"id":123456789012345678901234567890}"#);
        assert_eq!(read(r#"{"id":1,"params":{"name":"t"}}"#), None);
        assert_eq!(read("[]"), None);
    }
}
