//! `#[cct_executor::main]`: an `async fn` that builds a runtime and blocks on its body.

use super::options::{MainFlavor, MainOptions};
use super::{empty_function, not_a_function};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ItemFn;

/// The function, or every mistake that was found and an empty function in its place.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else {
        return not_a_function(item, "only an `async fn` can be a `main`");
    };
    let signature = &function.sig;
    let not_async = signature.asyncness.is_none().then(|| {
        syn::Error::new_spanned(
            signature.fn_token,
            "the `async` keyword is missing from the function declaration",
        )
    });
    match (MainOptions::parse(args), not_async) {
        (Ok(options), None) => blocking(function, &options),
        (options, not_async) => {
            let errors = [options.err(), not_async].into_iter().flatten();
            let errors = errors.map(syn::Error::into_compile_error);
            let empty = empty_function(&function);
            quote!(#(#errors)* #empty)
        }
    }
}

fn blocking(function: ItemFn, options: &MainOptions) -> TokenStream {
    let ItemFn {
        attrs,
        vis,
        mut sig,
        block,
    } = function;
    sig.asyncness = None;
    let crate_path = match &options.crate_path {
        Some(path) => path.to_token_stream(),
        None => quote!(::cct_executor),
    };
    let builder = match options.flavor {
        MainFlavor::OneThread => quote!(new_current_thread),
        MainFlavor::Threads => quote!(new_multi_thread),
    };
    let paused = options.start_paused;
    let name = options.name.as_ref().map(|name| quote!(.name(#name)));
    quote! {
        #(#attrs)*
        #vis #sig {
            #crate_path::runtime::Builder::#builder()
                .enable_all()
                .start_paused(#paused)
                #name
                .build()
                .expect("failed to build the runtime")
                .block_on(async #block)
        }
    }
}
