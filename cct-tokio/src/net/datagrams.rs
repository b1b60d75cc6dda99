//! What sockets of datagrams have with tokio's `ReadBuf`.

/// The polls that fill a `ReadBuf`, with or without the address of the sender.
macro_rules! receives {
    ($Name:ident, $Address:ty, [$($plain:ident)*], [$($from:ident)*]) => {
        impl $Name {
            $(
                #[doc = concat!("See [`cct_net::", stringify!($Name), "::", stringify!($plain), "`].")]
                ///
                /// # Errors
                /// As there.
                #[track_caller]
                pub fn $plain(
                    &self,
                    cx: &mut ::std::task::Context<'_>,
                    buf: &mut $crate::io::ReadBuf<'_>,
                ) -> ::std::task::Poll<::std::io::Result<()>> {
                    let received = self.0.$plain(cx, buf.initialize_unfilled());
                    received.map_ok(|count| buf.advance(count))
                }
            )*
            $(
                #[doc = concat!("See [`cct_net::", stringify!($Name), "::", stringify!($from), "`].")]
                ///
                /// # Errors
                /// As there.
                #[track_caller]
                pub fn $from(
                    &self,
                    cx: &mut ::std::task::Context<'_>,
                    buf: &mut $crate::io::ReadBuf<'_>,
                ) -> ::std::task::Poll<::std::io::Result<$Address>> {
                    let received = self.0.$from(cx, buf.initialize_unfilled());
                    received.map_ok(|(count, from)| {
                        buf.advance(count);
                        from
                    })
                }
            )*
        }
    };
}

pub(super) use receives;
