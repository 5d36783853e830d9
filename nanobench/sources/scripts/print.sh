# One spelling of every difference.
print_difference() {
    git diff-tree -r -p --binary --full-index --no-renames --no-ext-diff --no-textconv --no-color \
        --unified=3 --inter-hunk-context=0 --diff-algorithm=myers --indent-heuristic --no-relative \
        --src-prefix=a/ --dst-prefix=b/ "$1" "$2"
}
