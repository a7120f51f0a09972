use std::sync::Arc;

use crossterm::event::{KeyCode, KeyModifiers};
use omniassist_server::core::LlmPayload;
use omniassist_server::core::transcript::TranscriptItem;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use serde_json::{Value, json};

use super::Screen;

/// Returns the output of the last call in what the model was sent.
fn last_output(payload: &LlmPayload) -> Value {
    match payload.transcript.last() {
        Some(TranscriptItem::Result(result)) => result.output.to_value(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_form_is_filled_in_by_keyboard() {
    let (mut screen, demo) = Screen::demo(80, 30);
    screen.ask("a form please").await;
    assert!(screen.text().contains("Name*"), "{}", screen.text());
    screen.write("Ada");
    screen.press(KeyCode::Tab);
    screen.write("2026-13-01");
    screen.press(KeyCode::Enter);
    screen.write("2");
    screen.press(KeyCode::Tab);
    screen.press(KeyCode::Char(' '));
    screen.press(KeyCode::Right);
    screen.press(KeyCode::Tab);
    screen.press(KeyCode::Char(' '));
    screen.press(KeyCode::Tab);
    screen.write("two");
    screen.press(KeyCode::Enter);
    screen.write("lines");
    screen.press(KeyCode::Tab);
    screen.press(KeyCode::Enter);
    let shown = screen.text();
    assert!(shown.contains("Day: is not a date"), "{shown}");
    for _ in 0..10 {
        screen.press(KeyCode::Backspace);
    }
    screen.write("2026-12-01");
    for _ in 0..5 {
        screen.press(KeyCode::Tab);
    }
    screen.press(KeyCode::Enter);
    screen.answered().await;
    let values = json!({
        "name": "Ada", "day": "2026-12-01", "people": 42, "room": "Library", "lunch": true, "note": "two\nlines",
    });
    assert_eq!(last_output(demo.payloads().last().unwrap()), json!({ "values": values }));
    assert!(screen.text().contains("Thank you."), "{}", screen.text());
}

#[tokio::test]
async fn an_option_is_chosen_by_keyboard() {
    let (mut screen, demo) = Screen::demo(40, 30);
    screen.ask("choices").await;
    screen.press(KeyCode::Tab);
    screen.press(KeyCode::Down);
    screen.press(KeyCode::Up);
    screen.press(KeyCode::Char(' '));
    screen.press(KeyCode::Enter);
    screen.answered().await;
    assert_eq!(last_output(demo.payloads().last().unwrap()), json!({ "chosen": ["tue"] }));
}

#[tokio::test]
async fn a_call_runs_after_y_and_not_after_n() {
    for (key, shown) in [('y', "✓ set_target"), ('n', "✗ set_target was denied")] {
        let (mut screen, demo) = Screen::demo(80, 24);
        screen.ask("set a target").await;
        assert_eq!(demo.payloads().len(), 1);
        assert!(screen.text().contains("Run set_target with"), "{}", screen.text());
        screen.write("x");
        assert!(!screen.chat.is_running());
        screen.press(KeyCode::Char(key));
        screen.answered().await;
        let sent = last_output(demo.payloads().last().unwrap()).to_string();
        assert_eq!(sent.contains("The target of North is 1500"), key == 'y', "{sent}");
        assert!(screen.text().contains(shown), "{}", screen.text());
    }
}

#[tokio::test]
async fn the_model_reads_which_rows_are_ticked() {
    let (mut screen, demo) = Screen::demo(80, 30);
    screen.ask("a table").await;
    screen.press(KeyCode::Tab);
    screen.press(KeyCode::Char(' '));
    screen.press(KeyCode::Down);
    screen.press(KeyCode::Down);
    screen.press(KeyCode::Char(' '));
    screen.press(KeyCode::Down);
    screen.press(KeyCode::Char(' '));
    screen.press(KeyCode::Char(' '));
    let shown = screen.text();
    assert!(shown.contains("│ [x]  │ North") && shown.contains("│ [x]  │ East"), "{shown}");
    assert!(shown.contains("│ ▶[ ] │ 東京"), "{shown}");
    screen.press(KeyCode::Esc);
    screen.ask("and now?").await;
    let payloads = demo.payloads();
    let [.., before, after] = payloads.as_slice() else { panic!("{payloads:?}") };
    let sent = |payload: &LlmPayload| {
        serde_json::to_string(&*payload.transcript).unwrap() + payload.system.as_deref().unwrap_or_default()
    };
    assert!(!sent(before).contains("selected"), "{}", sent(before));
    let after = sent(after).replace('\\', "");
    assert!(after.contains(r#"["North","East"]"#) && after.contains("Sales by region"), "{after}");
}

#[tokio::test]
async fn control_c_stops_the_answer_first_and_quits_second() {
    let model = ScriptedProvider::new().turn(text("Half an").then(Turn::pending()));
    let mut screen = Screen::new(Arc::new(model.clone()), 40, 12);
    screen.write("Hello");
    screen.press(KeyCode::Enter);
    screen.until("Half an").await;
    screen.press_with(KeyCode::Char('c'), KeyModifiers::CONTROL);
    screen.answered().await;
    let shown = screen.text();
    assert!(shown.contains("Half an") && shown.contains("✗ stopped by the user"), "{shown}");
    assert!(!screen.chat.is_over());
    assert_eq!(model.drops(), 1);
    screen.press_with(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(screen.chat.is_over());
}

#[tokio::test]
async fn a_table_grows_while_the_model_writes_it() {
    let model = ScriptedProvider::new().turn(
        Turn::raw_call("ui_table", r#"{"title":"Prices","columns":[{"label":"Name"}],"rows":[["lamp"],["de"#)
            .then(Turn::pending()),
    );
    let mut screen = Screen::new(Arc::new(model), 40, 20);
    screen.write("Prices?");
    screen.press(KeyCode::Enter);
    screen.until("│ de").await;
    assert!(screen.text().contains("│ lamp │"), "{}", screen.text());
}

#[tokio::test]
async fn a_question_can_be_left_and_taken_up_again() {
    let model = ScriptedProvider::new()
        .turn(call("set_target", json!({ "region": "East", "amount": 1 })))
        .turn(text("Done."));
    let mut screen = Screen::new(Arc::new(model), 60, 16);
    screen.ask("Set it").await;
    screen.press(KeyCode::Esc);
    assert!(screen.text().contains("Write a message"), "{}", screen.text());
    screen.press(KeyCode::Tab);
    screen.press(KeyCode::Char('y'));
    screen.answered().await;
    assert!(screen.text().contains("Done."), "{}", screen.text());
}

#[tokio::test]
async fn long_answers_scroll_and_survive_a_resize() {
    let lines: Vec<String> = (1..=60).map(|at| format!("line {at}")).collect();
    let model = ScriptedProvider::new().turn(text(lines.join("\n")));
    let mut screen = Screen::new(Arc::new(model), 40, 16);
    screen.ask("Count").await;
    assert!(screen.text().contains("line 60"));
    for _ in 0..30 {
        screen.press(KeyCode::PageUp);
        screen.text();
    }
    assert!(screen.text().starts_with("› Count"), "{}", screen.text());
    screen.terminal.backend_mut().resize(20, 8);
    assert!(screen.text().starts_with("› Count"), "{}", screen.text());
    for _ in 0..60 {
        screen.press(KeyCode::PageDown);
        screen.text();
    }
    assert!(screen.text().contains("line 60"), "{}", screen.text());
}
