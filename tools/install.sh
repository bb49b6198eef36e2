#!/usr/bin/env bash
# Creates a virtual environment and installs into it what pip's arguments say.
# Usage: PYTHON=python3.11 tools/install.sh <venv> -e '.[test]'
set -u
venv=$1
shift
python=${PYTHON:-python3}

fail() {
  echo "$1" >&2
  exit 1
}

command -v "$python" >/dev/null ||
  fail "There is no '$python' here: install Python 3.9, 3.10 or 3.11, or name one with PYTHON=…"

"$python" -c 'import sys; sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 11))' ||
  fail "drvf_tf needs Python 3.9, 3.10 or 3.11, and '$python' is $("$python" -V 2>&1): name another with PYTHON=python3.11."

if [ ! -x "$venv/bin/pip" ]; then
  "$python" -c 'import venv, ensurepip' 2>/dev/null ||
    fail "'$python' cannot create virtual environments: install its venv module (on Debian: apt-get install python3-venv)."
  "$python" -m venv "$venv" || fail "Could not create the virtual environment $venv."
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing ${*: -1} into $venv (a few minutes the first time) ..."
if ! "$venv/bin/python" -m pip install --disable-pip-version-check --prefer-binary \
    --progress-bar off "$@" >"$log" 2>&1; then
  if grep -qE 'Failed to establish a new connection|Temporary failure in name resolution|Network is unreachable|Could not find a version that satisfies' "$log"; then
    tail -n 3 "$log" >&2
    fail "pip could not reach a package index: check the network connection or pip's configuration, then run the same command again."
  fi
  tail -n 25 "$log" >&2
  fail "The installation failed; pip's last lines are above."
fi
