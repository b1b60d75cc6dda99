//! Same seed, same trace, whatever happens to nodes and links.

use super::worlds::{checker, everywhere};
use cct_executor::time::{sleep, timeout};
use cct_executor::{Report, nondet, spawn};
use cct_net::fabric;
use cct_net::{TcpListener, TcpStream, UdpSocket, node};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const STEP: Duration = Duration::from_millis(5);

async fn serve() {
    let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
    let beacon = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    beacon.set_broadcast(true).unwrap();
    while let Ok((mut stream, _)) = listener.accept().await {
        let _ = beacon.send_to(b"b", "255.255.255.255:9").await;
        spawn(async move {
            let mut byte = [0];
            while stream.read_exact(&mut byte).await.is_ok() {
                let _ = stream.write_all(&[byte[0] ^ 0xff]).await;
            }
        });
    }
}

/// One server that is crashed, killed, restarted and cut off; two clients that try and try again.
async fn chaos(answers: Arc<AtomicU32>) {
    cct_net::tcp::configure(|tcp| tcp.short_reads = true);
    cct_net::udp::configure(|udp| udp.loss = true);
    let server = node("server").start(serve);
    let mut clients = Vec::new();
    for name in ["one", "two"] {
        let client = node(name).start(|| async {});
        let answers = answers.clone();
        let task = client.spawn(async move {
            for number in 0..3_u8 {
                let call = async {
                    let mut stream = TcpStream::connect("server:80").await?;
                    stream.write_all(&[number]).await?;
                    let mut answer = [0];
                    stream.read_exact(&mut answer).await?;
                    std::io::Result::Ok(answer[0])
                };
                if let Ok(Ok(answer)) = timeout(2 * STEP, call).await {
                    assert_eq!(answer, number ^ 0xff);
                    answers.fetch_add(1, SeqCst);
                }
            }
        });
        clients.push((client, task));
    }
    for _ in 0..3 {
        match nondet::choose(4) {
            0 => cct_net::node::kill(&server),
            1 => cct_net::node::power_off(&server),
            2 => fabric::partition(&server, &clients[0].0),
            _ => fabric::hold(&clients[1].0, &server),
        }
        sleep(STEP).await;
        fabric::heal_all();
        server.restart();
    }
    for (_, task) in clients {
        task.await.unwrap();
    }
}

#[test]
fn chaos_repeats_itself() {
    let answers = Arc::new(AtomicU32::new(0));
    everywhere("chaos", 40, |checker| {
        let answers = answers.clone();
        checker.run(move || chaos(answers.clone()))
    });
    assert!(answers.load(SeqCst) > 100, "some calls get through");
}

/// A failure is found again from its token, and by a second run.
#[test]
fn failures_repeat_themselves() {
    let run = || -> Report {
        checker("token").iterations(400).run(|| async {
            let answers = Arc::new(AtomicU32::new(0));
            chaos(answers.clone()).await;
            assert_ne!(answers.load(SeqCst), 3);
        })
    };
    let (first, second) = (run(), run());
    let token = |report: &Report| {
        let failure = report.failure.as_ref().expect("three calls of six");
        assert!(failure.reproduced);
        failure.token.clone()
    };
    assert_eq!(token(&first), token(&second));
}
