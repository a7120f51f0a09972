use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::{OrderStatus, StoreError};

/// The version of the tables in the file's `user_version`. 0 is a file without tables.
const VERSION: i64 = 1;

const TABLES: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, city TEXT NOT NULL);
    CREATE TABLE orders (
        id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id), item TEXT NOT NULL,
        quantity INTEGER NOT NULL, total_cents INTEGER NOT NULL, refunded_cents INTEGER NOT NULL,
        status TEXT NOT NULL, ordered_on TEXT NOT NULL);
    CREATE TABLE tickets (
        id INTEGER PRIMARY KEY, subject TEXT NOT NULL, details TEXT NOT NULL, priority TEXT NOT NULL,
        order_id INTEGER REFERENCES orders (id), status TEXT NOT NULL, created_on TEXT NOT NULL);
";

const CUSTOMERS: [(&str, &str); 12] = [
    ("Ada Lovelace", "London"),
    ("Alan Turing", "London"),
    ("Barbara Liskov", "Berlin"),
    ("Donald Knuth", "Lisbon"),
    ("Edsger Dijkstra", "Rotterdam"),
    ("Frances Allen", "Berlin"),
    ("Grace Hopper", "Dublin"),
    ("Hedy Lamarr", "Vienna"),
    ("Katherine Johnson", "Dublin"),
    ("Margaret Hamilton", "Lisbon"),
    ("Niklaus Wirth", "Zurich"),
    ("Radia Perlman", "Vienna"),
];

/// The name and the price of each item, in cents.
const ITEMS: [(&str, i64); 8] = [
    ("Desk lamp", 3_990),
    ("Standing desk", 64_900),
    ("Office chair", 24_900),
    ("Notebook, dotted", 1_250),
    ("Mechanical keyboard", 12_900),
    ("Monitor arm", 8_990),
    ("USB-C dock", 17_950),
    ("Whiteboard", 7_400),
];

const STATUSES: [OrderStatus; 8] = [
    OrderStatus::Shipped,
    OrderStatus::Delivered,
    OrderStatus::Paid,
    OrderStatus::Delivered,
    OrderStatus::Pending,
    OrderStatus::Shipped,
    OrderStatus::Refunded,
    OrderStatus::Cancelled,
];

const ORDERS: i64 = 40;
const FIRST_ORDER: i64 = 1001;

/// Creates and fills the tables of a new file. The data is always the same, so that the README and the tests can refer
/// to it.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    // The write lock is taken first. If two servers start with one new file, the second finds it filled.
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match change.pragma_query_value(None, "user_version", |row| row.get(0))? {
        VERSION => return Ok(()),
        0 => {}
        found => return Err(StoreError::OtherVersion { found }),
    }
    change.execute_batch(TABLES)?;
    fill(&change)?;
    change.pragma_update(None, "user_version", VERSION)?;
    Ok(change.commit()?)
}

fn fill(change: &Transaction<'_>) -> Result<(), StoreError> {
    for (name, city) in CUSTOMERS {
        let email = format!("{}@example.com", name.to_lowercase().replace(' ', "."));
        change.execute(
            "INSERT INTO customers (name, email, city) VALUES (?1, ?2, ?3)",
            params![name, email, city],
        )?;
    }
    let mut customers = (1..=12).cycle().step_by(5);
    let mut items = ITEMS.iter().cycle().step_by(3);
    let mut statuses = STATUSES.iter().cycle();
    for n in 0..ORDERS {
        let (Some(customer), Some((item, price)), Some(status)) =
            (customers.next(), items.next(), statuses.next())
        else {
            break;
        };
        let quantity = 1 + n % 3;
        let total = price * quantity;
        let refunded = if *status == OrderStatus::Refunded { total } else { 0 };
        change.execute(
            "INSERT INTO orders VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, date('2026-08-03', ?8))",
            params![
                FIRST_ORDER + n,
                customer,
                item,
                quantity,
                total,
                refunded,
                status.as_str(),
                format!("+{} days", n * 5 / 2)
            ],
        )?;
    }
    let tickets = [
        ("Chair arrived without armrests", "The box was open.", "high", 1009),
        ("Invoice shows the old address", "", "normal", 1012),
        ("Where is the dock?", "Tracking has not moved for a week.", "low", 1001),
    ];
    for (subject, details, priority, order) in tickets {
        change.execute(
            "INSERT INTO tickets (subject, details, priority, order_id, status, created_on) \
             VALUES (?1, ?2, ?3, ?4, 'open', '2026-11-02')",
            params![subject, details, priority, order],
        )?;
    }
    Ok(())
}
