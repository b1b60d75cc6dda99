//! Signals: tokio's `signal`, for simulated processes. A node is a process, and so is the test itself.
//!
//! [`node::signal`](crate::node::signal) sends one to a node, and [`raise`] to the running task's own. It
//! returns at once; the signal *arrives* when the strategy picks that action. What then happens is decided
//! by what the process has done until then:
//!
//! 1. If it has registered for the signal, by [`unix::signal`] or the first poll of [`ctrl_c`], each of
//!    its listeners hears of it. Registering holds until the process ends, listeners or no listeners.
//! 2. If not, it happens what POSIX says. Most signals end the process, as
//!    [`node::kill`](crate::node::kill) does: connections are closed and files keep what was written to
//!    them. SIGSTOP and its like have the node stand still ([`Node::pause`]) and SIGCONT has it go on,
//!    SIGCHLD, SIGURG and SIGWINCH do nothing; nor does SIGPIPE, as Rust's standard library has it.
//!
//! Signals of a kind are merged while one is on its way, and again until a listener looks. Of different
//! kinds, any may arrive first. Nothing but SIGKILL arrives at a node that stands still. A node that is down
//! gets none, and one that starts again has registered for nothing. The test itself cannot end: a signal
//! that would end it is a failure.
//!
//! [`Fault::Signal`](crate::fault::Fault::Signal) offers a signal at any moment of a plan.
//!
//! [`Node::pause`]: cct_executor::node::Node::pause
//!
//! # Example
//!
//! A service keeps letters in memory, and writes them down when it is told to end. A letter that comes
//! while it does so is lost, although its sender was told that it is kept:
//!
//! ```
//! use cct_executor::{Checker, select, spawn, time};
//! use cct_net::signal::unix::{SignalKind, signal};
//! use cct_net::{TcpListener, TcpStream, fs, node};
//! use futures::io::{AsyncReadExt, AsyncWriteExt};
//! use std::io;
//! use std::path::Path;
//! use std::sync::{Arc, Mutex};
//! use std::time::Duration;
//!
//! type Letters = Arc<Mutex<Vec<u8>>>;
//!
//! async fn serve() -> io::Result<()> {
//!     let mut terminate = signal(SignalKind::terminate())?;
//!     let listener = TcpListener::bind("0.0.0.0:80").await?;
//!     let letters = Letters::default();
//!     loop {
//!         let (client, _) = select! {
//!             accepted = listener.accept() => accepted?,
//!             _ = terminate.recv() => break,
//!         };
//!         spawn(take_letter(client, letters.clone()));
//!     }
//!     // Missing: to wait for those tasks, or to end them.
//!     let all = letters.lock().unwrap().clone();
//!     fs::write("/letters", all).await
//! }
//!
//! async fn take_letter(mut client: TcpStream, letters: Letters) -> io::Result<()> {
//!     let mut letter = [0];
//!     client.read_exact(&mut letter).await?;
//!     letters.lock().unwrap().push(letter[0]);
//!     client.write_all(b"ok").await
//! }
//!
//! async fn send(letter: u8) -> io::Result<()> {
//!     let mut service = TcpStream::connect("post:80").await?;
//!     service.write_all(&[letter]).await?;
//!     service.read_exact(&mut [0; 2]).await
//! }
//!
//! let report = Checker::new().name("letters").iterations(2_000).run(|| async {
//!     let post = node("post").ends_with_main().start(serve);
//!     time::sleep(Duration::from_secs(1)).await; // it listens by now
//!     let sender = spawn(send(7));
//!     node::signal(&post, SignalKind::terminate()); // it arrives when it arrives
//!     let kept = sender.await.unwrap().is_ok();
//!     while post.is_up() {
//!         time::sleep(Duration::from_millis(1)).await;
//!     }
//!     let disk = fs::inspect(post.id());
//!     let written = disk.get(Path::new("/letters")) == Some(&fs::Inspected::File(vec![7]));
//!     assert!(written || !kept, "a letter that was kept is lost");
//! });
//! let failure = report.failure().expect("a letter is lost");
//! assert!(failure.kind.to_string().contains("a letter that was kept is lost"));
//! let mut steps = failure.explanation.steps.iter();
//! assert!(steps.any(|step| step.what.contains("SIGTERM arrives at `post`")));
//! ```

mod ctrl_c;
mod kind;
mod line;
mod listener;
#[cfg(unix)]
mod outside;
mod send;
mod source;
pub mod unix;

pub use ctrl_c::ctrl_c;
pub use send::raise;
pub(crate) use send::{send, strike, would_act};
pub(crate) use source::Struck;
