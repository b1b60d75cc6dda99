//! Futures of a `File` that are dropped: what they began is done all the same, as in tokio. Random
//! scripts compare this with tokio itself, where one thread at a time works on the disk.

use super::{all_seen, checker, everywhere};
use cct_executor::sometimes;
use cct_executor::task::coop::unconstrained;
use cct_net::fs::File;
use std::future::poll_fn;
use std::io::{ErrorKind, Result, SeekFrom};
use std::pin::pin;
use std::task::Poll;

/// Polls a future once, and drops it.
async fn give_up(future: impl Future) {
    let mut future = pin!(unconstrained(future));
    poll_fn(|cx| {
        assert!(
            future.as_mut().poll(cx).is_pending(),
            "nothing is done at once"
        );
        Poll::Ready(())
    })
    .await;
}

async fn file() -> Result<File> {
    let mut file = File::create_new("/f").await?;
    file.write_all(b"0123456789").await?;
    file.rewind().await?;
    Ok(file)
}

fn check<F: Future<Output = Result<()>> + 'static>(
    name: &str,
    run: impl Fn() -> F + Send + Sync + Copy + 'static,
) {
    everywhere(name, |checker| {
        let report = checker.iterations(20).run(run);
        report.assert_passed();
    });
}

#[test]
fn what_was_read_is_kept_for_the_next_read() {
    check("read", || async {
        let (mut file, mut buffer) = (file().await?, [0; 8]);
        give_up(file.read(&mut [0; 3])).await;
        // What comes next was not asked for when the disk was read.
        assert_eq!(file.read(&mut buffer).await?, 3);
        assert_eq!(buffer[..3], *b"012");
        give_up(file.read(&mut [0; 4])).await;
        assert_eq!(file.read(&mut buffer[..1]).await?, 1);
        assert_eq!(file.stream_position().await?, 4);
        give_up(file.read(&mut [0; 4])).await;
        file.write_all(b"X").await?;
        file.rewind().await?;
        let mut text = String::new();
        file.read_to_string(&mut text).await?;
        assert_eq!(text, "0123X56789");
        Ok(())
    });
}

#[test]
fn a_seek_takes_place() {
    check("seek", || async {
        let mut file = file().await?;
        give_up(file.seek(SeekFrom::Start(4))).await;
        let mut byte = [0];
        file.read_exact(&mut byte).await?;
        assert_eq!(byte, *b"4");
        give_up(file.seek(SeekFrom::Current(2))).await;
        assert_eq!(file.seek(SeekFrom::Current(2)).await?, 9);
        // The next seek hears of one that led nowhere, and nothing else does.
        give_up(file.seek(SeekFrom::Current(-100))).await;
        let error = file.seek(SeekFrom::Start(0)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        give_up(file.seek(SeekFrom::Current(-100))).await;
        file.write_all(b"X").await?;
        assert_eq!(file.stream_position().await?, 10);
        Ok(())
    });
}

#[test]
fn a_change_of_the_length_comes_before_what_is_asked_for_later() {
    check("length", || async {
        let mut file = file().await?;
        give_up(file.set_len(3)).await;
        file.seek(SeekFrom::End(0)).await?;
        assert_eq!(file.stream_position().await?, 3);
        give_up(file.set_len(5)).await;
        file.write_all(b"X").await?;
        file.flush().await?;
        assert_eq!(file.metadata().await?.len(), 5);
        // Refused, as one of the seeks of above.
        give_up(file.set_len(u64::MAX)).await;
        let error = file.rewind().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        Ok(())
    });
}

/// `File::metadata` does not wait for a write in the background, and neither does
/// `File::set_permissions`.
#[test]
fn a_write_may_be_under_way_beside_what_is_asked_about_a_file() {
    let report = checker("beside").iterations(200).run(|| async {
        let mut file = File::create("/f").await?;
        file.write_all(b"x").await?;
        let len = file.metadata().await?.len();
        sometimes!(len == 0, "before the write");
        sometimes!(len == 1, "after it");
        file.flush().await?;
        assert_eq!(file.metadata().await?.len(), 1);
        Result::Ok(())
    });
    report.assert_passed();
    all_seen(&report);
}
