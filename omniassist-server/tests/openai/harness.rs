//! The decoder of each API.

use omniassist_server::core::Limits;
use omniassist_server::provider::WireDecoder;
use omniassist_server::provider::openai::{ChatDecoder, ResponsesDecoder};

use crate::recordings::{self, Decoded};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Responses,
    Chat,
}

impl Api {
    pub(crate) fn decoder(self) -> Box<dyn WireDecoder> {
        let limits = Limits::default();
        match self {
            Self::Responses => Box::new(ResponsesDecoder::new(&limits)),
            Self::Chat => Box::new(ChatDecoder::new(&limits, "test")),
        }
    }
}

pub(crate) fn decode<'a>(api: Api, chunks: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    recordings::decode(api.decoder(), chunks)
}

pub(crate) fn whole(api: Api, bytes: &[u8]) -> Decoded {
    decode(api, [bytes])
}
