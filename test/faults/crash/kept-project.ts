import { join } from "node:path";
import { ownUser } from "../../helpers/command-agents.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import { configText, type CrashProject } from "./crash-project.ts";

/**
 * Plays Claude's command line: reads the conversation, adds a turn to it, writes a file of its own and one that every run
 * writes into the memory, and a report, removes old files of the memory, and notes all that. Each fifth run fails.
 */
const cli = (marks: string): string => `#!/bin/sh
n=$(sed -n 's/.*"n": *\\([0-9]*\\).*/\\1/p' "$AL_PAYLOAD_FILE" | head -n 1)
key=$(sed -n 's/.*"number": *\\([0-9]*\\).*/\\1/p' "$AL_PAYLOAD_FILE" | head -n 1)
mkdir -p "$CLAUDE_CONFIG_DIR/projects/run" memory/runs out
session="$CLAUDE_CONFIG_DIR/projects/run/s.jsonl"
seen=$(grep -o '"turn":"[^"]*"' "$session" 2> /dev/null | cut -d '"' -f 4 | tr '\\n' ',')
echo '{"turn":"'"$AL_INSTANCE"'"}' >> "$session"
removed=
[ "$(ls memory/runs | wc -l)" -lt 12 ] || removed=$(ls -d memory/runs/* memory/*.conflict-* 2> /dev/null | head -n 4)
rm -f $removed
(echo "$AL_INSTANCE"; head -c 3000 /dev/urandom | base64) > out/report
cp out/report memory/last
cp out/report memory/runs/$AL_INSTANCE
hash=$(sha256sum out/report | cut -c 1-64)
echo "$AL_INSTANCE $key $hash $(echo $removed | sed 's,memory/,,g; s/ /,/g') $seen" >> '${marks}/ran'
: > '${marks}/in-run'
for i in 1 2 3; do sleep 0.1; done
[ $((n % 5)) != 4 ] || exit 1
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","usage":{}}'
`;

/** A project whose runs keep a memory, artifacts, and a conversation for each issue. */
export async function keptProject(): Promise<CrashProject> {
  const project = await LiveProject.of({ "marks/ran": "" });
  const { dir, home } = project;
  const marks = project.path("../marks");
  await project.write("../marks/claude", cli(marks), 0o755);
  await project.write("config.toml", configText(join(marks, "claude"), 10_000));
  await project.write("agents/keeper/SKILL.md", "Do it.\n");
  await project.write(
    "agents/keeper/config.toml",
    `models = ["cli"]\ncredentials = []\nscale = 2\ntimeout = 86400
hooks.post = [": > '${marks}/in-post'; sleep 0.03"]
[[webhooks]]\nsource = "open"\n${ownUser}[memory]\nuntrusted = "write"\n[session]\nkey = "{repository}#{number}"\n`,
  );
  return { dir, home, marks, remove: () => project.remove() };
}
