//! Reads the entries of a git index (versions 2 to 4) and nothing else of it.
//!
//! The index also holds what `stat` said of each file, which a plain `git status` rewrites; that is
//! not read. Format: `gitformat-index(5)`.

/// What git has staged under one path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Staged {
    pub(super) path: Vec<u8>,
    pub(super) mode: u32,
    /// SHA-1 or SHA-256 of the object.
    pub(super) object: Vec<u8>,
    /// 0, or 1 to 3 in a conflict.
    pub(super) stage: u8,
}

/// Times, device, inode, mode, owner and size, before the object.
const STAT_BYTES: usize = 40;
const MODE_AT: usize = 24;
const EXTENDED: u16 = 0x4000;
const STAGE_SHIFT: u16 = 12;

/// Reads an index; `None` if it is not one this understands (a split index, say).
pub(super) fn read(bytes: &[u8], object_bytes: usize) -> Option<Vec<Staged>> {
    let (head, mut rest) = bytes.split_at_checked(12)?;
    let version = number(head.get(4..8)?)?;
    let count = number(head.get(8..12)?)?;
    if head.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut entries = Vec::new();
    let mut previous = Vec::new();
    for _ in 0..count {
        let staged = entry(&mut rest, version, object_bytes, &previous)?;
        previous.clone_from(&staged.path);
        entries.push(staged);
    }
    let extensions = rest.get(..rest.len().checked_sub(object_bytes)?)?;
    (!is_split(extensions)).then_some(entries)
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

fn entry(rest: &mut &[u8], version: u32, object_bytes: usize, previous: &[u8]) -> Option<Staged> {
    let start = *rest;
    let stat = rest.split_off(..STAT_BYTES)?;
    let mode = number(stat.get(MODE_AT..MODE_AT + 4)?)?;
    let object = rest.split_off(..object_bytes)?.to_vec();
    let flags = u16::from_be_bytes(rest.split_off(..2)?.try_into().ok()?);
    if flags & EXTENDED != 0 {
        rest.split_off(..2)?;
    }
    let mut path = Vec::new();
    if version == 4 {
        let kept = previous.len().checked_sub(prefix_cut(rest)?)?;
        path.extend(previous.get(..kept)?);
    }
    let end = rest.iter().position(|byte| *byte == 0)?;
    path.extend(rest.split_off(..end)?);
    // Up to version 3 an entry is filled with zeros, one at least, to a multiple of 8 bytes.
    let used = start.len() - rest.len();
    let padding = if version == 4 { 1 } else { 8 - used % 8 };
    rest.split_off(..padding)?;
    let stage = (flags >> STAGE_SHIFT) & 3;
    Some(Staged {
        path,
        mode,
        object,
        stage: u8::try_from(stage).ok()?,
    })
}

/// How many bytes of the previous path are dropped: git's variable-width offset.
fn prefix_cut(rest: &mut &[u8]) -> Option<usize> {
    let mut byte = *rest.split_off_first()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *rest.split_off_first()?;
        value = value.checked_add(1)?.checked_shl(7)? | usize::from(byte & 0x7f);
    }
    Some(value)
}

/// Whether the entries are only a difference to another file.
fn is_split(mut extensions: &[u8]) -> bool {
    while let Some(head) = extensions.split_off(..8) {
        if head.starts_with(b"link") {
            return true;
        }
        let length = number(&head[4..]).and_then(|length| usize::try_from(length).ok());
        if length
            .and_then(|length| extensions.split_off(..length))
            .is_none()
        {
            return false;
        }
    }
    false
}
