//! Finds the intended name of a misspelt one.

/// Characters of a name that are compared; a longer name has no nearest candidate.
const MAX_CHARACTERS: usize = 64;

/// Candidates that are compared.
const MAX_CANDIDATES: usize = 256;

/// The candidate nearest to `name`, if at most a third of the characters differ.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl Iterator<Item = &'c str>,
) -> Option<&'c str> {
    let name: Vec<char> = folded(name)?;
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.take(MAX_CANDIDATES) {
        let Some(characters) = folded(candidate) else {
            continue;
        };
        let distance = distance(&name, &characters);
        let allowed = name.len().max(characters.len()) / 3;
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The name in one case, without separators such as `_` and `-`.
fn folded(name: &str) -> Option<Vec<char>> {
    if name.len() > MAX_CHARACTERS {
        return None;
    }
    let characters = name
        .chars()
        .filter(|character| !matches!(character, '_' | '-' | ' '));
    let characters: Vec<char> = characters.flat_map(char::to_lowercase).collect();
    (!characters.is_empty()).then_some(characters)
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two names.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, &character) in from.iter().enumerate() {
        let mut current = vec![row.saturating_add(1)];
        for (column, &other) in to.iter().enumerate() {
            let at =
                |cells: &[usize], index: usize| cells.get(index).copied().unwrap_or(usize::MAX);
            let next = column.saturating_add(1);
            let replaced = at(&last, column).saturating_add(usize::from(character != other));
            let deleted = at(&last, next).saturating_add(1);
            let inserted = at(&current, column).saturating_add(1);
            let mut cost = replaced.min(deleted).min(inserted);
            if is_swap(from, row, to, column) {
                let before = column.saturating_sub(1);
                cost = cost.min(at(&before_last, before).saturating_add(1));
            }
            current.push(cost);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or(from.len())
}

fn is_swap(from: &[char], row: usize, to: &[char], column: usize) -> bool {
    let previous = |names: &[char], index: usize| {
        let index = index.checked_sub(1)?;
        names.get(index).copied()
    };
    row > 0
        && column > 0
        && from.get(row).copied() == previous(to, column)
        && previous(from, row) == to.get(column).copied()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[track_caller]
    fn finds(name: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(
            nearest(name, candidates.iter().copied()),
            expected,
            "{name}"
        );
    }

    #[test]
    fn the_nearest_of_several_is_found() {
        finds(
            "operatoin",
            &["operand", "operation", "options"],
            Some("operation"),
        );
        finds("user_name", &["name", "userName"], Some("userName"));
        finds("colour", &["color", "flavour"], Some("color"));
        finds("abc", &["acb"], Some("acb"));
    }

    #[test]
    fn names_that_are_not_near_are_not_offered() {
        finds("x", &["operation", "y1", "y"], None);
        finds("ab", &["ba", "ac"], None);
        finds("", &["a"], None);
        finds("_", &["a"], None);
        finds(&"a".repeat(65), &["a"], None);
    }
}
