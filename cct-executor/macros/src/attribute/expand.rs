//! What a test becomes: the scenario as an inner function, and one call with name, place and
//! options.

use super::options::{Call, Code, Options};
use super::parameters::{Parameters, is_time_limit};
use super::scenario_of;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{AttrStyle, Attribute, ItemFn, Meta, MetaNameValue, ReturnType};

pub(super) fn expand(
    function: &ItemFn,
    options: &Options,
    crate_path: &TokenStream,
) -> TokenStream {
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
    } = function;
    let stays = |attribute: &&Attribute| !is_time_limit(attribute, attrs);
    let attributes = attrs.iter().filter(stays).cloned().map(outer);
    let should_panic = should_panic(attrs);
    let of_tokio = options.of_tokio;
    let name = &sig.ident;
    // As the harness has it: `r#async` keeps its mark.
    let text = name.to_string();
    let calls = options
        .calls
        .iter()
        .map(|call| builder_call(call, crate_path));
    let (asyncness, fn_token, output) = (&sig.asyncness, &sig.fn_token, &sig.output);
    let scenario = scenario_of(sig);
    let Parameters {
        outer: outer_parameters,
        inner,
        names,
    } = Parameters::of(function);
    let passed = passed(&scenario, &names, function, options, crate_path);
    let full_name = quote!(::core::concat!(::core::module_path!(), "::", #text));
    let full_name = if names.is_empty() {
        full_name
    } else {
        quote!(#crate_path::__private::case_name(#full_name))
    };
    let case = quote! {
        #crate_path::__private::TestCase {
            name: #full_name,
            manifest_dir: ::core::env!("CARGO_MANIFEST_DIR"),
            file: ::core::file!(),
            line: ::core::line!(),
            should_panic: #should_panic,
            of_tokio: #of_tokio,
        }
    };
    let checker = quote!(#crate_path::Checker::new()#(#calls)*);
    let run_test = if names.is_empty() {
        let run_test = quote!(#crate_path::__private::run_test);
        call_at_result(run_test, &quote!(#case, #checker, #passed), output)
    } else {
        let run_test = call_at_result(
            quote!(way.run_test),
            &quote!(#case, #checker, given, #passed),
            output,
        );
        quote! {
            #[allow(unused_imports)]
            use #crate_path::__private::{ByClones as _, ByOnce as _};
            let given = #crate_path::__private::Given::new((#(#names,)*));
            let way = (&given).way();
            #run_test
        }
    };
    let (generics, bounds) = (&sig.generics, &sig.generics.where_clause);
    quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        #vis #fn_token #name #generics(#(#outer_parameters),*) #bounds {
            #[allow(clippy::unused_async)]
            #asyncness #fn_token #scenario #generics(#(#inner),*) #output #bounds #block
            #run_test
        }
    }
}

/// What makes the future of an iteration, from its parameters.
fn passed(
    scenario: &Ident,
    names: &[Ident],
    function: &ItemFn,
    options: &Options,
    crate_path: &TokenStream,
) -> TokenStream {
    let made = quote!(#scenario(#(#names),*));
    let made = if function.sig.asyncness.is_none() {
        quote!(#crate_path::__private::blocking(move || #made))
    } else if options.local {
        quote!(#crate_path::__private::on_one_thread(#made))
    } else if options.current_thread {
        quote!(#crate_path::__private::current_thread(#made))
    } else if options.multi_thread {
        quote!(#crate_path::__private::multi_thread(#made))
    } else if names.is_empty() {
        return quote!(#scenario);
    } else {
        made
    };
    if names.is_empty() {
        return quote!(move || #made);
    }
    quote!(move |(#(#names,)*)| #made)
}

/// What the harness looks for in a panic, if one is expected.
fn should_panic(attributes: &[Attribute]) -> TokenStream {
    let mut attributes = attributes.iter();
    let Some(attribute) = attributes.find(|attribute| attribute.path().is_ident("should_panic"))
    else {
        return quote!(::core::option::Option::None);
    };
    let text = match &attribute.meta {
        Meta::Path(_) => None,
        Meta::NameValue(expected) => Some(expected.value.clone()),
        Meta::List(list) => {
            let expected = list.parse_args::<MetaNameValue>();
            expected.ok().map(|expected| expected.value)
        }
    };
    let text = text.map_or_else(|| quote!(""), |text| quote!(#text));
    quote!(::core::option::Option::Some(#text))
}

/// Attributes inside the body stand before the function instead: they are about the whole test.
fn outer(mut attribute: Attribute) -> Attribute {
    attribute.style = AttrStyle::Outer;
    attribute
}

fn builder_call(call: &Call, crate_path: &TokenStream) -> TokenStream {
    let method = Ident::new(call.method, Span::call_site());
    let argument = match &call.argument {
        Code::Plain(code) => code.clone(),
        Code::InCrate(code) => quote!(#crate_path::#code),
    };
    quote!(.#method(#argument))
}

/// A call placed at the return type, where one that is no `ScenarioResult` shall be reported.
fn call_at_result(
    function: TokenStream,
    arguments: &TokenStream,
    output: &ReturnType,
) -> TokenStream {
    let ReturnType::Type(_, result) = output else {
        return quote!(#function(#arguments));
    };
    let place = Span::call_site().located_at(result.span());
    let function: TokenStream = function
        .into_iter()
        .map(|mut token| {
            token.set_span(token.span().located_at(place));
            token
        })
        .collect();
    quote_spanned!(place=> #function(#arguments))
}

#[cfg(test)]
mod tests {
    use super::super::{Home, expand};
    use quote::quote;

    #[test]
    fn an_expected_panic_is_handed_over() {
        for (attribute, expected) in [
            (
                quote!(#[should_panic(expected = "lost")]),
                quote!(Some("lost")),
            ),
            (quote!(#[should_panic = "lost"]), quote!(Some("lost"))),
            (quote!(#[should_panic]), quote!(Some(""))),
            (quote!(#[allow(unused)]), quote!(None)),
        ] {
            let test = quote!(#attribute async fn a_test() {});
            let text = expand(Home::Executor, quote!(), test).to_string();
            let field = format!("should_panic : :: core :: option :: Option :: {expected} ,");
            assert!(text.contains(&field), "{text}");
        }
    }

    #[test]
    fn it_is_told_where_tokio_has_one_thread() {
        for (home, options, lasting, one_thread) in [
            (Home::Tokio, quote!(), true, true),
            (Home::Tokio, quote!(flavor = "current_thread"), true, true),
            (Home::Tokio, quote!(flavor = "multi_thread"), false, false),
            (Home::Executor, quote!(), false, false),
            (
                Home::Executor,
                quote!(flavor = "current_thread"),
                false,
                true,
            ),
        ] {
            let test = quote!(
                async fn a_test() {}
            );
            let text = expand(home, options.clone(), test).to_string();
            let call = ". lasting_yields (true)";
            assert_eq!(text.contains(call), lasting, "{options}: {text}");
            let call = ":: current_thread (";
            assert_eq!(text.contains(call), one_thread, "{options}: {text}");
        }
    }

    #[test]
    fn users_of_the_stand_in_need_not_know_the_executor() {
        for (options, checker) in [
            (quote!(), ":: tokio :: __cct :: Checker :: new"),
            (
                quote!(crate = "renamed::tokio"),
                "renamed :: tokio :: __cct :: Checker :: new",
            ),
        ] {
            let test = quote!(
                async fn a_test() {}
            );
            let text = expand(Home::Tokio, options, test).to_string();
            assert!(text.contains(checker), "{text}");
            assert!(!text.contains("cct_executor"), "{text}");
        }
    }
}
