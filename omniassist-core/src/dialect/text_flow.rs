/// Joins the texts of several steps, with a blank line between them.
#[derive(Debug, Clone, Default)]
pub(super) struct TextFlow {
    said: bool,
    new_step: bool,
    /// The number of line feeds at the end of the text so far, at most two.
    line_feeds: u8,
}

impl TextFlow {
    /// Starts a step.
    pub(super) fn step(&mut self) {
        self.new_step = true;
    }

    /// Returns the separator between the text so far and `piece`.
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
