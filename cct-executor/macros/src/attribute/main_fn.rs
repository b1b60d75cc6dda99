//! `#[cct_executor::main]`: an `async fn` that builds a runtime and blocks on its body, or is explored.

use super::options::{MainFlavor, MainOptions};
use super::{Home, empty_function, not_a_function, scenario_of};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{GenericArgument, ItemFn, PathArguments, ReturnType, Signature, Type};

/// The function, or every mistake that was found and an empty function in its place.
pub(crate) fn expand(home: Home, args: TokenStream, item: TokenStream) -> TokenStream {
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
        (Ok(options), None) => {
            let crate_path = home.path(options.crate_path.as_ref());
            main_function(function, &options, &crate_path)
        }
        (options, not_async) => {
            let errors = [options.err(), not_async].into_iter().flatten();
            let errors = errors.map(syn::Error::into_compile_error);
            let empty = empty_function(&function);
            quote!(#(#errors)* #empty)
        }
    }
}

/// Builds a runtime and blocks on the body. Where there is no world to build it in, no test that calls it and is
/// explored as it is, and the body can be run again and again, it is a scenario of its own.
fn main_function(function: ItemFn, options: &MainOptions, crate_path: &TokenStream) -> TokenStream {
    let ItemFn {
        attrs,
        vis,
        mut sig,
        block,
    } = function;
    sig.asyncness = None;
    let body = match repeated(&sig) {
        Some(passed) => {
            let scenario = scenario_of(&sig);
            let blocking = blocking(options, crate_path, &quote!(#scenario()));
            let exploring = exploring(&sig, &scenario, options, crate_path);
            let output = &sig.output;
            quote! {
                #[allow(clippy::unused_async)]
                async fn #scenario() #output #block
                if #crate_path::__private::is_no_scenario() {
                    #blocking
                } else {
                    #exploring
                    #passed
                }
            }
        }
        None => blocking(options, crate_path, &quote!(async #block)),
    };
    quote! {
        #(#attrs)*
        #vis #sig {
            #body
        }
    }
}

fn blocking(options: &MainOptions, crate_path: &TokenStream, body: &TokenStream) -> TokenStream {
    let builder = match options.flavor {
        MainFlavor::Local | MainFlavor::OneThread => quote!(new_current_thread),
        MainFlavor::Threads => quote!(new_multi_thread),
    };
    let build = match options.flavor {
        MainFlavor::Local => {
            quote!(build_local(#crate_path::runtime::LocalOptions::default()))
        }
        _ => quote!(build()),
    };
    let paused = options.start_paused;
    let name = options.name.as_ref().map(|name| quote!(.name(#name)));
    quote! {
        #crate_path::runtime::Builder::#builder()
            .enable_all()
            .start_paused(#paused)
            #name
            .#build
            .expect("failed to build the runtime")
            .block_on(#body)
    }
}

fn exploring(
    sig: &Signature,
    scenario: &Ident,
    options: &MainOptions,
    crate_path: &TokenStream,
) -> TokenStream {
    let flavor = match options.flavor {
        MainFlavor::Local => quote!(on_one_thread),
        MainFlavor::OneThread => quote!(current_thread),
        MainFlavor::Threads => quote!(multi_thread),
    };
    let paused = options.start_paused;
    let name = sig.ident.unraw().to_string();
    quote! {
        #crate_path::__private::run_main(
            ::core::concat!(::core::module_path!(), "::", #name),
            #paused,
            || #crate_path::__private::#flavor(#scenario()),
        );
    }
}

/// What a function that can be run many times returns when it passes: one without parameters that returns
/// nothing, or a `Result` of nothing.
fn repeated(sig: &Signature) -> Option<TokenStream> {
    if !sig.inputs.is_empty() || !sig.generics.params.is_empty() {
        return None;
    }
    let ReturnType::Type(_, output) = &sig.output else {
        return Some(TokenStream::new());
    };
    match &**output {
        Type::Tuple(tuple) if tuple.elems.is_empty() => Some(TokenStream::new()),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return None;
            };
            let of_nothing = matches!(
                arguments.args.first()?,
                GenericArgument::Type(Type::Tuple(tuple)) if tuple.elems.is_empty()
            );
            (last.ident == "Result" && of_nothing).then(|| quote!(::core::result::Result::Ok(())))
        }
        _ => None,
    }
}
