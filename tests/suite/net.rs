//! The server that the unit tests of the network and these tests have in common.

#[path = "../../src/net/fault_server.rs"]
#[expect(dead_code, reason = "the unit tests use more of it")]
pub mod fault_server;
