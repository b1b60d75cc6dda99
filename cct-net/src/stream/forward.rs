//! Methods that every handle of a stream has. The types supply `fn end(&self) -> &End`.

/// What a handle can do that reads.
macro_rules! read_methods {
    () => {
        /// Waits until there is something to read, or nothing more will come. As in tokio it is at
        /// once so again until an operation has found nothing: `WouldBlock` may follow. A stream
        /// that was just accepted counts as readable.
        ///
        /// # Scheduling points
        /// One before looking.
        ///
        /// # Cancel safety
        /// Safe: nothing is lost.
        ///
        /// # Errors
        /// When the scenario that the socket belongs to is over.
        #[track_caller]
        pub fn readable(&self) -> impl Future<Output = ::std::io::Result<()>> {
            let ready = self.ready($crate::io::Interest::READABLE);
            async move { ready.await.map(drop) }
        }

        /// Reads what is there.
        ///
        /// # Scheduling points
        /// One before reading, at granularity `sync`.
        ///
        /// # Errors
        /// `WouldBlock` when there is nothing; what the connection ended with.
        #[track_caller]
        pub fn try_read(&self, buf: &mut [u8]) -> ::std::io::Result<usize> {
            let bufs = &mut [::std::io::IoSliceMut::new(buf)];
            self.end()
                .try_read(bufs, false, ::std::panic::Location::caller())
        }

        /// As [`try_read`](Self::try_read), into several buffers.
        ///
        /// # Scheduling points
        /// One before reading, at granularity `sync`.
        ///
        /// # Errors
        /// As for [`try_read`](Self::try_read).
        #[track_caller]
        pub fn try_read_vectored(
            &self,
            bufs: &mut [::std::io::IoSliceMut<'_>],
        ) -> ::std::io::Result<usize> {
            self.end()
                .try_read(bufs, true, ::std::panic::Location::caller())
        }

        /// As [`try_read`](Self::try_read), to the end of a buffer that grows.
        ///
        /// # Scheduling points
        /// One before reading, at granularity `sync`.
        ///
        /// # Errors
        /// As for [`try_read`](Self::try_read).
        #[track_caller]
        pub fn try_read_buf<B: ::bytes::BufMut>(&self, buf: &mut B) -> ::std::io::Result<usize> {
            let spare = $crate::io::spare::spare(buf);
            let room = spare.min(self.end().readable());
            let mut bytes = vec![0; room.max(1).min(spare)];
            let count = self.try_read(&mut bytes)?;
            buf.put_slice(&bytes[..count]);
            Ok(count)
        }
    };
}

/// What a handle can do that writes.
macro_rules! write_methods {
    () => {
        /// Waits until something can be written, or never again. As in tokio it is at once so again
        /// until an operation has found no room, and from then on not before a third of the buffer
        /// is free.
        ///
        /// # Scheduling points
        /// One before looking.
        ///
        /// # Cancel safety
        /// Safe: nothing is lost.
        ///
        /// # Errors
        /// When the scenario that the socket belongs to is over.
        #[track_caller]
        pub fn writable(&self) -> impl Future<Output = ::std::io::Result<()>> {
            let ready = self.ready($crate::io::Interest::WRITABLE);
            async move { ready.await.map(drop) }
        }

        /// Writes as much as there is room for.
        ///
        /// # Scheduling points
        /// One before writing, at granularity `sync`.
        ///
        /// # Errors
        /// `WouldBlock` when there is no room; what the connection ended with.
        #[track_caller]
        pub fn try_write(&self, buf: &[u8]) -> ::std::io::Result<usize> {
            let bufs = &[::std::io::IoSlice::new(buf)];
            self.end()
                .try_write(bufs, false, ::std::panic::Location::caller())
        }

        /// As [`try_write`](Self::try_write), from several buffers.
        ///
        /// # Scheduling points
        /// One before writing, at granularity `sync`.
        ///
        /// # Errors
        /// As for [`try_write`](Self::try_write).
        #[track_caller]
        pub fn try_write_vectored(
            &self,
            bufs: &[::std::io::IoSlice<'_>],
        ) -> ::std::io::Result<usize> {
            self.end()
                .try_write(bufs, true, ::std::panic::Location::caller())
        }
    };
}

/// What every handle can do.
macro_rules! ready_methods {
    ($Address:ty) => {
        /// Waits until the socket is ready for some of `interest`, and says for what.
        ///
        /// # Scheduling points
        /// One before looking.
        ///
        /// # Cancel safety
        /// Safe: nothing is lost.
        ///
        /// # Errors
        /// When the scenario that the socket belongs to is over.
        #[track_caller]
        pub fn ready(
            &self,
            interest: $crate::io::Interest,
        ) -> impl Future<Output = ::std::io::Result<$crate::io::Ready>> {
            let site = ::std::panic::Location::caller();
            $crate::stream::waiters::waiting(move |cx, wait| {
                self.end().poll_ready(cx, interest, wait, site)
            })
        }

        /// The address at this end.
        ///
        /// # Errors
        /// None.
        pub fn local_addr(&self) -> ::std::io::Result<$Address> {
            Ok(self.addresses()[0].clone())
        }

        /// The address at the other end.
        ///
        /// # Errors
        /// Of TCP, `NotConnected` when the connection is over: it was reset, timed out, or was closed
        /// by both ends.
        pub fn peer_addr(&self) -> ::std::io::Result<$Address> {
            self.end().check_peer()?;
            Ok(self.addresses()[1].clone())
        }
    };
}

/// What a handle of both directions can do besides.
macro_rules! stream_methods {
    () => {
        /// As [`readable`](Self::readable), for hand-written futures: of several tasks the last one
        /// that polled is woken.
        ///
        /// # Scheduling points
        /// One before looking.
        ///
        /// # Errors
        /// As for [`readable`](Self::readable).
        #[track_caller]
        pub fn poll_read_ready(
            &self,
            cx: &mut ::std::task::Context<'_>,
        ) -> ::std::task::Poll<::std::io::Result<()>> {
            let (site, wait) = (
                ::std::panic::Location::caller(),
                $crate::stream::waiters::Wait::Poll,
            );
            let interest = $crate::io::Interest::READABLE;
            let ready = self.end().poll_ready(cx, interest, wait, site);
            ready.map_ok(drop)
        }

        /// As [`writable`](Self::writable), for hand-written futures: of several tasks the last one
        /// that polled is woken.
        ///
        /// # Scheduling points
        /// One before looking.
        ///
        /// # Errors
        /// As for [`writable`](Self::writable).
        #[track_caller]
        pub fn poll_write_ready(
            &self,
            cx: &mut ::std::task::Context<'_>,
        ) -> ::std::task::Poll<::std::io::Result<()>> {
            let (site, wait) = (
                ::std::panic::Location::caller(),
                $crate::stream::waiters::Wait::Poll,
            );
            let interest = $crate::io::Interest::WRITABLE;
            let ready = self.end().poll_ready(cx, interest, wait, site);
            ready.map_ok(drop)
        }

        /// Runs `f`, which uses this socket, if the socket is ready for some of `interest`.
        ///
        /// # Errors
        /// `WouldBlock` when it is not ready, or asked for several at once, as in tokio; what `f`
        /// returns.
        pub fn try_io<R>(
            &self,
            interest: $crate::io::Interest,
            f: impl FnOnce() -> ::std::io::Result<R>,
        ) -> ::std::io::Result<R> {
            interest.check_single()?;
            self.end().try_io(interest, f)
        }

        /// Runs `f`, which uses this socket, as soon as the socket is ready for some of `interest`, and again
        /// whenever it says `WouldBlock`.
        ///
        /// # Scheduling points
        /// One before looking, each time.
        ///
        /// # Cancel safety
        /// As good as `f`, which runs to its end or not at all.
        ///
        /// # Errors
        /// As for [`ready`](Self::ready); what `f` returns.
        #[track_caller]
        pub fn async_io<R>(
            &self,
            interest: $crate::io::Interest,
            mut f: impl FnMut() -> ::std::io::Result<R>,
        ) -> impl Future<Output = ::std::io::Result<R>> {
            let site = ::std::panic::Location::caller();
            async move {
                loop {
                    $crate::stream::waiters::waiting(|cx, wait| {
                        self.end().poll_ready(cx, interest, wait, site)
                    })
                    .await?;
                    match self.end().try_io(interest, &mut f) {
                        Err(error) if error.kind() == ::std::io::ErrorKind::WouldBlock => {}
                        done => return done,
                    }
                }
            }
        }

        /// Takes the error that the connection ended with, if nobody was told yet.
        ///
        /// # Errors
        /// None.
        pub fn take_error(&self) -> ::std::io::Result<Option<::std::io::Error>> {
            Ok(self.end().take_error())
        }
    };
}

/// Peeking, for handles that can.
macro_rules! peek_methods {
    () => {
        /// Reads without taking what it reads.
        ///
        /// # Scheduling points
        /// One before reading.
        ///
        /// # Cancel safety
        /// Safe: nothing is lost.
        ///
        /// # Errors
        /// What the connection ended with.
        #[track_caller]
        pub fn peek(&self, buf: &mut [u8]) -> impl Future<Output = ::std::io::Result<usize>> {
            let site = ::std::panic::Location::caller();
            $crate::stream::waiters::waiting(move |cx, wait| {
                self.end().poll_peek(cx, buf, wait, site)
            })
        }

        /// As [`peek`](Self::peek), for hand-written futures: of several tasks the last one that
        /// polled is woken.
        ///
        /// # Scheduling points
        /// One before reading.
        ///
        /// # Errors
        /// As for [`peek`](Self::peek).
        ///
        /// # Differences from tokio
        /// It takes a slice, and returns how many bytes it filled.
        #[track_caller]
        pub fn poll_peek(
            &self,
            cx: &mut ::std::task::Context<'_>,
            buf: &mut [u8],
        ) -> ::std::task::Poll<::std::io::Result<usize>> {
            let wait = $crate::stream::waiters::Wait::Poll;
            self.end()
                .poll_peek(cx, buf, wait, ::std::panic::Location::caller())
        }
    };
}

pub(crate) use {peek_methods, read_methods, ready_methods, stream_methods, write_methods};
