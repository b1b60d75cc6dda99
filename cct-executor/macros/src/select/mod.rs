//! `select!`: grammar in `parse`, rewriting in `expand`, patterns in `pattern`.

mod expand;
mod parse;
mod pattern;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Token};

/// The expansion, or a `compile_error!` in a block, as the macro stands for an expression.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    match syn::parse2::<parse::Select>(input) {
        Ok(select) => expand::expand(&select),
        Err(error) => {
            let error = error.into_compile_error();
            quote!({ #error })
        }
    }
}

/// The path of `cct-executor`, as the wrapping macro hands it over: its `$crate`.
pub(crate) struct CratePath(TokenStream);

impl Parse for CratePath {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input
            .parse::<TokenTree>()
            .map(|token| CratePath(token.into()))
    }
}

impl quote::ToTokens for CratePath {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.clone());
    }
}

/// Takes `biased;` if the input starts with it. A pattern may also be called `biased`.
pub(crate) fn parse_biased(input: ParseStream<'_>) -> syn::Result<bool> {
    let ahead = input.fork();
    let found = ahead.parse::<Ident>().is_ok_and(|ident| ident == "biased");
    if found && ahead.peek(Token![;]) {
        input.parse::<Ident>()?;
        input.parse::<Token![;]>()?;
        return Ok(true);
    }
    Ok(false)
}
