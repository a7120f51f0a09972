//! Recognition of personal data and secrets by their form.

mod card;
mod iban;
mod key;
mod mail;

use card::Cards;
use iban::Ibans;
use key::Keys;
use mail::Mails;

use super::detector::Detector;
use super::output_filter::{OutputFilter, TextFilter, TextKind};
use super::scan::{Action, Scan, impl_action};
use crate::Text;
use crate::secret::REDACTED;

/// Replaces personal data and secrets by [`REDACTED`]: payment cards, IBANs, e-mail addresses and API keys.
///
/// - Cards have 13 to 19 digits, a known first digit and a valid check digit (Luhn). Spaces, hyphens or dots may
///   separate groups of digits.
/// - IBANs have the length of their country and valid check digits, with or without spaces.
/// - E-mail addresses have a domain with a dot. Letters of Latin, Greek and Cyrillic script are part of an address.
/// - API keys have a known prefix and 12 characters. At least two of them are digits or capital letters, or 16 small
///   letters follow each other; so `hf_hub_download` is no key. Signed tokens (JWT) begin with two parts in Base64. The
///   prefixes are those of [`Secrets`](crate::secret::Secrets).
///
/// The filter finds data in its usual form. It does not protect against a model that spells data in words or in another
/// encoding. A word that looks like an address or a key is replaced too, such as `git@example.com`.
///
/// With addresses, the last word so far is withheld until the next character follows.
///
/// ```
/// use omniassist_core::filter::Pii;
///
/// let filter = Pii::new().emails(false).replacement("•••");
/// ```
#[derive(Debug, Clone)]
#[must_use = "a filter does nothing until an assistant has it"]
pub struct Pii {
    cards: bool,
    ibans: bool,
    emails: bool,
    keys: bool,
    action: Action,
}

impl Pii {
    /// Creates a filter of everything that it can find.
    pub fn new() -> Self {
        let action = Action::Replace(Text::from_static(REDACTED));
        Self { cards: true, ibans: true, emails: true, keys: true, action }
    }

    /// Creates a filter of API keys and signed tokens only.
    pub fn keys_only() -> Self {
        Self { cards: false, ibans: false, emails: false, ..Self::new() }
    }

    /// Sets whether payment cards are replaced. Default: `true`.
    pub fn cards(mut self, cards: bool) -> Self {
        self.cards = cards;
        self
    }

    /// Sets whether IBANs are replaced. Default: `true`.
    pub fn ibans(mut self, ibans: bool) -> Self {
        self.ibans = ibans;
        self
    }

    /// Sets whether e-mail addresses are replaced. Default: `true`.
    pub fn emails(mut self, emails: bool) -> Self {
        self.emails = emails;
        self
    }

    /// Sets whether API keys and signed tokens are replaced. Default: `true`.
    pub fn keys(mut self, keys: bool) -> Self {
        self.keys = keys;
        self
    }
}

impl Default for Pii {
    fn default() -> Self {
        Self::new()
    }
}

impl_action!(Pii);

impl OutputFilter for Pii {
    fn begin(&self, _kind: TextKind) -> Option<Box<dyn TextFilter>> {
        let mut detectors = Vec::with_capacity(4);
        detectors.extend(self.keys.then(|| boxed(Keys::default())));
        detectors.extend(self.cards.then(|| boxed(Cards::default())));
        detectors.extend(self.ibans.then(|| boxed(Ibans::default())));
        detectors.extend(self.emails.then(|| boxed(Mails::default())));
        Some(Box::new(Scan::new(detectors, self.action.clone())))
    }
}

fn boxed(detector: impl Detector + 'static) -> Box<dyn Detector> {
    Box::new(detector)
}
