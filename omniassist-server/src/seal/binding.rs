use hmac::Mac as _;
use omniassist_core::message::{OWN_KEY, ProviderMetadata};
use omniassist_core::{JsonText, canonical};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::keys::{Mac, SealKeys};
use super::token::{self, MAC_BYTES, Token};

/// The first field of every seal, so that a hash made with the same key for another purpose is not a seal.
const DOMAIN: &str = "omniassist seal";

const VERSION: u8 = 1;

/// The size of the fields of most seals in bytes.
const FIELDS_BYTES: usize = 512;

pub(super) type Digest = [u8; 32];

/// The digest of `{}`, the state of most parts.
const EMPTY_OBJECT: Digest = [
    0x44, 0x13, 0x6f, 0xa3, 0x55, 0xb3, 0x67, 0x8a, 0x11, 0x46, 0xad, 0x16, 0xf7, 0xe8, 0x64, 0x9e, 0x94,
    0xfb, 0x4f, 0xc2, 0x1f, 0xe7, 0x7e, 0x83, 0x10, 0xc0, 0x60, 0xf6, 0x1c, 0xaa, 0xff, 0x8a,
];

/// The context of a sealed part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) chat: Option<&'a str>,
    pub(super) principal: Option<&'a str>,
    /// The assistant's message.
    pub(super) message: &'a str,
}

/// The claim that a seal proves.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sealed<'a> {
    /// The assistant's text, with the provider's state.
    Text { text: &'a Digest, state: &'a Digest },
    /// The assistant's reasoning, with the provider's state.
    Reasoning { text: &'a Digest, state: &'a Digest },
    /// A call that the server or the provider runs.
    Call { call: Call<'a>, state: &'a Digest },
    /// A call that was left to the client.
    ClientCall { call: Call<'a>, state: &'a Digest },
    /// A call that could not be run. Its arguments are not bound: clients put them elsewhere, or lose them.
    FailedCall { id: &'a str, name: &'a str, state: &'a Digest },
    /// The output of a call.
    Output { call: Call<'a>, output: &'a Digest },
    /// The error of a call. The arguments are not bound, as above.
    Error { id: &'a str, name: &'a str, text: &'a Digest },
    /// A request for the approval of a call, which leaves the call open, by a named agent or by the assistant. Agents may
    /// have different tools of one name.
    Approval { id: &'a str, call: Call<'a>, agent: Option<&'a str> },
    /// The same for a call of an agent that was asked by a call of this one.
    AskedApproval { id: &'a str, call: Call<'a>, agent: Option<&'a str>, asked_by: &'a str },
    /// The state of an instance of a component, in no message: everything but the part that the user may change.
    Instance { id: &'a str, component: &'a str, rev: u64, server: &'a Digest },
    /// A note about a long conversation: the rate of its tokens, and a summary of the messages with a digest.
    History { rate: u32, covers: &'a Digest, text: &'a Digest },
}

/// A call with exact arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) arguments: &'a Digest,
}

/// Returns the hash that proves a claim under one key until its expiry.
fn hash(mac: &Mac, key: &str, expiry: u64, scope: Scope<'_>, sealed: Sealed<'_>) -> Mac {
    let mut fields = Fields(Vec::with_capacity(FIELDS_BYTES));
    fields.bytes(DOMAIN.as_bytes());
    fields.byte(VERSION);
    fields.bytes(key.as_bytes());
    fields.number(expiry);
    fields.optional(scope.chat);
    fields.optional(scope.principal);
    fields.bytes(scope.message.as_bytes());
    match sealed {
        Sealed::Text { text, state } => fields.kind(1).digest(text).digest(state),
        Sealed::Reasoning { text, state } => fields.kind(2).digest(text).digest(state),
        Sealed::Call { call, state } => fields.kind(3).call(call).digest(state),
        Sealed::ClientCall { call, state } => fields.kind(4).call(call).digest(state),
        Sealed::FailedCall { id, name, state } => fields.kind(5).text(id).text(name).digest(state),
        Sealed::Output { call, output } => fields.kind(6).call(call).digest(output),
        Sealed::Error { id, name, text } => fields.kind(7).text(id).text(name).digest(text),
        Sealed::Approval { id, call, agent } => {
            fields.kind(8).text(id).call(call);
            if let Some(agent) = agent { fields.text(agent) } else { &mut fields }
        }
        Sealed::AskedApproval { id, call, agent, asked_by } => {
            fields.kind(10).text(id).call(call).text(asked_by);
            if let Some(agent) = agent { fields.text(agent) } else { &mut fields }
        }
        Sealed::Instance { id, component, rev, server } => {
            fields.kind(11).text(id).text(component).digest(server);
            fields.number(rev);
            &mut fields
        }
        Sealed::History { rate, covers, text } => {
            fields.kind(9).digest(covers).digest(text);
            fields.number(rate.into());
            &mut fields
        }
    };
    mac.clone().chain_update(&fields.0)
}

/// Returns the context of the state that a call keeps at its client until this expiry.
pub(super) fn place_of_state(scope: Scope<'_>, asked_by: &str, expiry: u64) -> Vec<u8> {
    let mut fields = Fields(Vec::with_capacity(FIELDS_BYTES));
    fields.bytes(b"omniassist agent state");
    fields.byte(VERSION);
    fields.number(expiry);
    fields.optional(scope.chat);
    fields.optional(scope.principal);
    fields.bytes(scope.message.as_bytes());
    fields.bytes(asked_by.as_bytes());
    fields.0
}

/// Returns a seal under the current key. `expiry` is in seconds since 1970; 0: never.
pub(super) fn seal(keys: &SealKeys, expiry: u64, scope: Scope<'_>, sealed: Sealed<'_>) -> Option<String> {
    let key = keys.current_id();
    let whole = hash(keys.mac(key)?, key, expiry, scope, sealed).finalize().into_bytes();
    let (cut, _) = whole.split_first_chunk::<MAC_BYTES>()?;
    Some(token::write(key, expiry, cut))
}

/// Returns `true` if a seal under this key proves the claim. The comparison takes constant time.
pub(super) fn proves(token: &Token<'_>, mac: &Mac, scope: Scope<'_>, sealed: Sealed<'_>) -> bool {
    let Some(posted) = token.mac_bytes() else { return false };
    hash(mac, token.key, token.expiry, scope, sealed).verify_truncated_left(&posted).is_ok()
}

/// A list of fields, each with its length before it: two lists are never the same bytes.
///
/// They are hashed in one piece, since a few bytes cost nearly as much as a block.
struct Fields(Vec<u8>);

impl Fields {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.0.extend_from_slice(bytes);
    }

    /// Adds a field that may be absent. An absent field and an empty one differ.
    fn optional(&mut self, text: Option<&str>) {
        self.byte(u8::from(text.is_some()));
        self.bytes(text.unwrap_or_default().as_bytes());
    }

    fn kind(&mut self, kind: u8) -> &mut Self {
        self.byte(kind);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes());
        self
    }

    fn digest(&mut self, digest: &Digest) -> &mut Self {
        self.0.extend_from_slice(digest);
        self
    }

    fn call(&mut self, call: Call<'_>) -> &mut Self {
        self.text(call.id).text(call.name).digest(call.arguments)
    }
}

pub(super) fn text_digest(text: &str) -> Digest {
    Sha256::digest(text).into()
}

/// Returns the digest of a value's canonical form; `buffer` is scratch space. `None`: the value has no such form.
pub(super) fn json_digest(json: &JsonText, buffer: &mut Vec<u8>) -> Option<Digest> {
    buffer.clear();
    canonical::append(json, buffer)?;
    Some(Sha256::digest(&*buffer).into())
}

/// Returns the digest of the provider's state in metadata: the entries that clients take (those in two levels), without this
/// project's own entry. The arguments as the model wrote them are part of it.
pub(super) fn state_digest(metadata: Option<&ProviderMetadata>, buffer: &mut Vec<u8>) -> Option<Digest> {
    let arguments = metadata.and_then(|metadata| metadata.own_text(ProviderMetadata::ARGUMENTS));
    let mut state = metadata
        .into_iter()
        .flat_map(|metadata| metadata.iter())
        .filter(|(key, value)| *key != OWN_KEY && value.is_object())
        .map(|(key, value)| (key.clone(), value.clone()))
        .chain(arguments.map(|arguments| (OWN_KEY.to_owned(), arguments.into())))
        .peekable();
    if state.peek().is_none() {
        return Some(EMPTY_OBJECT);
    }
    json_digest(&JsonText::from_value(&Value::Object(state.collect())), buffer)
}

/// Returns the name of a call in a [`ReplayGuard`](super::ReplayGuard), the same for every approval of the call. Each state
/// with which a call runs again makes another name. It does not depend on a key, so all servers that share a guard agree.
pub(super) fn call_key(
    scope: Scope<'_>,
    id: &str,
    name: &str,
    arguments: &JsonText,
    state: Option<&str>,
) -> Digest {
    let mut fields = Fields(Vec::with_capacity(FIELDS_BYTES));
    match state {
        None => fields.bytes(b"omniassist approved call"),
        Some(state) => {
            fields.bytes(b"omniassist resumed call");
            fields.bytes(state.as_bytes());
        }
    }
    fields.optional(scope.chat);
    fields.optional(scope.principal);
    fields.bytes(scope.message.as_bytes());
    let mut buffer = Vec::new();
    let arguments = json_digest(arguments, &mut buffer).unwrap_or_else(|| text_digest(arguments.as_str()));
    fields.call(Call { id, name, arguments: &arguments });
    Sha256::digest(&fields.0).into()
}
