# The patch in /nanobench/in as git itself says it, by the base commit of /workspace; nothing is written there.
set -eu
in=/nanobench/in out=/nanobench/out
export GIT_DIR=/workspace/.git GIT_WORK_TREE=/workspace GIT_INDEX_FILE=$out/index
export GIT_OBJECT_DIRECTORY=$out/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=/workspace/.git/objects
mkdir "$out/objects"
. /nanobench/git/print.sh
base=$(git rev-parse --verify --quiet 'refs/heads/main^{tree}')
git read-tree "$base"
[ ! -s "$in/patch" ] || git apply --cached --binary --whitespace=nowarn "$in/patch"
print_difference "$base" "$(git write-tree)"
