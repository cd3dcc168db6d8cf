//! Where toolkits come from: each source is a function from a request to a plan.

pub mod addon;
pub mod catalogue;
pub mod component;
pub mod debian;
mod each;
pub mod index;
pub mod local;
pub mod never;
pub mod nvidia;
pub mod plan;
pub mod profile;
pub mod pypi;
pub mod query;
pub mod reach;
pub mod redist;
pub mod runfile;
pub mod select;
pub mod unknown;
