use std::fmt;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// An amount in euro cents. JSON holds it as text with its unit (`129.90 EUR`), which a model cannot misread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Money(i64);

impl Money {
    /// Creates an amount of this many cents.
    #[must_use]
    pub const fn from_cents(cents: i64) -> Self {
        Self(cents)
    }

    /// Rounds to the nearest cent. NaN becomes 0, and a number out of range becomes the nearest amount.
    #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates, which is what is meant")]
    #[must_use]
    pub fn from_euros(euros: f64) -> Self {
        Self((euros * 100.0).round() as i64)
    }

    pub(crate) const fn cents(self) -> i64 {
        self.0
    }

    pub(crate) const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let cents = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02} EUR", cents / 100, cents % 100)
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Defines an enum whose variants have the same names in JSON, in the database and in the schemas of tools.
macro_rules! words {
    ($(#[$doc:meta])* $vis:vis $name:ident { $($(#[$mark:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "lowercase")]
        #[schemars(inline)]
        $vis enum $name { $($(#[$mark])* $variant),+ }

        impl $name {
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                match value.as_str()? {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(FromSqlError::InvalidType),
                }
            }
        }
    };
}

words! {
    /// The state of an order.
    pub OrderStatus {
        Pending = "pending",
        Paid = "paid",
        Shipped = "shipped",
        Delivered = "delivered",
        Cancelled = "cancelled",
        Refunded = "refunded",
    }
}

words! {
    /// The urgency of a ticket.
    #[derive(Default)]
    pub(crate) Priority { Low = "low", #[default] Normal = "normal", High = "high" }
}

/// An order of one item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Order {
    /// Its number.
    pub id: i64,
    /// The name of the customer.
    pub customer: String,
    /// The name of the item.
    pub item: String,
    /// The number of pieces.
    pub quantity: i64,
    /// The price of all pieces.
    pub total: Money,
    /// The amount that was paid back.
    pub refunded: Money,
    /// The state of the order.
    pub status: OrderStatus,
    /// The date, as in `2026-08-03`.
    pub ordered_on: String,
}

/// The conditions of a search; `None` matches every order.
#[derive(Debug, Clone)]
pub(crate) struct OrderFilter {
    pub status: Option<OrderStatus>,
    /// A part of the customer's name; upper and lower case are equal.
    pub customer: Option<String>,
    pub min_total: Option<Money>,
    pub limit: u32,
}

/// A customer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Customer {
    /// The number of the customer.
    pub id: i64,
    /// The full name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
    /// The city.
    pub city: String,
    /// The number of orders.
    pub orders: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Ticket {
    pub id: i64,
    pub subject: String,
    pub details: String,
    pub priority: Priority,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_id: Option<i64>,
    pub status: String,
    pub created_on: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct NewTicket {
    pub subject: String,
    #[serde(default)]
    pub details: String,
    #[serde(default)]
    pub priority: Priority,
    #[serde(default)]
    pub order_id: Option<i64>,
}

/// A refund that was paid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refund {
    /// The number of the order.
    pub order_id: i64,
    /// The amount of this refund.
    pub refunded: Money,
    /// The amount that can still be paid back.
    pub left: Money,
    /// The state of the order after it.
    pub status: OrderStatus,
}

/// The sales to the customers of one city.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RegionSales {
    pub region: String,
    pub orders: i64,
    pub euros: f64,
}

/// The sales of one month.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Report {
    pub month: String,
    pub orders: i64,
    pub sales: Money,
}
