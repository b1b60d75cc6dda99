//! Patterns that only look.

use syn::Pat;
use syn::visit_mut::{self, VisitMut};

/// The pattern without `ref` and `mut`, to be matched against a reference to the output: whether
/// it matches must be known before the output is moved into the handler.
pub(super) fn looking_only(pattern: &Pat) -> Pat {
    let mut pattern = pattern.clone();
    Looking.visit_pat_mut(&mut pattern);
    pattern
}

struct Looking;

impl VisitMut for Looking {
    fn visit_pat_ident_mut(&mut self, pattern: &mut syn::PatIdent) {
        pattern.by_ref = None;
        pattern.mutability = None;
        visit_mut::visit_pat_ident_mut(self, pattern);
    }

    fn visit_pat_reference_mut(&mut self, pattern: &mut syn::PatReference) {
        pattern.mutability = None;
        visit_mut::visit_pat_reference_mut(self, pattern);
    }

    /// What a constant is computed with stays as it is.
    fn visit_expr_const_mut(&mut self, _: &mut syn::ExprConst) {}
}
