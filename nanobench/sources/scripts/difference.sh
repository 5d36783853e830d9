# The difference of the tree at /nanobench/tree to the base commit of /workspace, staged here and nowhere else.
# In: ALL=1 takes ignored files too; else the ignore rules are those of the base commit and of its info/exclude.
# Steps hand over files, not pipes: a step that fails ends the script.
set -eu
out=/nanobench/out
export LC_ALL=C GIT_DIR=/workspace/.git GIT_WORK_TREE=/nanobench/tree GIT_INDEX_FILE=$out/index
export GIT_OBJECT_DIRECTORY=$out/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=/workspace/.git/objects
mkdir "$out/objects" "$out/rules"
. /nanobench/git/print.sh
base=$(git rev-parse --verify --quiet 'refs/heads/main^{tree}')
git read-tree "$base"
git ls-files -z -- ':(glob)**/.gitignore' >"$out/rulefiles"
GIT_WORK_TREE=$out/rules git checkout-index -z --stdin --prefix="$out/rules/" <"$out/rulefiles"

cd /nanobench/tree
# Compares contents; without it, adding would write every file anew, since objects that are read-only do not count.
git update-index -q --refresh || true
git add --update .
# Behind ./ no name is mistaken for an option or a pathspec.
git ls-files -z --others >"$out/names"
sed -z 's|^|./|' "$out/names" >"$out/unsorted"
sort -z "$out/unsorted" >"$out/others"
: >"$out/unsorted"
if [ "$ALL" != 1 ]; then
    (cd "$out/rules" && GIT_WORK_TREE=$out/rules git check-ignore -z --stdin --no-index) \
        <"$out/others" >"$out/unsorted" || [ $? -eq 1 ]
fi
sort -z "$out/unsorted" >"$out/ignored"
comm -z -23 "$out/others" "$out/ignored" >"$out/new"
git update-index -z --add --replace --stdin <"$out/new"
tree=$(git write-tree)
print_difference "$base" "$tree"
