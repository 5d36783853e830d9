# The difference of the tree at /nanobench/tree to the base commit of /workspace, staged here and nowhere else.
# In: ALL=1 takes ignored files too; else the ignore rules are those of the base commit and of its info/exclude.
set -eu
out=/nanobench/out
export GIT_DIR=/workspace/.git GIT_WORK_TREE=/nanobench/tree GIT_INDEX_FILE=$out/index
export GIT_OBJECT_DIRECTORY=$out/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=/workspace/.git/objects
mkdir "$out/objects" "$out/rules"
base=$(git rev-parse --verify --quiet 'refs/heads/main^{tree}')
git read-tree "$base"
git ls-files -z -- ':(glob)**/.gitignore' |
    GIT_WORK_TREE=$out/rules git checkout-index -z --stdin --prefix="$out/rules/"
cd /nanobench/tree
git add --update .
# Behind ./ no name is mistaken for an option or a pathspec.
git ls-files -z --others | sed -z 's|^|./|' | LC_ALL=C sort -z >"$out/others"
: >"$out/ignored"
if [ "$ALL" != 1 ]; then
    (cd "$out/rules" && GIT_WORK_TREE=$out/rules \
        git check-ignore -z --stdin --no-index <"$out/others" >"$out/unsorted") || [ $? -eq 1 ]
    LC_ALL=C sort -z "$out/unsorted" >"$out/ignored"
fi
LC_ALL=C comm -z -23 "$out/others" "$out/ignored" | git update-index -z --add --replace --stdin
tree=$(git write-tree)
. /nanobench/git/print.sh
print_difference "$base" "$tree"
