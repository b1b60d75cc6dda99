//! Reports tell where bytes are read and written, though the traits that it goes through do not.

use cct_executor::{Checker, Report};
use cct_tokio::io::{self, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use cct_tokio::net::{TcpListener, TcpStream};

/// Each waits for the other to speak first, but for a word at the beginning.
async fn talk(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    stream.write_all(b"hello").await.unwrap();
    let mut word = [0; 5];
    stream.read_exact(&mut word).await.unwrap();
    stream.read_exact(&mut word).await.unwrap();
}

/// What `talk` says at each of its lines.
const LINES: [(u32, &str); 3] = [(9, "write bytes"), (11, "read bytes"), (12, "read bytes")];

fn assert_told(report: &Report) {
    assert_eq!(report.failure().unwrap().kind.class(), "deadlock");
    let text = report.text();
    for (line, what) in LINES {
        let place = format!("cct-tokio/tests/places.rs:{line}\n");
        let told = |row: &str| row.contains(what) && format!("{row}\n").ends_with(&place);
        assert!(text.lines().any(told), "no `{what}` at line {line}: {text}");
    }
    let waits = format!(
        "      read bytes at cct-tokio/tests/places.rs:{} for ",
        LINES[2].0
    );
    assert_eq!(text.matches(&waits).count(), 2, "{text}");
}

#[test]
fn of_connections() {
    let report = Checker::new().run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = async move { talk(TcpStream::connect(address).await.unwrap()).await };
        let server = async { talk(listener.accept().await.unwrap().0).await };
        cct_tokio::join!(cct_tokio::spawn(client), server)
            .0
            .unwrap();
    });
    assert_told(&report);
    // Of the end that was accepted, where that was.
    let text = report.text();
    for line in [39, 38] {
        let made = format!(" made at cct-tokio/tests/places.rs:{line}\n");
        assert_eq!(text.matches(&made).count(), 1, "{text}");
    }
}

#[test]
fn of_streams_in_memory() {
    let report = Checker::new().run(|| async {
        let (client, server) = io::duplex(16);
        cct_tokio::join!(cct_tokio::spawn(talk(client)), talk(server))
            .0
            .unwrap();
    });
    assert_told(&report);
}

#[test]
fn of_what_the_pool_does_with_files() {
    let report = Checker::new().run(|| async {
        cct_tokio::fs::metadata("/").await.unwrap();
        panic!("for its report");
    });
    let line = line!() - 3;
    let joined = |row: &&str| {
        row.contains(" join task 1 ") && row.ends_with(&format!("cct-tokio/tests/places.rs:{line}"))
    };
    let text = report.text();
    assert_eq!(text.lines().filter(joined).count(), 2, "{text}");
}
