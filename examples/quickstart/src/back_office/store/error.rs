use std::fmt;

use super::{Money, OrderStatus};

/// An error of the back office. Users may read a broken business rule; other errors belong into the log.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    NoOrder {
        order: i64,
    },
    NoSubject,
    NoAmount,
    NotPaid {
        order: i64,
        status: OrderStatus,
    },
    AlreadyRefunded {
        order: i64,
    },
    MoreThanPaid {
        order: i64,
        left: Money,
    },
    NeedsManager {
        amount: Money,
        limit: Money,
    },
    /// The file has the tables of another version.
    OtherVersion {
        found: i64,
    },
    Database(rusqlite::Error),
    /// The runtime is shutting down.
    Stopped,
}

impl StoreError {
    /// Returns `true` if a business rule refused the change. The text of the error is then meant for the user.
    pub const fn is_refusal(&self) -> bool {
        !matches!(self, Self::OtherVersion { .. } | Self::Database(_) | Self::Stopped)
    }

    pub(crate) const fn is_not_found(&self) -> bool {
        matches!(self, Self::NoOrder { .. })
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOrder { order } => write!(f, "There is no order {order}."),
            Self::NoSubject => f.write_str("A ticket needs a subject."),
            Self::NoAmount => f.write_str("The amount must be more than 0.00 EUR."),
            Self::NotPaid { order, status } => {
                write!(f, "Order {order} is {status}: nothing was paid that could be refunded.")
            }
            Self::AlreadyRefunded { order } => write!(f, "Order {order} has already been refunded."),
            Self::MoreThanPaid { order, left } => {
                write!(f, "At most {left} of order {order} can be refunded.")
            }
            Self::NeedsManager { amount, limit } => {
                write!(f, "A refund of {amount} needs a manager: the limit is {limit}.")
            }
            Self::OtherVersion { found } => {
                write!(
                    f,
                    "the database has version {found}, which this program does not know; remove the file"
                )
            }
            Self::Database(_) => f.write_str("the database failed"),
            Self::Stopped => f.write_str("the server is stopping"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Database(error) => Some(error),
            _ => None,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}
