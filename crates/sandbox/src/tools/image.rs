//! Which files pi takes for images.

/// Bytes needed to tell.
pub(super) const SNIFF_BYTES: usize = 4_100;
const PNG: &[u8] = &[0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];

/// The MIME type of an image by its first bytes.
pub(super) fn mime_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        return (bytes.get(3) != Some(&0xf7)).then_some("image/jpeg");
    }
    if bytes.starts_with(PNG) {
        let header = bytes.get(8..16)?;
        let is_png = header.ends_with(b"IHDR") && big(header) == Some(13);
        return (is_png && !is_animated(bytes)).then_some("image/png");
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        return Some("image/gif");
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    is_bitmap(bytes).then_some("image/bmp")
}

fn big(bytes: &[u8]) -> Option<usize> {
    usize::try_from(u32::from_be_bytes(*bytes.first_chunk()?)).ok()
}

fn is_animated(bytes: &[u8]) -> bool {
    let mut rest = &bytes[PNG.len()..];
    while let (Some(length), Some(kind)) = (big(rest), rest.get(4..8)) {
        if kind == b"acTL" || kind == b"IDAT" {
            return kind == b"acTL";
        }
        match rest.get(length.saturating_add(12)..) {
            Some(next) => rest = next,
            None => return false,
        }
    }
    false
}

fn is_bitmap(bytes: &[u8]) -> bool {
    let long =
        |at: usize| -> Option<u32> { Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?)) };
    let short =
        |at: usize| -> Option<u16> { Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)) };
    let check = || -> Option<bool> {
        let (size, pixels, header) = (long(2)?, long(10)?, long(14)?);
        let at = match header {
            12 => 22,
            40..=124 => 26,
            _ => return None,
        };
        let fits = pixels >= 14 + header && (size == 0 || (size >= 26 && pixels < size));
        let depth = [1, 4, 8, 16, 24, 32].contains(&short(at + 2)?);
        Some(fits && depth && short(at)? == 1)
    };
    bytes.starts_with(b"BM") && check() == Some(true)
}

#[cfg(test)]
mod tests {
    use super::mime_type;

    #[test]
    fn images_are_known_by_their_first_bytes_and_text_is_not_one() {
        let png =
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
        assert_eq!(mime_type(png), Some("image/png"));
        assert_eq!(mime_type(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(mime_type(b"GIF89a"), Some("image/gif"));
        assert_eq!(mime_type(b"RIFF....WEBPVP8 "), Some("image/webp"));
        for text in [
            "",
            "BM",
            "BMW is a maker of cars, and this is a text about it",
        ] {
            assert_eq!(mime_type(text.as_bytes()), None, "{text}");
        }
    }
}
