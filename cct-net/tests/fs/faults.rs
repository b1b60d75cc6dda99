//! Disks that fail.

use super::{all_seen, checker, everywhere};
use cct_executor::Report;
use cct_executor::node::{NodeId, node};
use cct_executor::time::sleep;
use cct_net::fs::{self, DiskFault, DiskFaults, File, Inspected, inject, inspect, set_faults};
use std::future::Future;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const TEST: NodeId = NodeId(0);

fn is_eio(error: &io::Error) -> bool {
    error.raw_os_error() == Some(5)
}

#[test]
fn injected_faults_hit_the_next_operation_of_their_kind() {
    everywhere("injected", |checker| {
        let report = checker.iterations(10).run(|| async {
            fs::write("/f", [7; 2000]).await.unwrap();
            inject(TEST, DiskFault::ReadError);
            let file = File::open("/f").await.unwrap();
            file.sync_all().await.unwrap();
            assert!(is_eio(&fs::read("/f").await.unwrap_err()));
            assert_eq!(fs::read("/f").await.unwrap(), [7; 2000]);

            inject(TEST, DiskFault::WriteError);
            assert!(is_eio(&fs::write("/g", [7; 2000]).await.unwrap_err()));
            let written = fs::read("/g").await.unwrap();
            assert!(written.len() < 2000 && written.len() % 512 == 0);

            inject(TEST, DiskFault::NoSpace);
            let error = fs::write("/h", "x").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StorageFull);

            inject(TEST, DiskFault::SyncError);
            assert!(is_eio(&file.sync_data().await.unwrap_err()));
            file.sync_data().await.unwrap();

            inject(TEST, DiskFault::BitRot);
            let rotten = fs::read("/f").await.unwrap();
            let bits: u32 = rotten.iter().map(|byte| (byte ^ 7).count_ones()).sum();
            assert_eq!(bits, 1);
            assert_eq!(fs::read("/f").await.unwrap(), rotten);
        });
        report.assert_passed();
    });
}

/// The error of a write in the background comes with the next write or flush.
#[test]
fn a_failed_write_is_told_later() {
    everywhere("told later", |checker| {
        let report = checker.iterations(10).run(|| async {
            let mut options = fs::OpenOptions::new();
            let options = options.read(true).write(true).create(true);
            let mut file = options.open("/f").await.unwrap();
            inject(TEST, DiskFault::WriteError);
            assert_eq!(file.write(b"lost").await.unwrap(), 4);
            assert!(file.write(b"x").await.is_err_and(|error| is_eio(&error)));
            inject(TEST, DiskFault::WriteError);
            assert_eq!(file.write(b"lost").await.unwrap(), 4);
            assert_eq!(file.read(&mut [0; 4]).await.unwrap(), 0);
            assert!(file.flush().await.is_err());
            file.flush().await.unwrap();
        });
        report.assert_passed();
    });
}

#[test]
fn a_full_disk_takes_what_fits() {
    let report = checker("full").iterations(20).run(|| async {
        let capacity = Some(1000);
        set_faults(DiskFaults {
            capacity,
            ..DiskFaults::default()
        });
        fs::write("/a", [1; 600]).await.unwrap();
        let error = fs::write("/b", [2; 600]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert_eq!(fs::metadata("/b").await.unwrap().len(), 400);
        let file = fs::OpenOptions::new().write(true).open("/b").await.unwrap();
        assert_eq!(
            file.set_len(401).await.unwrap_err().kind(),
            ErrorKind::StorageFull
        );
        fs::remove_file("/a").await.unwrap();
        file.set_len(1000).await.unwrap();
        // In place there is always room.
        let mut file = fs::OpenOptions::new().write(true).open("/b").await.unwrap();
        file.write_all(&[3; 1000]).await.unwrap();
        file.flush().await.unwrap();
        file.write_all(&[3]).await.unwrap();
        assert_eq!(
            file.flush().await.unwrap_err().kind(),
            ErrorKind::StorageFull
        );
        assert_eq!(
            file.set_len(1 << 40).await.unwrap_err().kind(),
            ErrorKind::FileTooLarge
        );
    });
    report.assert_passed();
}

/// Runs a program under settings; whether it ever fails, and how often it met trouble.
fn run<Fut>(name: &str, faults: DiskFaults, program: fn() -> Fut) -> Report
where
    Fut: Future<Output = io::Result<()>> + 'static,
{
    checker(name).iterations(300).run(move || {
        let faults = faults.clone();
        async move {
            set_faults(faults);
            program().await
        }
    })
}

#[test]
fn short_reads_and_writes_are_found_by_who_forgets_them() {
    async fn careless_read() -> io::Result<()> {
        fs::write("/f", [1; 100]).await?;
        let mut buffer = [0; 100];
        let count = File::open("/f").await?.read(&mut buffer).await?;
        assert_eq!(count, 100);
        Ok(())
    }
    async fn careless_write() -> io::Result<()> {
        let mut file = File::create("/f").await?;
        assert_eq!(file.write(&[1; 100]).await?, 100);
        Ok(())
    }
    async fn careful() -> io::Result<()> {
        let mut file = File::create("/f").await?;
        file.write_all(&[1; 100]).await?;
        file.flush().await?;
        let mut buffer = [0; 100];
        File::open("/f").await?.read_exact(&mut buffer).await?;
        assert_eq!((buffer, fs::read("/f").await?), ([1; 100], vec![1; 100]));
        Ok(())
    }
    let short = DiskFaults {
        short_reads: true,
        short_writes: true,
        ..DiskFaults::default()
    };
    run("short, careful", short.clone(), careful).assert_passed();
    assert!(
        run("short read", short.clone(), careless_read)
            .failure()
            .is_some()
    );
    assert!(
        run("short write", short, careless_write)
            .failure()
            .is_some()
    );
    run("no short read", DiskFaults::default(), careless_read).assert_passed();
    run("no short write", DiskFaults::default(), careless_write).assert_passed();
}

#[test]
fn there_are_as_many_faults_as_the_budget_has() {
    async fn work() -> io::Result<()> {
        let mut met = 0;
        for _ in 0..40 {
            met += u32::from(fs::write("/f", "x").await.is_err());
            met += u32::from(fs::read("/f").await.is_err());
            met += u32::from(File::open("/f").await?.sync_all().await.is_err());
        }
        assert!(met <= 2, "{met} faults");
        cct_executor::sometimes!(met == 2, "the budget is used up");
        Ok(())
    }
    let two = DiskFaults {
        budget: 2,
        read_errors: true,
        write_errors: true,
        sync_errors: true,
        ..DiskFaults::default()
    };
    let report = run("budget", two.clone(), work);
    report.assert_passed();
    all_seen(&report);
    let none = DiskFaults { budget: 0, ..two };
    async fn nothing_fails() -> io::Result<()> {
        fs::write("/f", "x").await?;
        File::open("/f").await?.sync_all().await
    }
    run("no budget", none, nothing_fails).assert_passed();
}

/// Writes and flushes twice with one fault on the way, then crashes; what is left, as the length
/// and whether the second flush was said to be done.
fn left_after(name: &str, fault: DiskFault) -> Vec<(usize, bool)> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let results = found.clone();
    let report = checker(name).iterations(400).run(move || {
        let results = results.clone();
        async move {
            let said = Arc::new(Mutex::new(false));
            let theirs = said.clone();
            let db = node("db").start(move || {
                let said = theirs.clone();
                async move {
                    let mut file = File::create("/f").await?;
                    file.write_all(&[1; 100]).await?;
                    file.flush().await?;
                    File::open("/").await?.sync_all().await?;
                    inject(cct_executor::node::current(), fault);
                    let first = file.sync_all().await;
                    assert_eq!(first.is_err(), fault == DiskFault::SyncError);
                    assert_eq!(fs::read("/f").await?, [1; 100], "programs still see it");
                    file.sync_all().await?;
                    *said.lock().unwrap() = true;
                    std::future::pending::<io::Result<()>>().await
                }
            });
            sleep(Duration::from_secs(1)).await;
            db.crash();
            let said = *said.lock().unwrap();
            let left = inspect(db.id());
            let Some(Inspected::File(bytes)) = left.get(Path::new("/f")) else {
                panic!("the name was flushed: {left:?}");
            };
            results.lock().unwrap().push((bytes.len(), said));
        }
    });
    report.assert_passed();
    let mut found = found.lock().unwrap().clone();
    found.sort();
    found.dedup();
    found
}

/// After a flush that failed, one that succeeds proves nothing: what it should have written may be
/// gone.
#[test]
fn a_failed_flush_may_drop_what_it_was_to_write() {
    let found = left_after("dropped", DiskFault::SyncError);
    assert_eq!(found, [(0, true), (100, true)]);
}

/// A flush that lies does not spoil the next one.
#[test]
fn a_lost_flush_is_made_good_by_the_next() {
    assert_eq!(left_after("lost", DiskFault::LostSync), [(100, true)]);
}

/// What a failed flush dropped comes back with the next write into the same sector.
#[test]
fn a_later_write_takes_its_sector_along() {
    let report = checker("along").iterations(300).run(|| async {
        let db = node("db").start(|| async {
            let mut file = File::create("/f").await?;
            File::open("/").await?.sync_all().await?;
            file.write_all(&[1; 600]).await?;
            file.flush().await?;
            inject(cct_executor::node::current(), DiskFault::SyncError);
            assert!(file.sync_all().await.is_err());
            file.rewind().await?;
            file.write_all(&[2; 10]).await?;
            file.sync_all().await?;
            std::future::pending::<io::Result<()>>().await
        });
        sleep(Duration::from_secs(1)).await;
        db.crash();
        let Some(Inspected::File(bytes)) = inspect(db.id()).remove(Path::new("/f")) else {
            panic!("the name was flushed");
        };
        assert_eq!((bytes.len(), &bytes[..10]), (600, &[2; 10][..]));
        assert_eq!(&bytes[10..512], [1; 502]);
        assert!(bytes[512..] == [1; 88] || bytes[512..] == [0; 88]);
        cct_executor::sometimes!(bytes[512..] == [0; 88], "the second sector is lost");
    });
    report.assert_passed();
    all_seen(&report);
}

#[test]
fn sectors_are_torn_only_if_that_is_asked_for() {
    let run = |torn_sectors: bool| {
        checker("torn").iterations(500).run(move || async move {
            set_faults(DiskFaults {
                torn_sectors,
                ..DiskFaults::default()
            });
            let db = node("db").start(|| async {
                fs::write("/f", [1; 100]).await?;
                File::open("/f").await?.sync_all().await?;
                File::open("/").await?.sync_all().await?;
                let mut file = fs::OpenOptions::new().write(true).open("/f").await?;
                file.write_all(&[2; 100]).await?;
                file.flush().await?;
                std::future::pending::<io::Result<()>>().await
            });
            sleep(Duration::from_secs(1)).await;
            db.crash();
            let Some(Inspected::File(bytes)) = inspect(db.id()).remove(Path::new("/f")) else {
                panic!("the name was flushed");
            };
            assert!(bytes == [1; 100] || bytes == [2; 100], "torn: {bytes:?}");
        })
    };
    run(false).assert_passed();
    assert!(run(true).failure().is_some());
}
