//! Programs that must survive crashes at any moment, and ones that do not.

use super::{all_seen, checker, everywhere};
use cct_executor::node::node;
use cct_executor::task::yield_now;
use cct_executor::time::{sleep, timeout};
use cct_executor::{Checker, Report, nondet, sometimes, spawn};
use cct_net::fault::{Fault, FaultPlan};
use cct_net::fs::{self, File, OpenOptions, Permissions};
use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

/// What a program that replaces a file takes care of.
#[derive(Clone, Copy)]
struct Care {
    sync_file: bool,
    rename: bool,
    sync_directory: bool,
}

const FULL: Care = Care {
    sync_file: true,
    rename: true,
    sync_directory: true,
};

async fn replace(text: &str, care: Care) -> io::Result<()> {
    let name = if care.rename { "/state.new" } else { "/state" };
    let mut file = File::create(name).await?;
    file.write_all(text.as_bytes()).await?;
    file.flush().await?;
    if care.sync_file {
        file.sync_all().await?;
    }
    if care.rename {
        fs::rename(name, "/state").await?;
    }
    if care.sync_directory {
        File::open("/").await?.sync_all().await?;
    }
    Ok(())
}

/// A counter in a file, with crashes at any moment: what was acknowledged must be there.
fn counter(checker: Checker, care: Care) -> Report {
    checker.run(move || async move {
        let acknowledged = Arc::new(AtomicU32::new(0));
        let theirs = acknowledged.clone();
        let db = node("db").start(move || {
            let acknowledged = theirs.clone();
            async move {
                let before = acknowledged.load(SeqCst);
                let mut count = match fs::read_to_string("/state").await {
                    Ok(text) => text.parse::<u32>().expect("a number, as it was written"),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                    Err(error) => return Err(error),
                };
                assert!(
                    count >= before,
                    "{before} was acknowledged, {count} is there"
                );
                for _ in 0..2 {
                    count += 1;
                    replace(&count.to_string(), care).await?;
                    acknowledged.store(count, SeqCst);
                }
                Ok(())
            }
        });
        for _ in 0..2 {
            for _ in 0..nondet::choose(20) {
                yield_now().await;
            }
            db.restart();
        }
        sleep(Duration::from_secs(1)).await;
        db.restart();
        sleep(Duration::from_secs(1)).await;
    })
}

#[test]
fn a_careful_program_survives_every_crash() {
    everywhere("careful", |checker| {
        counter(checker.iterations(400), FULL).assert_passed();
    });
}

#[test]
fn every_bit_of_care_is_needed() {
    let careless = [
        (
            "no sync of the file",
            Care {
                sync_file: false,
                ..FULL
            },
        ),
        (
            "no rename",
            Care {
                rename: false,
                ..FULL
            },
        ),
        (
            "no sync of the directory",
            Care {
                sync_directory: false,
                ..FULL
            },
        ),
    ];
    for (name, care) in careless {
        for strategy in ["random", "pct:d=3"] {
            let checker = checker(name).strategy_text(strategy).iterations(500);
            let report = counter(checker, care);
            let failure = report
                .failure()
                .unwrap_or_else(|| panic!("{name}: nothing found"));
            assert_eq!(failure.kind.class(), "panic", "{name}");
        }
    }
}

/// The host of a killed process keeps what the process wrote, and a power cut may still take it.
#[test]
fn a_killed_process_loses_nothing_that_it_wrote() {
    let report = checker("kill").iterations(500).run(|| async {
        let db = node("db").start(|| async {
            if fs::try_exists("/f").await? {
                sometimes!(true, "it was killed and came back");
            } else {
                fs::write("/f", "written").await?;
                fs::create_dir("/d").await?;
                fs::rename("/f", "/d/g").await?;
                fs::write("/f", "not synced").await?;
                fs::remove_file("/d/g").await?;
                let mut file = File::create("/d/background").await?;
                file.write_all(b"on its way").await?;
                drop(file);
            }
            std::future::pending::<io::Result<()>>().await
        });
        sleep(Duration::from_secs(1)).await;
        cct_net::node::kill(&db);
        let left = fs::inspect(db.id());
        let bytes = |path: &str| match left.get(std::path::Path::new(path)) {
            Some(fs::Inspected::File(bytes)) => Some(bytes.clone()),
            _ => None,
        };
        assert_eq!(bytes("/f").as_deref(), Some(&b"not synced"[..]));
        assert_eq!(bytes("/d/g"), None);
        let background = bytes("/d/background").expect("a file that was made");
        assert!(background.is_empty() || background == b"on its way");
        db.restart();
        sleep(Duration::from_secs(1)).await;
        cct_net::node::power_off(&db);
        let kept = fs::inspect(db.id()).contains_key(std::path::Path::new("/f"));
        sometimes!(kept, "a power cut spares it");
        sometimes!(!kept, "a power cut takes it");
    });
    report.assert_passed();
    all_seen(&report);
}

/// Plans find their moments in the work of a disk alone: nothing is sent here, and no time passes
/// before the work is done. What is not synced outlives kills, and crashes do not leave it alone.
#[test]
fn plans_hit_nodes_that_work_on_their_disks() {
    for (fault, survives) in [(Fault::Kill, true), (Fault::Crash, false)] {
        let report = checker("plan").iterations(1000).run(move || async move {
            let acknowledged = Arc::new(AtomicU32::new(0));
            let theirs = acknowledged.clone();
            let db = node("db").start(move || {
                let acknowledged = theirs.clone();
                async move {
                    let before = acknowledged.load(SeqCst);
                    let text = fs::read_to_string("/state").await.unwrap_or_default();
                    let mut count = text.parse::<u32>().unwrap_or_default();
                    assert!(count >= before, "{before} was acknowledged, not {count}");
                    sometimes!(before > 0, "it came back in the middle of its work");
                    while count < 20 {
                        count += 1;
                        let careless = Care {
                            sync_file: false,
                            ..FULL
                        };
                        replace(&count.to_string(), careless).await?;
                        acknowledged.store(count, SeqCst);
                    }
                    io::Result::Ok(())
                }
            });
            let plan = FaultPlan::new().nodes([&db]).fault(fault);
            let faults = plan.start().unwrap();
            sleep(Duration::from_secs(20)).await;
            faults.stop();
        });
        assert_eq!(report.failure().is_none(), survives, "{}", report.text());
        if survives {
            all_seen(&report);
        }
    }
}

/// An operation that is dropped once it was polled happens nevertheless, perhaps late.
#[test]
fn a_dropped_write_may_land_later() {
    let early = Arc::new(AtomicU32::new(0));
    let late = Arc::new(AtomicU32::new(0));
    let (seen_early, seen_late) = (early.clone(), late.clone());
    let report = checker("dropped").iterations(200).run(move || {
        let (early, late) = (seen_early.clone(), seen_late.clone());
        async move {
            let mut write = Box::pin(fs::write("/f", "first"));
            std::future::poll_fn(|cx| {
                assert!(write.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
            drop(write);
            fs::write("/f", "second").await.unwrap();
            sleep(Duration::from_secs(1)).await;
            match &*fs::read_to_string("/f").await.unwrap() {
                "first" => late.fetch_add(1, SeqCst),
                "second" => early.fetch_add(1, SeqCst),
                other => panic!("{other}"),
            };
            // One that was never polled does not happen.
            drop(fs::remove_file("/f"));
            let unpolled = timeout(Duration::from_secs(1), std::future::pending::<()>()).await;
            assert!(unpolled.is_err());
            assert!(fs::try_exists("/f").await.unwrap());
        }
    });
    report.assert_passed();
    assert!(early.load(SeqCst) > 0 && late.load(SeqCst) > 0);
}

/// What was written is seen by others only once it is flushed.
#[test]
fn writes_in_the_background_need_a_flush() {
    let run = |flush: bool| {
        checker("background")
            .iterations(200)
            .run(move || async move {
                let mut file = File::create("/f").await.unwrap();
                file.write_all(b"x").await.unwrap();
                if flush {
                    file.flush().await.unwrap();
                }
                drop(file);
                assert_eq!(fs::read("/f").await.unwrap(), b"x");
            })
    };
    run(true).assert_passed();
    assert!(run(false).failure().is_some());
}

#[test]
fn what_was_opened_before_a_crash_is_of_no_use() {
    everywhere("stale", |checker| {
        let report = checker.iterations(20).run(|| async {
            let db = node("db").start(std::future::pending::<()>);
            let opened = db.spawn(async {
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true).open("/f").await
            });
            let mut file = opened.await.unwrap().unwrap();
            file.write_all(b"abc").await.unwrap();
            let sync = spawn(async move {
                let result = file.sync_all().await;
                (file, result)
            });
            if nondet::boolean() {
                yield_now().await;
            }
            db.crash();
            db.restart();
            let (mut file, _) = sync.await.unwrap();
            let errors = [
                file.read(&mut [0; 3]).await.unwrap_err(),
                file.set_len(0).await.unwrap_err(),
                file.sync_all().await.unwrap_err(),
                file.metadata().await.unwrap_err(),
            ];
            for error in errors {
                assert!(error.to_string().contains("node n1 crashed"), "{error}");
            }
        });
        report.assert_passed();
    });
}

#[test]
fn nodes_have_disks_of_their_own() {
    let report = checker("own").iterations(50).run(|| async {
        fs::write("/name", "the test").await.unwrap();
        let nodes = ["a", "b"].map(|name| node(name).start(std::future::pending::<()>));
        for node in &nodes {
            let name = node.name().to_owned();
            let write = node.spawn(async move {
                assert!(!fs::try_exists("/name").await.unwrap());
                fs::write("/name", name).await.unwrap();
            });
            write.await.unwrap();
        }
        for node in &nodes {
            let read = node.spawn(fs::read_to_string("/name")).await.unwrap();
            assert_eq!(read.unwrap(), node.name());
        }
        assert_eq!(fs::read_to_string("/name").await.unwrap(), "the test");
    });
    report.assert_passed();
}

#[test]
fn outside_a_scenario_there_are_no_disks() {
    let mut read = Box::pin(fs::read("/f"));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match read.as_mut().poll(&mut cx) {
        Poll::Ready(Err(error)) => {
            assert_eq!(error.kind(), io::ErrorKind::Unsupported);
            assert!(error.to_string().contains("inside a scenario"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn readonly_files_cannot_be_opened_for_writing() {
    let report = checker("readonly").iterations(10).run(|| async {
        fs::write("/f", "x").await.unwrap();
        let mut permissions = fs::metadata("/f").await.unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions("/f", permissions).await.unwrap();
        let error = fs::write("/f", "y").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read("/f").await.unwrap(), b"x");
    });
    report.assert_passed();
}

/// Rule 3: `sync_data` leaves the permissions behind, `sync_all` does not.
#[test]
fn permissions_are_durable_after_sync_all() {
    let run = |all: bool| {
        checker("permissions")
            .iterations(200)
            .run(move || async move {
                let db = node("db").start(move || async move {
                    if fs::try_exists("/f").await? {
                        return Ok(());
                    }
                    let file = File::create("/f").await?;
                    File::open("/").await?.sync_all().await?;
                    let mut permissions = file.metadata().await?.permissions();
                    permissions.set_readonly(true);
                    file.set_permissions(permissions).await?;
                    match all {
                        true => file.sync_all().await,
                        false => file.sync_data().await,
                    }
                });
                sleep(Duration::from_secs(1)).await;
                db.restart();
                let metadata = db.spawn(fs::metadata("/f")).await.unwrap().unwrap();
                let readonly = metadata.permissions().readonly();
                assert!(readonly || !all);
                cct_executor::sometimes!(readonly, "the permissions survive");
                cct_executor::sometimes!(!readonly || all, "they are lost");
            })
    };
    for all in [true, false] {
        let report = run(all);
        report.assert_passed();
        all_seen(&report);
    }
}

/// The permissions of `/f` after a crash of the node that runs this, once.
async fn mode_left<F>(run: impl Fn(File) -> F + Send + Sync + 'static) -> u32
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let run = Arc::new(run);
    let db = node("db").start(move || {
        let run = run.clone();
        async move {
            if fs::try_exists("/f").await? {
                return Ok(());
            }
            let file = File::create("/f").await?;
            File::open("/").await?.sync_all().await?;
            run(file).await
        }
    });
    sleep(Duration::from_secs(1)).await;
    db.restart();
    let metadata = db.spawn(fs::metadata("/f")).await.unwrap().unwrap();
    metadata.permissions().mode() & 0o777
}

#[test]
fn any_permissions_that_were_set_may_survive() {
    let report = checker("set twice").iterations(200).run(|| async {
        let left = mode_left(|file| async move {
            file.set_permissions(Permissions::from_mode(0o600)).await?;
            file.set_permissions(Permissions::from_mode(0o640)).await
        });
        let left = left.await;
        assert!([0o644, 0o600, 0o640].contains(&left));
        sometimes!(left == 0o644, "neither survives");
        sometimes!(left == 0o600, "the first survives");
        sometimes!(left == 0o640, "both survive");
    });
    report.assert_passed();
    all_seen(&report);
}

#[test]
fn a_flush_knows_nothing_of_permissions_that_are_set_after_it_began() {
    let report = checker("set meanwhile").iterations(200).run(|| async {
        let left = mode_left(|file| async move {
            let mut flush = std::pin::pin!(file.sync_all());
            let begun = std::future::poll_fn(|cx| Poll::Ready(flush.as_mut().poll(cx)));
            assert!(begun.await.is_pending(), "a flush takes its time");
            file.set_permissions(Permissions::from_mode(0o600)).await?;
            flush.await
        });
        let left = left.await;
        sometimes!(left == 0o644, "what was set is lost");
        sometimes!(left == 0o600, "it survives");
    });
    report.assert_passed();
    all_seen(&report);
}

/// A panic ends a process, not its host: files keep what was written, synced or not, also where the
/// node was made by the executor alone or crashes silently otherwise.
#[test]
fn a_panic_loses_nothing_that_was_written() {
    for entered in [true, false] {
        everywhere("panic", |checker| {
            let report = checker.iterations(20).run(move || async move {
                let main = || async {
                    match fs::read("/d/f").await {
                        Ok(bytes) => assert_eq!(bytes, b"not synced"),
                        Err(error) => {
                            assert_eq!(error.kind(), io::ErrorKind::NotFound);
                            fs::create_dir("/d").await.unwrap();
                            fs::write("/d/f", "not synced").await.unwrap();
                            panic!("the process is over");
                        }
                    }
                    std::future::pending::<()>().await;
                };
                let db = match entered {
                    true => cct_net::node::node("db").restart_on_panic().start(main),
                    false => node("db").restart_on_panic().start(main),
                };
                sleep(Duration::from_secs(1)).await;
                let kept = |db: &cct_executor::node::Node| {
                    fs::inspect(db.id()).contains_key(std::path::Path::new("/d/f"))
                };
                assert!(db.is_up() && kept(&db));
                db.crash();
                sometimes!(!kept(&db), "the next crash is a power cut again");
            });
            report.assert_passed();
            all_seen(&report);
        });
    }
}

/// Times are durable after `sync_all`, outlive a kill, and otherwise are what they were.
#[test]
fn times_are_durable_after_sync_all() {
    for (all, kill) in [(true, false), (false, false), (false, true)] {
        let report = checker("times").iterations(50).run(move || async move {
            let builder = cct_net::node::node("db").clock_ahead(Duration::from_secs(3600));
            let db = builder.start(move || async move {
                if fs::try_exists("/f").await? {
                    return Ok(());
                }
                let mut file = File::create("/f").await?;
                File::open("/").await?.sync_all().await?;
                sleep(Duration::from_secs(5)).await;
                file.write_all(b"late").await?;
                match all {
                    true => file.sync_all().await,
                    false => file.sync_data().await,
                }
            });
            let start = cct_net::node::system_time();
            sleep(Duration::from_secs(60)).await;
            match kill {
                true => cct_net::node::kill(&db),
                false => cct_net::node::power_off(&db),
            }
            db.restart();
            let metadata = db.spawn(fs::metadata("/f")).await.unwrap().unwrap();
            assert_eq!(metadata.len(), 4);
            if cct_interpose::CONTROLLED {
                let age = start.elapsed().unwrap() - Duration::from_nanos(1); // for the look
                assert_eq!(age, Duration::from_secs(60), "the clock of std is the same");
            }
            let created = start + Duration::from_secs(3600);
            let late = Duration::from_secs(if all || kill { 5 } else { 0 });
            assert_eq!(metadata.modified().unwrap(), created + late);
            assert_eq!(metadata.created().unwrap(), created);
        });
        report.assert_passed();
    }
}
