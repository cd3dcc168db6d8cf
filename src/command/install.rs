//! `cudaup install [VERSION...]`: puts toolkits beside those that are there.

use crate::command::library::{self, Typed};
use crate::command::{Context, Outcome, order, refused, system};
use crate::failure::{Exit, Failure};
use crate::install::Answer;
use crate::install::addon::{AddonAnswer, AddonOrder};
use crate::install::decide::Order;
use crate::install::place::Place;
use crate::source::addon::names as addon_sources;
use crate::source::local::Origin;
use crate::source::plan::Platform;
use crate::source::select;
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use clap::builder::PossibleValuesParser;
use cudaup_core::inventory::Toolkit;
use cudaup_core::request::Request;
use cudaup_core::resolve::{asked, meet_toolkit};
use cudaup_core::version::Version;
use serde_json::{Value, json};
use std::ffi::OsString;

/// Install toolkits side by side, without root; with --system for all users.
///
/// Without a version: the one that the .cuda-version file here, or your default, asks for.
#[derive(Debug, Arguments)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub struct Args {
    /// 13, 13.0, 13.0.3 or latest
    versions: Vec<String>,
    /// How much of it: what compiling needs, the libraries too (`default`, where nothing is said), or everything
    #[arg(long, value_parser = PossibleValuesParser::new(["minimal", "default", "full"]))]
    profile: Option<String>,
    /// Only these and what they need, such as nvcc,cudart,cublas; with --profile: these too
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    components: Vec<String>,
    /// Libraries that go with it, such as cudnn or cudnn=9.8,nccl
    #[arg(long, value_name = "NAME[=VERSION]", value_delimiter = ',')]
    with: Vec<String>,
    /// Install a newer one that fits, where one is there already
    #[arg(long)]
    upgrade: bool,
    /// Where from
    #[arg(long, value_parser = PossibleValuesParser::new(select::names()), default_value = select::AUTO)]
    source: String,
    /// Install from this instead: an unpacked toolkit, an archive of one, NVIDIA's .run file, a folder of NVIDIA's
    /// redistributable archives, what `cudaup mirror` made, or the address of an archive
    #[arg(long, value_name = "PATH_OR_URL", conflicts_with = "source")]
    from: Option<OsString>,
    /// For all users of this machine: into /usr/local/cuda-X.Y
    #[arg(long, conflicts_with = "with")]
    system: bool,
    /// For another machine than this one: linux-x86_64, linux-sbsa (Arm servers), linux-aarch64 (Jetson)
    #[arg(long, value_parser = PossibleValuesParser::new(Platform::ALL.map(Platform::name)))]
    platform: Option<String>,
    /// Do not try whether it compiles and links a program
    #[arg(long)]
    no_verify: bool,
    /// Only say what would be loaded
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing (install never asks; taken for the habit's sake)
    #[arg(short, long, hide = true)]
    yes: bool,
}

#[derive(Default)]
struct Results {
    toolkits: Vec<Answer>,
    addons: Vec<AddonAnswer>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        if self.from.as_ref().is_some_and(|from| from.is_empty()) {
            return Err(order::empty("--from", "a path or an address")
                .hint("cudaup install --from PATH_OR_URL   (without --from: from the network)"));
        }
        if self.system {
            match system::allowed(context, &self.words()) {
                Err(failure) if self.dry_run => {
                    context.talk.say(&format!("note: {failure}"));
                    failure.tries.iter().for_each(|next| context.talk.say(&format!("try: {next}")));
                }
                allowed => allowed?,
            }
        }
        let with = self.with(context)?;
        let mut results = Results::default();
        let done = match self.toolkit_at_hand(context, &with)? {
            Some(toolkit) => {
                let cuda = Some(toolkit.identity.version.major);
                results.toolkits.push(Answer::Present(toolkit));
                self.add(context, &with, cuda, &mut results)
            }
            None => self.install(context, &self.orders(context)?, &with, &mut results),
        };
        let Err(failure) = done else { return Ok(Outcome::View(Box::new(results))) };
        let style = Style { color: false, user_home: context.host.user_home.clone() };
        for line in results.human(&style).lines() {
            context.talk.say(line);
        }
        Err(failure)
    }

    fn install(
        &self,
        context: &Context,
        orders: &[Order],
        with: &[Typed],
        results: &mut Results,
    ) -> Result<(), Failure> {
        for wanted in orders {
            let answer = order::carry_out(context, wanted)?;
            let cuda = major(&answer);
            results.toolkits.push(answer);
            self.add(context, with, cuda, results)?;
        }
        Ok(())
    }

    /// Installs what goes with a toolkit.
    fn add(
        &self,
        context: &Context,
        with: &[Typed],
        cuda: Option<u32>,
        results: &mut Results,
    ) -> Result<(), Failure> {
        for (library, version) in with {
            let order = AddonOrder {
                library: Some(library),
                version: version.clone(),
                cuda,
                here: None,
                source: addon_sources().find(|name| *name == self.source).unwrap_or(select::AUTO),
                from: None,
                platform: self.platform.as_deref().and_then(Platform::parse),
                upgrade: self.upgrade,
                dry_run: self.dry_run,
            };
            results.addons.push(library::carry_out(context, &order)?);
        }
        Ok(())
    }

    /// The libraries that are named here, and where no version is, those that the rules ask for in this directory.
    fn with(&self, context: &Context) -> Result<Vec<Typed>, Failure> {
        if self.with.iter().any(|text| text.trim().is_empty()) {
            return Err(
                order::empty("--with", "names of libraries").hint("cudaup install VERSION --with cudnn,nccl")
            );
        }
        let mut with: Vec<Typed> =
            self.with.iter().map(|text| library::typed(text)).collect::<Result<_, _>>()?;
        if self.versions.is_empty()
            && self.from.is_none()
            && !self.system
            && let Ok(Some(asked)) = asked(&context.world(), None)
        {
            for wish in asked.settings.addons.into_iter().filter(|w| w.version.is_some()) {
                if !with.iter().any(|(named, _)| *named == wish.library) {
                    with.push((wish.library, wish.version));
                }
            }
        }
        Ok(with)
    }

    /// The toolkit that is asked for in this directory and never installed, where it is at hand: a linked one, or, where
    /// libraries go with it, the machine's own.
    fn toolkit_at_hand(&self, context: &Context, with: &[Typed]) -> Result<Option<Toolkit>, Failure> {
        let world = context.world();
        let Ok(Some(asked)) = asked(&world, None) else { return Ok(None) };
        let linked = matches!(asked.request, Request::Link(_));
        let systems = asked.request == Request::System && !with.is_empty();
        if !self.versions.is_empty() || self.from.is_some() || self.system || !(linked || systems) {
            return Ok(None);
        }
        match meet_toolkit(&world, asked) {
            Ok(choice) => Ok(Some(choice.toolkit)),
            Err(_) if linked => Ok(None),
            Err(refusal) => Err(refused(&refusal)),
        }
    }

    fn orders(&self, context: &Context) -> Result<Vec<Order>, Failure> {
        if self.versions.is_empty() && self.from.is_some() {
            return Ok(vec![self.order(context, None, &self.components)?]);
        }
        if self.versions.is_empty() {
            return Ok(vec![self.asked_for_here(context)?]);
        }
        let mut orders: Vec<Order> = Vec::new();
        for text in &self.versions {
            let order = self.order(context, order::version(read(context, text)?)?, &self.components)?;
            if !orders.iter().any(|o| o.request == order.request) {
                orders.push(order);
            }
        }
        Ok(orders)
    }

    /// What the rules ask for in this directory.
    fn asked_for_here(&self, context: &Context) -> Result<Order, Failure> {
        let asked = asked(&context.world(), None).map_err(|r| refused(&r))?.ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                "no version is given, and neither a .cuda-version file nor your default asks for one",
            )
            .hint("cudaup install latest")
            .hint("cudaup install 13.0")
        })?;
        context.talk.say(&format!("{} asks for {}", asked.rule, asked.request));
        let components =
            if self.components.is_empty() { &asked.settings.components } else { &self.components };
        self.order(context, order::version(asked.request)?, components)
    }

    fn order(
        &self,
        context: &Context,
        request: Option<Version>,
        components: &[String],
    ) -> Result<Order, Failure> {
        let wish = order::wish(self.profile.as_deref(), components)?;
        Ok(Order {
            request,
            amount_given: self.profile.is_some() || !wish.components.is_empty(),
            wish,
            upgrade: self.upgrade,
            verify: !self.no_verify,
            dry_run: self.dry_run,
            from: self.from.as_deref().map(|from| Origin::read(from, context.host.cwd.as_deref())),
            platform: self.platform.as_deref().and_then(Platform::parse),
            source: select::names().find(|name| *name == self.source).unwrap_or(select::AUTO),
            place: if self.system { Place::System } else { Place::Home },
        })
    }

    /// The command as it can be typed again.
    fn words(&self) -> Vec<String> {
        let mut words = vec!["install".to_owned(), "--system".to_owned()];
        words.extend(self.versions.iter().cloned());
        let components = Some(self.components.join(",")).filter(|names| !names.is_empty());
        let source = Some(self.source.clone()).filter(|source| source != select::AUTO);
        let from = self.from.as_ref().map(|from| from.to_string_lossy().into_owned());
        let options = [
            ("--profile", &self.profile),
            ("--components", &components),
            ("--source", &source),
            ("--from", &from),
            ("--platform", &self.platform),
        ];
        for (option, value) in options {
            words.extend(value.iter().flat_map(|value| [option.to_owned(), value.clone()]));
        }
        words.extend(self.upgrade.then(|| "--upgrade".to_owned()));
        words.extend(self.no_verify.then(|| "--no-verify".to_owned()));
        words
    }
}

/// What was typed as a version.
fn read(context: &Context, text: &str) -> Result<Request, Failure> {
    context.request(text).map_err(|failure| match failure.tries.as_slice() {
        [] => {
            failure.hint("cudaup install latest").hint("cudaup list --remote   (the versions that there are)")
        }
        _ => failure,
    })
}

/// The CUDA major of what an order came to.
fn major(answer: &Answer) -> Option<u32> {
    match answer {
        Answer::Present(toolkit) => Some(toolkit.identity.version.major),
        Answer::Planned(plan, _) => Some(plan.version.major),
        Answer::Installed(installed) => Version::parse(&installed.receipt.version).map(|v| v.major),
    }
}

impl View for Results {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        let rows: Vec<Value> = self.toolkits.iter().map(view::row).collect();
        let addons: Vec<Value> = self.addons.iter().map(library::row).collect();
        json!({ "toolkits": rows, "addons": addons })
    }

    fn human(&self, style: &Style) -> String {
        let addons = self.addons.iter().map(|answer| library::text(answer, style));
        addons.chain(self.toolkits.iter().map(|answer| view::text(answer, style))).collect()
    }
}

mod view;

#[cfg(test)]
mod tests;
