//! Runs the checks, and puts the cause before what follows from it.

use super::checks::CHECKS;
use super::finding::{Finding, Layer, Severity};
use super::machine::Machine;

/// What was found: causes in the order in which they are to be read, each with the findings that follow from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// The causes.
    pub causes: Vec<Cause>,
}

/// A finding that follows from no other, and those that follow from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The finding.
    pub finding: Finding,
    /// What goes with it.
    pub consequences: Vec<Finding>,
}

/// Looks at a machine; with `only`, at some layers of it.
pub fn diagnose(machine: &Machine, only: &[Layer]) -> Diagnosis {
    let found: Vec<Finding> = CHECKS.iter().flat_map(|check| check(machine)).collect();
    order(&found, only)
}

/// Puts findings in order. What another one explains goes below it, also where the layers that were asked for hold only the
/// consequence: then the cause is shown with it.
pub fn order(found: &[Finding], only: &[Layer]) -> Diagnosis {
    let explained_by: Vec<Option<usize>> = found.iter().map(|finding| cause_of(finding, found)).collect();
    let root = |mut at: usize| {
        // A circle of explanations ends where it began.
        for _ in 0..found.len() {
            match explained_by.get(at).copied().flatten() {
                Some(cause) => at = cause,
                None => break,
            }
        }
        at
    };
    let roots: Vec<usize> = (0..found.len()).map(root).collect();
    let wanted = |layer: Layer| only.is_empty() || only.contains(&layer);
    let mut causes: Vec<Cause> = Vec::new();
    for (at, finding) in found.iter().enumerate() {
        if roots.get(at) != Some(&at) {
            continue;
        }
        let following = found.iter().enumerate().filter(|(n, _)| *n != at && roots.get(*n) == Some(&at));
        let consequences: Vec<Finding> = following.map(|(_, f)| f.clone()).collect();
        if wanted(finding.layer) || consequences.iter().any(|f| wanted(f.layer)) {
            causes.push(Cause { finding: finding.clone(), consequences });
        }
    }
    // Worst first, and of equals the lower layer: what stands on it cannot be right while it is wrong.
    causes.sort_by_key(|cause| (std::cmp::Reverse(cause.worst()), cause.finding.layer));
    Diagnosis { causes }
}

/// The finding that explains another: the first that names its code and is at least as grave, or lies lower in the chain.
fn cause_of(finding: &Finding, found: &[Finding]) -> Option<usize> {
    found.iter().position(|other| {
        other.code != finding.code
            && other.explains.contains(&finding.code)
            && !(finding.explains.contains(&other.code) && finding.layer <= other.layer)
    })
}

impl Cause {
    /// How grave it is, with what follows from it.
    fn worst(&self) -> Severity {
        let all = self.consequences.iter().map(|finding| finding.severity);
        all.fold(self.finding.severity, Ord::max)
    }
}

impl Diagnosis {
    /// All findings, causes first and each followed by its consequences.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.causes.iter().flat_map(|cause| std::iter::once(&cause.finding).chain(&cause.consequences))
    }

    /// How many findings there are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings().filter(|finding| finding.severity == severity).count()
    }

    /// The gravest finding of a layer.
    pub fn worst(&self, layer: Layer) -> Option<Severity> {
        self.findings().filter(|finding| finding.layer == layer).map(|finding| finding.severity).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: Severity, layer: Layer, code: &'static str, explains: &[&'static str]) -> Finding {
        Finding::new(severity, layer, code, code).explaining(explains)
    }

    fn codes(diagnosis: &Diagnosis) -> Vec<(&str, Vec<&str>)> {
        let codes = |all: &[Finding]| all.iter().map(|f| f.code).collect();
        diagnosis.causes.iter().map(|cause| (cause.finding.code, codes(&cause.consequences))).collect()
    }

    #[test]
    fn the_cause_comes_first_with_all_that_follows() {
        use Severity::{Note, Problem, Warning};
        let found = vec![
            finding(Note, Layer::Driver, "note", &[]),
            finding(Problem, Layer::Framework, "third", &[]),
            finding(Problem, Layer::Gpu, "second", &["third"]),
            finding(Warning, Layer::Builds, "other", &[]),
            finding(Problem, Layer::Driver, "first", &["second", "absent"]),
        ];
        let all = order(&found, &[]);
        assert_eq!(codes(&all), [("first", vec!["third", "second"]), ("other", vec![]), ("note", vec![])]);
        assert_eq!((all.count(Problem), all.count(Warning), all.count(Note)), (3, 1, 1));
        assert_eq!((all.worst(Layer::Gpu), all.worst(Layer::Toolkit)), (Some(Problem), None));
        assert_eq!(codes(&order(&found, &[Layer::Framework])), [("first", vec!["third", "second"])]);
        assert_eq!(codes(&order(&found, &[Layer::Builds])), [("other", vec![])]);
    }

    #[test]
    fn circles_end() {
        let found = vec![
            finding(Severity::Problem, Layer::Gpu, "b", &["a"]),
            finding(Severity::Problem, Layer::Driver, "a", &["b"]),
        ];
        assert_eq!(codes(&order(&found, &[])), [("a", vec!["b"])]);
    }
}
