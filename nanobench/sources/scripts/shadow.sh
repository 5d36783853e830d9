# Marks everything that git tracks at the given names of /workspace: its index counts it as unchanged from now on.
# In: /nanobench/in/names, each ended by NUL.
set -eu
cd /workspace
GIT_LITERAL_PATHSPECS=1 xargs -0 -r git ls-files -z -- </nanobench/in/names >/nanobench/out/tracked
git update-index -z --skip-worktree --stdin </nanobench/out/tracked
