//! Processes that end with their `main`.

use super::worlds::{checker, everywhere};
use cct_executor::time::sleep;
use cct_executor::{sometimes, spawn};
use cct_net::{TcpListener, TcpStream, fs, node};
use futures::io::AsyncReadExt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

async fn shortly() {
    sleep(Duration::from_millis(10)).await;
}

fn file(node: &cct_executor::node::Node, path: &str) -> Option<Vec<u8>> {
    match fs::inspect(node.id()).remove(Path::new(path)) {
        Some(fs::Inspected::File(bytes)) => Some(bytes),
        _ => None,
    }
}

#[test]
fn what_is_left_of_its_tasks_is_dropped() {
    everywhere("the rest", 20, |checker| {
        checker.run(|| async {
            let beats = Arc::new(AtomicU32::new(0));
            let theirs = beats.clone();
            let db = node("db").ends_with_main().start(move || {
                let beats = theirs.clone();
                async move {
                    let listener = TcpListener::bind("0.0.0.0:80").await?;
                    spawn(async move {
                        loop {
                            sleep(Duration::from_millis(10)).await;
                            beats.fetch_add(1, Ordering::SeqCst);
                        }
                    });
                    let (_stream, _) = listener.accept().await?;
                    io::Result::Ok(())
                }
            });
            shortly().await;
            let mut stream = TcpStream::connect("db:80").await.unwrap();
            assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
            assert!(!db.is_up());
            let before = beats.load(Ordering::SeqCst);
            sleep(Duration::from_secs(1)).await;
            assert_eq!(beats.load(Ordering::SeqCst), before);
            db.restart();
            sleep(Duration::from_millis(25)).await;
            assert!(db.is_up(), "it waits for somebody to connect");
            assert!(beats.load(Ordering::SeqCst) > before);
        })
    });
}

/// tokio's runtime waits for writes of files, and not for other work that no thread has taken up.
#[test]
fn writes_of_files_are_done() {
    let report = checker("background").iterations(100).run(|| async {
        let db = node("db").ends_with_main().start(|| async {
            // Somebody who has asked for this does not wait for it.
            let mut other = Box::pin(fs::write("/other", "done"));
            let _ = futures::poll!(&mut other);
            drop(other);
            let mut file = fs::File::create("/log").await?;
            file.write_all(b"all of it").await
        });
        while db.is_up() {
            shortly().await;
        }
        assert_eq!(file(&db, "/log").as_deref(), Some(&b"all of it"[..]));
        let other = file(&db, "/other");
        sometimes!(other.is_none(), "dropped");
        sometimes!(other.as_deref() == Some(b"done"), "done");
    });
    report.assert_passed();
    for (what, _, _, seen) in &report.coverage.sometimes {
        assert!(seen.reached > 0, "never: {what}");
    }
}

#[test]
fn an_error_is_a_failure() {
    let report = checker("error").iterations(1).run(|| async {
        node("db")
            .ends_with_main()
            .start(|| async { Err::<(), _>("no disk") });
        shortly().await;
    });
    let text = report.failure().expect("a failure").kind.to_string();
    assert!(
        text.contains("node `db` returned an error: \"no disk\""),
        "{text}"
    );
}

/// Otherwise the other tasks go on.
#[test]
fn a_node_goes_on_unless_it_is_to_end() {
    let report = checker("goes on").iterations(20).run(|| async {
        let db = node("db").start(|| async {
            let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
            spawn(async move { drop(listener.accept().await) });
        });
        shortly().await;
        assert!(db.is_up());
        TcpStream::connect("db:80").await.unwrap();
    });
    report.assert_passed();
}
