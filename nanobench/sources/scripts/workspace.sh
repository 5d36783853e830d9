# Make /workspace a repository of one commit: fixed author and date, no other objects, no reflog, no hooks.
# In: /nanobench/in/{config,attributes,exclude,pathspec}. Out: "commit tree".
set -eu
cd /workspace
git init --quiet --template= --initial-branch=main .
mkdir -p .git/info
cp /nanobench/in/config .git/config
cp /nanobench/in/attributes /nanobench/in/exclude .git/info/
git add --all --force --pathspec-from-file=/nanobench/in/pathspec --pathspec-file-nul
tree=$(git write-tree)
commit=$(git commit-tree "$tree" -m "Base")
git update-ref refs/heads/main "$commit"
# An index without times of this machine: git compares contents until it has seen the files once.
rm .git/index
git read-tree "$tree"
# One pack: a workspace is copied and removed for every run, and each loose object would cost as much as a file.
git -c pack.threads=1 repack -a -d -n -q
chmod -R u=rwX,go=rX .git
echo "$commit $tree"
