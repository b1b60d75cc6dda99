//! `join!` and `try_join!`.
//!
//! Expansions poll every unfinished future once per poll, beginning one further each time, unless
//! `biased;` is given. A finished future is dropped at once; the others drop in declaration order.

use crate::select::{CratePath, parse_biased};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
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
        let mut futures = Vec::new();
        while !content.is_empty() {
            let future: Expr = content.parse()?;
            if content.peek(Token![;])
                && matches!(&future, Expr::Path(path) if path.path.is_ident("biased"))
            {
                return Err(syn::Error::new_spanned(
                    future,
                    "`biased;` goes before the first future",
                ));
            }
            if !content.is_empty() && !content.peek(Token![,]) {
                return Err(content.error("expected `,` between two futures"));
            }
            content.parse::<Option<Token![,]>>()?;
            futures.push(future);
        }
        Ok(Join {
            crate_path,
            biased,
            futures,
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
    let wrap = match kind {
        Kind::All => quote_spanned!(local=> #crate_path::__private::maybe_done),
        Kind::Try => quote_spanned!(local=> #crate_path::__private::maybe_ok),
    };
    let wrapped = expressions.iter().map(|future| {
        // A type that is no future is reported at its expression.
        quote_spanned!(local.located_at(future.span())=> #wrap(#future))
    });
    let arms = futures
        .iter()
        .enumerate()
        .map(|(index, future)| poll_one(index, future, kind));
    let (declare_first, rotate) = rotation(*biased, count);
    let outputs = match kind {
        Kind::All => quote_spanned!(local=> (#(#futures.as_mut().take_output(),)*)),
        Kind::Try => quote_spanned! {local=>
            ::core::result::Result::Ok((#(#futures.as_mut().take_ok(),)*))
        },
    };
    quote_spanned! {local=>
        {
            let (#(#futures,)*) = (#(#wrapped,)*);
            #(let mut #reversed = ::core::pin::pin!(#reversed);)*
            #declare_first
            let joined = ::core::future::poll_fn(|cx| {
                let mut pending = false;
                let mut next: u32 = first;
                #rotate
                for _ in 0..#count {
                    let current = next;
                    next = if current + 1 == #count { 0 } else { current + 1 };
                    match current {
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

/// Where each poll begins: declared outside, moved on inside of the poll.
fn rotation(biased: bool, count: u32) -> (TokenStream, TokenStream) {
    let local = Span::mixed_site();
    if biased {
        return (
            quote_spanned!(local=> let first: u32 = 0;),
            TokenStream::new(),
        );
    }
    let rotate = quote_spanned!(local=> first = if first + 1 == #count { 0 } else { first + 1 };);
    (quote_spanned!(local=> let mut first: u32 = 0;), rotate)
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
