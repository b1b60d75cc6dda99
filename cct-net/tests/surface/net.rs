//! The names of `tokio::net` that need neither file descriptors nor tokio's traits.
use super::ask::*;
use super::rt::io::{Interest, Ready};
use super::rt::net::*;
use std::io;
use std::io::{IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr};
use std::path::Path;
use std::task::{Context, Poll};
use std::time::Duration;

pub(crate) fn listener() {
    let _ = |listener: &TcpListener, cx: &mut Context<'_>| {
        sent::<io::Result<TcpListener>>(TcpListener::bind("0.0.0.0:80"));
        sent::<io::Result<TcpListener>>(TcpListener::bind(("a", 80)));
        sent::<io::Result<TcpListener>>(TcpListener::bind((Ipv4Addr::LOCALHOST, 80)));
        sent::<io::Result<TcpListener>>(TcpListener::bind((Ipv6Addr::LOCALHOST, 80)));
        sent::<io::Result<TcpListener>>(TcpListener::bind((String::new(), 80)));
        sent::<io::Result<TcpListener>>(TcpListener::bind(String::new()));
        sent::<io::Result<TcpListener>>(TcpListener::bind(&String::new()));
        let one: SocketAddr = ([1, 2, 3, 4], 5).into();
        sent::<io::Result<TcpListener>>(TcpListener::bind(one));
        sent::<io::Result<TcpListener>>(TcpListener::bind(&[one][..]));
        sent::<io::Result<TcpListener>>(TcpListener::bind((one.ip(), 5)));
        sent::<io::Result<(TcpStream, SocketAddr)>>(listener.accept());
        is::<Poll<io::Result<(TcpStream, SocketAddr)>>>(listener.poll_accept(cx));
        is::<io::Result<SocketAddr>>(listener.local_addr());
        is::<io::Result<u32>>(listener.ttl());
        is::<io::Result<()>>(listener.set_ttl(3));
    };
    is_debug::<TcpListener>();
    let _ = async || {
        is::<Vec<SocketAddr>>(lookup_host("a:1").await.unwrap().collect());
    };
}
pub(crate) fn stream() {
    let _ = |stream: &TcpStream,
             cx: &mut Context<'_>,
             buf: &mut [u8],
             bufs: &mut [IoSliceMut<'_>],
             outs: &[IoSlice<'_>],
             v: &mut Vec<u8>| {
        sent::<io::Result<TcpStream>>(TcpStream::connect("a:1"));
        sent::<io::Result<Ready>>(stream.ready(Interest::READABLE | Interest::WRITABLE));
        sent::<io::Result<()>>(stream.readable());
        sent::<io::Result<()>>(stream.writable());
        is::<Poll<io::Result<()>>>(stream.poll_read_ready(cx));
        is::<Poll<io::Result<()>>>(stream.poll_write_ready(cx));
        sent::<io::Result<usize>>(stream.peek(buf));
        is::<io::Result<usize>>(stream.try_read(buf));
        is::<io::Result<usize>>(stream.try_read_vectored(bufs));
        is::<io::Result<usize>>(stream.try_read_buf(v));
        is::<io::Result<usize>>(stream.try_write(buf));
        is::<io::Result<usize>>(stream.try_write_vectored(outs));
        is::<io::Result<usize>>(stream.try_io(Interest::READABLE, || Ok(1)));
        sent::<io::Result<usize>>(stream.async_io(Interest::READABLE, || Ok(1)));
        is::<io::Result<SocketAddr>>(stream.local_addr());
        is::<io::Result<SocketAddr>>(stream.peer_addr());
        is::<io::Result<Option<io::Error>>>(stream.take_error());
        is::<io::Result<bool>>(stream.nodelay());
        is::<io::Result<()>>(stream.set_nodelay(true));
        is::<io::Result<Option<Duration>>>(stream.linger());
        is::<io::Result<()>>(stream.set_zero_linger());
        is::<io::Result<u32>>(stream.ttl());
        is::<io::Result<()>>(stream.set_ttl(3));
        is::<io::Result<()>>(stream.set_quickack(true));
        is::<io::Result<bool>>(stream.quickack());
    };
    is_debug::<TcpStream>();
    use tcp::*;
    let _ = |mut stream: TcpStream| {
        is::<(ReadHalf<'_>, WriteHalf<'_>)>(stream.split());
        let (read, write): (OwnedReadHalf, OwnedWriteHalf) = stream.into_split();
        is::<Result<TcpStream, ReuniteError>>(read.reunite(write));
    };
    let _ = |read: OwnedReadHalf, write: OwnedWriteHalf| {
        is::<Result<TcpStream, ReuniteError>>(write.reunite(read));
    };
    let _ = |write: OwnedWriteHalf| write.forget();
    let _ = |e: ReuniteError| {
        is::<OwnedReadHalf>(e.0);
        is::<OwnedWriteHalf>(e.1);
    };
    is_error::<ReuniteError>();
    macro_rules! read {
        ($t:ty) => {
            let _ =
                |half: &mut $t, buf: &mut [u8], bufs: &mut [IoSliceMut<'_>], v: &mut Vec<u8>| {
                    sent::<io::Result<Ready>>(half.ready(Interest::READABLE));
                    sent::<io::Result<()>>(half.readable());
                    is::<io::Result<usize>>(half.try_read(buf));
                    is::<io::Result<usize>>(half.try_read_vectored(bufs));
                    is::<io::Result<usize>>(half.try_read_buf(v));
                    sent::<io::Result<usize>>(half.peek(buf));
                    is::<io::Result<SocketAddr>>(half.local_addr());
                    is::<io::Result<SocketAddr>>(half.peer_addr());
                };
            is_debug::<$t>();
        };
    }
    macro_rules! write {
        ($t:ty) => {
            let _ = |half: &$t, buf: &mut [u8], outs: &[IoSlice<'_>]| {
                sent::<io::Result<Ready>>(half.ready(Interest::WRITABLE));
                sent::<io::Result<()>>(half.writable());
                is::<io::Result<usize>>(half.try_write(buf));
                is::<io::Result<usize>>(half.try_write_vectored(outs));
                is::<io::Result<SocketAddr>>(half.local_addr());
                is::<io::Result<SocketAddr>>(half.peer_addr());
            };
            is_debug::<$t>();
        };
    }
    read!(OwnedReadHalf);
    read!(ReadHalf<'static>);
    write!(OwnedWriteHalf);
    write!(WriteHalf<'static>);
    let _ = |a: &OwnedReadHalf, b: &OwnedWriteHalf| {
        is::<&TcpStream>(a.as_ref());
        is::<&TcpStream>(b.as_ref())
    };
    let _ = |a: &ReadHalf<'_>, b: &WriteHalf<'_>| {
        is::<&TcpStream>(a.as_ref());
        is::<&TcpStream>(b.as_ref())
    };
}
pub(crate) fn socket() {
    let _: fn() -> io::Result<TcpSocket> = TcpSocket::new_v4;
    let _: fn() -> io::Result<TcpSocket> = TcpSocket::new_v6;
    let _ = |socket: TcpSocket, other: TcpSocket, addr: SocketAddr| {
        is::<io::Result<()>>(socket.bind(addr));
        is::<io::Result<()>>(socket.set_reuseaddr(true));
        is::<io::Result<()>>(socket.set_reuseport(true));
        is::<io::Result<bool>>(socket.reuseaddr());
        is::<io::Result<bool>>(socket.reuseport());
        is::<io::Result<()>>(socket.set_send_buffer_size(3));
        is::<io::Result<()>>(socket.set_recv_buffer_size(3));
        is::<io::Result<u32>>(socket.send_buffer_size());
        is::<io::Result<u32>>(socket.recv_buffer_size());
        is::<io::Result<()>>(socket.set_zero_linger());
        is::<io::Result<Option<Duration>>>(socket.linger());
        is::<io::Result<()>>(socket.set_nodelay(true));
        is::<io::Result<bool>>(socket.nodelay());
        is::<io::Result<bool>>(socket.keepalive());
        is::<io::Result<()>>(socket.set_keepalive(true));
        is::<io::Result<u32>>(socket.tos_v4());
        is::<io::Result<()>>(socket.set_tos_v4(1));
        is::<io::Result<u32>>(socket.tclass_v6());
        is::<io::Result<()>>(socket.set_tclass_v6(1));
        is::<io::Result<Option<Vec<u8>>>>(socket.device());
        is::<io::Result<()>>(socket.bind_device(None));
        is::<io::Result<SocketAddr>>(socket.local_addr());
        is::<io::Result<Option<io::Error>>>(socket.take_error());
        sent::<io::Result<TcpStream>>(socket.connect(addr));
        is::<io::Result<TcpListener>>(other.listen(3));
    };
    is_debug::<TcpSocket>();
}
pub(crate) fn udp() {
    let _ =
        |s: &UdpSocket, cx: &mut Context<'_>, buf: &mut [u8], v: &mut Vec<u8>, addr: SocketAddr| {
            sent::<io::Result<UdpSocket>>(UdpSocket::bind("a:1"));
            sent::<io::Result<()>>(s.connect("a:1"));
            is::<io::Result<SocketAddr>>(s.local_addr());
            is::<io::Result<SocketAddr>>(s.peer_addr());
            sent::<io::Result<Ready>>(s.ready(Interest::READABLE));
            sent::<io::Result<()>>(s.readable());
            sent::<io::Result<()>>(s.writable());
            is::<Poll<io::Result<()>>>(s.poll_recv_ready(cx));
            is::<Poll<io::Result<()>>>(s.poll_send_ready(cx));
            sent::<io::Result<usize>>(s.send(buf));
            is::<Poll<io::Result<usize>>>(s.poll_send(cx, buf));
            is::<io::Result<usize>>(s.try_send(buf));
            sent::<io::Result<usize>>(s.recv(buf));
            is::<io::Result<usize>>(s.try_recv(buf));
            sent::<io::Result<usize>>(s.recv_buf(v));
            is::<io::Result<usize>>(s.try_recv_buf(v));
            sent::<io::Result<(usize, SocketAddr)>>(s.recv_buf_from(v));
            is::<io::Result<(usize, SocketAddr)>>(s.try_recv_buf_from(v));
            sent::<io::Result<usize>>(s.send_to(buf, "a:1"));
            is::<Poll<io::Result<usize>>>(s.poll_send_to(cx, buf, addr));
            is::<io::Result<usize>>(s.try_send_to(buf, addr));
            sent::<io::Result<(usize, SocketAddr)>>(s.recv_from(buf));
            is::<io::Result<(usize, SocketAddr)>>(s.try_recv_from(buf));
            sent::<io::Result<(usize, SocketAddr)>>(s.peek_from(buf));
            sent::<io::Result<usize>>(s.peek(buf));
            is::<io::Result<(usize, SocketAddr)>>(s.try_peek_from(buf));
            is::<io::Result<usize>>(s.try_peek(buf));
            sent::<io::Result<SocketAddr>>(s.peek_sender());
            is::<Poll<io::Result<SocketAddr>>>(s.poll_peek_sender(cx));
            is::<io::Result<SocketAddr>>(s.try_peek_sender());
            is::<io::Result<usize>>(s.try_io(Interest::READABLE, || Ok(1)));
            sent::<io::Result<usize>>(s.async_io(Interest::READABLE, || Ok(1)));
            is::<io::Result<bool>>(s.broadcast());
            is::<io::Result<()>>(s.set_broadcast(true));
            is::<io::Result<bool>>(s.multicast_loop_v4());
            is::<io::Result<()>>(s.set_multicast_loop_v4(true));
            is::<io::Result<bool>>(s.multicast_loop_v6());
            is::<io::Result<()>>(s.set_multicast_loop_v6(true));
            is::<io::Result<u32>>(s.multicast_ttl_v4());
            is::<io::Result<()>>(s.set_multicast_ttl_v4(1));
            is::<io::Result<u32>>(s.ttl());
            is::<io::Result<()>>(s.set_ttl(1));
            is::<io::Result<u32>>(s.tos_v4());
            is::<io::Result<()>>(s.set_tos_v4(1));
            is::<io::Result<u32>>(s.tclass_v6());
            is::<io::Result<()>>(s.set_tclass_v6(1));
            is::<io::Result<Option<Vec<u8>>>>(s.device());
            is::<io::Result<()>>(s.bind_device(None));
            is::<io::Result<()>>(s.join_multicast_v4(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST));
            is::<io::Result<()>>(s.join_multicast_v6(&Ipv6Addr::LOCALHOST, 0));
            is::<io::Result<()>>(s.leave_multicast_v4(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST));
            is::<io::Result<()>>(s.leave_multicast_v6(&Ipv6Addr::LOCALHOST, 0));
            is::<io::Result<Option<io::Error>>>(s.take_error());
        };
    is_debug::<UdpSocket>();
}
pub(crate) fn unix_sockets() {
    use super::rt::net::unix::SocketAddr;
    let _ = |listener: &UnixListener, cx: &mut Context<'_>| {
        is::<io::Result<UnixListener>>(UnixListener::bind("/a"));
        let _ = |addr: &SocketAddr| is::<io::Result<UnixListener>>(UnixListener::bind_addr(addr));
        sent::<io::Result<(UnixStream, SocketAddr)>>(listener.accept());
        is::<Poll<io::Result<(UnixStream, SocketAddr)>>>(listener.poll_accept(cx));
        is::<io::Result<SocketAddr>>(listener.local_addr());
        is::<io::Result<Option<io::Error>>>(listener.take_error());
    };
    let _ = |stream: &UnixStream,
             cx: &mut Context<'_>,
             buf: &mut [u8],
             bufs: &mut [IoSliceMut<'_>],
             outs: &[IoSlice<'_>],
             v: &mut Vec<u8>| {
        sent::<io::Result<UnixStream>>(UnixStream::connect("/a"));
        let _ = |addr: &SocketAddr| {
            sent::<io::Result<UnixStream>>(UnixStream::connect_addr(addr));
        };
        is::<io::Result<(UnixStream, UnixStream)>>(UnixStream::pair());
        sent::<io::Result<Ready>>(stream.ready(Interest::READABLE));
        sent::<io::Result<()>>(stream.readable());
        sent::<io::Result<()>>(stream.writable());
        is::<Poll<io::Result<()>>>(stream.poll_read_ready(cx));
        is::<Poll<io::Result<()>>>(stream.poll_write_ready(cx));
        is::<io::Result<usize>>(stream.try_read(buf));
        is::<io::Result<usize>>(stream.try_read_vectored(bufs));
        is::<io::Result<usize>>(stream.try_read_buf(v));
        is::<io::Result<usize>>(stream.try_write(buf));
        is::<io::Result<usize>>(stream.try_write_vectored(outs));
        is::<io::Result<usize>>(stream.try_io(Interest::READABLE, || Ok(1)));
        sent::<io::Result<usize>>(stream.async_io(Interest::READABLE, || Ok(1)));
        is::<io::Result<SocketAddr>>(stream.local_addr());
        is::<io::Result<SocketAddr>>(stream.peer_addr());
        is::<io::Result<Option<io::Error>>>(stream.take_error());
    };
    use super::rt::net::unix::*;
    let _ = |mut stream: UnixStream| {
        is::<(ReadHalf<'_>, WriteHalf<'_>)>(stream.split());
        let (read, write): (OwnedReadHalf, OwnedWriteHalf) = stream.into_split();
        is::<Result<UnixStream, ReuniteError>>(read.reunite(write));
    };
    let _ = |write: OwnedWriteHalf| write.forget();
    let _ = |a: &super::rt::net::unix::SocketAddr| {
        is::<bool>(a.is_unnamed());
        is::<Option<&Path>>(a.as_pathname());
    };
    is_clone::<SocketAddr>();
    is_debug::<SocketAddr>();
    let _ = |s: &UnixDatagram, cx: &mut Context<'_>, buf: &mut [u8], v: &mut Vec<u8>| {
        is::<io::Result<UnixDatagram>>(UnixDatagram::bind("/a"));
        is::<io::Result<UnixDatagram>>(UnixDatagram::unbound());
        is::<io::Result<(UnixDatagram, UnixDatagram)>>(UnixDatagram::pair());
        is::<io::Result<()>>(s.connect("/a"));
        sent::<io::Result<usize>>(s.send(buf));
        sent::<io::Result<usize>>(s.send_to(buf, "/a"));
        sent::<io::Result<usize>>(s.recv(buf));
        sent::<io::Result<(usize, SocketAddr)>>(s.recv_from(buf));
        is::<io::Result<usize>>(s.try_send(buf));
        is::<io::Result<usize>>(s.try_send_to(buf, "/a"));
        is::<io::Result<usize>>(s.try_recv(buf));
        is::<io::Result<(usize, SocketAddr)>>(s.try_recv_from(buf));
        is::<io::Result<()>>(s.shutdown(Shutdown::Both));
        is::<io::Result<usize>>(s.try_io(Interest::READABLE, || Ok(1)));
        sent::<io::Result<usize>>(s.async_io(Interest::READABLE, || Ok(1)));
        is::<io::Result<Option<io::Error>>>(s.take_error());
        is::<Poll<io::Result<usize>>>(s.poll_send(cx, buf));
        is::<Poll<io::Result<usize>>>(s.poll_send_to(cx, buf, "/a"));
        sent::<io::Result<usize>>(s.recv_buf(v));
    };
    let _ = || {
        is::<io::Result<UnixSocket>>(UnixSocket::new_stream());
        is::<io::Result<UnixSocket>>(UnixSocket::new_datagram());
    };
    let _ = |socket: &UnixSocket| is::<io::Result<()>>(socket.bind("/a"));
    let _ = |socket: UnixSocket| is::<io::Result<UnixListener>>(socket.listen(1));
    let _ = |socket: UnixSocket| sent::<io::Result<UnixStream>>(socket.connect("/a"));
    let _ = |socket: UnixSocket| is::<io::Result<UnixDatagram>>(socket.datagram());
    is_debug::<UnixSocket>();
    is_debug::<UnixListener>();
    is_debug::<UnixStream>();
    is_debug::<UnixDatagram>();
}
