//! Logs: the order in which flushes end, and what a crash leaves.

use super::{all_seen, checker, everywhere};
use cct_executor::node::node;
use cct_executor::shim::is_down;
use cct_executor::task::yield_now;
use cct_executor::time::sleep;
use cct_executor::{Granularity, nondet, sometimes, spawn};
use cct_net::fs::{self, Log, LogStore};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn payloads(log: &Log) -> Vec<Vec<u8>> {
    log.records()
        .into_iter()
        .map(|(_, record)| record)
        .collect()
}

#[test]
fn a_log_keeps_its_records() {
    everywhere("records", |checker| {
        let report = checker.iterations(20).run(|| async {
            let log = Log::open("/log").await?;
            let first = log.append(b"one")?;
            let second = log.append(b"")?;
            let third = log.append(&[3; 1000])?;
            assert!(first == 0 && first < second && second < third && third < log.end());
            assert_eq!(log.durable(), 0);
            assert_eq!(log.flush().await?, log.end());
            assert_eq!(log.durable(), log.end());
            let again = Log::open("/log").await?;
            assert_eq!(again.records(), log.records());
            log.truncate(second)?;
            assert_eq!((log.end(), log.durable()), (second, second));
            assert_eq!(log.append(b"two")?, second);
            log.flush().await?;
            assert_eq!(payloads(&Log::open("/log").await?), [&b"one"[..], b"two"]);
            let error = log.truncate(1).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert_eq!(
                log.append(b"three")?,
                log.truncate(second).map(|()| second + 15)?
            );
            let missing = Log::open("/none/log").await.unwrap_err();
            assert_eq!(missing.kind(), io::ErrorKind::NotFound);
            io::Result::Ok(())
        });
        report.assert_passed();
    });
}

/// Two flushes under way may end in either order, and a program that takes the end of the last as
/// the end of both is right; one that counts ends is not.
#[test]
fn flushes_end_in_any_order() {
    let orders = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let seen = orders.clone();
    let report = checker("orders")
        .strategy_text("random")
        .iterations(300)
        .run(move || {
            let seen = seen.clone();
            async move {
                let log = Log::open("/log").await.unwrap();
                let order = Arc::new(Mutex::new(Vec::new()));
                let flushes: Vec<_> = (0..3)
                    .map(|i| {
                        log.append(&[i]).unwrap();
                        let (flush, log, order) = (log.flush(), log.clone(), order.clone());
                        spawn(async move {
                            let end = flush.await.unwrap();
                            assert!(log.durable() >= end);
                            order.lock().unwrap().push(i);
                        })
                    })
                    .collect();
                for flush in flushes {
                    flush.await.unwrap();
                }
                assert_eq!(log.durable(), log.end());
                seen.lock().unwrap().insert(order.lock().unwrap().clone());
            }
        });
    report.assert_passed();
    assert_eq!(orders.lock().unwrap().len(), 6);
}

/// Whatever a crash leaves: the records that were flushed, then some that follow, whole.
#[test]
fn a_crash_leaves_a_prefix_of_the_log() {
    everywhere("prefix", |checker| {
        let report = checker.iterations(300).run(|| async {
            let flushed = Arc::new(AtomicU64::new(0));
            let theirs = flushed.clone();
            let db = node("db").start(move || {
                let flushed = theirs.clone();
                async move {
                    let log = Log::open("/log").await?;
                    for (i, (_, record)) in log.records().into_iter().enumerate() {
                        assert_eq!(record, vec![i as u8; 300 * i]);
                    }
                    assert!(
                        log.end() >= flushed.load(SeqCst),
                        "a flushed record is gone"
                    );
                    for i in log.records().len()..8 {
                        log.append(&vec![i as u8; 300 * i])?;
                        let (flush, flushed) = (log.flush(), flushed.clone());
                        spawn(async move {
                            if let Ok(end) = flush.await {
                                flushed.fetch_max(end, SeqCst);
                            }
                        });
                        yield_now().await;
                    }
                    io::Result::Ok(())
                }
            });
            for _ in 0..3 {
                for _ in 0..nondet::choose(25) {
                    yield_now().await;
                }
                db.restart();
            }
        });
        report.assert_passed();
    });
}

/// A flush covers what was appended before it began, and nothing else.
#[test]
fn what_comes_after_a_flush_began_may_be_lost() {
    let report = checker("after").iterations(200).run(|| async {
        let db = node("db").start(|| async {
            let log = Log::open("/log").await?;
            log.append(b"before")?;
            let flush = log.flush();
            log.append(b"after")?;
            assert!(flush.await? < log.end());
            assert!(log.durable() < log.end());
            std::future::pending::<io::Result<()>>().await
        });
        sleep(Duration::from_secs(1)).await;
        db.crash();
        db.restart();
        let log = db.spawn(Log::open("/log")).await.unwrap().unwrap();
        let left = payloads(&log);
        assert_eq!(left[0], b"before");
        cct_executor::sometimes!(left.len() == 1, "the second is lost");
        cct_executor::sometimes!(left.len() > 1, "the second survives");
    });
    report.assert_passed();
    all_seen(&report);
}

/// Acknowledging before the flush has ended is found.
#[test]
fn an_early_acknowledgement_is_found() {
    let report = checker("early").iterations(300).run(|| async {
        let appended = Arc::new(AtomicU64::new(0));
        let theirs = appended.clone();
        let db = node("db").start(move || {
            let appended = theirs.clone();
            async move {
                let log = Log::open("/log").await?;
                assert!(
                    log.end() >= appended.load(SeqCst),
                    "an acknowledged record is gone"
                );
                log.append(b"entry")?;
                let flush = log.flush();
                appended.store(log.end(), SeqCst); // before the flush has ended
                flush.await.map(drop)
            }
        });
        for _ in 0..nondet::choose(10) {
            yield_now().await;
        }
        db.restart();
        yield_now().await;
        yield_now().await;
    });
    assert!(report.failure().is_some());
}

/// Any store behind the trait.
async fn fill<L: LogStore>(log: &L) -> io::Result<u64> {
    log.append(b"generic")?;
    log.flush().await
}

#[test]
fn protocols_are_generic_over_the_store() {
    let report = checker("generic").iterations(10).run(|| async {
        let log = Log::open("/tmp/log").await.unwrap();
        assert_eq!(fill(&log).await.unwrap(), log.end());
        assert!(fs::metadata("/tmp/log").await.unwrap().len() > 0);
    });
    report.assert_passed();
}

/// A poll that was interrupted comes to its end when its node goes down, and writes nothing any more.
#[test]
fn what_is_appended_after_a_crash_is_not_there() {
    let report = checker("between two records")
        .granularity(Granularity::Sync)
        .iterations(400)
        .run(|| async {
            let written = Arc::new(AtomicU64::new(0));
            let theirs = written.clone();
            let writer = node("writer").start(move || {
                let written = theirs.clone();
                async move {
                    let log = Log::open("/log").await.unwrap();
                    if log.records().is_empty() {
                        log.append(b"one").unwrap();
                        log.flush().await.unwrap();
                        written.store(1, SeqCst);
                        log.append(b"two").unwrap();
                        if !is_down() {
                            written.store(2, SeqCst);
                        }
                    }
                }
            });
            while written.load(SeqCst) == 0 {
                yield_now().await;
            }
            writer.crash();
            writer.restart();
            let reader = writer.spawn(async { payloads(&Log::open("/log").await.unwrap()) });
            let left = reader.await.unwrap();
            assert_eq!(left[0], b"one");
            assert!(left.len() <= written.load(SeqCst) as usize);
            sometimes!(written.load(SeqCst) == 1, "in between");
            sometimes!(left.len() == 2, "both are left");
        });
    report.assert_passed();
    all_seen(&report);
}
