//! The cost of runs: the host's price table, and exact sums.

use std::collections::HashMap;
use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use omniassist_core::Usage;
use omniassist_core::tree::TokenPrice;
use serde::{Serialize, Serializer};

use crate::throttle::Spent;
use crate::{Error, Result};

/// The units of a `Cost` in one unit of the currency. A price is stored in millionths of the currency per million tokens,
/// so the cost of a token is a whole number of these units.
const PER_UNIT: u128 = 1_000_000_000_000;

/// A table of model prices, in one currency of the host's choice. See
/// [`AssistantBuilder::prices`](crate::AssistantBuilder::prices).
///
/// A model is looked up by the name in its answer, or by the requested name if the answer has none. The answer of an alias
/// (`gemini-flash-latest`) has the name of the model behind it. The table may omit a release date at the end of the name
/// (`-2025-08-07`, `-20250929`, `@20250929`): `gpt-5-mini` is also the price of `gpt-5-mini-2025-08-07`, but not of
/// `gpt-5-mini-high`.
///
/// ```
/// use omniassist_server::{Price, Prices};
///
/// let prices = Prices::new()
///     .model("gpt-5-mini", Price::per_million_tokens(0.25, 2.0).cached_input(0.025))
///     .model("claude-haiku-4-5", Price::per_million_tokens(1.0, 5.0).cached_input(0.1).cache_write(1.25))
///     .model("llama-3.3-70b", Price::per_million_tokens(0.59, 0.79));
/// # let _ = prices;
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Prices {
    models: HashMap<String, Price>,
}

impl Prices {
    /// Creates a table without prices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the price of a model, in place of an earlier one of the same name. Default: a model has no price.
    pub fn model(mut self, name: impl Into<String>, price: Price) -> Self {
        self.models.insert(name.into(), price);
        self
    }

    /// Returns the price of the model with this name.
    #[must_use]
    pub fn price(&self, model: &str) -> Option<&Price> {
        self.models.get(model).or_else(|| self.models.get(without_date(model)?))
    }

    /// Returns the cost of one model call. `None` if the model has no price, or the input or output was not counted.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<Cost> {
        self.price(model)?.cost(usage)
    }

    /// Checks that every price is valid.
    pub(crate) fn check(&self) -> Result<()> {
        match self.models.iter().find(|(_, price)| !price.is_valid()) {
            Some((model, _)) => Err(Error::configuration(format!(
                "`prices`: a price of `{model}` is not a number from 0 to {MAX_PRICE}"
            ))),
            None => Ok(()),
        }
    }
}

/// Returns the name without the date at its end, if it has one: eight digits, with or without hyphens between them.
fn without_date(model: &str) -> Option<&str> {
    let is_date = |digits: &str| digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((name, end)) = model.rsplit_once(['-', '@'])
        && is_date(end)
    {
        return Some(name);
    }
    let mut parts = model.rsplitn(4, '-');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let name = parts.next()?;
    ((year.len(), month.len(), day.len()) == (4, 2, 2) && is_date(&format!("{year}{month}{day}")))
        .then_some(name)
}

/// The highest price per million tokens, in the currency of the table.
const MAX_PRICE: u32 = 1_000_000_000;

/// The price of a million tokens of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Price {
    input: Amount,
    cached_input: Option<Amount>,
    cache_write: Option<Amount>,
    output: Amount,
}

/// Millionths of the currency per million tokens; `None` if the value is not a valid price.
type Amount = Option<u64>;

impl Price {
    /// Creates a price from that of a million input tokens and that of a million output tokens, reasoning included.
    ///
    /// Each is rounded once to six decimals; all sums are exact after that. Cached input has the price of other input
    /// unless [`cached_input`](Self::cached_input) or [`cache_write`](Self::cache_write) is set. An assistant cannot be
    /// built with a price that is negative, not a number or over 1,000,000,000.
    pub fn per_million_tokens(input: f64, output: f64) -> Self {
        Self { input: amount(input), cached_input: None, cache_write: None, output: amount(output) }
    }

    /// Sets the price of a million input tokens that were read from a cache. Default: that of other input.
    pub fn cached_input(mut self, price: f64) -> Self {
        self.cached_input = Some(amount(price));
        self
    }

    /// Sets the price of a million input tokens that were written to a cache. Default: that of other input. Anthropic
    /// charges a quarter more, if the cache lives for five minutes.
    pub fn cache_write(mut self, price: f64) -> Self {
        self.cache_write = Some(amount(price));
        self
    }

    /// Returns the cost of this usage. `None` if the input or the output was not counted.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<Cost> {
        let (input, output) = (usage.input_tokens?, usage.output_tokens?);
        let cached = usage.cached_input_tokens.unwrap_or(0).min(input);
        let written = usage.cache_write_input_tokens.unwrap_or(0).min(input - cached);
        let product = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let parts = [
            product(input - cached - written, self.input?),
            product(cached, self.cached_input.unwrap_or(self.input)?),
            product(written, self.cache_write.unwrap_or(self.input)?),
            product(output, self.output?),
        ];
        // Each product is below 2^64 · 10^15 < 2^114.
        Some(Cost(parts.iter().sum()))
    }

    /// Returns the most that a token can cost. `None` for a price that is not valid.
    pub(crate) fn highest(&self) -> Option<TokenPrice> {
        let input = self.input?.max(self.cache_write.unwrap_or(self.input)?);
        Some(TokenPrice { input, output: self.output? })
    }

    /// Returns the cost of a model call in the units of a budget. Tokens of which only the sum is known count as output.
    pub(crate) fn cost_of(&self, spent: &Spent) -> u128 {
        match self.cost(&spent.usage) {
            Some(Cost(cost)) => cost,
            None => self.highest().unwrap_or_default().cost(0, spent.tokens()),
        }
    }

    fn is_valid(&self) -> bool {
        self.input.is_some()
            && self.output.is_some()
            && self.cached_input != Some(None)
            && self.cache_write != Some(None)
    }
}

fn amount(price: f64) -> Amount {
    // The cast is exact: 10^15 < 2^53.
    (0.0..=f64::from(MAX_PRICE)).contains(&price).then(|| (price * 1_000_000.0).round() as u64)
}

/// An exact cost, in the currency of the [`Prices`]. It is displayed as a decimal number (`0.000425`). Its JSON form is
/// that number as a string, because many readers round JSON numbers.
///
/// ```
/// use omniassist_server::Price;
/// use omniassist_server::core::Usage;
///
/// let mut usage = Usage::default();
/// usage.input_tokens = Some(1_000);
/// usage.output_tokens = Some(100);
/// let cost = Price::per_million_tokens(0.25, 2.0).cost(&usage);
/// assert_eq!(cost.map(|cost| cost.to_string()).as_deref(), Some("0.00045"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cost(u128);

impl Cost {
    /// Returns the cost of this many billionths of the currency.
    #[must_use]
    pub fn from_nanos(nanos: u64) -> Self {
        Self(u128::from(nanos) * (PER_UNIT / 1_000_000_000))
    }

    /// Reads a cost as it is displayed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction: u128 = format!("{fraction:0<12}").parse().ok().filter(|part| *part < PER_UNIT)?;
        whole.parse::<u128>().ok()?.checked_mul(PER_UNIT)?.checked_add(fraction).map(Self)
    }

    /// Returns the cost in billionths of the currency, rounded up. A price with three decimals per million tokens has no
    /// smaller part.
    #[must_use]
    pub fn nanos(self) -> u128 {
        self.0.div_ceil(PER_UNIT / 1_000_000_000)
    }

    /// Returns the cost in millionths of the currency, rounded up. Use it for budgets.
    #[must_use]
    pub fn micros(self) -> u128 {
        self.0.div_ceil(PER_UNIT / 1_000_000)
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / PER_UNIT, self.0 % PER_UNIT);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{fraction:012}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
