#!/usr/bin/env bash
# The steps of action.yml: gate a run, write the summary of the job, comment on the pull request, return the exit code of the gate.
#
#   NEW=runs/new BASELINE=baseline METRICS=cider,meteor MAX_DROP=1% examples/gate/gate.sh
set -uo pipefail
options=(--metric "$METRICS" --undecided "${UNDECIDED:-stop}" --junit gate.xml --markdown gate.md --page gate.html)
for margin in $MAX_DROP; do options+=(--max-drop "$margin"); done
if [ -n "${SLICE:-}" ]; then options+=(--slice "$SLICE"); fi
harness gate "$NEW" --baseline "$BASELINE" "${options[@]}"
code=$?
if [ -f gate.md ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat gate.md >> "$GITHUB_STEP_SUMMARY"; fi
if [ -f gate.md ] && [ -n "${PULL_REQUEST:-}" ]; then
  gh pr comment "$PULL_REQUEST" --body-file gate.md --edit-last --create-if-none || echo "the comment could not be written"
fi
exit "$code"
