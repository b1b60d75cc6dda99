//! What a file has still to do when nobody waits for it.

use crate::scratch::Scratch;
use crate::worlds::{checker, everywhere};
use cct_executor::node;
use cct_tokio::fs::File;
use cct_tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// As in tokio, whose runtime does not end before what was written is written.
#[test]
fn a_write_that_nobody_waits_for_is_done_when_the_world_ends() {
    let scratch = Scratch::new("ends");
    let path = scratch.path().join("file");
    everywhere("ends", 20, |checker| {
        let (theirs, before) = (path.clone(), path.clone());
        let report = checker.run(move || {
            let path = theirs.clone();
            async move {
                let _ = std::fs::remove_file(&path);
                let mut file = File::create(&path).await.unwrap();
                assert_eq!(file.write(b"hello").await.unwrap(), 5);
            }
        });
        assert_eq!(std::fs::read(&before).unwrap(), b"hello");
        report
    });
}

/// A process that is gone writes nothing; whether it had written before is open.
#[test]
fn a_crash_may_come_before_what_was_to_be_written() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let theirs = seen.clone();
    let report = checker("crash").iterations(200).run(move || {
        let seen = theirs.clone();
        async move {
            let scratch = Scratch::new("crash");
            let path = scratch.path().join("file");
            let node = node::node("writer").start(move || {
                let path = path.clone();
                async move {
                    let mut file = File::create(&path).await?;
                    file.write_all(b"hello").await?;
                    std::future::pending::<()>().await;
                    std::io::Result::Ok(())
                }
            });
            let path = scratch.path().join("file");
            while !path.exists() {
                cct_tokio::task::yield_now().await;
            }
            node.crash();
            cct_tokio::time::sleep(Duration::from_secs(1)).await;
            seen.lock().unwrap().push(std::fs::read(&path).unwrap());
        }
    });
    report.assert_passed();
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&b"".to_vec()), "it always wrote");
    assert!(seen.contains(&b"hello".to_vec()), "it never wrote");
}

/// What is written is on its way until a flush, and others may see that.
#[test]
fn others_may_read_before_it_is_written() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let theirs = seen.clone();
    let report = checker("reads").iterations(100).run(move || {
        let seen = theirs.clone();
        async move {
            let scratch = Scratch::new("reads");
            let path = scratch.path().join("file");
            let mut file = File::create(&path).await.unwrap();
            file.write_all(b"hello").await.unwrap();
            cct_tokio::task::yield_now().await;
            seen.lock().unwrap().push(std::fs::read(&path).unwrap());
            file.flush().await.unwrap();
            assert_eq!(cct_tokio::fs::read(&path).await.unwrap(), b"hello");
        }
    });
    report.assert_passed();
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&b"".to_vec()), "never before it is written");
    assert!(
        seen.contains(&b"hello".to_vec()),
        "never after it is written"
    );
}

/// Who forgets to flush reads so in the report.
#[test]
fn reports_name_what_is_done_with_files() {
    let report = checker("unflushed").iterations(200).run(|| async {
        let scratch = Scratch::new("unflushed");
        let path = scratch.path().join("file");
        let mut file = File::create(&path).await.unwrap();
        file.write_all(b"hello").await.unwrap();
        drop(file);
        let found = cct_tokio::fs::metadata(&path).await.unwrap();
        assert_eq!(found.len(), 5, "not yet");
    });
    let text = report.text();
    assert!(report.failure.is_some(), "{text}");
    for name in ["`File::write`", "`fs::metadata`"] {
        assert!(text.contains(name), "{name}: {text}");
    }
}

/// The error of a write is told by the next write or flush, whatever was done in between.
#[test]
fn errors_of_writes_are_kept() {
    everywhere("errors", 10, |checker| {
        checker.run(|| async {
            let scratch = Scratch::new("errors");
            let path = scratch.path().join("file");
            std::fs::write(&path, "abc").unwrap();
            let mut file = File::open(&path).await.unwrap();
            assert_eq!(file.write(b"x").await.unwrap(), 1);
            let mut all = String::new();
            assert_eq!(file.read_to_string(&mut all).await.unwrap(), 3);
            file.sync_all().await.unwrap();
            assert!(file.flush().await.is_err());
            file.flush().await.unwrap();
        })
    });
}

/// What was read ahead is given back before a position counts.
#[test]
fn what_was_read_ahead_is_given_back() {
    everywhere("ahead", 10, |checker| {
        checker.run(|| async {
            let scratch = Scratch::new("ahead");
            let path = scratch.path().join("file");
            std::fs::write(&path, "0123456789").unwrap();
            let mut file = File::options()
                .read(true)
                .write(true)
                .open(&path)
                .await
                .unwrap();
            let mut eight = [0; 8];
            // Begins to read eight bytes, which somebody else takes.
            if futures::poll!(Box::pin(file.read(&mut eight))).is_ready() {
                return; // The disk was faster.
            }
            let mut two = [0; 2];
            file.read_exact(&mut two).await.unwrap();
            assert_eq!(&two, b"01");
            assert_eq!(file.stream_position().await.unwrap(), 2);
            file.write_all(b"ab").await.unwrap();
            file.seek(SeekFrom::Start(0)).await.unwrap();
            let mut all = String::new();
            file.read_to_string(&mut all).await.unwrap();
            assert_eq!(all, "01ab456789");
        })
    });
}
