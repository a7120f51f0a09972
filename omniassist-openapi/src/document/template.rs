//! Paths with placeholders.

/// A path such as `/orders/{id}/lines`.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub(crate) text: String,
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Name(String),
}

impl Template {
    /// Reads a path. The error tells what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if !text.starts_with('/') {
            return Err("a path begins with `/`");
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or("the path has an open brace")?;
            if name.is_empty() || name.contains('{') || before.contains('}') {
                return Err("the path has a brace without a name");
            }
            pieces.push(Piece::Text(before.to_owned()));
            if pieces.contains(&Piece::Name(name.to_owned())) {
                return Err("the path has a name twice");
            }
            pieces.push(Piece::Name(name.to_owned()));
            rest = after;
        }
        if rest.contains('}') {
            return Err("the path has a brace without a name");
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self { text: text.to_owned(), pieces })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Name(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// Returns `true` if the fixed part has a query or a fragment.
    pub(crate) fn has_query(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(['?', '#'])))
    }
}
