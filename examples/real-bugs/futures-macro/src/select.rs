//! `select!`: the first branch that is ready, asked in the order in which they are written.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, Pat, Result, Token};

/// `pattern = future => body`
struct Branch {
    pattern: Pat,
    future: Expr,
    body: Expr,
}

impl Parse for Branch {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        input.parse::<Token![=]>()?;
        let future = input.parse()?;
        input.parse::<Token![=>]>()?;
        let body = input.call(Expr::parse_with_earlier_boundary_rule)?;
        let comma = input.parse::<Option<Token![,]>>()?;
        if comma.is_none() && !input.is_empty() && !matches!(body, Expr::Block(_)) {
            return Err(input.error("expected `,`"));
        }
        Ok(Branch {
            pattern,
            future,
            body,
        })
    }
}

fn branches(input: ParseStream<'_>) -> Result<Vec<Branch>> {
    let mut branches = Vec::new();
    while !input.is_empty() {
        branches.push(input.parse()?);
    }
    Ok(branches)
}

/// The code in place of the macro; `__futures_crate` is in scope there.
pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let branches = branches.parse2(input)?;
    let names: Vec<_> = (0..branches.len())
        .map(|index| format_ident!("__Branch{index}"))
        .collect();
    let slots: Vec<_> = (0..branches.len())
        .map(|index| format_ident!("__branch{index}"))
        .collect();
    let futures = branches.iter().map(|branch| match &branch.future {
        // A future that is named is borrowed, and may be selected again.
        Expr::Path(path) => quote!(__futures_crate::Pin::new(&mut #path)),
        other => quote!(::core::pin::pin!(#other)),
    });
    let arms = branches.iter().zip(&names).map(|(branch, name)| {
        let Branch { pattern, body, .. } = branch;
        quote!(__Ready::#name(#pattern) => #body,)
    });
    Ok(quote! {{
        #[allow(clippy::large_enum_variant)]
        enum __Ready<#(#names),*> { #(#names(#names)),* }
        let __ready = {
            #(let mut #slots = #futures;)*
            ::core::future::poll_fn(|__cx| {
                let mut __live = false;
                #(
                    if !__futures_crate::future::FusedFuture::is_terminated(&#slots) {
                        __live = true;
                        let polled = ::core::future::Future::poll(#slots.as_mut(), __cx);
                        if let ::core::task::Poll::Ready(value) = polled {
                            return ::core::task::Poll::Ready(__Ready::#names(value));
                        }
                    }
                )*
                assert!(__live, "all futures in select! were completed");
                ::core::task::Poll::Pending
            })
            .await
        };
        match __ready { #(#arms)* }
    }})
}
