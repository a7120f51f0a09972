//! Numbers in block characters.

/// A cell filled from below, by eighths.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A cell filled from the left, by eighths.
const WIDTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// The most cells that one value takes in a plot.
const MAX_STEP: usize = 6;

/// Returns a number in few characters.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e15 || (size > 0.0 && size < 1e-4) {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Returns a bar that fills a share of `columns`. Only a full block has parts.
pub(super) fn bar(share: f64, columns: usize, fill: char) -> String {
    let eighths = (share.clamp(0.0, 1.0) * 8.0 * columns as f64).round() as usize;
    let mut bar: String = std::iter::repeat_n(fill, eighths / 8).collect();
    if fill == '█' {
        bar.extend((eighths % 8).checked_sub(1).and_then(|at| WIDTHS.get(at)));
    }
    bar
}

/// Returns a line with a block for each value, at most `columns` long.
pub(super) fn spark(values: &[Option<f64>], columns: usize) -> String {
    let known = || values.iter().copied().flatten();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let cells = resampled(values, columns.min(values.len()));
    cells.into_iter().map(|value| value.map_or(' ', |value| height(value, low, high, 1).1)).collect()
}

/// The area of a plot in cells, and the values at its lower and its upper edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plot {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Plot {
    /// Returns the rows of a line with the area below it, from above.
    pub(super) fn area(self, values: &[Option<f64>]) -> Vec<String> {
        let tops = self.tops(values);
        let cell = |top: &Option<(usize, char)>, level: usize| match top {
            Some((at, block)) if *at == level => *block,
            Some((at, _)) if *at > level => '█',
            _ => ' ',
        };
        let row = |level: usize| tops.iter().map(|top| cell(top, level)).collect();
        (0..self.rows).rev().map(row).collect()
    }

    /// Returns the rows of a line, from above.
    pub(super) fn line(self, values: &[Option<f64>]) -> Vec<String> {
        let levels: Vec<Option<usize>> =
            self.tops(values).into_iter().map(|top| top.map(|(level, _)| level)).collect();
        let before = std::iter::once(None).chain(levels.iter().copied());
        let steps: Vec<_> = before.zip(levels.iter().copied()).collect();
        let cell = |(from, to): &(Option<usize>, Option<usize>), level: usize| {
            let Some(to) = *to else { return ' ' };
            let from = from.unwrap_or(to);
            match (level == from, level == to) {
                (true, true) => '─',
                (true, false) => {
                    if to > from {
                        '╯'
                    } else {
                        '╮'
                    }
                }
                (false, true) => {
                    if to > from {
                        '╭'
                    } else {
                        '╰'
                    }
                }
                (false, false) if level > from.min(to) && level < from.max(to) => '│',
                (false, false) => ' ',
            }
        };
        let row = |level: usize| steps.iter().map(|step| cell(step, level)).collect();
        (0..self.rows).rev().map(row).collect()
    }

    /// Returns the height of each cell of the line.
    fn tops(self, values: &[Option<f64>]) -> Vec<Option<(usize, char)>> {
        let step = (self.columns / values.len().max(1)).clamp(1, MAX_STEP);
        let cells = resampled(values, self.columns.min(values.len() * step));
        cells
            .into_iter()
            .map(|value| value.map(|value| height(value, self.low, self.high, self.rows)))
            .collect()
    }
}

/// Returns the row of a value, from below, and the block of its top.
fn height(value: f64, low: f64, high: f64, rows: usize) -> (usize, char) {
    // Each part is halved first, because a difference of two numbers can be infinite.
    let range = high / 2.0 - low / 2.0;
    let share = if range > 0.0 { (value / 2.0 - low / 2.0) / range } else { 0.5 };
    let eighth = (share.clamp(0.0, 1.0) * (rows * 8 - 1) as f64).round() as usize;
    (eighth / 8, HEIGHTS.get(eighth % 8).copied().unwrap_or('█'))
}

/// Returns `columns` of the values, repeated or left out at equal distances.
fn resampled(values: &[Option<f64>], columns: usize) -> Vec<Option<f64>> {
    (0..columns).map(|at| values.get(at * values.len() / columns).copied().flatten()).collect()
}
