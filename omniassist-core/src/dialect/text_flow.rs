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

#[cfg(test)]
mod tests {
    use super::TextFlow;

    fn joined(steps: &[&[&str]]) -> String {
        let mut flow = TextFlow::default();
        let mut text = String::new();
        for step in steps {
            flow.step();
            for piece in *step {
                text.push_str(flow.separator(piece));
                text.push_str(piece);
            }
        }
        text
    }

    #[test]
    fn a_blank_line_stands_between_steps_and_nowhere_else() {
        assert_eq!(
            joined(&[&["Let me ", "look."], &[], &["It is ", "on its way."]]),
            "Let me look.\n\nIt is on its way."
        );
        assert_eq!(joined(&[&[], &["Hi"]]), "Hi");
        assert_eq!(joined(&[&["One\n"], &["two"]]), "One\n\ntwo");
        assert_eq!(joined(&[&["One", "\n", "\n"], &["two"]]), "One\n\ntwo");
        assert_eq!(joined(&[&["One\n\n\n"], &["two"]]), "One\n\n\ntwo");
    }
}
