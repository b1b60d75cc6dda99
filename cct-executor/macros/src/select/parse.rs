//! The grammar of `select!`, which is tokio's:
//!
//! ```text
//! biased;?  ( <pattern> = <future> (, if <condition>)? => <handler> )*  ( else => <handler> )?
//! ```
//!
//! A comma follows a handler that is an expression, and may follow one that is a block.

use super::{CratePath, parse_biased};
use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprBlock, Pat, Token, braced};

/// As many as the mask of disabled branches has bits.
const BRANCHES_MAX: usize = 64;

/// Input of the hidden macro: `$crate { <select> }`.
pub(super) struct Select {
    pub(super) crate_path: CratePath,
    pub(super) biased: bool,
    pub(super) branches: Vec<Branch>,
    pub(super) otherwise: Option<Expr>,
}

pub(super) struct Branch {
    pub(super) pattern: Pat,
    pub(super) future: Expr,
    pub(super) condition: Option<Expr>,
    pub(super) handler: Expr,
}

impl Parse for Select {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let crate_path = input.parse()?;
        let content;
        braced!(content in input);
        if content.is_empty() {
            return Err(syn::Error::new(
                Span::call_site(),
                "select! requires at least one branch",
            ));
        }
        let biased = parse_biased(&content)?;
        let mut branches = Vec::new();
        let mut otherwise = None;
        while !content.is_empty() {
            if content.peek(Token![else]) {
                otherwise = Some(parse_else(&content)?);
                break;
            }
            let branch: Branch = content.parse()?;
            if branches.len() == BRANCHES_MAX {
                return Err(syn::Error::new(
                    branch.pattern.span(),
                    format!("select! takes at most {BRANCHES_MAX} branches"),
                ));
            }
            branches.push(branch);
        }
        if branches.is_empty() && otherwise.is_none() {
            return Err(syn::Error::new(
                Span::call_site(),
                "select! requires at least one branch after `biased;`",
            ));
        }
        Ok(Select {
            crate_path,
            biased,
            branches,
            otherwise,
        })
    }
}

fn parse_else(input: ParseStream<'_>) -> syn::Result<Expr> {
    let otherwise = input.parse::<Token![else]>()?;
    if !input.peek(Token![=>]) {
        return Err(syn::Error::new_spanned(
            otherwise,
            "expected `=> <handler>` after `else`",
        ));
    }
    let arrow = input.parse::<Token![=>]>()?;
    let handler = parse_handler(input, arrow)?;
    if !input.is_empty() {
        return Err(input.error("`else` must be the last branch of select!"));
    }
    Ok(handler)
}

impl Parse for Branch {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![#]) {
            return Err(input.error("a branch of select! takes no attributes"));
        }
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        expect_equals(input, &pattern)?;
        let future: Expr = input.parse()?;
        let condition = parse_condition(input, &future)?;
        if !input.peek(Token![=>]) {
            let (last, place) = match &condition {
                Some(condition) => (condition, "condition"),
                None => (&future, "future"),
            };
            return Err(error_after(
                last,
                input,
                &format!("expected `=> <handler>` after the {place} of the branch"),
            ));
        }
        let arrow = input.parse::<Token![=>]>()?;
        let handler = parse_handler(input, arrow)?;
        Ok(Branch {
            pattern,
            future,
            condition,
            handler,
        })
    }
}

fn expect_equals(input: ParseStream<'_>, pattern: &Pat) -> syn::Result<()> {
    if input.peek(Token![=]) && !input.peek(Token![=>]) && !input.peek(Token![==]) {
        input.parse::<Token![=]>()?;
        return Ok(());
    }
    let is_biased = matches!(pattern, Pat::Ident(name) if name.ident == "biased");
    Err(if is_biased && input.peek(Token![;]) {
        syn::Error::new(
            pattern.span(),
            "`biased;` goes before the first branch of select!",
        )
    } else {
        syn::Error::new_spanned(
            pattern,
            "expected `= <future>` after the pattern of the branch",
        )
    })
}

fn parse_condition(input: ParseStream<'_>, future: &Expr) -> syn::Result<Option<Expr>> {
    if input.peek(Token![if]) {
        return Err(input.error("expected `,` before the condition: `, if <condition> =>`"));
    }
    if !input.peek(Token![,]) {
        return Ok(None);
    }
    input.parse::<Token![,]>()?;
    if !input.peek(Token![if]) {
        return Err(error_after(
            future,
            input,
            "expected `=> <handler>` or `, if <condition> => <handler>` after the future of the branch",
        ));
    }
    input.parse::<Token![if]>()?;
    input.parse().map(Some)
}

/// At the next token, or at what was read last if there is none.
fn error_after(last: &Expr, input: ParseStream<'_>, message: &str) -> syn::Error {
    if input.is_empty() {
        syn::Error::new_spanned(last, message)
    } else {
        input.error(message)
    }
}

fn parse_handler(input: ParseStream<'_>, arrow: Token![=>]) -> syn::Result<Expr> {
    if input.is_empty() {
        return Err(syn::Error::new_spanned(
            arrow,
            "expected a handler after `=>`",
        ));
    }
    if input.peek(syn::token::Brace) {
        let block: Block = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        return Ok(Expr::Block(ExprBlock {
            attrs: Vec::new(),
            label: None,
            block,
        }));
    }
    let handler: Expr = input.parse()?;
    if !input.is_empty() && !input.peek(Token![,]) {
        return Err(input.error("expected `,` between a handler and the next branch"));
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(handler)
}
