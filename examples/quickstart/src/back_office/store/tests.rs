use super::*;

const ANY: OrderFilter = OrderFilter { status: None, customer: None, min_total: None, limit: 100 };

#[tokio::test]
async fn the_seed_is_the_same_every_time() {
    let (one, two) = (Store::temporary(), Store::temporary());
    let (first, count) = one.search_orders(ANY).await.unwrap();
    assert_eq!(first, two.search_orders(ANY).await.unwrap().0);
    assert_eq!((count, one.customers(None).await.unwrap().len()), (40, 12));
    let order = one.order(1001).await.unwrap();
    assert_eq!((order.customer.as_str(), order.item.as_str()), ("Ada Lovelace", "Desk lamp"));
    assert_eq!(order.total.to_string(), "39.90 EUR");
    assert_eq!((order.status, order.ordered_on.as_str()), (OrderStatus::Shipped, "2026-08-03"));
    for status in ["pending", "paid", "shipped", "delivered", "cancelled", "refunded"] {
        assert!(first.iter().any(|order| order.status.as_str() == status), "{status}");
    }
}

#[tokio::test]
async fn a_file_is_seeded_once_and_keeps_changes() {
    let path = std::env::temp_dir().join(format!("quickstart-store-{}.sqlite3", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let new = NewTicket {
        subject: " Torn box ".into(),
        details: String::new(),
        priority: Priority::High,
        order_id: Some(1002),
    };
    let ticket = Store::open(&path).unwrap().create_ticket(new).await.unwrap();
    assert_eq!((ticket.subject.as_str(), ticket.priority), ("Torn box", Priority::High));
    let again = Store::open(&path).unwrap();
    assert_eq!(again.tickets().await.unwrap()[0], ticket);
    assert_eq!(again.search_orders(ANY).await.unwrap().1, 40);
    drop(again);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 9).unwrap();
    assert!(matches!(Store::open(&path).unwrap_err(), StoreError::OtherVersion { found: 9 }));
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn filters_narrow_together() {
    let store = Store::temporary();
    let filter = OrderFilter {
        status: Some(OrderStatus::Delivered),
        customer: Some("LOVE".into()),
        min_total: Some(Money::from_cents(10_000)),
        limit: 1,
    };
    let (all, _) = store.search_orders(ANY).await.unwrap();
    let fits = |order: &&Order| {
        order.status == OrderStatus::Delivered
            && order.customer == "Ada Lovelace"
            && order.total.cents() >= 10_000
    };
    let expected: Vec<_> = all.iter().filter(fits).cloned().collect();
    let (found, matches) = store.search_orders(filter.clone()).await.unwrap();
    assert_eq!(matches as usize, expected.len());
    assert_eq!(found, expected.into_iter().take(1).collect::<Vec<_>>());
    let nobody = OrderFilter { customer: Some("' OR 1=1 --".into()), ..ANY };
    assert_eq!(store.search_orders(nobody).await.unwrap().1, 0);
    assert_eq!(store.customers(Some("berlin".into())).await.unwrap().len(), 2);
}

#[tokio::test]
async fn refunds_keep_the_rules() {
    let store = Store::temporary();
    let part = store.refund(1001, Some(Money::from_cents(1_000))).await.unwrap();
    assert_eq!((part.left, part.status), (Money::from_cents(2_990), OrderStatus::Shipped));
    let error = store.refund(1001, Some(Money::from_cents(2_991))).await.unwrap_err();
    assert!(matches!(error, StoreError::MoreThanPaid { .. }) && error.is_refusal());
    assert_eq!(store.refund(1001, None).await.unwrap().status, OrderStatus::Refunded);
    let error = store.refund(1001, None).await.unwrap_err();
    assert_eq!(error.to_string(), "Order 1001 has already been refunded.");
    let desk = store.search_orders(OrderFilter { min_total: Some(Money::from_cents(50_001)), ..ANY }).await;
    let desk = desk.unwrap().0.into_iter().find(|order| order.status == OrderStatus::Delivered).unwrap();
    assert!(matches!(store.refund(desk.id, None).await.unwrap_err(), StoreError::NeedsManager { .. }));
    assert!(matches!(store.refund(1008, None).await.unwrap_err(), StoreError::NotPaid { .. }));
    assert!(store.refund(7, None).await.unwrap_err().is_not_found());
    assert!(matches!(store.refund(1002, Some(Money::default())).await.unwrap_err(), StoreError::NoAmount));
}

#[tokio::test]
async fn tickets_need_a_subject_and_a_real_order() {
    let store = Store::temporary();
    let new = |subject: &str, order_id| NewTicket {
        subject: subject.into(),
        details: String::new(),
        priority: Priority::Normal,
        order_id,
    };
    assert!(matches!(store.create_ticket(new(" ", None)).await.unwrap_err(), StoreError::NoSubject));
    assert!(store.create_ticket(new("x", Some(5))).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn reports_add_up_to_the_orders() {
    let store = Store::temporary();
    let (mut orders, mut cents) = (0, 0);
    for month in store.months().await.unwrap() {
        let report = store.report(month).await.unwrap();
        orders += report.orders;
        cents += report.sales.cents();
    }
    let (all, _) = store.search_orders(ANY).await.unwrap();
    let kept: Vec<_> = all.iter().filter(|order| order.status != OrderStatus::Cancelled).collect();
    assert_eq!(orders as usize, kept.len());
    assert_eq!(cents, kept.iter().map(|order| order.total.minus(order.refunded).cents()).sum::<i64>());
}

#[test]
fn money_reads_as_euros() {
    assert_eq!(Money::from_euros(12.345).to_string(), "12.35 EUR");
    assert_eq!(Money::from_cents(-5).to_string(), "-0.05 EUR");
    assert_eq!(Money::from_euros(f64::NAN).cents(), 0);
}
