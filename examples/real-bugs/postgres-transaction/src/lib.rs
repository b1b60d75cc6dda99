//! A shop that keeps its orders in PostgreSQL.
//!
//! Each order is written in a transaction, whose isolation level the shop chooses. The requests share
//! one connection. A client may go away at any time, and the server drops its request then. At the end
//! of the day a line is written without a transaction.
//!
//! The bug, in tokio-postgres 0.7.10 and before: `TransactionBuilder::start` sends what begins the
//! transaction, and waits for the answer before it makes the `Transaction` that would roll back when it
//! is dropped. If the request is dropped in between, the connection stays in the transaction. What is
//! written afterwards belongs to it, and is gone with the connection
//! (<https://github.com/rust-postgres/rust-postgres/issues/1120>). Fixed in 0.7.11 by
//! <https://github.com/rust-postgres/rust-postgres/pull/1127>. (`Client::transaction` had the same bug
//! until 0.7.5, and sqlx has it in 0.8.6, where a pool hands on the connection.)

#[path = "../../tokio_io.rs"]
mod io;
mod server;

use cct_executor::{cancellable, spawn};
use cct_net::{TcpListener, TcpStream};
use cct_sync::Mutex;
use io::Io;
use server::Table;
use std::sync::Arc;
use tokio_postgres::{Client, Config, Error, IsolationLevel, NoTls};

type Database = Arc<Mutex<Client>>;

async fn order(database: Database, number: u32) -> Result<(), Error> {
    let mut database = database.lock().await;
    let transaction = database
        .build_transaction()
        .isolation_level(IsolationLevel::Serializable)
        .start()
        .await?;
    transaction
        .batch_execute(&format!("INSERT order {number}"))
        .await?;
    transaction
        .batch_execute(&format!("UPDATE stock {number}"))
        .await?;
    transaction.commit().await
}

/// What was written outside transactions is kept, whoever has gone away.
pub async fn scenario() {
    let table = Table::default();
    let listener = TcpListener::bind("127.0.0.1:5432")
        .await
        .expect("a free port");
    let server = spawn(server::serve(listener, table.clone()));

    let stream = TcpStream::connect("127.0.0.1:5432")
        .await
        .expect("a server");
    let config = Config::new().user("shop").clone();
    let (client, connection) = config
        .connect_raw(Io(stream), NoTls)
        .await
        .expect("a greeting");
    let connection = spawn(connection);

    let database = Arc::new(Mutex::new(client));
    let orders: Vec<_> = (0..2)
        .map(|number| spawn(cancellable(order(database.clone(), number))))
        .collect();
    for order in orders {
        if let Some(done) = order.await.expect("a request does not panic") {
            done.expect("the server takes the order");
        }
    }
    let written = database.lock().await.batch_execute("INSERT end").await;
    written.expect("the server takes the line");

    drop(database);
    let end = connection.await.expect("the connection does not panic");
    end.expect("the connection ends in order");
    server.await.expect("the server does not panic");
    let rows = table.lock().expect("nobody panics").clone();
    assert!(rows.iter().any(|row| row == "INSERT end"), "{rows:?}");
}
