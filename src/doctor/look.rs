//! Gathers all facts, once; starts no process but nvidia-smi, compilers and an nvcc that nothing else names for their versions,
//! and writes nothing.

mod compiler;
mod lists;
mod toolkits;
mod traces;

use crate::doctor::machine::{Machine, Toolkits};
use crate::facts::Fact;
use crate::facts::driver::{self, Driver};
use crate::facts::gpu::{self, Gpu};
use crate::facts::{libraries, loader, platform, python};
use crate::host::Host;
use cudaup_core::environment::Vars;
use cudaup_core::home::Home;
use cudaup_core::resolve::World;
use cudaup_shim::RealDisk;
use std::path::PathBuf;
use std::thread;

/// What is looked at.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The world as it was at the start.
    pub host: &'a Host,
    /// The environment.
    pub vars: &'a Vars,
    /// The cudaup home.
    pub home: &'a Home,
    /// The file system.
    pub disk: &'a RealDisk,
}

impl<'a> Scene<'a> {
    /// What the rules look at.
    pub fn world(&self) -> World<'a> {
        World { vars: self.vars, cwd: self.host.cwd.as_deref(), home: self.home, disk: self.disk }
    }
}

/// Gathers all. Programs that take a while to answer are asked at the same time.
pub fn look(scene: &Scene) -> Machine {
    let host = scene.host;
    let (platform, (driver, gpus), python, loader, tools) = thread::scope(|threads| {
        let driver = threads.spawn(|| of_driver(host));
        let python = threads.spawn(|| python::look(host));
        let platform = threads.spawn(|| platform::look(host));
        let loader = threads.spawn(|| loader::look(host));
        let toolkits = toolkits::look(scene);
        let compiler = compiler::look(scene, &toolkits);
        // A part that broke down is as if nothing had been found there.
        (
            platform.join().unwrap_or_default(),
            driver.join().unwrap_or_default(),
            python.join().unwrap_or_default(),
            loader.join().unwrap_or_default(),
            (toolkits, compiler),
        )
    });
    let (toolkits, compiler) = tools;
    let toolkits = toolkits::with_math(toolkits, &platform, scene);
    let places = traces::places(scene);
    let libraries = libraries::look(host, scene.disk, &roots(&toolkits), python.as_ref());
    Machine {
        builds: traces::look(scene, &places),
        lists: lists::lists(scene),
        roots: lists::roots(scene),
        platform,
        driver,
        gpus,
        toolkits,
        compiler,
        python,
        loader,
        libraries,
        vars: scene.vars.clone(),
        places,
    }
}

/// nvidia-smi, and what the kernel's files say.
fn of_driver(host: &Host) -> (Driver, Fact<Vec<Gpu>>) {
    let (smi, shown) = driver::ask(host);
    let driver = driver::look(host, smi);
    let gpus = gpu::look(&driver.smi, shown, &driver.on_bus);
    (driver, gpus)
}

/// Where toolkits lie that may hold cuDNN and NCCL.
fn roots(toolkits: &Toolkits) -> Vec<PathBuf> {
    let chosen = toolkits.root.iter().cloned();
    let found = toolkits.found.iter().filter(|found| found.tree.is_some()).map(|found| found.root.clone());
    let mut all: Vec<PathBuf> = chosen.chain(found).collect();
    all.sort();
    all.dedup();
    all
}
