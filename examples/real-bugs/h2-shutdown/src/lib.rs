//! An HTTP/2 client that is done with its connection.
//!
//! Several tasks share a connection, each sends one request and reads the answer. When the last
//! handle is gone, the connection says goodbye and ends, as h2's documentation promises.
//!
//! The bug, in h2 0.4.4 and before: a connection looks whether anybody still uses it, and then reads
//! and writes what there is. If the last handle is dropped after the look and before the poll is over,
//! nothing wakes the connection, and it stays open for ever. Fixed in 0.4.5 by
//! <https://github.com/hyperium/h2/pull/772>.

#[path = "../../tokio_io.rs"]
mod io;

use bytes::Bytes;
use cct_executor::spawn;
use cct_net::{TcpListener, TcpStream};
use h2::client::SendRequest;
use http::{Request, Response};
use io::Io;

async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        spawn(async move {
            let mut connection = h2::server::handshake(Io(stream)).await?;
            while let Some(request) = connection.accept().await {
                let (_, mut answer) = request?;
                let mut body = answer.send_response(Response::new(()), false)?;
                body.send_data(Bytes::from_static(b"hello"), true)?;
            }
            Ok::<_, h2::Error>(())
        });
    }
}

async fn get(requests: SendRequest<Bytes>) -> Result<Bytes, h2::Error> {
    let mut requests = requests.ready().await?;
    let request = Request::get("http://localhost/").body(());
    let (answer, _) = requests.send_request(request.expect("a valid request"), true)?;
    let mut body = answer.await?.into_body();
    let mut whole = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        body.flow_control().release_capacity(chunk.len())?;
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.into())
}

/// A connection ends once nobody uses it.
pub async fn scenario() {
    let listener = TcpListener::bind("127.0.0.1:80")
        .await
        .expect("a free port");
    spawn(serve(listener));

    let stream = TcpStream::connect("127.0.0.1:80").await.expect("a server");
    let (requests, connection) = h2::client::handshake(Io(stream)).await.expect("a greeting");
    let connection = spawn(connection);
    let clients: Vec<_> = (0..3).map(|_| spawn(get(requests.clone()))).collect();
    drop(requests);
    for client in clients {
        let answer = client.await.expect("a client does not panic");
        assert_eq!(answer.expect("an answer"), "hello");
    }
    let end = connection.await.expect("the connection does not panic");
    end.expect("the connection ends in order");
}
