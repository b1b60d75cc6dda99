//! What streams of TCP and of Unix have in common.

use super::line::{shown, told};
use super::rt::{self, Interest, Ready, TcpStream, UnixStream, tcp, unix};
use std::io::{self, IoSlice, IoSliceMut};
use std::task::{Context, Poll};

/// A stream, and its halves.
pub(crate) trait Stream: rt::AsyncRead + rt::AsyncWrite + Unpin + Sized + 'static {
    type Reader: rt::AsyncRead + Unpin + AsRef<Self> + 'static;
    type Writer: rt::AsyncWrite + Unpin + AsRef<Self> + 'static;

    fn into_halves(self) -> (Self::Reader, Self::Writer);
    fn reunite(halves: (Self::Reader, Self::Writer)) -> Result<Self, (Self::Reader, Self::Writer)>;
    fn forget(writer: Self::Writer);
    /// Writes and reads through borrowed halves.
    async fn both_ways(&mut self, out: &[u8], into: &mut [u8]) -> [io::Result<usize>; 2];
    fn try_read(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize>;
    fn try_write(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize>;
    async fn ready(&self, interest: Interest) -> io::Result<Ready>;
    async fn readable(&self) -> io::Result<()>;
    async fn writable(&self) -> io::Result<()>;
    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    fn try_io(&self, interest: Interest, result: io::Result<u8>) -> io::Result<u8>;
    fn error(&self) -> String;
    /// Only TCP can.
    async fn peek(&self, _buf: &mut [u8]) -> Option<io::Result<usize>> {
        None
    }
    /// Whatever else it has, by number.
    fn other(&self, what: usize) -> String;
}

macro_rules! common {
    ($module:ident) => {
        type Reader = $module::OwnedReadHalf;
        type Writer = $module::OwnedWriteHalf;

        fn into_halves(self) -> (Self::Reader, Self::Writer) {
            self.into_split()
        }

        fn reunite(
            (reader, writer): (Self::Reader, Self::Writer),
        ) -> Result<Self, (Self::Reader, Self::Writer)> {
            reader.reunite(writer).map_err(|error| (error.0, error.1))
        }

        fn forget(writer: Self::Writer) {
            writer.forget();
        }

        async fn both_ways(&mut self, out: &[u8], into: &mut [u8]) -> [io::Result<usize>; 2] {
            let (mut reader, mut writer) = self.split();
            let wrote = rt::write(&mut writer, out).await;
            [wrote, rt::read(&mut reader, into).await]
        }

        fn try_read(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
            match bufs {
                [buf] => self.try_read(buf),
                _ => self.try_read_vectored(bufs),
            }
        }

        fn try_write(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
            match bufs {
                [buf] => self.try_write(buf),
                _ => self.try_write_vectored(bufs),
            }
        }

        async fn ready(&self, interest: Interest) -> io::Result<Ready> {
            self.ready(interest).await
        }

        async fn readable(&self) -> io::Result<()> {
            self.readable().await
        }

        async fn writable(&self) -> io::Result<()> {
            self.writable().await
        }

        fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.poll_read_ready(cx)
        }

        fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.poll_write_ready(cx)
        }

        fn try_io(&self, interest: Interest, result: io::Result<u8>) -> io::Result<u8> {
            self.try_io(interest, || result)
        }

        fn error(&self) -> String {
            let error = self.take_error();
            told(error.map(|error| error.map_or("none".to_owned(), |e| format!("{:?}", e.kind()))))
        }
    };
}

impl Stream for TcpStream {
    common!(tcp);

    async fn peek(&self, buf: &mut [u8]) -> Option<io::Result<usize>> {
        Some(self.peek(buf).await)
    }

    fn other(&self, what: usize) -> String {
        match what % 4 {
            0 | 1 => {
                let set = self.set_zero_linger().map(|()| "");
                format!("linger 0 {} {}", told(set), shown(self.linger()))
            }
            2 => format!("linger {}", shown(self.linger())),
            _ => told(self.peer_addr().map(|_| "known")),
        }
    }
}

impl Stream for UnixStream {
    common!(unix);

    fn other(&self, what: usize) -> String {
        let name = match what % 2 {
            0 => self.local_addr(),
            _ => self.peer_addr(),
        };
        told(name.map(|name| format!("unnamed: {}", name.is_unnamed())))
    }
}

/// The flags of a readiness, without what is not asked for here.
pub(crate) fn flags(ready: Ready) -> String {
    let flags = [
        (ready.is_readable(), 'r'),
        (ready.is_writable(), 'w'),
        (ready.is_read_closed(), 'R'),
        (ready.is_write_closed(), 'W'),
        (ready.is_error(), 'e'),
    ];
    flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect()
}
