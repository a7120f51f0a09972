use crate::{JsonText, Text};

/// The caller's tool calls of one streamed answer.
///
/// A call cannot be taken back once it was streamed, and whether it is one to run is known only when the model's turn
/// is over: arguments that do not fit, and a turn that was cut, veto it. So what might close the arguments is held
/// back until then, and arguments that were never approved do not parse.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
}

#[derive(Debug, Clone)]
struct Call {
    id: Text,
    /// From the last closing brace on.
    held: String,
    /// Whether anything but white space was passed on.
    said: bool,
    done: bool,
}

impl Calls {
    /// Begins a call and gives its index.
    pub(super) fn begin(&mut self, id: &Text) -> usize {
        self.calls.push(Call { id: id.clone(), held: String::new(), said: false, done: false });
        self.calls.len() - 1
    }

    fn open(&mut self, id: &str) -> Option<(usize, &mut Call)> {
        self.calls.iter_mut().enumerate().rev().find(|(_, call)| call.id == id && !call.done)
    }

    /// Takes a piece of a call's arguments. `pass_on` gets the call's index and what may be passed on.
    pub(super) fn piece(&mut self, id: &str, piece: &str, mut pass_on: impl FnMut(usize, &str)) {
        let Some((index, call)) = self.open(id) else { return };
        let (clear, brace) = match piece.rfind('}') {
            Some(at) => piece.split_at(at),
            None if !call.held.is_empty() && piece.trim().is_empty() => ("", piece),
            None => (piece, ""),
        };
        if brace.starts_with('}') || !clear.is_empty() {
            call.said |= !call.held.is_empty() || !clear.trim().is_empty();
            for part in [call.held.as_str(), clear] {
                if !part.is_empty() {
                    pass_on(index, part);
                }
            }
            call.held.clear();
        }
        call.held.push_str(brace);
    }

    /// The call is one to run. `pass_on` gets its index and what is left of its arguments. `false` for a call that was
    /// not begun.
    pub(super) fn approve(
        &mut self,
        id: &str,
        input: &JsonText,
        mut pass_on: impl FnMut(usize, &str),
    ) -> bool {
        let Some((index, call)) = self.open(id) else { return false };
        let held = std::mem::take(&mut call.held);
        if !call.said && held.is_empty() {
            pass_on(index, input.as_str());
        } else if !held.is_empty() {
            pass_on(index, &held);
        }
        call.done = true;
        true
    }

    /// Whether a call was handed over.
    pub(super) fn any_done(&self) -> bool {
        self.calls.iter().any(|call| call.done)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// What is passed on of a call before and after it is approved.
    fn streamed(pieces: &[&str]) -> (String, String) {
        let mut calls = Calls::default();
        let (mut before, mut after) = (String::new(), String::new());
        calls.begin(&"c".into());
        for piece in pieces {
            calls.piece("c", piece, |index, part| {
                assert_eq!(index, 0);
                assert!(!part.is_empty());
                before.push_str(part);
            });
        }
        let whole = pieces.concat();
        let input = JsonText::parse(if whole.trim().is_empty() { "{}" } else { &whole }).unwrap();
        assert!(calls.approve("c", &input, |_, part| after.push_str(part)));
        (before, after)
    }

    #[test]
    fn the_end_is_held_back() {
        assert_eq!(streamed(&["{\"a\":", "1}"]), ("{\"a\":1".into(), "}".into()));
        assert_eq!(streamed(&["{\"a\":{}", "}", "\n", " "]), ("{\"a\":{}".into(), "}\n ".into()));
        assert_eq!(streamed(&["{\"a\":\"}", " ", "}\"", "}"]), ("{\"a\":\"} }\"".into(), "}".into()));
        assert_eq!(streamed(&["{}"]), ("{".into(), "}".into()));
    }

    #[test]
    fn a_call_without_pieces_gets_its_arguments_at_the_end() {
        assert_eq!(streamed(&[]), (String::new(), "{}".into()));
        assert_eq!(streamed(&[" "]), (" ".into(), "{}".into()));
    }

    #[test]
    fn calls_do_not_mix() {
        let mut calls = Calls::default();
        assert_eq!((calls.begin(&"a".into()), calls.begin(&"b".into())), (0, 1));
        let mut seen = Vec::new();
        for (id, piece) in [("a", "{\"x\":1"), ("b", "{\"y\":{}}"), ("a", "}"), ("none", "{")] {
            calls.piece(id, piece, |index, part| seen.push((index, part.to_owned())));
        }
        assert_eq!(seen, [(0, "{\"x\":1".to_owned()), (1, "{\"y\":{}".to_owned())]);
        assert!(!calls.any_done());
        assert!(!calls.approve("none", &JsonText::EMPTY_OBJECT, |_, _| {}));
        assert!(
            calls.approve("b", &JsonText::EMPTY_OBJECT, |index, part| assert_eq!((index, part), (1, "}")))
        );
        assert!(calls.any_done());
        assert!(!calls.approve("b", &JsonText::EMPTY_OBJECT, |_, _| {}), "once");
    }

    fn object() -> impl Strategy<Value = String> {
        let leaf =
            prop_oneof!["[{}\\[\\]\"\\\\ a]{0,6}".prop_map(Value::from), any::<i32>().prop_map(Value::from)];
        let value = leaf.prop_recursive(3, 12, 3, |inner| {
            prop::collection::btree_map("[{}a]{0,3}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
        });
        (prop::collection::btree_map("[{}a]{0,3}", value, 0..3), any::<bool>()).prop_map(|(map, pretty)| {
            let value = Value::Object(map.into_iter().collect());
            if pretty { format!(" {value:#}\n\n") } else { value.to_string() }
        })
    }

    proptest! {
        #[test]
        fn whole_when_approved_and_never_before(json in object(), cuts in prop::collection::vec(0..40_usize, 0..12)) {
            let mut pieces = Vec::new();
            let mut rest = json.as_str();
            for cut in cuts {
                if let Some((piece, tail)) = rest.split_at_checked(cut) {
                    pieces.push(piece);
                    rest = tail;
                }
            }
            pieces.push(rest);
            let (before, after) = streamed(&pieces);
            prop_assert_eq!(format!("{before}{after}"), json);
            prop_assert!(serde_json::from_str::<Value>(&before).is_err());
        }
    }
}
