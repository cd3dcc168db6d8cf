//! The variables of a process, and what turns one environment into another.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// The variables of a process. A shim holds several environments that differ in a few variables: they share the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vars(Vec<Arc<Variable>>);

/// A name and a value; in [`Vars`] in the order of the names.
type Variable = (OsString, OsString);

impl Vars {
    fn place(&self, name: &OsStr) -> Result<usize, usize> {
        self.0.binary_search_by(|variable| variable.0.as_os_str().cmp(name))
    }

    /// The value of a variable that is set, perhaps to nothing.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        let at = self.place(OsStr::new(name)).ok()?;
        self.0.get(at).map(|variable| variable.1.as_os_str())
    }

    /// Sets a variable, or unsets it.
    pub fn put(&mut self, name: &str, value: Option<OsString>) {
        let place = self.place(OsStr::new(name));
        let variable = value.map(|value| Arc::new((name.into(), value)));
        match (place, variable) {
            (Ok(at), Some(variable)) => self.0.splice(at..=at, [variable]).for_each(drop),
            (Err(at), Some(variable)) => self.0.insert(at, variable),
            (Ok(at), None) => drop(self.0.remove(at)),
            (Err(_), None) => {}
        }
    }

    /// All variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter().map(|variable| (&variable.0, &variable.1))
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Vars {
    /// Of a name that comes twice the last value counts.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut all: Vec<Arc<Variable>> =
            pairs.into_iter().map(|(n, v)| Arc::new((n.into(), v.into()))).collect();
        all.reverse();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all.dedup_by(|later, first| later.0 == first.0);
        Self(all)
    }
}

/// One variable that has to change: its new value, or `None` to unset it.
pub type Change = (String, Option<OsString>);

/// What turns one environment into another, in the order of the names. Names that are not Unicode are never ours.
pub fn changes(from: &Vars, to: &Vars) -> Vec<Change> {
    let (mut old, mut new) = (from.0.iter().peekable(), to.0.iter().peekable());
    let mut all = Vec::new();
    let mut push = |name: &OsString, value: Option<&OsString>| {
        all.extend(name.to_str().map(|name| (name.to_owned(), value.cloned())));
    };
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(old), Some(new)) if Arc::ptr_eq(old, new) => None,
            (Some(old), Some(new)) => Some(old.0.cmp(&new.0)),
            (Some(_), None) => Some(Ordering::Less),
            (None, Some(_)) => Some(Ordering::Greater),
            (None, None) => return all,
        };
        match order {
            Some(Ordering::Less) => old.next().into_iter().for_each(|gone| push(&gone.0, None)),
            Some(Ordering::Greater) => new.next().into_iter().for_each(|come| push(&come.0, Some(&come.1))),
            Some(Ordering::Equal) | None => {
                if let (Some(old), Some(new)) = (old.next(), new.next())
                    && order.is_some()
                    && old.1 != new.1
                {
                    push(&new.0, Some(&new.1));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars(pairs: &[(&str, &str)]) -> Vars {
        pairs.iter().copied().collect()
    }

    #[test]
    fn the_last_value_of_a_name_counts() {
        let vars = vars(&[("b", "1"), ("a", "2"), ("b", "3")]);
        assert_eq!(
            (vars.get("a"), vars.get("b"), vars.get("c")),
            (Some(OsStr::new("2")), Some(OsStr::new("3")), None)
        );
        let names: Vec<&OsString> = vars.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn what_turns_one_into_another() {
        let from = vars(&[("a", "1"), ("b", "2"), ("c", ""), ("e", "5")]);
        let mut to = from.clone();
        to.put("b", None);
        to.put("c", Some("3".into()));
        to.put("d", Some("4".into()));
        to.put("e", Some("5".into()));
        to.put("z", None);
        let all = changes(&from, &to);
        let is = |name: &str, value: Option<&str>| (name.to_owned(), value.map(OsString::from));
        assert_eq!(all, [is("b", None), is("c", Some("3")), is("d", Some("4"))]);
        assert_eq!(changes(&to, &from), [is("b", Some("2")), is("c", Some("")), is("d", None)]);
        assert_eq!(changes(&from, &from.clone()), []);
    }
}
