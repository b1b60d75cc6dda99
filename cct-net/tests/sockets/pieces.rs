//! How much of one write arrives at a time.

use super::worlds::checker;
use cct_executor::strategy::Random;
use cct_net::tcp::{Options, TcpListener, TcpStream, configure};
use futures::{AsyncReadExt, AsyncWriteExt};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// How many bytes a reader may find first of so many that were written at once.
fn found_first(count: usize) -> BTreeSet<usize> {
    let found = Arc::new(Mutex::new(BTreeSet::new()));
    let into = found.clone();
    let checker = checker("pieces").strategy(Random::new).iterations(300);
    let report = checker.run(move || {
        let found = into.clone();
        async move {
            configure(|tcp| *tcp = Options::loopback());
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let addr = listener.local_addr().unwrap();
            let client = cct_executor::task::spawn(async move {
                let mut client = TcpStream::connect(addr).await.unwrap();
                client.write_all(&vec![7; count]).await.unwrap();
                client
            });
            let (mut server, _) = listener.accept().await.unwrap();
            let mut bytes = vec![0; count];
            let first = server.read(&mut bytes).await.unwrap();
            found.lock().unwrap().insert(first);
            server.read_exact(&mut bytes[first..]).await.unwrap();
            assert!(bytes.iter().all(|&byte| byte == 7));
            drop(client.await.unwrap());
        }
    });
    report.assert_passed();
    let found = found.lock().unwrap();
    found.clone()
}

/// That all has arrived before the reader looks takes three choices of two: no iteration makes them with a probability
/// of (7/8)^300, which is less than 1e-17.
#[test]
fn a_large_write_arrives_in_pieces() {
    const PIECE: usize = 64 << 10;
    let pieces = [PIECE, 2 * PIECE, 3 * PIECE, 200_000];
    assert_eq!(found_first(200_000), BTreeSet::from(pieces));
}

#[test]
fn what_fits_into_a_packet_arrives_together() {
    assert_eq!(found_first(60_000), BTreeSet::from([60_000]));
}

/// On loopback what was written is there when `write` returns, and a test may count on that.
#[test]
fn reports_say_that_what_is_sent_arrives_later() {
    let report = checker("later").iterations(1).run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(addr).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        client.write_all(b"a").await.unwrap();
        server.read_exact(&mut [0]).await.unwrap();
        client.write_all(b"b").await.unwrap();
        assert_eq!(server.try_read(&mut [0]).unwrap(), 1);
    });
    let text = report.text();
    assert!(text.contains(" what is sent arrives later,"), "{text}");
}
