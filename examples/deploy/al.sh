#!/bin/sh
# The command `al` of the image. Root only hands over the folders: al itself, also by `docker exec`, runs as the owner of
# the project, without any capability.
set -eu

if [ "$(id -u)" = 0 ]; then
  user=$(stat -c %u .) group=$(stat -c %g .)
  # In a rootless engine root is the person who runs it.
  if [ "$user" = 0 ] && grep -qE '^ +0 +0 +4294967295$' /proc/self/uid_map && [ "${1:-}" = start ]; then
    echo "error: the project's folder belongs to root, and the scheduler must not run as root" >&2
    echo "hint: give it to another user: chown -R 1000:1000 <project>" >&2
    exit 1
  fi
  for folder in "$AL_HOME" .al "${AL_SOCKETS:-}"; do
    [ -d "$folder" ] && [ "$(stat -c %u "$folder")" != "$user" ] || continue
    chmod 700 "$folder"
    chown "$user:$group" "$folder"
  done
  engine=$(stat -c %g /var/run/docker.sock 2>/dev/null || echo "$group")
  exec setpriv --reuid "$user" --regid "$group" --groups "$group,$engine" --no-new-privs \
    --inh-caps=-all --bounding-set=-all -- "$0" "$@"
fi

al() { node /opt/almanac/dist/src/cli/al.js "$@"; }

# Secrets of Compose: a file is named as its credential, with dots: github_token, github_token.bot, git_ssh.bot.private_key
if [ "${1:-}" = start ]; then
  for file in /run/secrets/*; do
    [ -f "$file" ] || continue
    name=${file##*/} field=
    case $name in *.*.*) field=${name##*.} name=${name%.*} ;; esac
    al creds add "$(echo "$name" | tr . :)" ${field:+--field "$field"} --from-file "$file" --replace >/dev/null
  done
fi
exec node /opt/almanac/dist/src/cli/al.js "$@"
