//! `#[cct_executor::test]`, and the same for the crate that stands in for tokio: options in `options`,
//! literals in `values`, output in `expand`.
//! `#[cct_executor::main]` is in `main_fn`.

mod expand;
pub(crate) mod main_fn;
mod options;
mod parameters;
mod values;

use options::Options;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, ItemFn, Meta, Path, Signature, Token};

/// Which crate's attribute this is, and so where its users have `cct_executor`.
#[derive(Clone, Copy)]
pub(crate) enum Home {
    /// `cct_executor`'s own.
    Executor,
    /// That of the crate that stands in for tokio. It has all of `cct_executor` as `__cct`, as its users do
    /// not know `cct_executor`.
    Tokio,
}

impl Home {
    /// The path of `cct_executor`; `said` is the path of the attribute's crate, if the user says where it is.
    fn path(self, said: Option<&Path>) -> TokenStream {
        match (self, said) {
            (Home::Executor, None) => quote!(::cct_executor),
            (Home::Executor, Some(path)) => quote!(#path),
            (Home::Tokio, None) => quote!(::tokio::__cct),
            (Home::Tokio, Some(path)) => quote!(#path::__cct),
        }
    }
}

/// The test, or every mistake that was found and an empty function in its place.
pub(crate) fn expand(home: Home, args: TokenStream, item: TokenStream) -> TokenStream {
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else {
        return not_a_function(item, "only a function can be a test");
    };
    let options = Options::parse(args);
    let mistakes = [
        check_function(&function).err(),
        options.as_ref().err().cloned(),
        options
            .as_ref()
            .ok()
            .and_then(|options| check_flavor(&function, options)),
    ];
    let mistakes = mistakes.into_iter().flatten().reduce(|mut all, mistake| {
        all.combine(mistake);
        all
    });
    match (options, mistakes) {
        (Ok(options), None) => {
            let crate_path = home.path(options.crate_path.as_ref());
            let options = match home {
                Home::Executor => options,
                Home::Tokio => options.like_tokio(),
            };
            expand::expand(&function, &options, &crate_path)
        }
        (_, mistakes) => {
            let errors = mistakes.map(syn::Error::into_compile_error);
            let empty = empty_function(&function);
            quote!(#errors #empty)
        }
    }
}

/// The item is passed on: if it is a function that does not parse, the compiler says it better.
fn not_a_function(item: TokenStream, message: &str) -> TokenStream {
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(other) => {
            let error = syn::Error::new_spanned(&other, message);
            let error = error.into_compile_error();
            quote!(#error #other)
        }
        Err(error) => error.into_compile_error(),
    }
}

/// The inner function with the body. Named like the outer one: an identifier that the body could mean otherwise
/// would be captured.
fn scenario_of(signature: &Signature) -> Ident {
    let mut scenario = signature.ident.clone();
    scenario.set_span(scenario.span().resolved_at(Span::mixed_site()));
    scenario
}

fn check_function(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if let Some(second) = function.attrs.iter().find(|attribute| is_test(attribute)) {
        return Err(syn::Error::new_spanned(
            second,
            "second test attribute is supplied, consider removing or changing the order of your \
             test attributes",
        ));
    }
    parameters::check(function)?;
    if !signature.generics.params.is_empty() && !parameters::may_be_generic(function) {
        return Err(syn::Error::new_spanned(
            &signature.generics.params,
            "a test cannot be generic: nothing says what the parameters would be",
        ));
    }
    if let Some(abi) = &signature.abi {
        return Err(syn::Error::new_spanned(
            abi,
            "a test cannot be an `extern` function",
        ));
    }
    Ok(())
}

/// Where nothing is awaited, no task of a `LocalSet` would run.
fn check_flavor(function: &ItemFn, options: &Options) -> Option<syn::Error> {
    let alone = options.local && function.sig.asyncness.is_none();
    alone.then(|| {
        syn::Error::new_spanned(
            function.sig.fn_token,
            "the `async` keyword is missing from the function declaration: flavor \"local\" needs it",
        )
    })
}

/// `#[test]`, also by its full path in the prelude of core or std.
fn is_test(attribute: &Attribute) -> bool {
    let Meta::Path(path) = &attribute.meta else {
        return false;
    };
    let names: Vec<String> = path
        .segments
        .iter()
        .map(|name| name.ident.to_string())
        .collect();
    match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => path.leading_colon.is_none(),
        ["core" | "std", "prelude", _, "test"] => true,
        _ => false,
    }
}

/// Keeps the name defined and the item's conditions, so that no error follows from the first one.
fn empty_function(function: &ItemFn) -> TokenStream {
    let conditions = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    let (visibility, name) = (&function.vis, &function.sig.ident);
    quote! {
        #(#conditions)*
        #[allow(dead_code)]
        #visibility fn #name() {}
    }
}

/// `a = b, c = d`, every mistake of which is reported.
fn parse_list(args: TokenStream) -> syn::Result<Vec<options::Argument>> {
    use syn::parse::Parser;
    let list = Punctuated::<options::Argument, Token![,]>::parse_terminated.parse2(args)?;
    Ok(list.into_iter().collect())
}
