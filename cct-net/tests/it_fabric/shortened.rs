//! Failing schedules of what goes over the network are shortened like others.

use crate::checker;
use cct_executor::{Seed, spawn};
use cct_net::{TcpListener, TcpStream};
use futures::io::{AsyncReadExt, AsyncWriteExt};

/// Fails where the end of any of three connections, which are alike, comes late.
async fn an_end_that_comes_late() {
    let listener = TcpListener::bind("127.0.0.1:3000").await.unwrap();
    spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"x").await.unwrap();
        }
    });
    for _ in 0..3 {
        let mut stream = TcpStream::connect("127.0.0.1:3000").await.unwrap();
        let mut buf = [0; 1];
        stream.read_exact(&mut buf).await.unwrap();
        assert!(stream.try_read(&mut buf).is_ok(), "late");
    }
}

/// Packets that nothing else could happen instead of are actions of which nobody was asked.
#[test]
fn by_whatever_schedule_it_is_found() {
    for seed in 0..20 {
        let checker = checker("late").strategy_text("portfolio").seed(Seed(seed));
        let report = checker.iterations(200).run(an_end_that_comes_late);
        let failure = report.failure.as_ref().expect("some order fails");
        assert!(failure.reproduced, "{}", report.text());
        let shortened = failure.shortened.as_ref().expect("it comes of an order");
        assert!(shortened.complete, "{}", report.text());
        assert!(failure.departures.is_some(), "{}", report.text());
    }
}
