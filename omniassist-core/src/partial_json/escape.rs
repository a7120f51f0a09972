/// An escape in a string that is not complete, from its backslash on.
#[derive(Debug, Clone, Default)]
pub(super) struct Escape {
    text: String,
}

impl Escape {
    pub(super) fn is_open(&self) -> bool {
        !self.text.is_empty()
    }

    pub(super) fn begin(&mut self) {
        self.text.push('\\');
    }

    /// Adds a byte. Returns the character if the escape is complete. A surrogate pair is one escape.
    pub(super) fn add(&mut self, byte: u8) -> Result<Option<char>, &'static str> {
        let simple = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            _ => '\0',
        };
        match (self.text.len(), byte) {
            (1, _) if simple != '\0' => {
                self.text.clear();
                return Ok(Some(simple));
            }
            (1 | 7, b'u') | (6, b'\\') => {}
            (2..=5 | 8.., _) if byte.is_ascii_hexdigit() => {}
            (6 | 7, _) => return Err(HALF_PAIR),
            _ => return Err("an unknown escape"),
        }
        self.text.push(char::from(byte));
        match (self.unit(2), self.unit(8)) {
            (Some(0xd800..0xdc00), None) | (None, _) => Ok(None),
            (Some(first), second) => {
                self.text.clear();
                let mut chars = char::decode_utf16([first].into_iter().chain(second));
                chars.next().and_then(Result::ok).map(Some).ok_or(HALF_PAIR)
            }
        }
    }

    /// Returns the UTF-16 unit whose digits begin at an offset.
    fn unit(&self, at: usize) -> Option<u16> {
        u16::from_str_radix(self.text.get(at..at + 4)?, 16).ok()
    }
}

const HALF_PAIR: &str = "half a surrogate pair";
