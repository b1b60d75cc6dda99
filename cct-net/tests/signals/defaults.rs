//! What signals do to a process that has not registered for them.

use super::worlds::{checker, everywhere};
use cct_executor::node::Node;
use cct_executor::time::sleep;
use cct_net::signal::raise;
use cct_net::signal::unix::{SignalKind, signal};
use cct_net::{TcpListener, TcpStream, fs, node};
use futures::io::AsyncReadExt;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

async fn shortly() {
    sleep(Duration::from_millis(10)).await;
}

/// A node that does nothing for ever.
fn idle(name: &str) -> Node {
    node(name).start(std::future::pending::<()>)
}

/// The process is gone, and the host is not.
#[test]
fn a_process_ends_as_if_it_were_killed() {
    everywhere("ended", 20, |checker| {
        checker.run(|| async {
            let db = node("db").start(|| async {
                fs::write("/kept", "yes").await?;
                let listener = TcpListener::bind("0.0.0.0:80").await?;
                let (_stream, _) = listener.accept().await?;
                std::future::pending::<std::io::Result<()>>().await
            });
            shortly().await;
            let mut stream = TcpStream::connect("db:80").await.unwrap();
            shortly().await;
            node::signal(&db, SignalKind::terminate());
            assert_eq!(stream.read(&mut [0]).await.unwrap(), 0, "closed");
            assert!(!db.is_up());
            let refused = TcpStream::connect("db:80").await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
            assert!(fs::inspect(db.id()).contains_key(Path::new("/kept")));
            db.restart();
            assert!(db.is_up());
        })
    });
}

/// As `signal(7)` has it, but for SIGPIPE, which Rust ignores.
#[test]
fn some_end_a_process_some_stop_it_and_some_do_nothing() {
    let report = checker("all").iterations(3).run(|| async {
        let (mut ended, mut stopped) = (Vec::new(), Vec::new());
        for number in 1..=64 {
            let db = idle(&format!("db-{number}"));
            node::signal(&db, SignalKind::from_raw(number));
            shortly().await;
            if db.is_up() {
                continue;
            }
            db.resume();
            match db.is_up() {
                true => stopped.push(number),
                false => ended.push(number),
            }
        }
        assert_eq!(stopped, [19, 20, 21, 22]);
        let rest = (1..=64).filter(|n| !ended.contains(n) && !stopped.contains(n));
        assert_eq!(rest.collect::<Vec<_>>(), [13, 17, 18, 23, 28]);
    });
    report.assert_passed();
}

/// A stopped process gets nothing but SIGKILL until it goes on.
#[test]
fn a_stopped_process_ends_when_it_goes_on() {
    everywhere("stopped", 10, |checker| {
        checker.run(|| async {
            let [db, cache, log] = ["db", "cache", "log"].map(idle);
            for node in [&db, &cache, &log] {
                node::signal(node, SignalKind::from_raw(19));
                shortly().await;
                assert!(!node.is_up());
                node::signal(node, SignalKind::terminate());
            }
            shortly().await;
            node::signal(&cache, SignalKind::from_raw(9));
            node::signal(&db, SignalKind::from_raw(18));
            shortly().await;
            cache.resume();
            log.resume();
            assert!(log.is_up(), "it has only just gone on");
            shortly().await;
            for node in [&db, &cache, &log] {
                assert!(!node.is_up(), "{node:?}");
                node.resume();
                assert!(!node.is_up(), "{node:?}");
            }
        })
    });
}

/// Who is told to go on does not stop any more, and the reverse.
#[test]
fn stopping_and_going_on_cancel_each_other() {
    let report = checker("opposites").iterations(50).run(|| async {
        let db = idle("db");
        node::signal(&db, SignalKind::from_raw(20));
        node::signal(&db, SignalKind::from_raw(18));
        shortly().await;
        assert!(db.is_up());
        node::signal(&db, SignalKind::from_raw(18));
        node::signal(&db, SignalKind::from_raw(20));
        shortly().await;
        assert!(!db.is_up());
    });
    report.assert_passed();
}

/// What is ignored is gone, also if somebody listens right after.
#[test]
fn nothing_is_kept_of_what_is_ignored() {
    everywhere("ignored", 10, |checker| {
        checker.run(|| async {
            raise(SignalKind::window_change());
            let mut listener = signal(SignalKind::window_change()).unwrap();
            let heard = cct_executor::time::timeout(Duration::from_secs(1), listener.recv());
            assert!(heard.await.is_err());
        })
    });
}

/// A node that is down gets no signals, and its next process none that were sent before.
#[test]
fn signals_die_with_their_process() {
    everywhere("down", 10, |checker| {
        checker.run(|| async {
            let db = idle("db");
            node::signal(&db, SignalKind::terminate());
            db.crash();
            node::signal(&db, SignalKind::terminate());
            db.restart();
            shortly().await;
            assert!(db.is_up());
        })
    });
}

/// The test is a process too, and cannot end but by failing.
#[test]
fn the_test_itself_fails() {
    for (number, name) in [(15, "SIGTERM"), (19, "SIGSTOP"), (40, "signal 40")] {
        let line = line!() + 2;
        let report = checker("itself").iterations(5).run(move || async move {
            raise(SignalKind::from_raw(number));
            shortly().await;
        });
        let failure = report.failure().expect("a failure").kind.to_string();
        let told = format!("{name} arrived at the test itself, which does not listen for it");
        assert!(failure.contains(&told), "{failure}");
        assert!(
            failure.contains(&format!("defaults.rs:{line}:")),
            "{failure}"
        );
    }
}

#[test]
fn there_are_64_signals() {
    for number in [-1, 0, 65] {
        let report = checker("none").iterations(1).run(move || async move {
            node::signal(&idle("db"), SignalKind::from_raw(number));
        });
        let text = report.failure().expect("a failure").kind.to_string();
        let told = format!("there is no signal {number}: expected a number from 1 to 64");
        assert!(text.contains(&told), "{text}");
        assert!(text.contains("defaults.rs"), "{text}");
    }
}

/// What would end the process of all tests is a failure of the one that does it.
#[cfg(unix)]
#[test]
fn who_ends_itself_before_anybody_listens_fails() {
    use nix::sys::signal::{Signal as Number, kill};
    use nix::unistd::Pid;

    if !cct_interpose::CONTROLLED {
        return;
    }
    let alone = checker("alone").run(|| async { kill(Pid::this(), Number::SIGXCPU).unwrap() });
    let text = alone.failure().expect("nobody listens").kind.to_string();
    assert!(
        text.contains(
            "sent itself signal 24 by `kill` or `raise`, and has not begun to listen for signals"
        ),
        "{text}"
    );
    let other = checker("other").run(|| async {
        let _other = signal(SignalKind::hangup()).unwrap();
        kill(Pid::this(), Number::SIGXCPU).unwrap();
        shortly().await;
    });
    let text = other.failure().expect("it ends").kind.to_string();
    assert!(
        text.contains("SIGXCPU arrived at the test itself, which does not listen for it"),
        "{text}"
    );
    // It only asks, and sends what is ignored by default.
    let report = checker("asks").iterations(3).run(|| async {
        kill(Pid::this(), None).unwrap();
        kill(Pid::this(), Number::SIGURG).unwrap();
    });
    report.assert_passed();
}
