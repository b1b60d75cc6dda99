//! `join!` and `try_join!`.
//!
//! Expansions poll every unfinished future once per poll, beginning one further each time, unless
//! `biased;` is given. A finished future is dropped at once; the others drop in declaration order.

use crate::select::{CratePath, parse_biased};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Token, braced};

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Waits for all.
    All,
    /// Waits for all, or the first error.
    Try,
}

/// Input of the hidden macros: `$crate { <join> }`.
struct Join {
    crate_path: CratePath,
    biased: bool,
    futures: Vec<Expr>,
}

impl Parse for Join {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let crate_path = input.parse()?;
        let content;
        braced!(content in input);
        let biased = parse_biased(&content)?;
        let futures = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
        Ok(Join {
            crate_path,
            biased,
            futures: futures.into_iter().collect(),
        })
    }
}

pub(crate) fn expand(input: TokenStream, kind: Kind) -> TokenStream {
    match syn::parse2::<Join>(input) {
        Ok(join) if join.futures.is_empty() => nothing(kind),
        Ok(join) => join_all(&join, kind),
        Err(error) => {
            let error = error.into_compile_error();
            quote!({ #error })
        }
    }
}

fn nothing(kind: Kind) -> TokenStream {
    match kind {
        Kind::All => quote!(async {}.await),
        Kind::Try => quote!(async { ::core::result::Result::Ok(()) }.await),
    }
}

fn join_all(join: &Join, kind: Kind) -> TokenStream {
    let local = Span::mixed_site();
    let Join {
        crate_path,
        biased,
        futures: expressions,
    } = join;
    let count = expressions.len() as u32;
    let futures: Vec<Ident> = (0..expressions.len())
        .map(|index| format_ident!("future{index}", span = local))
        .collect();
    let reversed = futures.iter().rev();
    let arms = futures
        .iter()
        .enumerate()
        .map(|(index, future)| poll_one(index, future, kind));
    let step = u32::from(!biased);
    let outputs = match kind {
        Kind::All => quote_spanned!(local=> (#(#futures.as_mut().take_output(),)*)),
        Kind::Try => quote_spanned! {local=>
            ::core::result::Result::Ok((#(#futures.as_mut().take_ok(),)*))
        },
    };
    quote_spanned! {local=>
        {
            let (#(#futures,)*) = (#(#crate_path::__private::maybe_done(#expressions),)*);
            #(let mut #reversed = ::core::pin::pin!(#reversed);)*
            let mut first: u32 = 0;
            let joined = ::core::future::poll_fn(|cx| {
                let mut pending = false;
                let start = first;
                first = (first + #step) % #count;
                for turn in 0..#count {
                    match (start + turn) % #count {
                        #(#arms)*
                        _ => ::core::unreachable!("cct bug: no such future"),
                    }
                }
                if pending {
                    return ::core::task::Poll::Pending;
                }
                #[allow(unreachable_code)]
                ::core::task::Poll::Ready(#outputs)
            })
            .await;
            joined
        }
    }
}

fn poll_one(index: usize, future: &Ident, kind: Kind) -> TokenStream {
    let number = index as u32;
    let local = Span::mixed_site();
    let stop_at_error = match kind {
        Kind::All => TokenStream::new(),
        Kind::Try => quote_spanned! {local=>
            #[allow(unreachable_code)]
            if let ::core::option::Option::Some(error) = #future.as_mut().take_err() {
                return ::core::task::Poll::Ready(::core::result::Result::Err(error));
            }
        },
    };
    quote_spanned! {local=>
        #number => {
            if ::core::future::Future::poll(#future.as_mut(), cx).is_pending() {
                pending = true;
            }
            #stop_at_error
        }
    }
}
