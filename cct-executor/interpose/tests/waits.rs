//! Calls of C that would block until the machine has something: what else there is to do is done meanwhile.
#![cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#![expect(unsafe_code, reason = "functions of C are called")]

use cct_interpose::{Blocks, Clocks, System, begin, end};
use libc::{c_int, pollfd};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::ptr;

type Deed = Box<dyn FnOnce()>;

thread_local! {
    /// What there is to do, if anything.
    static MEANWHILE: RefCell<Option<Deed>> = const { RefCell::new(None) };
    /// How often a call would have blocked, and what for.
    static WAITED: Cell<u32> = const { Cell::new(0) };
    static BLOCKED: Cell<Blocks> = const { Cell::new(Blocks::No) };
}

fn join(is_over: &mut dyn FnMut() -> bool) -> bool {
    WAITED.set(WAITED.get() + 1);
    let Some(meanwhile) = MEANWHILE.take() else {
        return false;
    };
    meanwhile();
    while !is_over() {}
    true
}

/// Where something can be done while a call would block.
fn where_others_go_on(test: impl FnOnce()) {
    let system = System {
        join,
        blocks: |what| {
            if what != Blocks::No {
                BLOCKED.set(what);
            }
        },
        ..System::AS_EVER
    };
    begin(7, system, Clocks::ZERO);
    test();
    end();
}

/// What comes of a call for which this is done meanwhile. It is done once, and the call does not block.
fn meanwhile<R>(deed: impl FnOnce() + 'static, call: impl FnOnce() -> R) -> R {
    MEANWHILE.set(Some(Box::new(deed)));
    WAITED.set(0);
    let result = call();
    assert_eq!(WAITED.get(), 1);
    assert!(MEANWHILE.take().is_none());
    assert_eq!(BLOCKED.get(), Blocks::No);
    result
}

/// The two ends of a pipe: one to read from it, one to write to it.
fn pipe() -> (File, File) {
    let mut ends = [0; 2];
    // SAFETY: there is room for two, which nobody else owns.
    unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]))
    }
}

#[test]
fn a_pipe_is_waited_for() {
    where_others_go_on(|| {
        let (mut reads, mut writes) = pipe();
        let mut writer = writes.try_clone().unwrap();
        let mut bytes = [0; 3];
        meanwhile(
            move || writer.write_all(b"abc").unwrap(),
            || reads.read_exact(&mut bytes).unwrap(),
        );
        assert_eq!(&bytes, b"abc");
        // There is something, so nobody waits.
        WAITED.set(0);
        writes.write_all(b"def").unwrap();
        reads.read_exact(&mut bytes).unwrap();
        assert_eq!((&bytes, WAITED.get()), (b"def", 0));
        // As much as there is room for, and no more than that at once.
        let mut written = 0;
        let data = [7; 1 << 16];
        while written < data.len() {
            written += writes.write(&data[written..]).unwrap();
        }
        assert_eq!((written, WAITED.get()), (data.len(), 0));
        let mut reader = reads.try_clone().unwrap();
        let more = meanwhile(
            move || reader.read_exact(&mut [0; 1 << 16]).unwrap(),
            || writes.write(&data).unwrap(),
        );
        assert_eq!(more, libc::PIPE_BUF);
    });
}

#[test]
fn a_socket_takes_what_there_is_room_for() {
    where_others_go_on(|| {
        let (mut one, two) = UnixStream::pair().unwrap();
        let mut reader = two.try_clone().unwrap();
        let data = vec![7; 1 << 20];
        let some = one.write(&data).unwrap();
        assert!(some > 0 && some < data.len());
        assert_eq!(WAITED.get(), 0);
        let more = meanwhile(
            move || reader.read_exact(&mut vec![0; some]).unwrap(),
            || one.write(&data).unwrap(),
        );
        assert!(more > 0 && more < data.len());
    });
}

#[test]
fn where_there_is_nothing_else_to_do_the_thread_blocks() {
    where_others_go_on(|| {
        let mut child = Command::new("sleep").arg("0.1").spawn().unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(BLOCKED.replace(Blocks::No), Blocks::Machine);
    });
}

#[test]
fn who_need_not_wait_does_not() {
    where_others_go_on(|| {
        let (mut reads, _writes) = pipe();
        // SAFETY: nothing but the descriptor is looked at.
        unsafe { libc::fcntl(reads.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        assert!(reads.read(&mut [0]).is_err());
        assert_eq!(polled(&reads, 0), 0);
        let mut child = waits();
        assert!(child.try_wait().unwrap().is_none());
        assert_eq!(WAITED.get(), 0);
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

/// Whether something comes within so many milliseconds.
fn polled(reads: &File, timeout: c_int) -> c_int {
    let mut asked = pollfd {
        fd: reads.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: there is one.
    unsafe { libc::poll(&raw mut asked, 1, timeout) }
}

#[test]
fn readiness_is_waited_for() {
    where_others_go_on(|| {
        let (mut reads, mut writes) = pipe();
        let found = meanwhile(
            move || writes.write_all(b"a").unwrap(),
            || polled(&reads, -1),
        );
        assert_eq!(found, 1);
        reads.read_exact(&mut [0]).unwrap();
        // Its other end is gone.
        assert_eq!(reads.read(&mut [0]).unwrap(), 0);
        let (reads, _writes) = pipe();
        assert_eq!(meanwhile(|| {}, || polled(&reads, 20)), 0);
    });
}

#[test]
fn events_are_waited_for() {
    where_others_go_on(|| {
        let (reads, mut writes) = pipe();
        let mut event = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: 5,
        };
        // SAFETY: there is one event to be read, and then to be written.
        let epoll = unsafe {
            let epoll = File::from_raw_fd(libc::epoll_create1(libc::EPOLL_CLOEXEC));
            let fd = epoll.as_raw_fd();
            libc::epoll_ctl(fd, libc::EPOLL_CTL_ADD, reads.as_raw_fd(), &raw mut event);
            epoll
        };
        event.u64 = 0;
        let found = meanwhile(
            move || writes.write_all(b"a").unwrap(),
            // SAFETY: as said.
            || unsafe { libc::epoll_wait(epoll.as_raw_fd(), &raw mut event, 1, -1) },
        );
        assert_eq!((found, { event.u64 }), (1, 5));
    });
}

/// A process that ends when its standard input does.
fn waits() -> Child {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn a_process_is_waited_for() {
    where_others_go_on(|| {
        let mut child = waits();
        let input = child.stdin.take();
        let status = meanwhile(move || drop(input), || child.wait().unwrap());
        assert!(status.success());
        let mut child = waits();
        let (input, id) = (child.stdin.take(), child.id());
        let outcome = meanwhile(
            move || drop(input),
            || {
                let how = libc::WEXITED | libc::WNOWAIT;
                // SAFETY: nothing is to be written.
                unsafe { libc::waitid(libc::P_PID, id, ptr::null_mut(), how) }
            },
        );
        assert_eq!(outcome, 0);
        assert!(child.wait().unwrap().success());
        // Who is nobody's child is not waited for.
        WAITED.set(0);
        // SAFETY: nothing is to be written.
        let outcome = unsafe { libc::waitpid(1, ptr::null_mut(), 0) };
        assert_eq!((outcome, WAITED.get()), (-1, 0));
    });
}

#[test]
fn a_copy_of_the_process_waits_by_itself() {
    where_others_go_on(|| {
        let (mut reads, mut writes) = pipe();
        WAITED.set(0);
        // SAFETY: the copy calls nothing but what may be called there, and ends by itself.
        let copy = unsafe { libc::fork() };
        if copy == 0 {
            let has_read = reads.read(&mut [0]).is_ok_and(|count| count == 1);
            let outcome = c_int::from(!has_read || WAITED.get() > 0);
            // SAFETY: as said.
            unsafe { libc::_exit(outcome) };
        }
        writes.write_all(b"a").unwrap();
        let mut status = -1;
        // SAFETY: there is one to be written.
        assert_eq!(unsafe { libc::waitpid(copy, &raw mut status, 0) }, copy);
        assert_eq!(status, 0);
    });
}

#[test]
fn the_lock_of_a_file_is_waited_for() {
    where_others_go_on(|| {
        let path = std::env::temp_dir().join(format!("cct-lock-{}", std::process::id()));
        let (one, two) = (File::create(&path).unwrap(), File::open(&path).unwrap());
        // SAFETY: nothing but the descriptors is looked at.
        let lock = |file: &File, how| unsafe { libc::flock(file.as_raw_fd(), how) };
        assert_eq!(lock(&one, libc::LOCK_EX), 0);
        assert_eq!(lock(&two, libc::LOCK_EX | libc::LOCK_NB), -1);
        assert_eq!(WAITED.get(), 0);
        let outcome = meanwhile(
            // SAFETY: as said.
            move || assert_eq!(unsafe { libc::flock(one.as_raw_fd(), libc::LOCK_UN) }, 0),
            || lock(&two, libc::LOCK_EX),
        );
        assert_eq!(outcome, 0);
        let three = File::open(&path).unwrap();
        assert_eq!(lock(&three, libc::LOCK_SH | libc::LOCK_NB), -1);
        std::fs::remove_file(path).unwrap();
    });
}
