//! Adds up what it is told, until a signal ends it.

use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), String> {
    let mut ends = signal(SignalKind::terminate()).expect("it listens");
    let mut lines = BufReader::new(stdin()).lines();
    let mut sum = 0;
    loop {
        tokio::select! {
            line = lines.next_line() => {
                let line = line.expect("a line").expect("somebody is there");
                sum += line.parse::<u32>().expect("a number");
                println!("{sum}");
            }
            _ = ends.recv() => return Err(format!("closed at {sum}")),
        }
    }
}
