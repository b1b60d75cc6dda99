//! A test that starts its package's program.

use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

#[tokio::test]
async fn a_program_that_is_told_to_end() {
    let mut teller = Command::new(env!("CARGO_BIN_EXE_teller"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = teller.stdin.take().unwrap();
    let mut lines = BufReader::new(teller.stdout.take().unwrap()).lines();
    for sum in ["3", "6", "9"] {
        stdin.write_all(b"3\n").await.unwrap();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some(sum));
    }
    let told = Command::new("kill").arg(teller.id().unwrap().to_string()).status().await;
    assert!(told.unwrap().success());
    let ended = tokio::time::timeout(Duration::from_secs(30), teller.wait()).await;
    assert_eq!(ended.unwrap().unwrap().code(), Some(1));
    let mut said = String::new();
    teller.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "Error: \"closed at 9\"\n");
    assert_eq!(lines.next_line().await.unwrap(), None);
}
