//! Who is at the other end.

use super::UnixStream;
use crate::descriptor::owner;
use std::io;
use std::os::fd::AsFd;

/// A user's number.
#[expect(non_camel_case_types, reason = "tokio's name")]
pub type uid_t = u32;

/// A group's number.
#[expect(non_camel_case_types, reason = "tokio's name")]
pub type gid_t = u32;

/// A process's number.
#[expect(non_camel_case_types, reason = "tokio's name")]
pub type pid_t = i32;

/// The credentials of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct UCred {
    pid: Option<pid_t>,
    uid: uid_t,
    gid: gid_t,
}

impl UCred {
    /// Its user.
    pub fn uid(&self) -> uid_t {
        self.uid
    }

    /// Its group.
    pub fn gid(&self) -> gid_t {
        self.gid
    }

    /// Its number.
    pub fn pid(&self) -> Option<pid_t> {
        self.pid
    }
}

impl UnixStream {
    /// The credentials of the process at the other end: those of the test's own process, as Unix sockets do
    /// not leave a node and all nodes are in one process.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub fn peer_cred(&self) -> io::Result<UCred> {
        let (uid, gid) = owner(self.as_fd())?;
        let pid = pid_t::try_from(std::process::id()).ok();
        Ok(UCred { pid, uid, gid })
    }
}
