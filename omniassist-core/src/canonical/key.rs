use std::str::Chars;

/// Bytes whose order is that of a key's UTF-16 code units, among keys that all give such bytes. Long keys with the same
/// beginning are then compared as fast as memory is.
pub(super) fn sortable(key: &[u8]) -> Vec<u8> {
    let content = str::from_utf8(key).unwrap_or_default();
    Units::of(content).flat_map(u16::to_be_bytes).collect()
}

/// The UTF-16 code units of a JSON string's content.
pub(super) struct Units<'a> {
    rest: Chars<'a>,
    /// The second half of a character that was just begun.
    low: Option<u16>,
}

impl<'a> Units<'a> {
    /// The rest of the content, behind what was read.
    pub(super) fn of(content: &'a str) -> Self {
        Self { rest: content.chars(), low: None }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest.as_str()
    }
}

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        if let Some(low) = self.low.take() {
            return Some(low);
        }
        let character = self.rest.next()?;
        if character != '\\' {
            let mut units = [0; 2];
            let mut units = character.encode_utf16(&mut units).iter().copied();
            let first = units.next();
            self.low = units.next();
            return first;
        }
        Some(match self.rest.next()? {
            'b' => 0x08,
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'u' => {
                let rest = self.rest.as_str();
                let digits: &[u8; 4] = rest.as_bytes().first_chunk()?;
                let mut unit = 0;
                for digit in digits {
                    unit = unit << 4 | hex(*digit)?;
                }
                self.rest = rest.get(4..)?.chars();
                unit
            }
            other => u16::try_from(u32::from(other)).ok()?,
        })
    }
}

fn hex(digit: u8) -> Option<u16> {
    let value = match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => return None,
    };
    Some(u16::from(value))
}
