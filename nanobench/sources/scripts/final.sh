# Bring the fresh workspace at /workspace to: base commit, the patch, and over it the tests.
# In: /nanobench/in/{patch,tests,restored}; "restored" names the paths (each ended by NUL) that are as base and tests
# have them, whatever the patch says. Everything is decided in indexes; files are written only when all is decided.
# Ends with 3 when the patch, with 4 when the tests are not what git itself would say about the tree they make.
set -eu
in=/nanobench/in out=/nanobench/out
export GIT_DIR=/workspace/.git GIT_WORK_TREE=/workspace
export GIT_OBJECT_DIRECTORY=$out/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=/workspace/.git/objects
mkdir "$out/objects"
. /nanobench/git/print.sh
base=$(git rev-parse --verify --quiet 'refs/heads/main^{tree}')

applied() { # index, patch
    export GIT_INDEX_FILE="$1"
    git read-tree "$base"
    [ ! -s "$2" ] || git apply --cached --binary --whitespace=nowarn "$2"
    print_difference "$base" "$(git write-tree)" | cmp -s - "$2"
}
cd "$out"
applied "$out/patched" "$in/patch" || exit 3
applied "$out/tested" "$in/tests" || exit 4

export GIT_INDEX_FILE="$out/tested"
GIT_LITERAL_PATHSPECS=1 xargs -0 -r git ls-files -s -z -- <"$in/restored" >"$out/entries"
export GIT_INDEX_FILE="$out/patched"
git update-index -z --force-remove --stdin <"$in/restored"
git update-index -z --index-info <"$out/entries"
tree=$(git write-tree)

cp /workspace/.git/index "$out/index"
export GIT_INDEX_FILE="$out/index"
cd /workspace
git update-index -q --refresh || true
git read-tree --reset -u "$tree"
echo "$tree"
