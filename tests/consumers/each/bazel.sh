# shellcheck shell=bash
# Bazel with rules_cuda, in a workspace that was built with another toolkit before. The rules come from no package registry:
# CUDAUP_TEST_BAZEL_RULES names a directory with rules_cuda v0.1.1, and of its time bazel_skylib, rules_cc, rules_java and
# platforms.
export title="Bazel's rules_cuda, workspace built with another toolkit before"
lacks() {
    has bazel || { echo 'bazel is not installed' && return; }
    [ -d "${CUDAUP_TEST_BAZEL_RULES:-}/rules_cuda" ] ||
        echo 'no package registry carries rules_cuda, and CUDAUP_TEST_BAZEL_RULES names no directory with it'
}

# What rules_cuda needs to run in Bazel 4, which is what Debian has: labels of its own with its own name, and no
# target_compatible_with where that rule does not know it. Where it looks for the toolkit stays as it is.
rules() {
    [ ! -e "$SHARED/rules" ] || return 0
    cp -r "$BAZEL_RULES" "$SHARED/rules"
    sed -i 's#CUDA_TOOLCHAIN_TYPE = "//#CUDA_TOOLCHAIN_TYPE = "@rules_cuda//#' "$SHARED/rules/rules_cuda/cuda/private/toolchain.bzl"
    sed -i '/target_compatible_with/d' "$SHARED/rules/rules_cuda/cuda/runtime/BUILD.local_cuda"
}

workspace() {
    local name
    for name in rules_cuda bazel_skylib rules_cc rules_java platforms; do
        printf 'local_repository(name = "%s", path = "%s")\n' "$name" "$SHARED/rules/$name"
    done >WORKSPACE
    cat >>WORKSPACE <<'TEXT'
load("@rules_cuda//cuda:repositories.bzl", "register_detected_cuda_toolchains", "rules_cuda_dependencies")
rules_cuda_dependencies()
register_detected_cuda_toolchains()
TEXT
    cat >BUILD <<'TEXT'
load("@rules_cuda//cuda:defs.bzl", "cuda_library")
cuda_library(name = "k", srcs = ["k.cu"])
cc_binary(name = "a", srcs = ["a.cc"], deps = [":k"])
TEXT
    { program | sed 's/main()/report()/'; } >k.cu
    printf 'int report();\nint main() { return report(); }\n' >a.cc
}

bazel_here() { CC=${CUDAHOSTCXX:-gcc} bazel --output_user_root="$SHARED/bazel" "$@"; }
build() {
    trap 'bazel_here shutdown' EXIT
    rules && workspace && bazel_here build --@rules_cuda//cuda:archs=sm_80 //:a
}
earlier() { build; }
take() {
    local root
    build || {
        root=$(sed -n 's/^ *path = "\(.*\)",/\1/p' "$(bazel_here info output_base)/external/local_cuda/toolchain/BUILD")
        [ -z "$root" ] || [ -x "$root/bin/nvcc" ] || nothing "takes $root"
        exit 1
    }
    saw root "$(bazel_here info output_base)/external/local_cuda/cuda"
    runs bazel-bin/a
}
