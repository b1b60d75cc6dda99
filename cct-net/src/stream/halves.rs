//! Halves of a stream, the same for TCP and Unix.

/// The halves of a stream, borrowed and owned.
macro_rules! stream_halves {
    ($Stream:ident, $Address:ty, $($peek:tt)*) => {
        /// The reading half of a stream, borrowed. Made by `split`.
        #[derive(Debug)]
        pub struct ReadHalf<'a>(pub(super) &'a $Stream);

        /// The writing half of a stream, borrowed. Made by `split`. Dropping it closes nothing.
        #[derive(Debug)]
        pub struct WriteHalf<'a>(pub(super) &'a $Stream);

        /// The reading half of a stream. Made by `into_split`.
        #[derive(Debug)]
        pub struct OwnedReadHalf(::std::sync::Arc<$Stream>);

        /// The writing half of a stream. Made by `into_split`. Dropping it shuts down the stream's
        /// writing direction.
        #[derive(Debug)]
        pub struct OwnedWriteHalf {
            stream: ::std::sync::Arc<$Stream>,
            shutdown_on_drop: bool,
        }

        /// Two halves that are not of the same stream.
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl ::std::fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str("tried to reunite halves that are not from the same socket")
            }
        }

        impl ::std::error::Error for ReuniteError {}

        pub(super) fn split_owned(stream: $Stream) -> (OwnedReadHalf, OwnedWriteHalf) {
            let stream = ::std::sync::Arc::new(stream);
            let write = OwnedWriteHalf {
                stream: stream.clone(),
                shutdown_on_drop: true,
            };
            (OwnedReadHalf(stream), write)
        }

        impl ReadHalf<'_> {
            fn end(&self) -> &$crate::stream::ops::End {
                self.0.end()
            }

            fn addresses(&self) -> [$Address; 2] {
                self.0.addresses()
            }

            $crate::stream::ready_methods!($Address);
            $crate::stream::read_methods!();
            $($peek)*
        }

        impl WriteHalf<'_> {
            fn end(&self) -> &$crate::stream::ops::End {
                self.0.end()
            }

            fn addresses(&self) -> [$Address; 2] {
                self.0.addresses()
            }

            $crate::stream::ready_methods!($Address);
            $crate::stream::write_methods!();
        }

        impl OwnedReadHalf {
            fn end(&self) -> &$crate::stream::ops::End {
                self.0.end()
            }

            fn addresses(&self) -> [$Address; 2] {
                self.0.addresses()
            }

            /// Puts the halves of a stream together again.
            ///
            /// # Errors
            /// When they are not of one stream; gives both back.
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$Stream, ReuniteError> {
                if !::std::sync::Arc::ptr_eq(&self.0, &other.stream) {
                    return Err(ReuniteError(self, other));
                }
                other.forget();
                Ok(::std::sync::Arc::into_inner(self.0).expect("cct bug: a stream of three halves"))
            }

            $crate::stream::ready_methods!($Address);
            $crate::stream::read_methods!();
            $($peek)*
        }

        impl OwnedWriteHalf {
            fn end(&self) -> &$crate::stream::ops::End {
                self.stream.end()
            }

            fn addresses(&self) -> [$Address; 2] {
                self.stream.addresses()
            }

            /// Puts the halves of a stream together again.
            ///
            /// # Errors
            /// When they are not of one stream; gives both back.
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$Stream, ReuniteError> {
                other.reunite(self)
            }

            /// Drops the half without shutting anything down.
            pub fn forget(mut self) {
                self.shutdown_on_drop = false;
            }

            $crate::stream::ready_methods!($Address);
            $crate::stream::write_methods!();
        }

        impl Drop for OwnedWriteHalf {
            fn drop(&mut self) {
                if self.shutdown_on_drop {
                    self.end().shutdown();
                }
            }
        }

        $crate::stream::futures_read!(ReadHalf<'_>);
        $crate::stream::futures_read!(OwnedReadHalf);
        $crate::stream::futures_write!(WriteHalf<'_>);
        $crate::stream::futures_write!(OwnedWriteHalf);

        impl AsRef<$Stream> for ReadHalf<'_> {
            fn as_ref(&self) -> &$Stream {
                self.0
            }
        }

        impl AsRef<$Stream> for WriteHalf<'_> {
            fn as_ref(&self) -> &$Stream {
                self.0
            }
        }

        impl AsRef<$Stream> for OwnedReadHalf {
            fn as_ref(&self) -> &$Stream {
                &self.0
            }
        }

        impl AsRef<$Stream> for OwnedWriteHalf {
            fn as_ref(&self) -> &$Stream {
                &self.stream
            }
        }
    };
}

pub(crate) use stream_halves;
