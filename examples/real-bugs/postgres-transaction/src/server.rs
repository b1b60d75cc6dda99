//! As much of a PostgreSQL server as the shop needs: simple queries, and transactions.

use cct_net::{TcpListener, TcpStream};
use futures_util::io::{AsyncReadExt, AsyncWriteExt};
use std::io;
use std::sync::{Arc, Mutex};

/// The statements that were committed.
pub type Table = Arc<Mutex<Vec<String>>>;

/// Serves one client, until it goes away. What it has not committed is rolled back then.
pub async fn serve(listener: TcpListener, table: Table) {
    let (stream, _) = listener.accept().await.expect("a client");
    if let Err(error) = session(stream, table).await {
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}

async fn session(mut stream: TcpStream, table: Table) -> io::Result<()> {
    body(&mut stream).await?; // who the client is
    let mut greeting = message(b'R', &0_i32.to_be_bytes());
    greeting.extend(message(b'Z', b"I"));
    stream.write_all(&greeting).await?;
    let mut transaction = None;
    loop {
        let mut kind = [0];
        stream.read_exact(&mut kind).await?;
        let body = body(&mut stream).await?;
        if kind == *b"X" {
            return Ok(());
        }
        assert_eq!(kind, *b"Q", "the shop sends simple queries only");
        let statement = String::from_utf8_lossy(&body);
        let statement = statement.trim_end_matches('\0');
        execute(statement, &mut transaction, &table);
        let state = if transaction.is_some() { b"T" } else { b"I" };
        let mut answer = message(b'C', b"DONE\0");
        answer.extend(message(b'Z', state));
        stream.write_all(&answer).await?;
    }
}

fn execute(statement: &str, transaction: &mut Option<Vec<String>>, table: &Table) {
    let mut table = table.lock().expect("nobody panics");
    match statement.split(' ').next() {
        // A second one is a warning only.
        Some("START") => *transaction = transaction.take().or(Some(Vec::new())),
        Some("COMMIT") => table.extend(transaction.take().into_iter().flatten()),
        Some("ROLLBACK") => *transaction = None,
        _ => match transaction {
            Some(statements) => statements.push(statement.to_owned()),
            None => table.push(statement.to_owned()),
        },
    }
}

/// A message of the server.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(body.len() + 4).expect("messages are short");
    [&[kind], &length.to_be_bytes()[..], body].concat()
}

/// What follows the kind of a message: its length, which counts itself, and the rest.
async fn body(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let mut body = vec![0; i32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut body).await?;
    Ok(body)
}
