//! A replicated store over TCP whose reads are stale, found by checking histories.
//!
//! Three nodes keep a register each, on disk. A client writes to two of three and reads from two of
//! three, so that what one client wrote the next one reads: any two majorities share a node. (The
//! register of H. Attiya, A. Bar-Noy and D. Dolev, "Sharing memory robustly in message-passing
//! systems", JACM 1995.) The bug: a read that returns the first answer.
//!
//! Every single answer looks right; only the order of all of them does not. So the clients record a
//! history, and the checker looks for an order that explains it. Nodes crash and come back, and
//! partitions come and heal, while the search decides which message arrives when.

use cct_executor::node::Node;
use cct_executor::{spawn, time};
use cct_net::check::models::Register;
use cct_net::check::{History, models::RegisterOp};
use cct_net::fault::{Fault, FaultPlan};
use cct_net::{TcpListener, TcpStream, fs, node};
use cct_sync::{Mutex, mpsc};
use futures::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use futures::stream::{FuturesUnordered, StreamExt};
use std::io;
use std::sync::Arc;
use std::time::Duration;

const NODES: [&str; 3] = ["a", "b", "c"];
const MAJORITY: usize = 2;
const PATIENCE: Duration = Duration::from_millis(500);

/// A value with the counter and the client that order it among all that were written.
type Stored = (u64, u64, u64);

fn parse(line: &str) -> io::Result<Stored> {
    let mut numbers = line.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Ok(counter)), Some(Ok(client)), Some(Ok(value))) => Ok((counter, client, value)),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "not three numbers",
        )),
    }
}

/// A node: answers `load`, and stores what is newer than what it has before it answers.
async fn serve() -> io::Result<()> {
    let listener = TcpListener::bind("0.0.0.0:7000").await?;
    // One request at a time looks at the register and replaces it.
    let register = Arc::new(Mutex::new(()));
    loop {
        let (stream, _) = listener.accept().await?;
        let register = register.clone();
        spawn(async move {
            // A client that goes away is its own business.
            let _ = answer(stream, &register).await;
        });
    }
}

async fn answer(stream: TcpStream, register: &Mutex<()>) -> io::Result<()> {
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    lines.read_line(&mut line).await?;
    let guard = register.lock().await;
    let kept = match fs::read_to_string("register").await {
        Ok(text) => parse(&text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => (0, 0, 0),
        Err(error) => return Err(error),
    };
    let (counter, client, value) = match line.trim().strip_prefix("store") {
        Some(stored) if parse(stored)? > kept => {
            keep(stored.trim()).await?;
            parse(stored)?
        }
        _ => kept,
    };
    drop(guard);
    let reply = format!("{counter} {client} {value}\n");
    lines.get_mut().write_all(reply.as_bytes()).await
}

/// Replaces the file in one step that survives a crash.
async fn keep(text: &str) -> io::Result<()> {
    let mut file = fs::File::create("register.new").await?;
    file.write_all(text.as_bytes()).await?;
    file.sync_all().await?;
    fs::rename("register.new", "register").await?;
    fs::File::open(".").await?.sync_all().await
}

async fn ask(node: &str, request: String) -> io::Result<Stored> {
    let mut stream = TcpStream::connect((node, 7000)).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await?;
    parse(&reply)
}

/// The first answers to a request; fewer than asked for when patience is over.
async fn gather(request: &str, enough: usize) -> Vec<Stored> {
    let mut asked: FuturesUnordered<_> = NODES
        .iter()
        .map(|node| ask(node, format!("{request}\n")))
        .collect();
    let mut answers = Vec::new();
    let _ = time::timeout(PATIENCE, async {
        while answers.len() < enough {
            match asked.next().await {
                Some(answer) => answers.extend(answer.ok()),
                None => break,
            }
        }
    })
    .await;
    answers
}

async fn write(client: u64, value: u64) -> Option<()> {
    let seen = gather("load", MAJORITY).await;
    let newest = seen.iter().max().filter(|_| seen.len() == MAJORITY)?;
    store((newest.0 + 1, client, value)).await
}

async fn store((counter, client, value): Stored) -> Option<()> {
    let request = format!("store {counter} {client} {value}");
    let stored = gather(&request, MAJORITY).await;
    (stored.len() == MAJORITY).then_some(())
}

/// Reads what a majority knows, and makes sure that a majority knows it.
async fn read() -> Option<u64> {
    let seen = gather("load", MAJORITY).await;
    let newest = *seen.iter().max().filter(|_| seen.len() == MAJORITY)?;
    store(newest).await?;
    Some(newest.2)
}

/// The bug: believes whoever answers first.
async fn read_first() -> Option<u64> {
    let seen = gather("load", 1).await;
    seen.first().map(|stored| stored.2)
}

type Recorded = History<RegisterOp<u64>, Option<u64>>;

/// A client writes, reads, and writes again; the history knows what it did.
async fn client(number: u64, history: Recorded, stale: bool) {
    let name = format!("client {number}");
    for round in 0..2 {
        let value = 10 * number + round;
        let call = history.invoke(&name, Register::write(value));
        if write(number, value).await.is_some() {
            call.returned(None);
        }
        let call = history.invoke(&name, Register::read());
        let seen = if stale {
            read_first().await
        } else {
            read().await
        };
        match seen {
            Some(value) => call.returned(Some(value)),
            None => call.failed(),
        }
    }
}

async fn store_under_faults(stale: bool) {
    let nodes: Vec<Node> = NODES.iter().map(|name| node(*name).start(serve)).collect();
    let faults = FaultPlan::new()
        .nodes(&nodes)
        .fault(Fault::Crash)
        .fault(Fault::Partition)
        .total(2)
        .start()
        .expect("a plan for nodes that exist");
    let history = History::new();
    let (done, mut finished) = mpsc::channel(1);
    for number in 1..=2 {
        let (history, done) = (history.clone(), done.clone());
        spawn(async move {
            client(number, history, stale).await;
            let _ = done.send(()).await;
        });
    }
    drop(done);
    while finished.recv().await.is_some() {}
    faults.stop();
    if let Err(error) = history.check(&Register::new(0)) {
        panic!("{error}");
    }
}

/// The store with the bug.
pub async fn reads_believe_the_first_answer() {
    store_under_faults(true).await;
}

/// The repaired store.
pub async fn reads_ask_a_majority() {
    store_under_faults(false).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_executor::{Checker, Report};

    fn run(iterations: u64, stale: bool) -> Report {
        Checker::new()
            .name("stale read")
            .use_environment(false)
            .time_budget(None)
            .iterations(iterations)
            .run(move || store_under_faults(stale))
    }

    #[test]
    fn the_stale_read_is_found() {
        let report = run(500, true);
        let failure = report.failure().expect("not found");
        let text = failure.kind.to_string();
        assert!(text.contains("what fits nowhere"), "{text}");
        assert!(failure.reproduced);
    }

    #[test]
    fn the_repaired_store_is_silent() {
        let report = run(300, false);
        report.assert_passed();
        assert_eq!(report.cut(), 0);
    }
}
