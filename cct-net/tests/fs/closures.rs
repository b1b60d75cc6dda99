//! Blocking closures that work on a disk when their node crashes, or the test ends: as with a database whose interface
//! is synchronous, they are told of an error, and come to their end in their own way.

use super::{all_seen, checker};
use cct_executor::Granularity;
use cct_executor::node::node;
use cct_executor::runtime::Handle;
use cct_executor::task::{spawn_blocking, yield_now};
use cct_executor::{sometimes, spawn};
use cct_net::fs::{File, OpenOptions, rename};
use std::io::{Result, SeekFrom};
use std::sync::{Arc, Mutex};

/// How far a store came.
#[derive(Default)]
struct Seen {
    synced: u64,
    failed: bool,
}

/// Does not expect that its lock is poisoned: a panic in its destructor, while another unwinds, aborts the process.
struct Store {
    file: Arc<Mutex<Option<File>>>,
    seen: Arc<Mutex<Seen>>,
}

impl Drop for Store {
    fn drop(&mut self) {
        drop(self.file.lock().unwrap().take());
    }
}

impl Store {
    fn open(seen: &Arc<Mutex<Seen>>) -> Result<Store> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        let file = Handle::current().block_on(options.open("/store"))?;
        Ok(Store {
            file: Arc::new(Mutex::new(Some(file))),
            seen: seen.clone(),
        })
    }

    fn add(&self, number: u64) -> Result<()> {
        let mut file = self.file.lock().unwrap();
        let file = file.as_mut().expect("open");
        Handle::current().block_on(async {
            file.seek(SeekFrom::Start(0)).await?;
            file.write_all(&number.to_le_bytes()).await?;
            file.flush().await?;
            file.set_len(8).await?;
            file.sync_all().await?;
            file.seek(SeekFrom::Start(0)).await?;
            let mut again = [0; 8];
            file.read_exact(&mut again).await?;
            assert_eq!(u64::from_le_bytes(again), number);
            Ok::<(), std::io::Error>(())
        })?;
        self.seen.lock().unwrap().synced = number;
        Handle::current().block_on(rename("/store", "/store"))
    }

    fn work(&self) -> Result<()> {
        (1..).try_for_each(|number| self.add(number))
    }
}

/// Works until it fails, and notes that.
fn serve(seen: &Arc<Mutex<Seen>>) {
    let done = Store::open(seen).and_then(|store| store.work());
    seen.lock().unwrap().failed = done.is_err();
}

fn runs(name: &str, scenario: impl AsyncFn() + Send + Sync + Copy + 'static) {
    for granularity in [Granularity::Await, Granularity::Op, Granularity::Sync] {
        let report = checker(&format!("{name} ({granularity:?})"))
            .strategy_text("random")
            .granularity(granularity)
            .iterations(100)
            .run(move || async move { scenario().await });
        report.assert_passed();
        all_seen(&report);
    }
}

#[test]
fn a_closure_whose_node_crashes_learns_that_its_disk_is_gone() {
    runs("crash", async || {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let db = node("db").start({
            let seen = seen.clone();
            move || {
                let seen = seen.clone();
                async move { spawn_blocking(move || serve(&seen)).await.unwrap() }
            }
        });
        for _ in 0..100 {
            yield_now().await;
        }
        db.crash();
        let seen = seen.lock().expect("nothing was unwound that holds it");
        assert!(seen.failed, "it has ended by an error");
        sometimes!(seen.synced > 0, "something was done before");
    });
}

#[test]
fn a_closure_that_the_test_leaves_behind_comes_to_its_end() {
    runs("end", async || {
        let seen = Arc::new(Mutex::new(Seen::default()));
        spawn({
            let seen = seen.clone();
            async move { spawn_blocking(move || serve(&seen)).await.unwrap() }
        });
        for _ in 0..100 {
            yield_now().await;
        }
        sometimes!(seen.lock().unwrap().synced > 0, "something was done before");
    });
}
