use std::collections::BTreeMap;

use bytes::Bytes;

use super::varint;

/// The fields of a record beside its content: the agent that the record belongs to, and the call that asks it. A record
/// of the run itself has none. Fields with unknown keys are kept.
///
/// ```
/// use omniassist_core::journal::Head;
///
/// let head = Head::default().with(Head::AGENT, "agent-1");
/// assert_eq!(head.agent(), Some("agent-1"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    fields: BTreeMap<u64, Bytes>,
}

impl Head {
    /// The key of the id of an agent.
    pub const AGENT: u64 = 1;
    // The keys 2 and 3 are reserved for the instance of a UI component and for a stored file.
    /// The key of the id of a call whose tool makes another call. The records of the other one have an agent's id too.
    pub const ASKED_BY: u64 = 4;

    /// Sets a field.
    #[must_use]
    pub fn with(mut self, key: u64, value: impl Into<Bytes>) -> Self {
        self.fields.insert(key, value.into());
        self
    }

    /// Returns a field.
    #[must_use]
    pub fn field(&self, key: u64) -> Option<&Bytes> {
        self.fields.get(&key)
    }

    /// Returns the id of the agent that the record belongs to. `None`: the run itself.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.field(Self::AGENT).and_then(|id| std::str::from_utf8(id).ok())
    }

    /// Returns the id of the call whose tool makes the call that the record belongs to.
    #[must_use]
    pub fn asked_by(&self) -> Option<&str> {
        self.field(Self::ASKED_BY).and_then(|id| std::str::from_utf8(id).ok())
    }

    /// Returns `true` for a record of the run itself.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Appends the fields after their length.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut fields = Vec::new();
        for (key, value) in &self.fields {
            varint::put(&mut fields, *key);
            varint::put_bytes(&mut fields, value);
        }
        varint::put_bytes(out, &fields);
    }

    /// Reads what [`write`](Self::write) has written. `segment` contains `content`.
    pub(super) fn read(segment: &Bytes, content: &mut &[u8]) -> Option<Self> {
        let mut rest = varint::take_bytes(content)?;
        let mut fields = BTreeMap::new();
        while !rest.is_empty() {
            let key = varint::take(&mut rest)?;
            fields.insert(key, segment.slice_ref(varint::take_bytes(&mut rest)?));
        }
        Some(Self { fields })
    }
}
