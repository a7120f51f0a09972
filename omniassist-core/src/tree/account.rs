use super::limits::Limit;

/// The price of a model's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TokenPrice {
    /// The price of a million input tokens, in millionths of the currency.
    pub input: u64,
    /// The price of a million output tokens, in millionths of the currency.
    pub output: u64,
}

impl TokenPrice {
    /// The price at which the cost of tokens is their number.
    pub(super) const ONE: Self = Self { input: 1, output: 1 };

    /// Returns the cost of these tokens, in millionths of a millionth of the currency.
    #[must_use]
    pub fn cost(self, input: u64, output: u64) -> u128 {
        let product = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        product(input, self.input).saturating_add(product(output, self.output))
    }
}

/// The units in a millionth of the currency: a token at the price of one millionth for a million costs one.
const PER_MICRO: u128 = 1_000_000;

/// A thing that a budget counts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    Tokens,
    Cost,
}

impl Unit {
    pub(super) const ALL: [Self; 2] = [Self::Tokens, Self::Cost];

    pub(super) fn limit(self) -> Limit {
        match self {
            Self::Tokens => Limit::Tokens,
            Self::Cost => Limit::Cost,
        }
    }

    /// Returns the price of a token in this unit, for a model with a price.
    pub(super) fn price(self, of_model: Option<TokenPrice>) -> Option<TokenPrice> {
        match self {
            Self::Tokens => Some(TokenPrice::ONE),
            Self::Cost => of_model,
        }
    }
}

/// A budget, with the reserved and the spent part of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account {
    pub(super) cap: Option<u128>,
    pub(super) reserved: u128,
    pub(super) spent: u128,
}

impl Account {
    pub(super) fn of_tokens(cap: Option<u64>) -> Self {
        Self { cap: cap.map(u128::from), reserved: 0, spent: 0 }
    }

    pub(super) fn of_micros(cap: Option<u64>) -> Self {
        Self { cap: cap.map(|micros| u128::from(micros) * PER_MICRO), reserved: 0, spent: 0 }
    }

    /// Replaces a reservation by what was spent.
    pub(super) fn settle(&mut self, reserved: u128, spent: u128) {
        self.reserved = self.reserved.saturating_sub(reserved);
        self.spent = self.spent.saturating_add(spent);
    }

    /// Returns what is left beside `kept`. `None` without a budget.
    pub(super) fn left(&self, kept: u128) -> Option<u128> {
        let taken = self.spent.saturating_add(self.reserved).saturating_add(kept);
        self.cap.map(|cap| cap.saturating_sub(taken))
    }
}
