//! Types of this crate around those of `cct_net`, for tokio's I/O traits: neither the traits nor the
//! sockets are of this crate, so that only a type of its own can have both.

/// A type around one of `cct_net`, with all its methods that take `&self`.
macro_rules! around {
    ($(#[$about:meta])* $Name:ident $(<$life:lifetime>)?, $Inner:ty) => {
        $(#[$about])*
        #[derive(::ref_cast::RefCast)]
        #[repr(transparent)]
        pub struct $Name $(<$life>)? (pub(super) $Inner);

        impl $(<$life>)? ::std::ops::Deref for $Name $(<$life>)? {
            type Target = $Inner;

            fn deref(&self) -> &$Inner {
                &self.0
            }
        }

        impl $(<$life>)? ::std::fmt::Debug for $Name $(<$life>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// tokio's `AsyncRead`, by the one of `futures`.
macro_rules! reads {
    ($Type:ty) => {
        impl $crate::io::AsyncRead for $Type {
            fn poll_read(
                mut self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
                buf: &mut $crate::io::ReadBuf<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                let inner = ::std::pin::Pin::new(&mut self.0);
                let unfilled = buf.initialize_unfilled();
                let read = ::futures_io::AsyncRead::poll_read(inner, cx, unfilled);
                read.map_ok(|count| buf.advance(count))
            }
        }
    };
}

/// tokio's `AsyncWrite`, by the one of `futures`.
macro_rules! writes {
    ($Type:ty) => {
        impl $crate::io::AsyncWrite for $Type {
            fn poll_write(
                mut self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
                buf: &[u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                ::futures_io::AsyncWrite::poll_write(::std::pin::Pin::new(&mut self.0), cx, buf)
            }

            fn poll_write_vectored(
                mut self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
                bufs: &[::std::io::IoSlice<'_>],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                let inner = ::std::pin::Pin::new(&mut self.0);
                ::futures_io::AsyncWrite::poll_write_vectored(inner, cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(
                mut self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                ::futures_io::AsyncWrite::poll_flush(::std::pin::Pin::new(&mut self.0), cx)
            }

            fn poll_shutdown(
                mut self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                ::futures_io::AsyncWrite::poll_close(::std::pin::Pin::new(&mut self.0), cx)
            }
        }
    };
}

/// The descriptor of a socket.
macro_rules! shows {
    ($Type:ty) => {
        #[cfg(unix)]
        impl ::std::os::fd::AsFd for $Type {
            fn as_fd(&self) -> ::std::os::fd::BorrowedFd<'_> {
                self.0.as_fd()
            }
        }

        #[cfg(unix)]
        impl ::std::os::fd::AsRawFd for $Type {
            fn as_raw_fd(&self) -> ::std::os::fd::RawFd {
                self.0.as_raw_fd()
            }
        }
    };
}

/// The bare number of the descriptor of a socket that is nothing in particular yet.
macro_rules! bare {
    ($Name:ident) => {
        #[cfg(unix)]
        impl ::std::os::fd::IntoRawFd for $Name {
            fn into_raw_fd(self) -> ::std::os::fd::RawFd {
                self.0.into_raw_fd()
            }
        }
    };
}

/// There and back to the standard library's type, and the descriptor.
macro_rules! converts {
    ($Name:ident, $Std:ty) => {
        shows!($Name);

        #[cfg(unix)]
        impl $Name {
            #[doc = concat!("See [`cct_net::", stringify!($Name), "::from_std`].")]
            ///
            /// # Errors
            /// As there.
            #[track_caller]
            pub fn from_std(socket: $Std) -> ::std::io::Result<$Name> {
                $crate::net::presume_loopback();
                <cct_net::$Name>::from_std(socket).map($Name)
            }

            #[doc = concat!("See [`cct_net::", stringify!($Name), "::into_std`].")]
            ///
            /// # Errors
            /// As there.
            pub fn into_std(self) -> ::std::io::Result<$Std> {
                self.0.into_std()
            }
        }

        #[cfg(unix)]
        impl TryFrom<$Std> for $Name {
            type Error = ::std::io::Error;

            #[track_caller]
            fn try_from(socket: $Std) -> ::std::io::Result<$Name> {
                $Name::from_std(socket)
            }
        }
    };
}

pub(super) use {around, bare, converts, reads, shows, writes};
