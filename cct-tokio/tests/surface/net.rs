//! What of `tokio::net` takes tokio's I/O traits or is a descriptor.

use super::ask::*;
use super::rt::io::{AsyncRead, AsyncWrite, ReadBuf};
use super::rt::net::*;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd};
use std::task::{Context, Poll};

fn is_stream<S: AsyncRead + AsyncWrite + Unpin + Send + Sync>() {}
fn is_reader<S: AsyncRead + Unpin + Send + Sync>() {}
fn is_writer<S: AsyncWrite + Unpin + Send + Sync>() {}
fn has_descriptor<S: AsFd + AsRawFd>() {}
fn is_made_of_one<S: FromRawFd + IntoRawFd>() {}
fn is_of<Part: AsRef<Whole>, Whole>() {}

pub(crate) fn streams() {
    is_stream::<TcpStream>();
    is_stream::<UnixStream>();
    is_reader::<tcp::ReadHalf<'_>>();
    is_reader::<tcp::OwnedReadHalf>();
    is_reader::<unix::ReadHalf<'_>>();
    is_reader::<unix::OwnedReadHalf>();
    is_writer::<tcp::WriteHalf<'_>>();
    is_writer::<tcp::OwnedWriteHalf>();
    is_writer::<unix::WriteHalf<'_>>();
    is_writer::<unix::OwnedWriteHalf>();
    is_of::<tcp::ReadHalf<'_>, TcpStream>();
    is_of::<tcp::OwnedWriteHalf, TcpStream>();
    is_of::<unix::OwnedReadHalf, UnixStream>();
    is_of::<unix::WriteHalf<'_>, UnixStream>();
    is_error::<tcp::ReuniteError>();
    is_error::<unix::ReuniteError>();
    let _ = |mut stream: TcpStream| {
        is::<(tcp::ReadHalf<'_>, tcp::WriteHalf<'_>)>(stream.split());
        let (read, write): (tcp::OwnedReadHalf, tcp::OwnedWriteHalf) = stream.into_split();
        is::<Result<TcpStream, tcp::ReuniteError>>(read.reunite(write));
    };
    let _ = |stream: UnixStream| {
        let (read, write): (unix::OwnedReadHalf, unix::OwnedWriteHalf) = stream.into_split();
        is::<Result<UnixStream, unix::ReuniteError>>(write.reunite(read));
    };
}

pub(crate) fn polls() {
    let _ = |stream: &TcpStream, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>| {
        is::<Poll<io::Result<usize>>>(stream.poll_peek(cx, buf));
    };
    let _ = |socket: &UdpSocket, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>| {
        is::<Poll<io::Result<()>>>(socket.poll_recv(cx, buf));
        is::<Poll<io::Result<()>>>(socket.poll_peek(cx, buf));
        is::<Poll<io::Result<SocketAddr>>>(socket.poll_recv_from(cx, buf));
        is::<Poll<io::Result<SocketAddr>>>(socket.poll_peek_from(cx, buf));
    };
    let _ = |socket: &UnixDatagram, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>| {
        is::<Poll<io::Result<()>>>(socket.poll_recv(cx, buf));
        is::<Poll<io::Result<unix::SocketAddr>>>(socket.poll_recv_from(cx, buf));
    };
}

pub(crate) fn standard() {
    has_descriptor::<TcpStream>();
    has_descriptor::<TcpListener>();
    has_descriptor::<TcpSocket>();
    is_made_of_one::<TcpSocket>();
    has_descriptor::<UnixSocket>();
    is_made_of_one::<UnixSocket>();
    has_descriptor::<UdpSocket>();
    has_descriptor::<UnixStream>();
    has_descriptor::<UnixListener>();
    has_descriptor::<UnixDatagram>();
    let _ = |stream: std::net::TcpStream, other: std::net::TcpStream| {
        is::<io::Result<TcpStream>>(TcpStream::from_std(stream));
        is::<TcpSocket>(TcpSocket::from_std_stream(other));
    };
    let _ = |stream: TcpStream, listener: TcpListener, socket: UdpSocket| {
        is::<io::Result<std::net::TcpStream>>(stream.into_std());
        is::<io::Result<std::net::TcpListener>>(listener.into_std());
        is::<io::Result<std::net::UdpSocket>>(socket.into_std());
    };
    let _ = |listener: std::net::TcpListener, socket: std::net::UdpSocket| {
        is::<Result<TcpListener, io::Error>>(listener.try_into());
        is::<Result<UdpSocket, io::Error>>(socket.try_into());
    };
    let _ = |stream: UnixStream, socket: UnixDatagram| {
        is::<io::Result<unix::UCred>>(stream.peer_cred());
        is::<io::Result<std::os::unix::net::UnixStream>>(stream.into_std());
        is::<io::Result<std::os::unix::net::UnixDatagram>>(socket.into_std());
    };
}
