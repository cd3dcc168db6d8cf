//! What a misspelled word was meant to be.

/// The name that is nearest to a word, where one is near: a letter in three may be wrong, left out, added, or change
/// places with the next.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let near = |name: &'a str| {
        let most = name.chars().count().max(word.chars().count()) / 3;
        let far = distance(&word, &name.to_ascii_lowercase());
        // `nsys` is not what `nv` was to be, and `nvcc` is what `nvc` was.
        (far <= most).then_some((far, name))
    };
    // Of two that are as near, the first letter is seldom the wrong one.
    let begins = |name: &str| word.chars().next() != name.chars().next().map(|c| c.to_ascii_lowercase());
    names.into_iter().filter_map(near).min_by_key(|(far, name)| (*far, begins(name))).map(|(_, name)| name)
}

/// How many letters have to be changed, taken out, put in or swapped with the next.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    let mut last = None;
    for (i, letter) in from.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, other) in to.iter().enumerate() {
            let at = |cells: &[usize], index: usize| cells.get(index).copied().unwrap_or(usize::MAX - 1);
            let changed = at(&row, j) + usize::from(letter != *other);
            let mut best = changed.min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            let crossed =
                j.checked_sub(1).is_some_and(|k| to.get(k) == Some(&letter)) && last == Some(*other);
            if let Some(k) = j.checked_sub(1).filter(|_| crossed) {
                best = best.min(at(&before, k) + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(letter);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn changes_are_counted() {
        for (from, to, count) in [
            ("", "", 0),
            ("", "abc", 3),
            ("nvcc", "nvcc", 0),
            ("nvc", "nvcc", 1),
            ("nvvc", "nvcc", 1),
            ("ncvc", "nvcc", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("abc", "ca", 3),
        ] {
            assert_eq!(distance(from, to), count, "{from} {to}");
        }
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["nvcc", "nvvp", "cuda-gdb", "host_compiler", "cpath", "zsh", "fish"];
        for (word, meant) in [
            ("nvc", Some("nvcc")),
            ("NVCC", Some("nvcc")),
            ("cuda_gdb", Some("cuda-gdb")),
            ("host_compilr", Some("host_compiler")),
            ("hostcompiler", Some("host_compiler")),
            ("path", Some("cpath")),
            ("fsh", Some("fish")),
            ("gcc", None),
            ("x", None),
            ("", None),
            ("make", None),
        ] {
            assert_eq!(nearest(word, names), meant, "{word}");
        }
    }
}
