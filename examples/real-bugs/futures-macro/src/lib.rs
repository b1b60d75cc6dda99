//! Stands in for futures-macro where a crate under test uses `futures::select!`.
//!
//! The real `select!` polls its branches in an order drawn from a generator of the thread, whose
//! seed is the number of threads that drew before. Nobody can set it, so a schedule found in one
//! process would not be the same in the next. This one polls the branches in the order in which
//! they are written, which is one of the orders that the real one may draw.
//!
//! Only `select!` is here, without `default` and `complete`. The other macros refuse.

mod select;

use proc_macro::TokenStream;

/// `futures::select!`
#[proc_macro]
pub fn select_internal(input: TokenStream) -> TokenStream {
    select::expand(input.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// `futures::select_biased!`
#[proc_macro]
pub fn select_biased_internal(input: TokenStream) -> TokenStream {
    select_internal(input)
}

/// `futures::join!`
#[proc_macro]
pub fn join_internal(_: TokenStream) -> TokenStream {
    refuse("join!")
}

/// `futures::try_join!`
#[proc_macro]
pub fn try_join_internal(_: TokenStream) -> TokenStream {
    refuse("try_join!")
}

/// `futures::stream_select!`
#[proc_macro]
pub fn stream_select_internal(_: TokenStream) -> TokenStream {
    refuse("stream_select!")
}

/// `futures::test`
#[proc_macro_attribute]
pub fn test_internal(_: TokenStream, _: TokenStream) -> TokenStream {
    refuse("test")
}

fn refuse(name: &str) -> TokenStream {
    let text = format!("the futures-macro of this folder has no `{name}`: use the real one");
    quote::quote!(compile_error!(#text)).into()
}
