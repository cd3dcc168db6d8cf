//! Gathers all facts, once; starts no process but nvidia-smi and compilers for their versions, and writes nothing.
