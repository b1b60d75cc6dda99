//! What C's functions make of sockets that are not the machine's, and of those that are.
#![cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#![expect(unsafe_code, reason = "functions of C are called")]

use cct_interpose::{Clocks, Moved, OnSocket, System, begin, end};
use libc::{c_void, iovec, msghdr};
use std::cell::{Cell, RefCell};
use std::io;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Duration;

const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 1, 2, 3)), 45);
const DATA: &[u8] = b"eleven byte";

thread_local! {
    /// Whether they want to know whom to send to.
    static DATAGRAMS: Cell<bool> = const { Cell::new(true) };
    /// Whether all sockets are ours.
    static OURS: Cell<bool> = const { Cell::new(true) };
    static PATIENCE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static SHUT: Cell<Option<Shutdown>> = const { Cell::new(None) };
    static SENT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn socket(_: u64, what: OnSocket<'_>) -> Option<io::Result<Moved>> {
    if !OURS.get() {
        return None;
    }
    let mut moved = Moved {
        address: Some(PEER),
        ..Moved::default()
    };
    match what {
        OnSocket::Send(sending) if sending.to == Some(PEER) || !DATAGRAMS.get() => {
            let data = sending.parts.iter().flat_map(|part| part.to_vec());
            SENT.set(data.collect());
            moved.bytes = SENT.with_borrow(Vec::len);
        }
        OnSocket::Send(_) => return Some(Err(io::Error::from_raw_os_error(libc::EHOSTUNREACH))),
        OnSocket::Receive { into, patience, .. } => {
            PATIENCE.set(patience);
            let mut rest = DATA;
            for part in into {
                let (fits, more) = rest.split_at(rest.len().min(part.len()));
                part[..fits.len()].copy_from_slice(fits);
                rest = more;
            }
            moved.bytes = DATA.len();
        }
        OnSocket::Local | OnSocket::Peer => {}
        OnSocket::Shutdown(how) => SHUT.set(Some(how)),
    }
    Some(Ok(moved))
}

/// Runs it where sockets are ours.
fn among_ours(f: impl FnOnce(&UdpSocket)) {
    let real = UdpSocket::bind("127.0.0.1:0").unwrap();
    let system = System {
        socket,
        ..System::AS_EVER
    };
    begin(7, system, Clocks::ZERO);
    f(&real);
    end();
}

fn buffer(data: &mut [u8]) -> iovec {
    iovec {
        iov_base: data.as_mut_ptr().cast::<c_void>(),
        iov_len: data.len(),
    }
}

/// One that is empty, as C may have it.
const NOWHERE: iovec = iovec {
    iov_base: ptr::null_mut(),
    iov_len: 0,
};

fn message(buffers: &mut [iovec], name: &mut libc::sockaddr_in) -> msghdr {
    // SAFETY: all zeroes are a value of it.
    let mut message: msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = buffers.as_mut_ptr();
    message.msg_iovlen = buffers.len();
    message.msg_name = ptr::from_mut(name).cast::<c_void>();
    message.msg_namelen = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    message
}

fn name(addr: SocketAddr) -> libc::sockaddr_in {
    let SocketAddr::V4(addr) = addr else {
        panic!("{addr} is of version 6")
    };
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: addr.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(addr.ip().octets()),
        },
        sin_zero: [0; 8],
    }
}

#[test]
fn messages_have_buffers_that_lie_nowhere() {
    among_ours(|real| {
        let fd = real.as_raw_fd();
        let (mut one, mut two) = (*b"in ", *b"parts");
        let mut buffers = [NOWHERE, buffer(&mut one), NOWHERE, buffer(&mut two)];
        let mut to = name(PEER);
        let out = message(&mut buffers, &mut to);
        // SAFETY: the message is as C wants it.
        assert_eq!(unsafe { libc::sendmsg(fd, &out, 0) }, 8);
        assert_eq!(SENT.take(), b"in parts");

        let mut from = name("0.0.0.0:0".parse().unwrap());
        let mut back = message(&mut buffers, &mut from);
        // SAFETY: the same.
        assert_eq!(unsafe { libc::recvmsg(fd, &mut back, 0) }, 8);
        assert_eq!(back.msg_flags, libc::MSG_TRUNC);
        assert_eq!(
            (from.sin_port, from.sin_addr.s_addr),
            (to.sin_port, to.sin_addr.s_addr)
        );
        // SAFETY: the same.
        let whole = unsafe { libc::recvmsg(fd, &mut back, libc::MSG_TRUNC) };
        assert_eq!(whole, DATA.len() as isize);
        assert_eq!((&one, &two), (b"ele", b"ven b"));
    });
}

#[test]
fn who_calls_the_kernel_by_number_is_heard() {
    among_ours(|real| {
        let mut to = name(PEER);
        let length = size_of_val(&to);
        let call = |to: *mut libc::sockaddr_in| {
            let (data, fd) = (DATA.as_ptr(), real.as_raw_fd());
            // SAFETY: the arguments are as the system call wants them.
            unsafe { libc::syscall(libc::SYS_sendto, fd, data, DATA.len(), 0, to, length) }
        };
        assert_eq!(call(&mut to), DATA.len() as i64);
        assert_eq!(SENT.take(), DATA);
        assert_eq!(call(ptr::null_mut()), -1);
        let error = io::Error::last_os_error().raw_os_error();
        assert_eq!(error, Some(libc::EHOSTUNREACH));
        assert_eq!(real.local_addr().unwrap(), PEER);
        assert_eq!(real.peer_addr().unwrap(), PEER);
    });
}

#[test]
fn what_is_the_machines_stays_so() {
    among_ours(|real| {
        OURS.set(false);
        let to = real.local_addr().unwrap();
        assert_eq!(real.send_to(DATA, to).unwrap(), DATA.len());
        let mut buf = [0; 16];
        assert_eq!(real.recv_from(&mut buf).unwrap(), (DATA.len(), to));
        assert_eq!(&buf[..DATA.len()], DATA);
    });
}

/// Whatever kind of data the machine has for them.
#[test]
fn what_is_out_of_band_is_asked_of_the_machine() {
    among_ours(|_| {
        OURS.set(false);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (two, _) = listener.accept().unwrap();
        let (urgent, mut byte) = (b'!', 0_u8);
        let mut has_come = libc::pollfd {
            fd: two.as_raw_fd(),
            events: libc::POLLPRI,
            revents: 0,
        };
        // SAFETY: the buffers have a byte each, and there is one descriptor to wait for.
        unsafe {
            let out = ptr::from_ref(&urgent).cast::<c_void>();
            assert_eq!(libc::send(one.as_raw_fd(), out, 1, libc::MSG_OOB), 1);
            assert_eq!(libc::poll(&mut has_come, 1, -1), 1);
            let into = ptr::from_mut(&mut byte).cast::<c_void>();
            assert_eq!(libc::recv(two.as_raw_fd(), into, 1, libc::MSG_OOB), 1);
        }
        assert_eq!(byte, urgent);
    });
}

/// Two ends of one of the machine's connections.
fn connected() -> [TcpStream; 2] {
    let ours = OURS.replace(false);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let two = listener.accept().unwrap().0;
    OURS.set(ours);
    [one, two]
}

/// Reads and writes in parts, and shuts down.
fn in_parts(one: &mut TcpStream, two: &mut TcpStream) -> ([u8; 3], [u8; 8]) {
    let parts = [IoSlice::new(b"ele"), IoSlice::new(b"ven byte")];
    assert_eq!(one.write_vectored(&parts).unwrap(), DATA.len());
    one.shutdown(Shutdown::Write).unwrap();
    let (mut first, mut second) = ([0; 3], [0; 8]);
    let mut parts = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    assert_eq!(two.read_vectored(&mut parts).unwrap(), DATA.len());
    (first, second)
}

#[test]
fn streams_of_the_standard_library_are_ours_or_the_machines() {
    among_ours(|_| {
        DATAGRAMS.set(false);
        let [mut one, mut two] = connected();
        assert_eq!(in_parts(&mut one, &mut two), (*b"ele", *b"ven byte"));
        assert_eq!(SENT.take(), DATA);
        assert_eq!(SHUT.take(), Some(Shutdown::Write));

        OURS.set(false);
        assert_eq!(in_parts(&mut one, &mut two), (*b"ele", *b"ven byte"));
        assert_eq!(two.read(&mut [0]).unwrap(), 0, "it was shut down");
        assert_eq!((SENT.take(), SHUT.take()), (Vec::new(), None));
    });
}

#[test]
fn who_waits_is_told_for_how_long() {
    among_ours(|_| {
        let [mut one, _two] = connected();
        let read = |flags: i32| {
            let mut buf = [0; 16];
            let into = buf.as_mut_ptr().cast::<c_void>();
            // SAFETY: the buffer is as long as it says.
            let count = unsafe { libc::recv(one.as_raw_fd(), into, buf.len(), flags) };
            assert_eq!(count, DATA.len() as isize);
            PATIENCE.get()
        };
        assert_eq!(read(0), Duration::MAX);
        assert_eq!(read(libc::MSG_DONTWAIT), Duration::ZERO);
        let limit = Duration::from_millis(1_252);
        one.set_read_timeout(Some(limit)).unwrap();
        one.read_exact(&mut [0; 11]).unwrap();
        assert_eq!(PATIENCE.get(), limit);
        one.set_nonblocking(true).unwrap();
        one.read_exact(&mut [0; 11]).unwrap();
        assert_eq!(PATIENCE.get(), Duration::ZERO);
    });
}
