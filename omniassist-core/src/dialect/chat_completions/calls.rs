use crate::{JsonText, Text};

/// The caller's tool calls of one streamed answer.
///
/// A call cannot be taken back once it was streamed, and whether it is one to run is known only when the model's turn
/// is over: arguments that do not fit, and a turn that was cut, veto it. So what might close the arguments is held
/// back until then, and arguments that were never approved do not parse.
///
/// Clients take a call for complete when the next one begins. So one call is streamed at a time; those that the model
/// makes beside it come whole, once they are known to be ones to run.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    begun: usize,
    open: Option<Open>,
    any_approved: bool,
}

/// The call that is being streamed.
#[derive(Debug, Clone)]
struct Open {
    index: usize,
    id: Text,
    /// From the last closing brace on.
    held: String,
    /// `true` once anything but white space was passed on.
    said: bool,
}

impl Calls {
    /// Begins to stream a call, and gives its index; `None` while another one is streamed.
    pub(super) fn begin(&mut self, id: &Text) -> Option<usize> {
        if self.open.is_some() {
            return None;
        }
        let index = self.begun;
        self.begun += 1;
        self.open = Some(Open { index, id: id.clone(), held: String::new(), said: false });
        Some(index)
    }

    /// Begins a call that is one to run, in place of one that is still streamed: calls are settled in the model's order,
    /// so that one will not be.
    pub(super) fn begin_whole(&mut self, id: &Text) -> Option<usize> {
        self.open = None;
        self.begin(id)
    }

    /// Takes a piece of a call's arguments. `pass_on` gets the call's index and what may be passed on.
    pub(super) fn piece(&mut self, id: &str, piece: &str, mut pass_on: impl FnMut(usize, &str)) {
        let Some(call) = self.open.as_mut().filter(|call| call.id == *id) else { return };
        let (clear, brace) = match piece.rfind('}') {
            Some(at) => piece.split_at(at),
            None if !call.held.is_empty() && piece.trim().is_empty() => ("", piece),
            None => (piece, ""),
        };
        if brace.starts_with('}') || !clear.is_empty() {
            call.said |= !call.held.is_empty() || !clear.trim().is_empty();
            for part in [call.held.as_str(), clear] {
                if !part.is_empty() {
                    pass_on(call.index, part);
                }
            }
            call.held.clear();
        }
        call.held.push_str(brace);
    }

    /// The call is one to run. `pass_on` gets its index and what is left of its arguments. `false` for a call that is
    /// not being streamed.
    pub(super) fn approve(
        &mut self,
        id: &str,
        input: &JsonText,
        mut pass_on: impl FnMut(usize, &str),
    ) -> bool {
        let Some(call) = self.open.take_if(|call| call.id == *id) else { return false };
        if !call.said && call.held.is_empty() {
            pass_on(call.index, input.as_str());
        } else if !call.held.is_empty() {
            pass_on(call.index, &call.held);
        }
        self.any_approved = true;
        true
    }

    /// The call is none to run: what was streamed of it stays as it is.
    pub(super) fn give_up(&mut self, id: &str) {
        self.open.take_if(|call| call.id == *id);
    }

    /// Returns `true` once a call was handed over.
    pub(super) fn any_approved(&self) -> bool {
        self.any_approved
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Returns the pieces that are passed on before and after the call is approved.
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
    fn one_call_is_streamed_at_a_time() {
        let mut calls = Calls::default();
        assert_eq!((calls.begin(&"a".into()), calls.begin(&"b".into())), (Some(0), None));
        let mut seen = Vec::new();
        for (id, piece) in [("a", "{\"x\":1"), ("b", "{\"y\":{}}"), ("a", "}"), ("none", "{")] {
            calls.piece(id, piece, |index, part| seen.push((index, part.to_owned())));
        }
        assert_eq!(seen, [(0, "{\"x\":1".to_owned())]);
        let ignored = |_: usize, _: &str| panic!("nothing of it is streamed");
        assert!(!calls.approve("b", &JsonText::EMPTY_OBJECT, ignored) && !calls.any_approved());
        assert!(
            calls.approve("a", &JsonText::EMPTY_OBJECT, |index, part| assert_eq!((index, part), (0, "}")))
        );
        assert!(calls.any_approved() && !calls.approve("a", &JsonText::EMPTY_OBJECT, ignored), "once");
        assert_eq!(calls.begin(&"b".into()), Some(1));
    }

    #[test]
    fn a_call_that_is_given_up_makes_room() {
        let mut calls = Calls::default();
        calls.begin(&"a".into());
        calls.give_up("b");
        assert_eq!(calls.begin(&"b".into()), None);
        calls.give_up("a");
        assert_eq!(calls.begin(&"b".into()), Some(1));
        assert!(!calls.any_approved());
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
