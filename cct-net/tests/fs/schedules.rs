//! Same seed, same trace, whatever happens on the disks.

use super::{GRANULARITIES, checker};
use cct_executor::node::node;
use cct_executor::task::yield_now;
use cct_executor::{Seed, nondet, spawn};
use cct_net::fs::{self, DiskFaults, File, Inspected, Log, LogStore, inspect, set_faults};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

const MANY: [&str; 8] = [
    "random",
    "pct:d=3",
    "round-robin",
    "pos",
    "surw",
    "urw",
    "ql",
    "greedy",
];

async fn work(i: usize) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open("/shared")
        .await?;
    file.write_all(&vec![i as u8; 300 * (i + 1)]).await?;
    file.sync_all().await?;
    fs::rename("/shared", format!("/moved-{i}")).await?;
    let log = Log::open(format!("/log-{i}")).await?;
    log.append(&[i as u8; 40])?;
    let _ = log.flush().await?;
    File::open("/").await?.sync_data().await?;
    let mut entries = fs::read_dir("/").await?;
    while let Some(entry) = entries.next_entry().await? {
        if entry.metadata().await?.is_file() {
            fs::read(entry.path()).await?;
        }
    }
    Ok(())
}

async fn everything() -> u64 {
    set_faults(DiskFaults {
        budget: 3,
        read_errors: true,
        write_errors: true,
        sync_errors: true,
        lost_syncs: true,
        bit_rot: true,
        torn_sectors: true,
        short_reads: true,
        short_writes: true,
        capacity: Some(5000),
    });
    let nodes = ["a", "b"].map(|name| {
        node(name).start(|| async {
            let workers: Vec<_> = (0..3).map(|i| spawn(work(i))).collect();
            for worker in workers {
                let _ = worker.await;
            }
        })
    });
    for _ in 0..3 {
        for _ in 0..nondet::choose(30) {
            yield_now().await;
        }
        nodes[nondet::choose(2) as usize].restart();
    }
    let left = nodes.each_ref().map(|node| inspect(node.id()));
    cct_executor::words::fingerprint::hash_of(&format!("{left:?}"))
}

#[test]
fn the_same_seed_leaves_the_same_disks() {
    for granularity in GRANULARITIES {
        for strategy in MANY {
            let run = |workers: usize| {
                let all = Arc::new(Mutex::new(Vec::new()));
                let seen = all.clone();
                let report = checker("same")
                    .strategy_text(strategy)
                    .granularity(granularity)
                    .seed(Seed(7))
                    .iterations(40)
                    .workers(workers)
                    .run(move || {
                        let seen = seen.clone();
                        async move {
                            let left = everything().await;
                            seen.lock().unwrap().push(left);
                        }
                    });
                report.assert_passed();
                let mut all = all.lock().unwrap().clone();
                all.sort_unstable();
                all
            };
            let first = run(1);
            assert_eq!(first, run(1), "{strategy} {granularity:?}");
            let mut different = first.clone();
            different.dedup();
            if strategy != "round-robin" {
                assert!(
                    different.len() > 5,
                    "{strategy} {granularity:?}: {different:?}"
                );
            }
        }
    }
}

/// A disk in a failing iteration says what it looked like.
#[test]
fn reports_show_the_disks() {
    let report = checker("shown").iterations(1).run(|| async {
        fs::write("/f", "12345").await.unwrap();
        panic!("look at the disk");
    });
    let text = report.text();
    assert!(text.contains("disk of n0: 1 files with 5 bytes"), "{text}");
}

/// What a crash left is told with the file and the names it was chosen for.
#[test]
fn reports_say_of_what_something_survives() {
    let report = checker("survivors").run(|| async {
        let db = node("db").start(|| async {
            fs::write("/log", "12345").await?;
            std::future::pending::<io::Result<()>>().await
        });
        let log = || inspect(db.id()).remove(Path::new("/log"));
        let all = Some(Inspected::File(b"12345".to_vec()));
        while log() != all {
            yield_now().await;
        }
        db.crash();
        assert_ne!(log(), all);
    });
    let text = report.text();
    for line in [
        " of the changes of directories (log), not 0",
        " of 1 change of /log, not 0",
    ] {
        assert!(text.contains(line), "`{line}` is not in {text}");
    }
}
