//! Services that are told to end in the middle of something: what they said is done must be.

use super::worlds::checker;
use cct_executor::node::Node;
use cct_executor::task::JoinSet;
use cct_executor::time::sleep;
use cct_executor::{Report, select, spawn};
use cct_net::fault::{Fault, FaultPlan};
use cct_net::signal::unix::{SignalKind, signal};
use cct_net::{TcpListener, TcpStream, fs, node};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Letters = Arc<Mutex<Vec<u8>>>;

/// How the service ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// Letters that come while the others are written down are lost.
    Hasty,
    /// The letters are not written down.
    WithoutWriting,
    /// It waits for those who are still at it.
    Right,
}

async fn serve(ending: Ending) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind("0.0.0.0:80").await?;
    let earlier = fs::read("/letters").await.unwrap_or_default();
    let letters = Letters::new(Mutex::new(earlier));
    let mut clerks = JoinSet::new();
    loop {
        let (client, _) = select! {
            accepted = listener.accept() => accepted?,
            _ = terminate.recv() => break,
        };
        clerks.spawn(take_letter(client, letters.clone()));
    }
    drop(listener);
    match ending {
        Ending::Hasty => {}
        Ending::WithoutWriting => return Ok(()),
        Ending::Right => while clerks.join_next().await.is_some() {},
    }
    let all = letters.lock().unwrap().clone();
    fs::write("/letters", all).await
}

async fn take_letter(mut client: TcpStream, letters: Letters) -> io::Result<()> {
    let mut letter = [0];
    client.read_exact(&mut letter).await?;
    letters.lock().unwrap().push(letter[0]);
    client.write_all(b"ok").await
}

async fn send(letter: u8) -> io::Result<()> {
    let mut service = TcpStream::connect("post:80").await?;
    service.write_all(&[letter]).await?;
    service.read_exact(&mut [0; 2]).await
}

async fn kept_is_written(post: Node, sent: cct_executor::task::JoinHandle<io::Result<()>>) {
    let kept = sent.await.unwrap().is_ok();
    while post.is_up() {
        // Also if it has restarted since it was told.
        node::signal(&post, SignalKind::terminate());
        sleep(Duration::from_millis(1)).await;
    }
    let disk = fs::inspect(post.id());
    let written = disk.get(Path::new("/letters")) == Some(&fs::Inspected::File(vec![7]));
    assert!(written || !kept, "a letter that was kept is lost");
}

/// The test sends the signal.
fn told(ending: Ending, strategy: &str) -> Report {
    checker("told")
        .strategy_text(strategy)
        .iterations(1_000)
        .run(move || async move {
            let post = node("post").ends_with_main().start(move || serve(ending));
            sleep(Duration::from_secs(1)).await;
            let sent = spawn(send(7));
            node::signal(&post, SignalKind::terminate());
            kept_is_written(post, sent).await;
        })
}

/// A plan does, at any moment.
fn struck(ending: Ending, strategy: &str) -> Report {
    checker("struck")
        .strategy_text(strategy)
        .iterations(1_000)
        .run(move || async move {
            let post = node("post").ends_with_main().start(move || serve(ending));
            sleep(Duration::from_secs(1)).await;
            let plan = FaultPlan::new()
                .nodes([&post])
                .fault(Fault::Signal(SignalKind::terminate()))
                .pace(8, Duration::from_millis(10))
                .total(1);
            let faults = plan.start().unwrap();
            let sent = spawn(send(7));
            while faults.taken() == 0 && !sent.is_finished() {
                sleep(Duration::from_millis(1)).await;
            }
            faults.stop();
            kept_is_written(post, sent).await;
        })
}

const STRATEGIES: [&str; 4] = ["random", "pct:d=3", "pos", "portfolio"];

#[test]
fn what_a_service_forgets_when_it_is_told_to_end_is_found() {
    for strategy in STRATEGIES {
        for ending in [Ending::Hasty, Ending::WithoutWriting] {
            for report in [told(ending, strategy), struck(ending, strategy)] {
                let failure = report.failure().expect(strategy);
                let text = failure.kind.to_string();
                assert!(text.contains("a letter that was kept"), "{text}");
            }
        }
    }
}

#[test]
fn a_service_that_ends_well_is_let_be() {
    for strategy in STRATEGIES {
        told(Ending::Right, strategy).assert_passed();
        struck(Ending::Right, strategy).assert_passed();
    }
}
