//! File descriptors of sockets, and sockets of the standard library.

use super::Log;
use super::rt::{
    self, TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream,
};
use super::tcp::connected;
use socket2::{Domain, SockRef, Socket, Type};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What each socket's descriptor is good for.
fn descriptor(log: &Log, what: &str, socket: &(impl AsFd + AsRawFd)) {
    let options = SockRef::from(socket);
    let kind = options.r#type().unwrap();
    log.note(format!(
        "{what} {}",
        socket.as_raw_fd() == socket.as_fd().as_raw_fd()
    ));
    log.note(format!(
        "{} {}",
        kind == Type::STREAM,
        options.nonblocking().unwrap()
    ));
    let domain = options.domain().unwrap();
    log.note(format!(
        "{} {}",
        domain == Domain::IPV4,
        domain == Domain::IPV6
    ));
}

pub(crate) async fn everybody_has_one(log: Log) {
    let (client, server) = connected().await;
    descriptor(&log, "client", &client);
    descriptor(&log, "server", &server);
    log.note(client.as_raw_fd() == server.as_raw_fd());
    descriptor(
        &log,
        "listener",
        &TcpListener::bind("[::1]:0").await.unwrap(),
    );
    descriptor(&log, "socket", &TcpSocket::new_v6().unwrap());
    descriptor(&log, "udp", &UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let (one, two) = UnixStream::pair().unwrap();
    descriptor(&log, "unix", &one);
    log.note(one.as_raw_fd() == two.as_raw_fd());
    descriptor(&log, "datagrams", &UnixDatagram::unbound().unwrap());
    let path = rt::path("descriptor");
    descriptor(&log, "listener", &UnixListener::bind(&path).unwrap());
    rt::unlink(&path).unwrap();
}

pub(crate) async fn options(log: Log) {
    let (client, _server) = connected().await;
    let options = SockRef::from(&client);
    options.set_keepalive(true).unwrap();
    options.set_tcp_nodelay(true).unwrap();
    let keepalive = socket2::TcpKeepalive::new().with_time(Duration::from_secs(60));
    options.set_tcp_keepalive(&keepalive).unwrap();
    log.note(format!("{:?}", options.keepalive().unwrap()));
    log.note(format!(
        "{:?}",
        SockRef::from(&client).tcp_nodelay().unwrap()
    ));
}

/// Two listeners at one address, as their descriptors have been told.
pub(crate) async fn sharing(log: Log) {
    let mut address: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let mut both = Vec::new();
    for _ in 0..2 {
        let socket = TcpSocket::new_v4().unwrap();
        log.note(socket.reuseport().unwrap());
        SockRef::from(&socket).set_reuse_port(true).unwrap();
        log.note(socket.reuseport().unwrap());
        socket.bind(address).unwrap();
        let listener = socket.listen(4).unwrap();
        address = listener.local_addr().unwrap();
        both.push(listener);
    }
    let alone = TcpSocket::new_v4().unwrap();
    log.note(alone.bind(address).unwrap_err().kind());
}

async fn echo(log: &Log, (mut from, mut to): (&mut TcpStream, &mut TcpStream)) {
    rt::write_all(&mut from, b"there").await.unwrap();
    log.result("there", rt::read_exact(&mut to, 5).await);
    rt::write_all(&mut to, b"back").await.unwrap();
    log.result("back", rt::read_exact(&mut from, 4).await);
}

pub(crate) async fn there_and_back(log: Log) {
    let (client, mut server) = connected().await;
    let addresses = (client.local_addr().unwrap(), client.peer_addr().unwrap());
    let raw = client.as_raw_fd();
    let standard = client.into_std().unwrap();
    log.note(standard.as_raw_fd() == raw);
    rt::write_all(&mut server, b"early").await.unwrap();
    standard.set_nodelay(true).unwrap();
    log.note(standard.nodelay().unwrap());
    let mut client = TcpStream::from_std(standard).unwrap();
    log.note(client.as_raw_fd() == raw);
    log.note(addresses == (client.local_addr().unwrap(), client.peer_addr().unwrap()));
    log.result("early", rt::read_exact(&mut client, 5).await);
    echo(&log, (&mut client, &mut server)).await;
    drop(client);
    log.result("the end", rt::read_to_end(&mut server).await);
}

pub(crate) async fn listeners_there_and_back(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let standard = listener.into_std().unwrap();
    let client = rt::spawn(async move {
        let mut client = TcpStream::connect(addr).await.unwrap();
        rt::read_to_end(&mut client).await.unwrap()
    });
    rt::pause().await;
    let listener = TcpListener::try_from(standard).unwrap();
    log.note(listener.local_addr().unwrap() == addr);
    let (mut server, _) = listener.accept().await.unwrap();
    rt::write_all(&mut server, b"welcome").await.unwrap();
    drop(server);
    log.note(client.await.unwrap());
}

pub(crate) async fn datagrams_there_and_back(log: Log) {
    let [one, two] = [
        UdpSocket::bind("127.0.0.1:0"),
        UdpSocket::bind("127.0.0.1:0"),
    ];
    let (one, two) = (one.await.unwrap(), two.await.unwrap());
    let addr = two.local_addr().unwrap();
    let standard = two.into_std().unwrap();
    one.send_to(b"meanwhile", addr).await.unwrap();
    rt::pause().await;
    let two = UdpSocket::from_std(standard).unwrap();
    let mut buf = [0; 16];
    log.result("received", two.recv(&mut buf).await);
    log.note(two.local_addr().unwrap() == addr);
}

pub(crate) async fn unix_there_and_back(log: Log) {
    let (one, mut two) = UnixStream::pair().unwrap();
    let mut one = UnixStream::from_std(one.into_std().unwrap()).unwrap();
    rt::write_all(&mut one, b"hello").await.unwrap();
    log.result("streams", rt::read_exact(&mut two, 5).await);
    let (one, two) = UnixDatagram::pair().unwrap();
    let one = UnixDatagram::from_std(one.into_std().unwrap()).unwrap();
    one.send(b"hi").await.unwrap();
    log.result("datagrams", two.recv(&mut [0; 8]).await);
    let path = rt::path("there-and-back");
    let listener = UnixListener::bind(&path).unwrap();
    let listener = UnixListener::from_std(listener.into_std().unwrap()).unwrap();
    let client = rt::spawn(UnixStream::connect(path.clone()));
    log.note(listener.accept().await.is_ok());
    log.note(client.await.unwrap().is_ok());
    rt::unlink(&path).unwrap();
}

fn standard_listener(addr: &str) -> std::net::TcpListener {
    let listener = std::net::TcpListener::bind(addr).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

pub(crate) async fn listeners_of_the_standard_library(log: Log) {
    for addr in ["127.0.0.1:0", "[::1]:0", "0.0.0.0:0"] {
        let standard = socket_with_shared_port(addr.parse().unwrap());
        standard.listen(128).unwrap();
        let standard = std::net::TcpListener::from(standard);
        let addr = standard.local_addr().unwrap();
        let listener = TcpListener::from_std(standard).unwrap();
        log.note(listener.local_addr().unwrap() == addr);
        let client = rt::spawn(TcpStream::connect(addr));
        let (mut server, peer) = listener.accept().await.unwrap();
        let mut client = client.await.unwrap().unwrap();
        log.note(client.local_addr().unwrap() == peer);
        log.note(server.local_addr().unwrap() == client.peer_addr().unwrap());
        log.note(client.peer_addr().unwrap().port() == addr.port());
        echo(&log, (&mut client, &mut server)).await;
        // Other tests take ports of the machine's: from before this one is free, somebody has it who does not listen.
        let _held = socket_with_shared_port(addr);
        drop(listener);
        let connected = TcpStream::connect(addr).await.map(|_| "connected");
        log.result("nobody", connected);
    }
}

pub(crate) async fn addresses_of_the_standard_library_are_taken(log: Log) {
    let standard = standard_listener("127.0.0.1:0");
    let addr = standard.local_addr().unwrap();
    let listener = TcpListener::from_std(standard).unwrap();
    log.result("listen", TcpListener::bind(addr).await.map(|_| "bound"));
    let socket = TcpSocket::new_v4().unwrap();
    let bound = socket.bind(addr).and_then(|()| socket.listen(1));
    log.result("socket", bound.map(|_| "listens"));
    drop(listener);
    log.result("free", TcpListener::bind(addr).await.map(|_| "bound"));
    let standard = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    standard.set_nonblocking(true).unwrap();
    let addr = standard.local_addr().unwrap();
    let socket = UdpSocket::from_std(standard).unwrap();
    log.result("datagrams", UdpSocket::bind(addr).await.map(|_| "bound"));
    drop(socket);
    log.result("free", UdpSocket::bind(addr).await.map(|_| "bound"));
}

fn socket_with_shared_port(addr: SocketAddr) -> Socket {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, None).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket.set_reuse_port(true).unwrap();
    socket.bind(&addr.into()).unwrap();
    socket
}

pub(crate) async fn unix_listeners_of_the_standard_library(log: Log) {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let name = format!("cct-{}-{}", std::process::id(), MADE.fetch_add(1, Relaxed));
    let path = std::env::temp_dir().join(name);
    let standard = std::os::unix::net::UnixListener::bind(&path).unwrap();
    standard.set_nonblocking(true).unwrap();
    let listener = UnixListener::from_std(standard).unwrap();
    let addr = listener.local_addr().unwrap();
    log.note(addr.as_pathname() == Some(&path));
    log.note(path.exists());
    let taken = UnixListener::bind(&path).err();
    log.note(format!("{:?}", taken.map(|error| error.kind())));
    let client = rt::spawn(UnixStream::connect(path.clone()));
    let (mut server, _) = listener.accept().await.unwrap();
    let mut client = client.await.unwrap().unwrap();
    rt::write_all(&mut client, b"hello").await.unwrap();
    log.note(rt::read_exact(&mut server, 5).await.unwrap());
    drop(listener);
    let refused = UnixStream::connect(&path).await.err();
    log.note(format!("{:?}", refused.map(|error| error.kind())));
    std::fs::remove_file(&path).unwrap();
    log.note(path.exists());
    let gone = UnixStream::connect(&path).await.err();
    log.note(format!("{:?}", gone.map(|error| error.kind())));
}

pub(crate) async fn several_of_them(log: Log) {
    let standard = [(); 3].map(|()| standard_listener("127.0.0.1:0"));
    let addrs: Vec<SocketAddr> = standard
        .iter()
        .map(|one| one.local_addr().unwrap())
        .collect();
    let listeners = standard.map(|one| TcpListener::from_std(one).unwrap());
    for (listener, addr) in listeners.iter().zip(addrs).rev() {
        let client = rt::spawn(TcpStream::connect(addr));
        let (server, _) = listener.accept().await.unwrap();
        log.note(server.local_addr().unwrap() == addr);
        log.note(client.await.unwrap().unwrap().peer_addr().unwrap() == addr);
    }
}

pub(crate) async fn sockets_of_others(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let anywhere: SocketAddr = "127.0.0.1:0".parse().unwrap();
    for bound in [false, true] {
        let theirs = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        theirs.set_nonblocking(true).unwrap();
        theirs.set_tcp_nodelay(true).unwrap();
        theirs.set_keepalive(true).unwrap();
        if bound {
            theirs.bind(&anywhere.into()).unwrap();
        }
        let socket = TcpSocket::from_std_stream(theirs.into());
        log.note(format!(
            "{} {}",
            socket.nodelay().unwrap(),
            socket.keepalive().unwrap()
        ));
        let from = socket.local_addr().unwrap();
        log.note(format!("{} {}", from.ip(), from.port() == 0));
        let client = rt::spawn(socket.connect(addr));
        let (_, peer) = listener.accept().await.unwrap();
        let client = client.await.unwrap().unwrap();
        log.note(client.local_addr().unwrap() == peer && (!bound || from == peer));
        log.note(client.nodelay().unwrap());
        log.note(SockRef::from(&client).keepalive().unwrap());
    }
}

pub(crate) async fn credentials(log: Log) {
    let (one, two) = UnixStream::pair().unwrap();
    let path = rt::path("credentials");
    let listener = UnixListener::bind(&path).unwrap();
    let client = rt::spawn(UnixStream::connect(path.clone()));
    let (server, _) = listener.accept().await.unwrap();
    let client = client.await.unwrap().unwrap();
    for stream in [one, two, server, client] {
        let cred = stream.peer_cred().unwrap();
        log.note(format!("{} {}", cred.uid(), cred.gid()));
        log.note(cred.pid() == i32::try_from(std::process::id()).ok());
    }
    rt::unlink(&path).unwrap();
}

pub(crate) async fn those_that_block(log: Log) {
    let standard = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let result = catch_unwind(AssertUnwindSafe(|| TcpListener::from_std(standard).is_ok()));
    log.note(result.is_err());
    let standard = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let result = catch_unwind(AssertUnwindSafe(|| UdpSocket::from_std(standard).is_ok()));
    log.note(result.is_err());
}
