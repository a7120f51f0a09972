/// Puts the text of several steps together to one: a blank line stands between the text of two steps.
#[derive(Debug, Clone, Default)]
pub(super) struct TextFlow {
    said: bool,
    new_step: bool,
    /// Line feeds at the end of what was said, up to two.
    line_feeds: u8,
}

impl TextFlow {
    /// A step begins.
    pub(super) fn step(&mut self) {
        self.new_step = true;
    }

    /// Returns the text between the text so far and this piece.
    pub(super) fn separator(&mut self, piece: &str) -> &'static str {
        let between = match (self.said && self.new_step, self.line_feeds) {
            (false, _) | (true, 2..) => "",
            (true, 1) => "\n",
            (true, 0) => "\n\n",
        };
        self.new_step = false;
        self.said = true;
        self.line_feeds = match piece.as_bytes() {
            [.., b'\n', b'\n'] => 2,
            [b'\n'] => (self.line_feeds + 1).min(2),
            [.., b'\n'] => 1,
            _ => 0,
        };
        between
    }
}
