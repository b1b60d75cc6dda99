//! The traits of `futures`, for every type that is a stream or a half of one.

/// Reading by the trait of `futures`.
macro_rules! futures_read {
    ($Type:ty) => {
        /// # Scheduling points
        /// One before each read.
        ///
        /// The poll is not suspended there but at granularity `sync`, for it may hold a lock of another
        /// make (`tokio::io::split` does): where another task could go on, it returns `Pending`, as any
        /// socket may, and is woken at once.
        impl ::futures_io::AsyncRead for $Type {
            fn poll_read(
                self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
                buf: &mut [u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                self.poll_read_vectored(cx, &mut [::std::io::IoSliceMut::new(buf)])
            }

            fn poll_read_vectored(
                self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
                bufs: &mut [::std::io::IoSliceMut<'_>],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                let end = self.end();
                end.poll_read(cx, bufs, $crate::stream::waiters::Wait::Poll, end.site())
            }
        }
    };
}

/// Writing by the trait of `futures`.
macro_rules! futures_write {
    ($Type:ty) => {
        /// # Scheduling points
        /// One before each write; at granularity `sync` one before closing, which writes no more (`shutdown` of
        /// tokio) and is ready at once. Flushing does nothing: what is written is on its way.
        ///
        /// The poll is not suspended before a write, for it may hold a lock of another make (h2 does): where
        /// another task could go on, it returns `Pending`, as any socket may, and is woken at once.
        impl ::futures_io::AsyncWrite for $Type {
            fn poll_write(
                self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
                buf: &[u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                let (end, bufs) = (self.end(), &[::std::io::IoSlice::new(buf)]);
                end.poll_write(cx, bufs, false, end.site())
            }

            fn poll_write_vectored(
                self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
                bufs: &[::std::io::IoSlice<'_>],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                let end = self.end();
                end.poll_write(cx, bufs, true, end.site())
            }

            fn poll_flush(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                ::std::task::Poll::Ready(Ok(()))
            }

            fn poll_close(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                let end = self.end();
                end.poll_shutdown(end.site())
            }
        }
    };
}

pub(crate) use {futures_read, futures_write};
