//! Where the packages of cct are: the checkout that this program was built from, or what `--cct` names.

use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};

/// A checkout of cct.
#[derive(Clone, Debug)]
pub(crate) struct Home(PathBuf);

impl Home {
    /// The checkout that is asked for, or the one this program was built from.
    pub(crate) fn find(asked: Option<&Path>) -> Result<Self> {
        let folder = match asked {
            Some(folder) => std::path::absolute(folder)
                .with_context(|| format!("invalid `--cct {}`", folder.display()))?,
            None => {
                let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
                ours.parent().unwrap_or(ours).to_owned()
            }
        };
        let home = Self(folder);
        if home.facade().join("Cargo.toml").is_file() {
            return Ok(home);
        }
        let folder = home.0.display();
        match asked {
            Some(_) => bail!(
                "there is no cct in `{folder}`, as `--cct` says: expected a checkout, with a folder `cct-tokio`"
            ),
            None => bail!(
                "the checkout of cct that this command was built from, `{folder}`, is not there any more: \
                 say with `--cct PATH` where one is"
            ),
        }
    }

    /// The root of the checkout.
    pub(crate) fn root(&self) -> &Path {
        &self.0
    }

    /// The package that stands in for tokio.
    pub(crate) fn facade(&self) -> PathBuf {
        self.0.join("cct-tokio")
    }
}
