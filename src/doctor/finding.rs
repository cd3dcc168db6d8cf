//! What a check finds: one sentence, what shows it, what mends it, and which other findings follow from it.

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// It may fail, or fails for some programs.
    Warning,
    /// It fails.
    Problem,
}

impl Severity {
    /// The word for people and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// A layer of the chain, from the kernel up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The NVIDIA driver.
    Driver,
    /// The GPUs.
    Gpu,
    /// The CUDA toolkits.
    Toolkit,
    /// The environment variables.
    Environment,
    /// The host compiler and the C library.
    Compiler,
    /// The Python frameworks.
    Framework,
    /// cuDNN, NCCL and what the loader finds.
    Libraries,
    /// Build directories, caches, disk space.
    Builds,
}

impl Layer {
    /// All layers, in the order of the chain.
    pub const ALL: [Self; 8] = [
        Self::Driver,
        Self::Gpu,
        Self::Toolkit,
        Self::Environment,
        Self::Compiler,
        Self::Framework,
        Self::Libraries,
        Self::Builds,
    ];

    /// The word for people, JSON and `--only`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Gpu => "gpu",
            Self::Toolkit => "toolkit",
            Self::Environment => "environment",
            Self::Compiler => "compiler",
            Self::Framework => "framework",
            Self::Libraries => "libraries",
            Self::Builds => "builds",
        }
    }
}

/// One thing that a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its stable name, such as `driver-too-old`; `explain CODE` prints its page.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The layer that it belongs to.
    pub layer: Layer,
    /// What does not fit, in one sentence that a beginner understands.
    pub sentence: String,
    /// What shows it, each with the file or program that said so.
    pub evidence: Vec<String>,
    /// What mends it: a command to paste, or advice where there is none; the best first.
    pub remedy: Vec<String>,
    /// The codes of findings that follow from this one and go with it.
    pub explains: Vec<&'static str>,
}

impl Finding {
    /// A finding without evidence and remedy.
    pub fn new(severity: Severity, layer: Layer, code: &'static str, sentence: impl Into<String>) -> Self {
        let (evidence, remedy, explains) = (Vec::new(), Vec::new(), Vec::new());
        Self { code, severity, layer, sentence: sentence.into(), evidence, remedy, explains }
    }

    /// Adds what shows it.
    #[must_use]
    pub fn seen(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }

    /// Adds what mends it.
    #[must_use]
    pub fn mend(mut self, remedy: impl Into<String>) -> Self {
        self.remedy.push(remedy.into());
        self
    }

    /// Says which findings follow from it.
    #[must_use]
    pub fn explaining(mut self, codes: &[&'static str]) -> Self {
        self.explains.extend_from_slice(codes);
        self
    }
}
