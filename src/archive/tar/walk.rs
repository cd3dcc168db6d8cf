//! Going through an archive without unpacking it, within the same bounds.

use super::Tar;
use crate::archive::{Error, guard};
use std::io::Read;
use std::ops::ControlFlow;

/// An entry that is passed by.
pub struct Member<'m> {
    /// Its name, as unpacking would take it.
    pub name: String,
    /// Whether it is a file.
    pub is_file: bool,
    /// The bytes that it says it has.
    pub size: u64,
    /// Its bytes, and no more.
    pub bytes: &'m mut dyn Read,
}

impl Tar<'_> {
    /// Shows every entry with a plain name to `look`, until that has seen enough; `None`: it never had.
    pub fn walk<B>(
        mut self,
        mut look: impl FnMut(Member<'_>) -> Result<ControlFlow<B>, Error>,
    ) -> Result<Option<B>, Error> {
        while let Some(entry) = self.next()? {
            let mut left = entry.size;
            if let Ok(name) = guard::name(&entry.name) {
                let is_file = matches!(entry.kind, b'0' | 0 | b'7') && !entry.name.ends_with(b"/");
                let mut bytes = self.stream.by_ref().take(entry.size);
                let member = Member { name, is_file, size: entry.size, bytes: &mut bytes };
                if let ControlFlow::Break(seen) = look(member)? {
                    return Ok(Some(seen));
                }
                left = bytes.limit();
            }
            if left == entry.size {
                self.pass(left)?;
            } else {
                self.stream.skip(left).map_err(|e| self.whole(crate::failure::plain_io(&e)))?;
                self.pad(entry.size)?;
            }
        }
        Ok(None)
    }
}
