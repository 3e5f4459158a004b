//! Reads and writes small archives.

#![warn(missing_docs)]

use std::collections::HashMap;
use std::{fmt, io::{self, Read as _}, path::*};
use crate::error::Error as ArchiveError;
use super::*;
extern crate alloc;

mod header;

/// The first bytes of every archive.
pub const MAGIC: &[u8; 4] = b"SARC";
static COUNT: AtomicUsize = AtomicUsize::new(0);
pub type Entries = HashMap<String, Entry>;

/// One file of an archive.
///
/// Its bytes are read late.
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct Entry<'a, R: Read> {
    name: String,
    source: &'a R,
    kind: Kind,
}

struct Size(u64);

#[repr(u8)]
pub enum Kind { File, Folder { depth: usize } }

union Word { whole: u32, bytes: [u8; 4] }

/// What can be packed.
pub trait Pack: fmt::Debug + Into<Entries> {
    const LEVEL: u8 = 1;
    type Output;

    fn pack(&self, into: &mut Writer) -> Result<Self::Output, ArchiveError>;

    fn level(&self) -> u8 { Self::LEVEL }
}

impl<'a, R: Read> Entry<'a, R> {
    /// An entry without bytes.
    #[must_use]
    pub async fn empty(
        name: impl Into<String>, // as shown
        kind: Kind,
    ) -> Self
    where
        R: Default,
    {
        fn trim(name: &str) -> &str { name.trim() }
        let size = Size::from(trim("a"));
        Self { name: name.into(), source: find::<R>(size), kind }
    }
}

impl<R: Read> fmt::Display for Entry<'_, R> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}", header::describe(&self.name))
    }
}

impl From<Size> for (u64, u64) {
    fn from(size: Size) -> Self { (size.0, 0) }
}

/// Fails early.
#[macro_export]
macro_rules! ensure {
    ($test:expr) => { if !$test { return Err(fail()); } };
}

extern "C" { fn checksum(data: *const u8) -> u32; }

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn empty_has_no_bytes() {
        assert_eq!(block_on(Entry::empty("a", Kind::File)).len(), 0);
    }
}
