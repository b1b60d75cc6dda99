//! An answer that is written row by row, while it is sent.
//!
//! A task reads the rows from a table and hands them to the body of an HTTP answer. The connection
//! takes them from there until the body ends.
//!
//! The bug, in http-body-util 0.1.5, which is the newest: the body of a `Channel` asks its queue for
//! a frame, and then its second channel whether the sender has failed. If the last frame is sent
//! after the first look, and the sender dropped before the second, the body ends without that frame:
//! the answer is cut short, and nobody is told. Not reported that we know of. The `control` package
//! runs the same scenario on `StreamBody` of the same crate, over a channel whose end comes after
//! what it holds.

use bytes::Bytes;
use cct_executor::spawn;
use http_body_util::BodyExt;

#[cfg(feature = "control")]
mod rows {
    use bytes::Bytes;
    use cct_sync::mpsc;
    use futures_util::stream::poll_fn;
    use http_body::{Body, Frame};
    use http_body_util::StreamBody;
    use std::convert::Infallible;

    pub struct Sender(mpsc::Sender<Bytes>);

    impl Sender {
        pub async fn send_data(&mut self, row: Bytes) -> Result<(), mpsc::error::SendError<Bytes>> {
            self.0.send(row).await
        }
    }

    pub fn channel() -> (Sender, impl Body<Data = Bytes, Error = Infallible> + Send) {
        let (sender, mut rows) = mpsc::channel(super::QUEUED);
        let frames = poll_fn(move |cx| {
            let row = rows.poll_recv(cx);
            row.map(|row| row.map(|row| Ok(Frame::data(row))))
        });
        (Sender(sender), StreamBody::new(frames))
    }
}

#[cfg(not(feature = "control"))]
mod rows {
    use bytes::Bytes;
    use http_body_util::channel::{Channel, Sender};
    use std::convert::Infallible;

    pub fn channel() -> (Sender<Bytes>, Channel<Bytes, Infallible>) {
        Channel::new(super::QUEUED)
    }
}

const QUEUED: usize = 2;

/// Stands for the table.
const ROWS: [&str; 3] = ["apples 3\n", "pears 5\n", "plums 8\n"];

/// Who reads the body gets all rows.
pub async fn scenario() {
    let (mut sender, body) = rows::channel();
    let table = spawn(async move {
        for row in ROWS {
            let sent = sender.send_data(Bytes::from_static(row.as_bytes())).await;
            assert!(sent.is_ok(), "the body was dropped");
        }
    });
    let Ok(answer) = body.collect().await;
    assert_eq!(answer.to_bytes(), ROWS.concat());
    table.await.expect("the table does not panic");
}
