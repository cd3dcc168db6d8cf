//! Machines for the tests of checks.

use super::{Builds, Follows, HostCompiler, Inside, Machine, Nvcc, Toolkits};
use crate::facts::Fact;
use crate::facts::driver::Driver;
use crate::facts::libraries::Libraries;
use crate::facts::loader::Loader;
use crate::facts::platform::Platform;
use crate::toolkit::host_compiler::{Compiler, Family, Limits};
use cudaup_core::environment::Vars;
use cudaup_core::identity::Identity;
use cudaup_core::inventory::{Kind, Toolkit};
use cudaup_core::pin::Settings;
use cudaup_core::refusal::Rule;
use cudaup_core::request::Request;
use cudaup_core::resolve::Choice;
use cudaup_core::version::Version;
use std::path::{Path, PathBuf};

impl Machine {
    /// A machine with nothing of CUDA, in which nothing is wrong.
    pub fn bare() -> Self {
        Self {
            platform: Platform::default(),
            driver: Driver::default(),
            gpus: Fact::Absent,
            toolkits: Toolkits {
                chosen: Ok(None),
                found: Vec::new(),
                nvcc: Vec::new(),
                root: None,
                inside: None,
                follows: Follows::default(),
                moved: None,
            },
            compiler: HostCompiler::default(),
            python: None,
            loader: Loader::default(),
            libraries: Libraries::default(),
            vars: Vars::default(),
            lists: Vec::new(),
            roots: Vec::new(),
            builds: Builds::default(),
            places: Vec::new(),
        }
    }

    /// The same with a whole toolkit in `/usr/local/cuda-X.Y`, its nvcc first on PATH, and g++ 12, which it takes.
    pub fn with_toolkit(release: &str) -> Self {
        let version = Version::parse(release).unwrap();
        let root = PathBuf::from(format!("/usr/local/cuda-{}.{}", version.major, version.minor.unwrap()));
        let identity = Identity::certain(version);
        let gcc = |name: &str| Compiler {
            name: name.into(),
            path: Path::new("/usr/bin").join(name),
            family: Family::Gcc,
            version: "12.2.0".into(),
            major: 12,
        };
        let mut machine = Self::bare();
        machine.toolkits.nvcc = vec![Nvcc {
            path: root.join("bin/nvcc"),
            root: Some(root.clone()),
            identity: Some(identity.clone()),
            other_machine: None,
        }];
        machine.toolkits.inside =
            Some(Inside { nvcc: true, program: true, header: true, runtime: true, mixed: false, math: None });
        machine.toolkits.root = Some(root.clone());
        machine.toolkits.chosen = Ok(Some(Choice {
            toolkit: Toolkit { root, kind: Kind::System, identity },
            rule: Rule::Machine,
            request: Request::System,
            settings: Settings::default(),
            addons: Vec::new(),
        }));
        machine.compiler = HostCompiler {
            limits: Some(Limits::parse(
                "#if __GNUC__ > 13\n#error -- unsupported GNU version! gcc versions later than 13 are not supported!\n#endif\n",
            )),
            taken: Some(gcc("gcc")),
            by: "gcc on PATH".into(),
            links: Some(gcc("g++")),
            ..HostCompiler::default()
        };
        machine
    }
}
