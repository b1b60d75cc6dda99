//! Requests that share a pool of two connections.
//!
//! Each request takes a connection, works with it for a while and gives it back. One client goes away
//! while its request waits for a connection, and the server drops that request.
//!
//! The bug, in mobc 0.7.3 and before: a connection that comes back is sent to a request that waits. If
//! that request is dropped before it is polled again, the connection is dropped with it, and still
//! counted as open. Each time that happens the pool is one smaller, until it hands out nothing
//! (<https://github.com/importcjj/mobc/issues/63>). Fixed by a semaphore in place of the queue
//! (<https://github.com/importcjj/mobc/pull/64>).

use cct_executor::spawn;
use cct_executor::time::sleep;
use mobc::{Manager, Pool};
use std::convert::Infallible;
use std::time::Duration;

const SIZE: u64 = 2;
const WORK: Duration = Duration::from_millis(4);

/// Stands for a database.
struct Database;

#[async_trait::async_trait]
impl Manager for Database {
    type Connection = ();
    type Error = Infallible;

    fn spawn_task<T>(&self, task: T)
    where
        T: Future + Send + 'static,
        T::Output: Send + 'static,
    {
        spawn(task);
    }

    async fn connect(&self) -> Result<(), Infallible> {
        Ok(())
    }

    async fn check(&self, connection: ()) -> Result<(), Infallible> {
        Ok(connection)
    }
}

async fn request(pool: Pool<Database>) {
    let _connection = pool.get().await.expect("the database is up");
    sleep(WORK).await;
}

/// When all requests are done, the pool has all of its connections.
pub async fn scenario() {
    let pool = Pool::builder()
        .max_open(SIZE)
        .get_timeout(None)
        .build(Database);
    let requests: Vec<_> = (0..4).map(|_| spawn(request(pool.clone()))).collect();
    sleep(WORK).await;
    requests[3].abort(); // its client went away
    for request in requests {
        let _ = request.await;
    }
    let mut all = Vec::new();
    for _ in 0..SIZE {
        all.push(pool.get().await.expect("the database is up"));
    }
}
