//! Requests that share a pool of two connections to a database, which break now and then.
//!
//! The bug, in deadpool 0.9.4: a connection that cannot be used again gives back the permit of the request that
//! has found it so, and the request goes on and connects anew. From then on there are more permits than the
//! pool is to have connections (<https://github.com/deadpool-rs/deadpool/issues/205>, and the changelog of
//! 0.9.5). Gone in 0.9.5.
//!
//! deadpool waits with tokio's semaphore; the folder `tokio` beside this one stands in for tokio.

use cct_executor::task::yield_now;
use cct_executor::{nondet, spawn};
use deadpool::managed::{Manager, Pool, RecycleError, RecycleResult};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const CONNECTIONS: usize = 2;
const CLIENTS: usize = 4;
const REQUESTS: usize = 2;

/// Stands for a database that counts its connections.
struct Database(Arc<AtomicUsize>);

struct Connection(Arc<AtomicUsize>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[async_trait::async_trait]
impl Manager for Database {
    type Type = Connection;
    type Error = Infallible;

    async fn create(&self) -> Result<Connection, Infallible> {
        yield_now().await;
        let open = self.0.fetch_add(1, SeqCst) + 1;
        assert!(open <= CONNECTIONS, "{open} connections");
        Ok(Connection(self.0.clone()))
    }

    async fn recycle(&self, _connection: &mut Connection) -> RecycleResult<Infallible> {
        yield_now().await;
        match nondet::boolean() {
            false => Ok(()),
            true => Err(RecycleError::StaticMessage("it was closed")),
        }
    }
}

/// However many connections break, there are never more than the pool may have.
pub async fn scenario() {
    let database = Database(Arc::default());
    let pool = Pool::<Database>::builder(database)
        .max_size(CONNECTIONS)
        .build()
        .expect("it needs no runtime without time limits");
    let clients = [(); CLIENTS].map(|()| {
        let pool = pool.clone();
        spawn(async move {
            for _ in 0..REQUESTS {
                let _connection = pool.get().await.expect("the database is up");
                yield_now().await;
            }
        })
    });
    for client in clients {
        client.await.expect("a request does not panic");
    }
}
