//! The two directions of a stream, apart: the same for TCP and Unix.

/// The halves of a stream, borrowed and owned, and how they come about.
macro_rules! halves {
    ($inner:path, $Stream:ident, $Address:ty) => {
        use $crate::net::around::{around, reads, writes};
        use ::ref_cast::RefCast as _;
        use $inner as inner;

        around! {
            /// The reading half of a stream, borrowed.
            ReadHalf<'a>, inner::ReadHalf<'a>
        }
        around! {
            /// The writing half of a stream, borrowed.
            WriteHalf<'a>, inner::WriteHalf<'a>
        }
        around! {
            /// The reading half of a stream.
            OwnedReadHalf, inner::OwnedReadHalf
        }
        around! {
            /// The writing half of a stream. Dropping it shuts down the stream's writing direction.
            OwnedWriteHalf, inner::OwnedWriteHalf
        }

        $crate::net::forward::forwards_names! {
            $Address:
            $Stream, inner::$Stream;
            ReadHalf<'_>, inner::ReadHalf;
            OwnedReadHalf, inner::OwnedReadHalf;
            WriteHalf<'_>, inner::WriteHalf;
            OwnedWriteHalf, inner::OwnedWriteHalf;
        }
        $crate::net::forward::forwards_reading! {
            ReadHalf<'_>, inner::ReadHalf;
            OwnedReadHalf, inner::OwnedReadHalf;
        }
        $crate::net::forward::forwards_writing! {
            WriteHalf<'_>, inner::WriteHalf;
            OwnedWriteHalf, inner::OwnedWriteHalf;
        }

        reads!(ReadHalf<'_>);
        writes!(WriteHalf<'_>);
        reads!(OwnedReadHalf);
        writes!(OwnedWriteHalf);

        impl $Stream {
            /// The two directions, borrowed.
            pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
                let (read, write) = self.0.split();
                (ReadHalf(read), WriteHalf(write))
            }

            /// The two directions, each of which can go its own way.
            pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
                let (read, write) = self.0.into_split();
                (OwnedReadHalf(read), OwnedWriteHalf(write))
            }
        }

        impl OwnedReadHalf {
            /// Puts the halves of a stream together again.
            ///
            /// # Errors
            /// When they are not of one stream; gives both back.
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$Stream, ReuniteError> {
                let whole = self.0.reunite(other.0).map($Stream);
                whole.map_err(|inner::ReuniteError(read, write)| {
                    ReuniteError(OwnedReadHalf(read), OwnedWriteHalf(write))
                })
            }
        }

        impl OwnedWriteHalf {
            /// Puts the halves of a stream together again.
            ///
            /// # Errors
            /// When they are not of one stream; gives both back.
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$Stream, ReuniteError> {
                other.reunite(self)
            }

            /// Drops the half without shutting anything down.
            pub fn forget(self) {
                self.0.forget();
            }
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

        $crate::net::halves::of_stream!($Stream: ReadHalf<'_>, WriteHalf<'_>, OwnedReadHalf, OwnedWriteHalf);
    };
}

/// The stream that each half is of.
macro_rules! of_stream {
    ($Stream:ident: $($Half:ty),*) => {$(
        impl AsRef<$Stream> for $Half {
            fn as_ref(&self) -> &$Stream {
                $Stream::ref_cast(self.0.as_ref())
            }
        }
    )*};
}

pub(super) use {halves, of_stream};
