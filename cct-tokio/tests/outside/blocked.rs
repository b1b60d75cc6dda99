//! Closures that block on what the machine has: processes and pipes of the standard library. The test goes on
//! meanwhile.

use super::rt;
use rt::io::AsyncReadExt;
use rt::task::spawn_blocking;
use rt::time::{interval, sleep, timeout};
use std::future::Future;
use std::io::{Read, Write};
use std::pin::pin;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(10);

/// How often a short time passes before it is over, and what comes of it.
async fn ticks_until<R>(work: impl Future<Output = R>) -> (u32, R) {
    let mut work = pin!(work);
    let mut ticks = 0;
    let mut times = interval(SOON);
    loop {
        rt::select! {
            result = &mut work => return (ticks, result),
            _ = times.tick() => ticks += 1,
        }
    }
}

fn sleeps(time: &str) -> Child {
    Command::new("sleep").arg(time).spawn().unwrap()
}

pub(crate) async fn wait_for_a_child() {
    let mut child = sleeps("0.3");
    let closure = spawn_blocking(move || child.wait().unwrap());
    let (ticks, status) = ticks_until(closure).await;
    assert!(status.unwrap().success());
    assert!(ticks >= 3, "{ticks} ticks");
}

pub(crate) async fn wait_for_its_output() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 0.3; echo out; echo err >&2"]);
    let closure = spawn_blocking(move || command.output().unwrap());
    let (ticks, output) = ticks_until(closure).await;
    let output = output.unwrap();
    assert_eq!(
        (&output.stdout[..], &output.stderr[..]),
        (&b"out\n"[..], &b"err\n"[..])
    );
    assert!(ticks >= 3, "{ticks} ticks");
}

pub(crate) async fn have_limits() {
    let mut child = sleeps("0.5");
    let closure = spawn_blocking(move || child.wait().unwrap());
    assert!(timeout(5 * SOON, closure).await.is_err());
}

/// A process that gives back what it gets.
fn echo() -> (Child, ChildStdin, ChildStdout) {
    let mut command = Command::new("cat");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, input, output)
}

/// The closure waits for what the test writes later.
pub(crate) async fn read_what_the_test_writes() {
    let (mut child, mut input, mut output) = echo();
    let closure = spawn_blocking(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        text
    });
    sleep(SOON).await;
    input.write_all(b"hey").unwrap();
    sleep(SOON).await;
    drop(input);
    assert_eq!(closure.await.unwrap(), "hey");
    assert!(child.wait().unwrap().success());
}

/// One writes more than fits into the pipes before the other reads.
pub(crate) async fn read_what_another_writes() {
    let (mut child, mut input, mut output) = echo();
    let data: Vec<u8> = (0..1_000_000_u32).map(|number| number as u8).collect();
    let sent = data.clone();
    let writer = spawn_blocking(move || input.write_all(&sent).unwrap());
    sleep(SOON).await;
    let reader = spawn_blocking(move || {
        let mut received = Vec::new();
        output.read_to_end(&mut received).unwrap();
        received
    });
    writer.await.unwrap();
    assert!(reader.await.unwrap() == data);
    assert!(child.wait().unwrap().success());
}

/// It has no room for all, before the test reads.
pub(crate) async fn send_to_the_test() {
    let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let data: Vec<u8> = (0..10_000_000_u32).map(|number| number as u8).collect();
    let sent = data.clone();
    let closure = spawn_blocking(move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(&sent).unwrap();
    });
    let (mut stream, _) = listener.accept().await.unwrap();
    sleep(SOON).await;
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    assert!(received == data);
    closure.await.unwrap();
}
