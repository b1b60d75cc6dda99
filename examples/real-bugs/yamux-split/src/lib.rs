//! Two peers that talk over a multiplexed connection, both at once.
//!
//! Each side splits its stream, as `AsyncReadExt::split` is for, and hands one half to a task that
//! writes and the other to a task that reads. What one side writes, in a few bursts, the other reads.
//!
//! The bug, in yamux 0.14.0 and before: both halves send their frames to the connection through one
//! sender, which remembers one waker. When the queue is full, a reader that is polled takes the place
//! of the writer that waits, and the writer sleeps for ever. Fixed in 0.14.1 by
//! <https://github.com/libp2p/rust-yamux/pull/233>.

use cct_executor::task::{JoinHandle, yield_now};
use cct_executor::{join, spawn};
use cct_net::{TcpListener, TcpStream};
use futures::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use std::future::poll_fn;
use yamux::{Config, Connection, Mode, Stream};

type Record = [u8; 32];

const BURSTS: u8 = 3;
const BURST: u8 = 6;

/// Sends and receives what the streams need, as long as there is a peer.
async fn drive(mut connection: Connection<TcpStream>) {
    while let Some(Ok(_)) = poll_fn(|cx| connection.poll_next_inbound(cx)).await {}
}

async fn write(mut half: WriteHalf<Stream>) {
    for burst in 0..BURSTS {
        for n in 0..BURST {
            let record: Record = [burst * BURST + n; 32];
            half.write_all(&record).await.expect("a peer that reads");
        }
        // Stands for the I/O that the next records need.
        yield_now().await;
    }
}

async fn read(mut half: ReadHalf<Stream>) {
    for n in 0..BURSTS * BURST {
        let mut record = Record::default();
        half.read_exact(&mut record)
            .await
            .expect("a peer that writes");
        assert_eq!(record, [n; 32], "records arrive in order");
    }
}

/// Writes everything and reads everything, at the same time.
async fn talk(stream: Stream) {
    let (reader, writer) = stream.split();
    let (read, written) = join!(spawn(read(reader)), spawn(write(writer)));
    read.expect("the reader does not panic");
    written.expect("the writer does not panic");
}

fn serve(listener: TcpListener) -> JoinHandle<()> {
    spawn(async move {
        let (socket, _) = listener.accept().await.expect("a client");
        let mut connection = Connection::new(socket, Config::default(), Mode::Server);
        let stream = poll_fn(|cx| connection.poll_next_inbound(cx)).await;
        let stream = stream.expect("a connection").expect("a stream");
        spawn(drive(connection));
        talk(stream).await;
    })
}

/// Both sides come to the end of what they have to say.
pub async fn scenario() {
    let listener = TcpListener::bind("127.0.0.1:80")
        .await
        .expect("a free port");
    let server = serve(listener);

    let socket = TcpStream::connect("127.0.0.1:80").await.expect("a server");
    let mut connection = Connection::new(socket, Config::default(), Mode::Client);
    let stream = poll_fn(|cx| connection.poll_new_outbound(cx)).await;
    spawn(drive(connection));
    talk(stream.expect("a stream")).await;
    server.await.expect("the server does not panic");
}
