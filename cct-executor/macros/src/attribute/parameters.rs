//! Parameters of a test, which an attribute below this one turns into cases, as rstest's does.
//!
//! 1. The function that the other attribute sees keeps them, with their attributes.
//! 2. Each iteration gets clones of the values; of values that have none there is one run.
//!
//! 3. A time limit of rstest's for the test is left out: it would be one for all iterations together, in the machine's time.
//!
//! Does not: read what else the other attribute says.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned as _;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, FnArg, Ident, ItemFn, Lifetime, ParenthesizedGenericArguments, Pat, PatType, Type,
    TypeBareFn, TypeReference,
};

/// Attributes of the language, which make no cases.
const LANGUAGE: [&str; 11] = [
    "allow",
    "cfg",
    "cfg_attr",
    "deny",
    "doc",
    "expect",
    "forbid",
    "ignore",
    "must_use",
    "should_panic",
    "warn",
];

/// Whether somebody gives the function what it takes.
pub(super) fn check(function: &ItemFn) -> syn::Result<()> {
    let inputs = &function.sig.inputs;
    if inputs.is_empty() {
        return Ok(());
    }
    if !function.attrs.iter().any(may_make_cases) {
        return Err(syn::Error::new_spanned(
            inputs,
            "a test takes no parameters: it makes everything it needs, so that each run starts \
             afresh",
        ));
    }
    Ok(())
}

/// Whether somebody says what the parameters of a generic function are.
pub(super) fn may_be_generic(function: &ItemFn) -> bool {
    !function.sig.inputs.is_empty() && function.sig.generics.lifetimes().next().is_none()
}

fn may_make_cases(attribute: &Attribute) -> bool {
    let path = attribute.path();
    !LANGUAGE.iter().any(|name| path.is_ident(name))
}

/// Whether an attribute is a time limit that `#[rstest]`, one of the others, would put around the run.
pub(super) fn is_time_limit(attribute: &Attribute, all: &[Attribute]) -> bool {
    let ends_in = |attribute: &Attribute, name: &str| {
        let last = attribute.path().segments.last();
        last.is_some_and(|last| last.ident == name)
    };
    ends_in(attribute, "timeout") && all.iter().any(|other| ends_in(other, "rstest"))
}

/// The parameter, and its name; one that is a pattern gets a name.
fn named((number, input): (usize, &FnArg)) -> Option<(&PatType, Ident)> {
    let FnArg::Typed(typed) = input else {
        return None;
    };
    let name = match &*typed.pat {
        Pat::Ident(pattern) if pattern.subpat.is_none() => pattern.ident.clone(),
        pattern => format_ident!("parameter_{number}", span = pattern.span()),
    };
    Some((typed, name))
}

/// The parameters in their three forms.
#[derive(Default)]
pub(super) struct Parameters {
    /// Of the test, with attributes.
    pub(super) outer: Vec<TokenStream>,
    /// Of the scenario.
    pub(super) inner: Vec<TokenStream>,
    pub(super) names: Vec<Ident>,
}

impl Parameters {
    pub(super) fn of(function: &ItemFn) -> Parameters {
        let mut all = Parameters::default();
        for (typed, name) in function.sig.inputs.iter().enumerate().filter_map(named) {
            let PatType { attrs, pat, ty, .. } = typed;
            let lasting = lasting(ty);
            all.outer.push(quote!(#(#attrs)* #name: #lasting));
            all.inner.push(quote!(#pat: #ty));
            all.names.push(name);
        }
        all
    }
}

/// Values last as long as the run, which has threads: references are to constants.
fn lasting(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Lasting.visit_type_mut(&mut ty);
    ty
}

struct Lasting;

impl VisitMut for Lasting {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(Lifetime::new("'static", reference.and_token.span));
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }

    // What a function takes is its own.
    fn visit_type_bare_fn_mut(&mut self, _: &mut TypeBareFn) {}

    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {
    }
}
