# shellcheck shell=bash
# Bazel with rules_cuda. Neither comes from a package registry: Bazel fetches the rules from where they are developed.
export title="Bazel's rules_cuda"
lacks() { echo 'no package registry carries rules_cuda'; }
take() { :; }
