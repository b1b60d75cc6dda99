//! What `select!` becomes.
//!
//! 1. Conditions are evaluated first, then all futures, both in declaration order; a disabled
//!    branch's future is made too, but never polled.
//! 2. Futures are pinned in reverse order, because locals drop last in, first out: they drop in
//!    declaration order, before the handler runs.
//! 3. A handler stands outside of every loop and closure made here: `?`, `break`, `return` and
//!    `.await` mean in it what they mean around the macro.
//! 4. The output lives until the handler is done, also where the pattern is `_`.

use super::parse::{Branch, Select};
use super::pattern::looking_only;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

pub(super) fn expand(select: &Select) -> TokenStream {
    if select.branches.is_empty() {
        let handler = &select.otherwise;
        return quote!({ #handler });
    }
    let local = Span::mixed_site();
    let types = names("T", select.branches.len());
    let variants = names("Branch", select.branches.len());
    let conditions = conditions(&select.branches);
    let output = poll_until_ready(select, &variants);
    // Names of imports are seen by what stands in tokio's macro, and programs have come to rely on it.
    let pin = Ident::new("Pin", Span::call_site());
    let handlers = select
        .branches
        .iter()
        .zip(&variants)
        .map(|(branch, variant)| {
            let Branch {
                pattern, handler, ..
            } = branch;
            quote_spanned!(local=> __CctSelected::#variant(#pattern) => #handler,)
        });
    let otherwise = match &select.otherwise {
        Some(handler) => quote!(#handler),
        None => quote_spanned! {local=>
            ::core::panic!("all branches are disabled and there is no else branch")
        },
    };
    quote_spanned! {local=>
        {
            #[allow(unused_imports)]
            use ::core::pin::#pin;
            enum __CctSelected<#(#types),*> {
                #(#variants(#types),)*
                Disabled,
            }
            let mut disabled: u64 = 0;
            #conditions
            #[allow(unused_mut)]
            let mut output = #output;
            #[allow(unreachable_patterns)]
            match output {
                #(#handlers)*
                __CctSelected::Disabled => #otherwise,
                _ => ::core::unreachable!("cct bug: the pattern matched before"),
            }
        }
    }
}

fn names(prefix: &str, count: usize) -> Vec<Ident> {
    (0..count)
        .map(|index| format_ident!("{prefix}{index}", span = Span::mixed_site()))
        .collect()
}

fn conditions(branches: &[Branch]) -> TokenStream {
    let checks = branches.iter().enumerate().filter_map(|(index, branch)| {
        let condition = branch.condition.as_ref()?;
        Some(quote_spanned! {Span::mixed_site()=>
            let enabled: bool = #condition;
            if !enabled {
                disabled |= 1u64 << #index;
            }
        })
    });
    quote!(#(#checks)*)
}

/// The block that owns the futures and ends in the selected output.
fn poll_until_ready(select: &Select, variants: &[Ident]) -> TokenStream {
    let local = Span::mixed_site();
    let crate_path = &select.crate_path;
    let count = select.branches.len() as u32;
    let futures = names("future", select.branches.len());
    let expressions = select.branches.iter().map(|branch| &branch.future);
    let start = if select.biased {
        quote_spanned!(local=> 0u32)
    } else {
        quote_spanned!(local=> #crate_path::__private::select_start(#count))
    };
    let arms = select
        .branches
        .iter()
        .zip(&futures)
        .zip(variants)
        .enumerate()
        .map(|(index, ((branch, future), variant))| poll_branch(index, branch, future, variant));
    let reversed = futures.iter().rev();
    let conversions = select
        .branches
        .iter()
        .zip(&futures)
        .map(|(branch, future)| {
            // A type that is no future is reported at its expression.
            let mut future = future.clone();
            future.set_span(local.located_at(branch.future.span()));
            quote_spanned!(local=> ::core::future::IntoFuture::into_future(#future))
        });
    quote_spanned! {local=>
        {
            // One statement, so that temporaries live as long as in tokio's tuple of futures.
            let (#(#futures,)*) = (#(#expressions,)*);
            let (#(#futures,)*) = (#(#conversions,)*);
            #(let mut #reversed = ::core::pin::pin!(#reversed);)*
            let selected = ::core::future::poll_fn(|cx| {
                ::core::task::ready!(#crate_path::__private::select_budget(cx));
                let mut pending = false;
                let mut branch: u32 = #start;
                for _ in 0..#count {
                    let current = branch;
                    branch = if current + 1 == #count { 0 } else { current + 1 };
                    match current {
                        #(#arms)*
                        _ => ::core::unreachable!("cct bug: no such branch"),
                    }
                }
                if pending {
                    ::core::task::Poll::Pending
                } else {
                    ::core::task::Poll::Ready(__CctSelected::Disabled)
                }
            })
            .await;
            selected
        }
    }
}

fn poll_branch(index: usize, branch: &Branch, future: &Ident, variant: &Ident) -> TokenStream {
    let looking = looking_only(&branch.pattern);
    let number = index as u32;
    quote_spanned! {Span::mixed_site()=>
        #[allow(unreachable_code)]
        #number => {
            if disabled & (1u64 << #number) != 0 {
                continue;
            }
            let output = match ::core::future::Future::poll(#future.as_mut(), cx) {
                ::core::task::Poll::Ready(output) => output,
                ::core::task::Poll::Pending => {
                    pending = true;
                    continue;
                }
            };
            disabled |= 1u64 << #number;
            #[allow(unused_variables, unused_mut, unreachable_patterns)]
            match &output {
                #looking => {}
                _ => continue,
            }
            return ::core::task::Poll::Ready(__CctSelected::#variant(output));
        }
    }
}
