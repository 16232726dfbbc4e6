# shellcheck shell=bash
# Sourced by the scripts. `setup EXTRA` makes .venv in the checkout, with the project (editable) and
# what the extra needs, and puts it on PATH. It is quick when .venv is up to date.

set -o pipefail # what shows the steps of a set-up must not hide its failure
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
venv=$root/.venv

die() {
    printf '%s\n' "$@" >&2
    exit 1
}

setup() {
    if ! up_to_date "$1"; then
        exec 9<"$root/pyproject.toml"
        if command -v flock >/dev/null && ! flock --nonblock 9; then
            echo "Waiting for another script that is setting up .venv"
            flock 9
        fi
        up_to_date "$1" || install "$1"
        exec 9<&-
    fi
    unset PYTHONHOME
    export VIRTUAL_ENV=$venv PATH=$venv/bin:$PATH
    export MPLCONFIGDIR=$venv/matplotlib # its cache of fonts; nothing is left outside the checkout
    compile_bytecode "$root/server" "$root/clients/python"
}

# pip compiles packages that it installs, but not a checkout, and a contained bot cannot: each of its
# processes would compile the client once more, which is a fifth of a start.
compile_bytecode() { # FOLDER...
    "$venv/bin/python" -m compileall -q "$@" || true
}

# A stamp says what the environment was made for, and is written last.
# Every extra contains `referee`, so any stamp will do for that one; and `dev` contains `demo`.
up_to_date() {
    local stamp stamps=("$venv/stamp-$1")
    [[ $1 == referee ]] && stamps=("$venv"/stamp-*)
    [[ $1 == demo ]] && stamps+=("$venv/stamp-dev")
    venv_sound || return 1
    for stamp in "${stamps[@]}"; do
        [[ -e $stamp && $(<"$stamp") == "$(wanted)" ]] && return
    done
    return 1
}

# The packages of the page, which scripts/web installs.
page_up_to_date() {
    local packages=$root/clients/web/package-lock.json
    local installed=$root/clients/web/node_modules/.package-lock.json
    [[ -e $installed && ! $packages -nt $installed ]]
}

wanted() {
    printf '%s\n' "$root"
    cat "$root/pyproject.toml"
}

# .venv runs, was made for this path and this Python, and no installation was cut off in it.
venv_sound() {
    [[ -x $venv/bin/python && ! -e $venv/unfinished && -e $venv/made-for ]] &&
        [[ $(<"$venv/made-for") == "$(made_for)" ]]
}

# A Python that was upgraded behind its name has none of the packages.
made_for() {
    printf '%s\n' "$venv"
    "$venv/bin/python" -c 'import sys; print(*sys.version_info[:2], sep=".")' 2>/dev/null
}

install() {
    local minutes=two
    [[ $1 == bench ]] && minutes=five # the peers bring many packages
    [[ $1 == train ]] && minutes=ten
    echo "Setting up .venv with the packages that pyproject.toml names: up to $minutes minutes, once"
    if [[ $1 == train ]] && ! "$venv/bin/python" -c 'import torch' 2>/dev/null; then
        echo "PyTorch can take 5 GiB; server/asara_env/training.md names a smaller package to install first"
    fi
    venv_sound || make_venv
    rm -f "$venv/stamp-$1"
    touch "$venv/unfinished"
    trap 'printf "\nInterrupted. Run the script again to continue.\n" >&2; exit 130' INT
    if ! install_packages "$1" 2>&1 | tee "$venv/setup.log" | show_steps; then
        explain_packages
    fi
    trap - INT
    wanted >"$venv/stamp-$1"
    rm "$venv/unfinished"
}

explain_packages() {
    if grep -qsE 'connection broken|Failed to establish|No matching distribution|error sending request' "$venv/setup.log"; then
        die "The packages could not be downloaded. Setting up needs a network, or a folder of wheels:" \
            "  PIP_INDEX_URL=https://INDEX/simple $0" \
            "  PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER $0"
    fi
    tail -n 5 "$venv/setup.log" >&2 2>/dev/null || true
    die "The packages could not be installed. $venv/setup.log has all that pip printed." \
        "$(df -h "$root" | awk 'END { print "Free space here: " $4 }')" \
        "Run the script again to start over."
}

make_venv() {
    local python
    rm -rf "$venv"
    if python=$(find_python); then
        "$python" -m venv "$venv" || explain_venv "$python"
    elif command -v uv >/dev/null; then
        uv venv --quiet --python '>=3.11' "$venv" || explain_venv uv
    else
        explain_python
    fi
    made_for >"$venv/made-for"
}

explain_venv() { # PROGRAM
    die "$1 could not make $venv." "$(df -h "$root" | awk 'END { print "Free space here: " $4 }')"
}

# What pip and uv print of downloads and installations, as it comes.
show_steps() {
    awk '/build dependencies: started/ { $0 = "Installing build tools" }
        /\.metadata|: (started|finished)/ { next }
        $1 ~ /^(Downloading|Installing|Resolved|Prepared|Installed)$/ {
            sub(/-(cp|py)[0-9][^ ]*[.]whl/, "")
            print "  " substr($0, match($0, /[^ ]/), 90); fflush()
        }'
}

install_packages() (
    cd "$root" || return
    if "$venv/bin/python" -c 'import pip' 2>/dev/null; then
        "$venv/bin/python" -m pip install --progress-bar off --no-input --disable-pip-version-check -e ".[$1]"
    else
        uv pip install --python "$venv/bin/python" -e ".[$1]"
    fi
)

# The first Python that is new enough and can make environments; the user's own comes first.
find_python() {
    local python
    for python in $(new_pythons); do
        if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}

new_pythons() {
    local python
    for python in python3 python3.13 python3.12 python3.11; do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$python"
        fi
    done
}

explain_python() {
    local python
    python=$(new_pythons | head -n 1)
    if [[ $python ]]; then
        die "$python lacks its venv module, which .venv is made with." \
            "On Debian and Ubuntu: apt-get install $python-venv" \
            "Or install uv: https://docs.astral.sh/uv"
    fi
    die "Python 3.11 or newer is needed; on PATH there is $(python3 --version 2>/dev/null || echo none)." \
        "On Debian and Ubuntu: apt-get install python3 python3-venv" \
        "Or install uv, which brings Python: https://docs.astral.sh/uv"
}

# A compiled copy of server/ lies in .venv/compiled. It is put before the sources when Python
# starts, unless a source is newer.
install_compiled() { # FOLDER STAMP: the copy, and a file as old as the sources that it was made of
    remove_compiled
    cp -R "$1" "$venv/compiled"
    compile_bytecode "$venv/compiled"
    touch -r "$2" "$venv/compiled"
    cp "$root/scripts/lib/asara_compiled.py" "$(site_packages)"
    echo "import asara_compiled" >"$(site_packages)/asara_compiled.pth"
}

remove_compiled() {
    rm -rf "$venv/compiled" "$(site_packages)"/asara_compiled.{pth,py}
}

compiled_is_new() {
    local made_of=("$root"/{server,pyproject.toml,scripts/lib/compile_hook.py})
    [[ -e $venv/compiled && -z $(find "${made_of[@]}" -newer "$venv/compiled" \
        \( -name '*.py' -o -name pyproject.toml \) -print -quit) ]]
}

site_packages() {
    "$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}
