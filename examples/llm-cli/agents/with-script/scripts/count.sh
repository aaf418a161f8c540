#!/bin/sh
# Reads the instructions and the prompt, and says what it has found. Its exit code decides how the run ends.
instructions=$(cat)
echo "Asked: $(echo "$instructions" | head -n 1)"
echo "$(find "$1" -type f 2>/dev/null | wc -l) files below $1"
