//! Faults of a plan that hit connections and disks.

use cct_executor::node::Node;
use cct_executor::time::sleep;
use cct_executor::{Checker, spawn};
use cct_net::fault::{Fault, FaultPlan};
use cct_net::fs::{self, DiskFault};
use cct_net::{TcpListener, TcpStream, node};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SEARCHES: [&str; 2] = ["random", "pct:d=3"];
const PACE: (u32, Duration) = (16, Duration::from_millis(10));

/// A run that never ends is no success.
fn checker(name: &str) -> Checker {
    crate::checker(name).fail_on_limit(true)
}

/// How often something was seen in the iterations of a run.
#[derive(Clone, Default)]
struct Tally(Arc<Mutex<BTreeMap<String, u32>>>);

impl Tally {
    fn add(&self, what: &str) {
        *self.0.lock().unwrap().entry(what.to_owned()).or_default() += 1;
    }

    #[track_caller]
    fn assert_seen(&self, what: &str) {
        let seen = self.0.lock().unwrap();
        assert!(
            seen.contains_key(what),
            "never seen: {what}; seen: {seen:?}"
        );
    }
}

/// A node that sends back what it gets.
fn echo(tally: &Tally) -> Node {
    let tally = tally.clone();
    node("server").start(move || {
        let tally = tally.clone();
        async move {
            let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
            while let Ok((mut stream, _)) = listener.accept().await {
                let tally = tally.clone();
                spawn(async move {
                    let mut byte = [0];
                    let error = loop {
                        match stream.read_exact(&mut byte).await {
                            Ok(()) => {}
                            Err(error) => break error,
                        }
                        if let Err(error) = stream.write_all(&byte).await {
                            break error;
                        }
                    };
                    tally.add(&format!("server: {:?}", error.kind()));
                });
            }
        }
    })
}

async fn call(stream: &mut TcpStream, byte: u8) -> io::Result<()> {
    stream.write_all(&[byte]).await?;
    let mut answer = [0];
    stream.read_exact(&mut answer).await?;
    assert_eq!(answer, [byte]);
    Ok(())
}

async fn connect() -> TcpStream {
    loop {
        if let Ok(stream) = TcpStream::connect("server:80").await {
            return stream;
        }
        sleep(Duration::from_millis(1)).await;
    }
}

/// Calls until an error comes. Nothing comes after a reset, although answers may be on their way.
async fn client(tally: Tally) {
    loop {
        let mut stream = connect().await;
        let mut byte = 0;
        let error = loop {
            if let Err(error) = call(&mut stream, byte).await {
                break error;
            }
            byte = byte.wrapping_add(1);
            sleep(Duration::from_millis(5)).await;
        };
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
        tally.add("client: ConnectionReset");
        sleep(Duration::from_millis(50)).await;
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
        let error = stream.write(&[0]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe, "{error}");
    }
}

/// Both ends learn that a connection is reset, and the history says which one it was.
#[test]
fn connections_are_reset_at_both_ends() {
    for strategy in SEARCHES {
        let tally = Tally::default();
        let theirs = tally.clone();
        let report = checker("resets")
            .strategy_text(strategy)
            .iterations(30)
            .run(move || {
                let tally = theirs.clone();
                async move {
                    let server = echo(&tally);
                    let ours = tally.clone();
                    let client = node("client").start(move || client(ours.clone()));
                    let plan = FaultPlan::new().nodes([&server, &client]);
                    let plan = plan.fault(Fault::Reset).pace(PACE.0, PACE.1);
                    let faults = plan.start().unwrap();
                    sleep(Duration::from_secs(2)).await;
                    faults.stop();
                    assert!(faults.is_over());
                    for line in faults.history() {
                        let what = line.split(" ms: ").nth(1).unwrap();
                        assert!(what.starts_with("reset `client` "), "{line}");
                        assert!(what.contains(" -> `server` "), "{line}");
                        assert!(what.ends_with(":80"), "{line}");
                        tally.add("history");
                    }
                    call(&mut connect().await, 7).await.unwrap();
                }
            });
        report.assert_passed();
        tally.assert_seen("client: ConnectionReset");
        tally.assert_seen("server: ConnectionReset");
        tally.assert_seen("history");
    }
}

/// Only connections of the nodes that the plan allows it on, and to other nodes, are reset.
#[test]
fn what_is_no_such_connection_is_left_alone() {
    for strategy in SEARCHES {
        let report = checker("no resets")
            .strategy_text(strategy)
            .iterations(20)
            .run(|| async {
                let server = echo(&Tally::default());
                let client = node("client").start(|| async {
                    let mut stream = connect().await;
                    loop {
                        call(&mut stream, 1).await.unwrap();
                        sleep(Duration::from_millis(5)).await;
                    }
                });
                // Its only connection is one to itself.
                let alone = node("alone").start(|| async {
                    let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
                    let opened = TcpStream::connect("127.0.0.1:80").await.unwrap();
                    let accepted = listener.accept().await.unwrap();
                    std::future::pending::<()>().await;
                    drop((opened, accepted));
                });
                let plan = FaultPlan::new().nodes([&server, &client, &alone]);
                let plan = plan.fault_on(Fault::Reset, [&alone]);
                let faults = plan.pace(PACE.0, PACE.1).start().unwrap();
                sleep(Duration::from_secs(1)).await;
                assert_eq!(faults.taken(), 0, "{:?}", faults.history());
            });
        report.assert_passed();
    }
}

/// What a program sees that writes, flushes and reads: an error, or other bytes than it wrote.
async fn round() -> io::Result<bool> {
    fs::write("/state", "precious").await?;
    fs::File::open("/state").await?.sync_all().await?;
    Ok(fs::read("/state").await? == b"precious")
}

/// Each fault of a disk is met by an operation of its kind; afterwards all is well.
#[test]
fn disk_faults_are_met_by_the_next_operation_of_their_kind() {
    let faults = [
        (DiskFault::ReadError, "disk read error", Some("os error 5")),
        (
            DiskFault::WriteError,
            "disk write error",
            Some("os error 5"),
        ),
        (DiskFault::SyncError, "disk sync error", Some("os error 5")),
        (DiskFault::NoSpace, "disk no space", Some("os error 28")),
        (DiskFault::BitRot, "disk bit rot", Some("other bytes")),
        (DiskFault::LostSync, "disk lost sync", None),
    ];
    for (fault, name, symptom) in faults {
        for strategy in SEARCHES {
            let tally = Tally::default();
            let theirs = tally.clone();
            let report = checker(name)
                .strategy_text(strategy)
                .iterations(20)
                .run(move || disk_scenario(fault, name, symptom, theirs.clone()));
            report.assert_passed();
            tally.assert_seen(&format!("{name} `db`"));
            tally.assert_seen(&format!("{name} `db` is over"));
            if let Some(symptom) = symptom {
                tally.assert_seen(symptom);
            }
        }
    }
}

async fn disk_scenario(
    fault: DiskFault,
    name: &'static str,
    symptom: Option<&'static str>,
    tally: Tally,
) {
    let met = tally.clone();
    let db = node("db").start(move || {
        let tally = met.clone();
        async move {
            loop {
                let seen = match round().await {
                    Ok(true) => None,
                    Ok(false) => Some("other bytes".to_owned()),
                    Err(error) => Some(error.to_string()),
                };
                if let Some(seen) = seen {
                    let symptom = symptom.expect("nothing is to be seen of this fault");
                    assert!(seen.contains(symptom), "{seen}");
                    tally.add(symptom);
                }
                sleep(Duration::from_millis(20)).await;
            }
        }
    });
    let plan = FaultPlan::new().nodes([&db]).fault(Fault::Disk(fault));
    let faults = plan.pace(PACE.0, PACE.1).start().unwrap();
    sleep(Duration::from_secs(2)).await;
    faults.stop();
    assert!(faults.is_over());
    for line in faults.history() {
        let what = line.split(" ms: ").nth(1).unwrap();
        assert!(what.starts_with(&format!("{name} `db`")), "{line}");
        tally.add(what);
    }
}

/// A fault that no operation met is taken back when the plan ends; what a test injected itself stays.
#[test]
fn what_was_not_met_is_taken_back() {
    for strategy in SEARCHES {
        let tally = Tally::default();
        let theirs = tally.clone();
        let report = checker("taken back")
            .strategy_text(strategy)
            .iterations(20)
            .run(move || {
                let tally = theirs.clone();
                async move {
                    let idle = node("idle").start(|| async {});
                    let plan = FaultPlan::new().nodes([&idle]);
                    let plan = plan.fault(Fault::Disk(DiskFault::WriteError));
                    let faults = plan.pace(PACE.0, PACE.1).start().unwrap();
                    sleep(Duration::from_secs(2)).await;
                    // The same fault is not offered again before it is met.
                    assert!(faults.taken() <= 1, "{:?}", faults.history());
                    if faults.taken() == 1 {
                        tally.add("armed");
                    }
                    assert!(!faults.is_over());
                    faults.stop();
                    assert!(faults.is_over());
                    let write = || idle.spawn(fs::write("/state", "precious"));
                    write().await.unwrap().unwrap();

                    fs::inject(idle.id(), DiskFault::WriteError);
                    let plan = FaultPlan::new().nodes([&idle]);
                    let plan = plan.fault(Fault::Disk(DiskFault::WriteError));
                    plan.start().unwrap().stop();
                    write().await.unwrap().unwrap_err();
                }
            });
        report.assert_passed();
        tally.assert_seen("armed");
    }
}
