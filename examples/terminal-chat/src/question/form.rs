use crossterm::event::{KeyCode, KeyEvent};
use omniassist_server::component::TextArea;
use omniassist_server::ui::builtin::{FieldKind, FieldValue, Form, FormAnswer, FormField, plain_text};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::Line;
use ratatui_textarea::TextArea as Editor;
use serde_json::{Number, Value};

/// The lines of a field with several lines of text.
const LONG_TEXT: u16 = 3;

/// A form. The last position is its button.
#[derive(Debug)]
pub(crate) struct FormQuestion {
    title: String,
    submit: String,
    entries: Vec<Entry>,
    at: usize,
    fault: Option<String>,
}

/// A field with what the user entered.
#[derive(Debug)]
struct Entry {
    field: FormField,
    input: Input,
}

#[derive(Debug)]
enum Input {
    Text(Box<Editor<'static>>),
    Select(Option<usize>),
    Checkbox(bool),
}

impl FormQuestion {
    pub(super) fn new(form: Form) -> Self {
        let entries = form.fields.into_iter().map(Entry::new).collect();
        Self {
            title: form.title.unwrap_or_default(),
            submit: form.submit.unwrap_or_else(|| "Send".to_owned()),
            entries,
            at: 0,
            fault: None,
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        if let Some(Entry { input: Input::Text(editor), field }) = self.entries.get_mut(self.at) {
            let text =
                if field.kind == FieldKind::LongText { text.to_owned() } else { text.replace('\n', " ") };
            editor.insert_str(text);
        }
    }

    /// Applies a key. Returns the answer when the form is sent.
    pub(super) fn on_key(&mut self, key: KeyEvent) -> Option<Value> {
        let is_long = self.entries.get(self.at).is_some_and(|entry| entry.field.kind == FieldKind::LongText);
        match key.code {
            KeyCode::BackTab => self.at = self.at.saturating_sub(1),
            KeyCode::Up if !is_long => self.at = self.at.saturating_sub(1),
            KeyCode::Tab => self.next(),
            KeyCode::Down if !is_long => self.next(),
            KeyCode::Enter if self.at == self.entries.len() => return self.answer(),
            KeyCode::Enter if !is_long => self.next(),
            _ => {
                if let Some(entry) = self.entries.get_mut(self.at) {
                    entry.on_key(key);
                }
            }
        }
        None
    }

    fn next(&mut self) {
        self.at = (self.at + 1).min(self.entries.len());
    }

    /// Returns the answer, or goes to the first field with a fault.
    fn answer(&mut self) -> Option<Value> {
        let mut answer = FormAnswer::default();
        for (at, entry) in self.entries.iter().enumerate() {
            match entry.value() {
                Ok(Some(value)) => drop(answer.values.insert(entry.field.name.clone(), value)),
                Ok(None) => {}
                Err(fault) => {
                    self.fault = Some(format!("{}: {fault}", entry.field.label));
                    self.at = at;
                    return None;
                }
            }
        }
        serde_json::to_value(answer).ok()
    }

    pub(super) fn height(&self) -> usize {
        let fields: u16 = self.entries.iter().map(Entry::height).sum();
        usize::from(fields) + 1 + usize::from(!self.title.is_empty()) + usize::from(self.fault.is_some())
    }

    /// Draws as many fields as fit, with the one at the cursor among them.
    pub(super) fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        let plain = |text: &str| plain_text(text, &TextArea::new(usize::from(area.width)));
        let mut heads = Vec::new();
        if !self.title.is_empty() {
            heads.push(Line::from(plain(&self.title).lines().next().unwrap_or_default().to_owned()).bold());
        }
        if let Some(fault) = &self.fault {
            heads.push(Line::from(plain(fault).lines().next().unwrap_or_default().to_owned()).fg(Color::Red));
        }
        let head_lines = u16::try_from(heads.len()).unwrap_or_default();
        let [head, body] = Layout::vertical([Constraint::Length(head_lines), Constraint::Min(0)]).areas(area);
        frame.render_widget(ratatui::widgets::Paragraph::new(heads), head);

        let heights: Vec<u16> = self.entries.iter().map(Entry::height).chain([1]).collect();
        let mut first = 0;
        while first < self.at
            && heights.get(first..=self.at).map_or(0, |used| used.iter().sum()) > body.height
        {
            first += 1;
        }
        let mut y = body.y;
        for (at, height) in heights.iter().enumerate().skip(first) {
            let left = body.bottom().saturating_sub(y);
            let row = Rect { y, height: left.min(*height), ..body };
            if row.height == 0 {
                break;
            }
            match self.entries.get(at) {
                Some(entry) => entry.draw(frame, row, at == self.at),
                None => {
                    let style = if at == self.at { Style::new().reversed() } else { Style::new() };
                    let submit = plain(&self.submit).lines().next().unwrap_or_default().to_owned();
                    frame.render_widget(Line::styled(format!("[ {submit} ]"), style), row);
                }
            }
            y += row.height;
        }
    }
}

impl Entry {
    fn new(field: FormField) -> Self {
        let value = field.value.as_deref();
        let input = match field.kind {
            FieldKind::Checkbox => Input::Checkbox(value == Some("true")),
            FieldKind::Select => {
                let options = field.options.iter().flatten();
                Input::Select(options.enumerate().find(|(_, option)| value == Some(option)).map(|(at, _)| at))
            }
            _ => {
                let mut editor = Editor::default();
                editor.set_cursor_line_style(Style::new());
                if field.kind == FieldKind::Date {
                    editor.set_placeholder_text("YYYY-MM-DD");
                }
                editor.insert_str(value.unwrap_or_default());
                Input::Text(Box::new(editor))
            }
        };
        Self { field, input }
    }

    fn options(&self) -> &[String] {
        self.field.options.as_deref().unwrap_or_default()
    }

    fn height(&self) -> u16 {
        if self.field.kind == FieldKind::LongText { LONG_TEXT } else { 1 }
    }

    fn on_key(&mut self, key: KeyEvent) {
        let count = self.options().len();
        match (&mut self.input, key.code) {
            (Input::Checkbox(on), KeyCode::Char(' ')) => *on = !*on,
            (Input::Select(at), KeyCode::Char(' ') | KeyCode::Right) if count > 0 => {
                *at = Some(at.map_or(0, |at| (at + 1) % count));
            }
            (Input::Select(at), KeyCode::Left) if count > 0 => {
                *at = Some(at.map_or(count - 1, |at| (at + count - 1) % count));
            }
            (Input::Text(editor), _) => drop(editor.input(key)),
            _ => {}
        }
    }

    /// Returns the value, `None` if the user left the field out, or the fault of what was entered.
    fn value(&self) -> Result<Option<FieldValue>, &'static str> {
        let text = match &self.input {
            Input::Checkbox(on) => return Ok(Some(FieldValue::Bool(*on))),
            Input::Select(at) => at.and_then(|at| self.options().get(at)).cloned().unwrap_or_default(),
            Input::Text(editor) => editor.lines().join("\n").trim().to_owned(),
        };
        if text.is_empty() {
            let is_required = self.field.required == Some(true);
            return if is_required { Err("is required") } else { Ok(None) };
        }
        match self.field.kind {
            FieldKind::Number => text
                .parse::<Number>()
                .map(|number| Some(FieldValue::Number(number)))
                .map_err(|_| "is not a number"),
            FieldKind::Date if !is_date(&text) => Err("is not a date such as 2026-11-27"),
            FieldKind::Email if !is_address(&text) => Err("is not an e-mail address"),
            _ => Ok(Some(FieldValue::Text(text))),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, is_focused: bool) {
        let [name, value] = Layout::horizontal([Constraint::Percentage(33), Constraint::Min(0)]).areas(area);
        let required = if self.field.required == Some(true) { "*" } else { "" };
        let label = plain_text(&self.field.label, &TextArea::new(usize::from(name.width.saturating_sub(2))));
        let label = format!("{}{required}", label.lines().next().unwrap_or_default());
        let style = if is_focused { Style::new().bold().fg(Color::Cyan) } else { Style::new() };
        frame.render_widget(Line::styled(label, style), name);
        let style = if is_focused { Style::new().reversed() } else { Style::new() };
        match &self.input {
            Input::Checkbox(on) => {
                frame.render_widget(Line::styled(if *on { "[x]" } else { "[ ]" }, style), value);
            }
            Input::Select(at) => {
                let option = at.and_then(|at| self.options().get(at)).map_or("choose", String::as_str);
                let option = plain_text(option, &TextArea::new(usize::from(value.width.saturating_sub(4))));
                let option = option.lines().next().unwrap_or_default();
                frame.render_widget(Line::styled(format!("‹ {option} ›"), style), value);
            }
            Input::Text(editor) if is_focused => frame.render_widget(editor.as_ref(), value),
            Input::Text(editor) => {
                let text = editor.lines().join("\n");
                let lines: Vec<Line<'_>> = if text.is_empty() {
                    vec![Line::from("…").dim()]
                } else {
                    editor.lines().iter().map(|line| Line::raw(line.as_str()).underlined()).collect()
                };
                frame.render_widget(ratatui::widgets::Paragraph::new(lines), value);
            }
        }
    }
}

/// Returns `true` for a date as `2026-11-27`.
fn is_date(text: &str) -> bool {
    let parts: Vec<Option<u32>> = text.split('-').map(|part| part.parse().ok()).collect();
    matches!(parts.as_slice(), [Some(_), Some(1..=12), Some(1..=31)] if text.len() == 10)
}

/// Returns `true` for a text with a name and a host.
fn is_address(text: &str) -> bool {
    let has_host = |(name, host): (&str, &str)| !name.is_empty() && host.contains('.') && !host.contains(' ');
    text.split_once('@').is_some_and(has_host)
}
