//! What this program does when a test of it has started it for that.

use std::io::{Read, Write};
use std::net;
use std::os::unix::net as unix_net;

/// What a process that is started for a test of this program is to do.
pub(crate) const ROLE: &str = "ROLE_OF_ANOTHER";

#[expect(
    clippy::disallowed_methods,
    reason = "what the process was started for"
)]
pub(crate) fn role() -> Option<(String, String)> {
    let role = std::env::var(ROLE).ok()?;
    let (what, at) = role.split_once(' ')?;
    Some((what.to_owned(), at.to_owned()))
}

/// What that process does.
#[expect(clippy::print_stdout, reason = "it tells")]
pub(crate) fn act(what: &str, at: &str) {
    let tell = |what: &str| println!("told {what}");
    let answer = |mut stream: Box<dyn ReadWrite>| {
        let mut got = [0; 4];
        stream.read_exact(&mut got).unwrap();
        stream.write_all(&got).unwrap();
    };
    match what {
        "asks" => {
            answer(Box::new(net::TcpStream::connect(at).unwrap()));
            tell("well");
        }
        "asks-path" => {
            answer(Box::new(unix_net::UnixStream::connect(at).unwrap()));
            tell("well");
        }
        "serves" => {
            let listener = net::TcpListener::bind(at).unwrap();
            tell(&listener.local_addr().unwrap().to_string());
            answer(Box::new(listener.accept().unwrap().0));
        }
        _ => {
            let listener = unix_net::UnixListener::bind(at).unwrap();
            tell(at);
            answer(Box::new(listener.accept().unwrap().0));
        }
    }
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}
