//! The data of the back office: customers, orders and tickets in one SQLite file.
//!
//! SQLite blocks, so each call runs on a blocking thread of tokio, one call at a time.

mod error;
mod model;
mod seed;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, Row, params};

pub(crate) use error::StoreError;
pub use model::{Customer, Money, Order, Refund};
pub(crate) use model::{NewTicket, OrderFilter, OrderStatus, Priority, RegionSales, Report, Ticket};

/// The largest refund that the assistant may pay.
const REFUND_LIMIT: Money = Money::from_cents(50_000);

const ORDER: &str = "SELECT o.id, c.name, o.item, o.quantity, o.total_cents, o.refunded_cents, o.status, \
     o.ordered_on FROM orders o JOIN customers c ON c.id = o.customer_id";
const TICKET: &str = "SELECT id, subject, details, priority, order_id, status, created_on FROM tickets";

/// A handle to the data. Cloning is cheap; all clones share one connection.
#[derive(Debug, Clone)]
pub struct Store {
    connection: Arc<Mutex<Connection>>,
}

impl Store {
    /// Opens the file, and creates it with example data if it does not exist. Blocks.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened, or has the tables of another version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::with(Connection::open(path)?)
    }

    /// Returns a store with the example data in memory.
    #[cfg(test)]
    pub(crate) fn temporary() -> Self {
        Self::with(Connection::open_in_memory().unwrap()).unwrap()
    }

    fn with(mut connection: Connection) -> Result<Self, StoreError> {
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        connection.pragma_update(None, "foreign_keys", true)?;
        seed::prepare(&mut connection)?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)) })
    }

    async fn call<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let connection = Arc::clone(&self.connection);
        // A panic while the lock was held rolled its transaction back, so the connection is still good.
        let locked = move || work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner));
        tokio::task::spawn_blocking(locked).await.map_err(|_| StoreError::Stopped)?
    }

    /// Returns one order, and blocks for the time of one query.
    pub(crate) fn order_now(&self, id: i64) -> Result<Order, StoreError> {
        find_order(&self.connection.lock().unwrap_or_else(PoisonError::into_inner), id)
    }

    /// Returns one order.
    ///
    /// # Errors
    ///
    /// Fails if there is no such order, or if the database does.
    pub async fn order(&self, id: i64) -> Result<Order, StoreError> {
        self.call(move |db| find_order(db, id)).await
    }

    /// Returns the orders that match, newest first, and the number of all matches.
    pub(crate) async fn search_orders(&self, filter: OrderFilter) -> Result<(Vec<Order>, i64), StoreError> {
        self.call(move |db| {
            let fits = "WHERE (?1 IS NULL OR o.status = ?1) AND (?2 IS NULL OR instr(lower(c.name), lower(?2))) \
                        AND o.total_cents >= ?3";
            let status = filter.status.map(OrderStatus::as_str);
            let least = filter.min_total.unwrap_or_default().cents();
            let count = format!("SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id {fits}");
            let matches = db.query_row(&count, params![status, filter.customer, least], |row| row.get(0))?;
            let mut query = db.prepare(&format!("{ORDER} {fits} ORDER BY o.id DESC LIMIT ?4"))?;
            let found = query.query_map(params![status, filter.customer, least, filter.limit], read_order)?;
            Ok((found.collect::<Result<_, _>>()?, matches))
        })
        .await
    }

    /// Returns all customers, or those of one city.
    ///
    /// # Errors
    ///
    /// Fails if the database does.
    pub async fn customers(&self, city: Option<String>) -> Result<Vec<Customer>, StoreError> {
        self.call(move |db| {
            let mut query = db.prepare(
                "SELECT c.id, c.name, c.email, c.city, count(o.id) FROM customers c \
                 LEFT JOIN orders o ON o.customer_id = c.id \
                 WHERE ?1 IS NULL OR lower(c.city) = lower(?1) GROUP BY c.id ORDER BY c.name",
            )?;
            let found = query.query_map(params![city], |row| {
                Ok(Customer {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    email: row.get(2)?,
                    city: row.get(3)?,
                    orders: row.get(4)?,
                })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Returns the tickets, newest first.
    pub(crate) async fn tickets(&self) -> Result<Vec<Ticket>, StoreError> {
        self.call(|db| {
            let mut query = db.prepare(&format!("{TICKET} ORDER BY id DESC"))?;
            Ok(query.query_map([], read_ticket)?.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Opens a ticket.
    pub(crate) async fn create_ticket(&self, new: NewTicket) -> Result<Ticket, StoreError> {
        self.call(move |db| {
            if new.subject.trim().is_empty() {
                return Err(StoreError::NoSubject);
            }
            if let Some(order) = new.order_id {
                find_order(db, order)?;
            }
            db.execute(
                "INSERT INTO tickets (subject, details, priority, order_id, status, created_on) \
                 VALUES (?1, ?2, ?3, ?4, 'open', date('now'))",
                params![new.subject.trim(), new.details, new.priority.as_str(), new.order_id],
            )?;
            let id = db.last_insert_rowid();
            Ok(db.query_row(&format!("{TICKET} WHERE id = ?1"), [id], read_ticket)?)
        })
        .await
    }

    /// Pays money back. Default: the whole rest of the order's total.
    ///
    /// # Errors
    ///
    /// Fails if a rule of the shop refuses the refund, or if the database fails.
    pub async fn refund(&self, id: i64, amount: Option<Money>) -> Result<Refund, StoreError> {
        self.call(move |db| {
            let change = db.transaction()?;
            let order = find_order(&change, id)?;
            let left = order.total.minus(order.refunded);
            if matches!(order.status, OrderStatus::Pending | OrderStatus::Cancelled) {
                return Err(StoreError::NotPaid { order: id, status: order.status });
            }
            if left.cents() <= 0 {
                return Err(StoreError::AlreadyRefunded { order: id });
            }
            let amount = amount.unwrap_or(left);
            if amount.cents() <= 0 {
                return Err(StoreError::NoAmount);
            }
            if amount > left {
                return Err(StoreError::MoreThanPaid { order: id, left });
            }
            if amount > REFUND_LIMIT {
                return Err(StoreError::NeedsManager { amount, limit: REFUND_LIMIT });
            }
            let status = if amount == left { OrderStatus::Refunded } else { order.status };
            change.execute(
                "UPDATE orders SET refunded_cents = refunded_cents + ?2, status = ?3 WHERE id = ?1",
                params![id, amount.cents(), status.as_str()],
            )?;
            change.commit()?;
            Ok(Refund { order_id: id, refunded: amount, left: left.minus(amount), status })
        })
        .await
    }

    /// Returns the sales of each city, the greatest first, without cancelled orders and refunds.
    pub(crate) async fn regions(&self) -> Result<Vec<RegionSales>, StoreError> {
        self.call(|db| {
            let mut query = db.prepare(
                "SELECT c.city, count(*), sum(o.total_cents - o.refunded_cents) / 100.0 FROM orders o \
                 JOIN customers c ON c.id = o.customer_id WHERE o.status <> 'cancelled' \
                 GROUP BY c.city ORDER BY 3 DESC",
            )?;
            let found = query.query_map([], |row| {
                Ok(RegionSales { region: row.get(0)?, orders: row.get(1)?, euros: row.get(2)? })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Returns the months that have orders, oldest first, as in `2026-08`.
    pub(crate) async fn months(&self) -> Result<Vec<String>, StoreError> {
        self.call(|db| {
            let mut query = db.prepare("SELECT DISTINCT substr(ordered_on, 1, 7) FROM orders ORDER BY 1")?;
            Ok(query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Returns the sales of one month, without cancelled orders and refunds.
    pub(crate) async fn report(&self, month: String) -> Result<Report, StoreError> {
        self.call(move |db| {
            let (orders, cents) = db.query_row(
                "SELECT count(*), coalesce(sum(total_cents - refunded_cents), 0) FROM orders \
                 WHERE substr(ordered_on, 1, 7) = ?1 AND status <> 'cancelled'",
                [&month],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            Ok(Report { month, orders, sales: Money::from_cents(cents) })
        })
        .await
    }
}

fn find_order(db: &Connection, id: i64) -> Result<Order, StoreError> {
    let found = db.query_row(&format!("{ORDER} WHERE o.id = ?1"), [id], read_order).optional()?;
    found.ok_or(StoreError::NoOrder { order: id })
}

fn read_order(row: &Row<'_>) -> rusqlite::Result<Order> {
    Ok(Order {
        id: row.get(0)?,
        customer: row.get(1)?,
        item: row.get(2)?,
        quantity: row.get(3)?,
        total: Money::from_cents(row.get(4)?),
        refunded: Money::from_cents(row.get(5)?),
        status: row.get(6)?,
        ordered_on: row.get(7)?,
    })
}

fn read_ticket(row: &Row<'_>) -> rusqlite::Result<Ticket> {
    Ok(Ticket {
        id: row.get(0)?,
        subject: row.get(1)?,
        details: row.get(2)?,
        priority: row.get(3)?,
        order_id: row.get(4)?,
        status: row.get(5)?,
        created_on: row.get(6)?,
    })
}

#[cfg(test)]
mod tests;
