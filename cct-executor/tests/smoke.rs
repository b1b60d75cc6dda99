use cct_executor::{Checker, Granularity, spawn, task::yield_now};
use std::sync::{Arc, Mutex};

#[test]
fn lost_update() {
    let report = Checker::new().name("lost").iterations(1000).run(|| async {
        let c = Arc::new(Mutex::new(0));
        let mut hs = vec![];
        for _ in 0..3 {
            let c = c.clone();
            hs.push(spawn(async move { let v = *c.lock().unwrap(); yield_now().await; *c.lock().unwrap() = v + 1; }));
        }
        for h in hs { h.await.unwrap(); }
        assert_eq!(*c.lock().unwrap(), 3);
    });
    println!("{}", report.text());
    assert!(report.failure().is_some());
    let token = report.failure().unwrap().token.clone();
    let _ = token;
}

#[test]
fn pass() {
    for strategy in ["random", "pct:d=3", "round-robin", "exhaustive"] {
    for g in [Granularity::Await, Granularity::Op, Granularity::Sync] {
    let report = Checker::new().name("pass").strategy_text(strategy).granularity(g).iterations(200).run(|| async {
        let mut hs = vec![];
        for i in 0..3 { hs.push(spawn(async move { yield_now().await; i })); }
        let mut sum = 0;
        for h in hs { sum += h.await.unwrap(); }
        assert_eq!(sum, 3);
    });
    println!("{}", report.text());
    report.assert_passed();
    }}
}

#[test]
fn deadlock() {
    let report = Checker::new().name("dead").iterations(10).run(|| async {
        let h = spawn(async { std::future::pending::<()>().await });
        h.await.unwrap();
    });
    println!("{}", report.text());
    assert_eq!(report.failure().unwrap().kind.class(), "deadlock");
}
