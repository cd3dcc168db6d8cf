//! The pure rules of cudaup: what a version request means, which toolkit it chooses, and what the environment of that
//! toolkit is. Nothing here reads a file, a variable or a clock: callers hand in what was read, and a [`disk::Disk`].

pub mod activate;
pub mod addon;
pub mod architecture;
pub mod builds;
pub mod bundled;
pub mod debian;
pub mod dialect;
pub mod discovery;
pub mod disk;
pub mod environment;
pub mod explain;
pub mod fitness;
mod flags;
pub mod follow;
pub mod foreign;
pub mod home;
pub mod identity;
pub mod inventory;
mod json;
pub mod layout;
pub mod list;
mod memory;
pub mod origin;
pub mod pin;
pub mod refusal;
pub mod request;
pub mod resolve;
pub mod spelling;
pub mod state;
pub mod text;
pub mod tools;
pub mod variables;
pub mod version;
