//! What is called by path (`TcpStream::peer_addr`, as in `map`) must be a method of the type itself: `Deref`
//! finds methods on values only.

/// Methods that do what those of the inner type do. The first ones return a value, the others a future of it.
macro_rules! forwards {
    (
        $Name:ty, $Inner:path;
        $($(#[$about:meta])* fn $now:ident $([$($A:tt)*])? ($($a:ident: $T:ty),*) -> $Output:ty;)*
        $(async fn $later:ident $([$($B:tt)*])? ($($b:ident: $U:ty),*) -> $Awaited:ty;)*
    ) => {
        impl $Name {
            $(
                #[doc = concat!("See [`", stringify!($Inner), "::", stringify!($now), "`].")]
                ///
                /// # Errors
                /// As there.
                #[track_caller]
                $(#[$about])*
                pub fn $now $(<$($A)*>)? (&self $(, $a: $T)*) -> $Output {
                    self.0.$now($($a),*)
                }
            )*
            $(
                #[doc = concat!("See [`", stringify!($Inner), "::", stringify!($later), "`].")]
                ///
                /// # Errors
                /// As there.
                #[track_caller]
                pub fn $later $(<$($B)*>)? (&self $(, $b: $U)*) -> impl Future<Output = $Awaited> {
                    self.0.$later($($b),*)
                }
            )*
        }
    };
}

/// What a half that is read, or a stream, has.
macro_rules! forwards_reading {
    ($($Name:ty, $Inner:path;)*) => {$(
        $crate::net::forward::forwards! {
            $Name, $Inner;
            fn try_read(buf: &mut [u8]) -> ::std::io::Result<usize>;
            fn try_read_vectored(bufs: &mut [::std::io::IoSliceMut<'_>]) -> ::std::io::Result<usize>;
            fn try_read_buf[B: ::bytes::BufMut](buf: &mut B) -> ::std::io::Result<usize>;
            async fn readable() -> ::std::io::Result<()>;
        }
    )*};
}

/// What a half that is written, or a stream, has.
macro_rules! forwards_writing {
    ($($Name:ty, $Inner:path;)*) => {$(
        $crate::net::forward::forwards! {
            $Name, $Inner;
            fn try_write(buf: &[u8]) -> ::std::io::Result<usize>;
            fn try_write_vectored(buf: &[::std::io::IoSlice<'_>]) -> ::std::io::Result<usize>;
            async fn writable() -> ::std::io::Result<()>;
        }
    )*};
}

/// What every stream, and each half of one, has.
macro_rules! forwards_names {
    ($Address:ty: $($Name:ty, $Inner:path;)*) => {$(
        $crate::net::forward::forwards! {
            $Name, $Inner;
            fn local_addr() -> ::std::io::Result<$Address>;
            fn peer_addr() -> ::std::io::Result<$Address>;
            async fn ready(interest: $crate::io::Interest) -> ::std::io::Result<$crate::io::Ready>;
        }
    )*};
}

/// What a stream and a socket of datagrams have.
macro_rules! forwards_socket {
    ($($Name:ty, $Inner:path;)*) => {$(
        $crate::net::forward::forwards! {
            $Name, $Inner;
            fn take_error() -> ::std::io::Result<Option<::std::io::Error>>;
            fn try_io[R](
                interest: $crate::io::Interest,
                f: impl FnOnce() -> ::std::io::Result<R>
            ) -> ::std::io::Result<R>;
            async fn async_io[R](
                interest: $crate::io::Interest,
                f: impl FnMut() -> ::std::io::Result<R>
            ) -> ::std::io::Result<R>;
        }
    )*};
}

/// What a whole stream has.
macro_rules! forwards_stream {
    ($Name:ident, $Inner:path) => {
        $crate::net::forward::forwards_reading!($Name, $Inner;);
        $crate::net::forward::forwards_writing!($Name, $Inner;);
        $crate::net::forward::forwards_socket!($Name, $Inner;);
        $crate::net::forward::forwards! {
            $Name, $Inner;
            fn poll_read_ready(
                cx: &mut ::std::task::Context<'_>
            ) -> ::std::task::Poll<::std::io::Result<()>>;
            fn poll_write_ready(
                cx: &mut ::std::task::Context<'_>
            ) -> ::std::task::Poll<::std::io::Result<()>>;
        }
    };
}

/// What sockets of datagrams have.
macro_rules! forwards_datagrams {
    ($Name:ident, $Inner:path, $Address:ty) => {
        $crate::net::forward::forwards_socket!($Name, $Inner;);
        $crate::net::forward::forwards_names!($Address: $Name, $Inner;);
        $crate::net::forward::forwards! {
            $Name, $Inner;
            fn poll_recv_ready(
                cx: &mut ::std::task::Context<'_>
            ) -> ::std::task::Poll<::std::io::Result<()>>;
            fn poll_send_ready(
                cx: &mut ::std::task::Context<'_>
            ) -> ::std::task::Poll<::std::io::Result<()>>;
            fn poll_send(
                cx: &mut ::std::task::Context<'_>,
                buf: &[u8]
            ) -> ::std::task::Poll<::std::io::Result<usize>>;
            fn try_send(buf: &[u8]) -> ::std::io::Result<usize>;
            fn try_recv(buf: &mut [u8]) -> ::std::io::Result<usize>;
            fn try_recv_from(buf: &mut [u8]) -> ::std::io::Result<(usize, $Address)>;
            fn try_recv_buf[B: ::bytes::BufMut](buf: &mut B) -> ::std::io::Result<usize>;
            fn try_recv_buf_from[B: ::bytes::BufMut](
                buf: &mut B
            ) -> ::std::io::Result<(usize, $Address)>;
            async fn readable() -> ::std::io::Result<()>;
            async fn writable() -> ::std::io::Result<()>;
            async fn send(buf: &[u8]) -> ::std::io::Result<usize>;
            async fn recv(buf: &mut [u8]) -> ::std::io::Result<usize>;
            async fn recv_from(buf: &mut [u8]) -> ::std::io::Result<(usize, $Address)>;
            async fn recv_buf[B: ::bytes::BufMut](buf: &mut B) -> ::std::io::Result<usize>;
            async fn recv_buf_from[B: ::bytes::BufMut](
                buf: &mut B
            ) -> ::std::io::Result<(usize, $Address)>;
        }
    };
}

/// The names that methods about the type of service had.
macro_rules! renames_tos {
    ($Name:ty) => {
        impl $Name {
            /// What [`tos_v4`](Self::tos_v4) was called.
            ///
            /// # Errors
            /// As there.
            #[deprecated = "`tos` methods are called `tos_v4`, as they are about IPv4 only"]
            pub fn tos(&self) -> ::std::io::Result<u32> {
                self.tos_v4()
            }

            /// What [`set_tos_v4`](Self::set_tos_v4) was called.
            ///
            /// # Errors
            /// As there.
            #[deprecated = "`tos` methods are called `tos_v4`, as they are about IPv4 only"]
            pub fn set_tos(&self, tos: u32) -> ::std::io::Result<()> {
                self.set_tos_v4(tos)
            }
        }
    };
}

pub(super) use {
    forwards, forwards_datagrams, forwards_names, forwards_reading, forwards_socket,
    forwards_stream, forwards_writing, renames_tos,
};
