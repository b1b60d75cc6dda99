//! What pipes do.

use super::rt;
use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt::net::unix::pipe::pipe;
use std::io::ErrorKind;

pub(crate) async fn to_the_end() -> Vec<String> {
    let (mut sender, mut receiver) = pipe().unwrap();
    let reading = rt::spawn(async move {
        let mut text = String::new();
        receiver.read_to_string(&mut text).await.unwrap();
        text
    });
    sender.write_all(b"hello ").await.unwrap();
    rt::task::yield_now().await;
    sender.write_all(b"world").await.unwrap();
    drop(sender);
    vec![reading.await.unwrap()]
}

pub(crate) async fn nobody_reads() -> Vec<String> {
    let (mut sender, mut receiver) = pipe().unwrap();
    sender.write_all(b"ab").await.unwrap();
    let mut byte = [0];
    receiver.read_exact(&mut byte).await.unwrap();
    drop(receiver); // with a byte in it
    let mut log = vec![format!(
        "{:?}",
        sender.write(b"x").await.map_err(|e| e.kind())
    )];
    sender.writable().await.unwrap();
    log.push(format!(
        "{:?}",
        sender.try_write(b"x").map_err(|e| e.kind())
    ));
    log
}

/// How much it holds is not looked at.
pub(crate) async fn full() -> Vec<String> {
    let (sender, mut receiver) = pipe().unwrap();
    sender.writable().await.unwrap();
    let mut written = 0;
    loop {
        match sender.try_write(&[7; 1000]) {
            Ok(count) => written += count,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                break;
            }
        }
    }
    let mut all = vec![0; written];
    receiver.read_exact(&mut all).await.unwrap();
    assert!(all.iter().all(|&byte| byte == 7));
    sender.writable().await.unwrap();
    let empty = receiver.try_read(&mut [0]).map_err(|error| error.kind());
    vec![format!("{empty:?} {:?}", sender.try_write(b"x").unwrap())]
}

pub(crate) async fn readiness() -> Vec<String> {
    let (sender, receiver) = pipe().unwrap();
    let ready = sender.ready(Interest::WRITABLE).await.unwrap();
    let mut log = vec![format!(
        "{} {}",
        ready.is_writable(),
        ready.is_write_closed()
    )];
    assert_eq!(sender.try_write(b"x").unwrap(), 1);
    let ready = receiver.ready(Interest::READABLE).await.unwrap();
    log.push(format!(
        "{} {}",
        ready.is_readable(),
        ready.is_read_closed()
    ));
    drop(sender);
    let mut both = [0; 2];
    receiver.readable().await.unwrap();
    log.push(format!("{:?}", receiver.try_read(&mut both).unwrap()));
    loop {
        // What was known of it before may be out of date.
        receiver.readable().await.unwrap();
        match receiver.try_read(&mut both) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            read => {
                log.push(format!("{:?}", read.unwrap()));
                return log;
            }
        }
    }
}

pub(crate) async fn shutdown() -> Vec<String> {
    let (mut sender, mut receiver) = pipe().unwrap();
    sender.shutdown().await.unwrap();
    sender.write_all(b"still").await.unwrap();
    let mut five = [0; 5];
    receiver.read_exact(&mut five).await.unwrap();
    vec![String::from_utf8(five.to_vec()).unwrap()]
}
