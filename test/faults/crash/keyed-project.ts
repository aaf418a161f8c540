import { join } from "node:path";
import type { OnNew } from "../../../streams/agent-config.ts";
import { ownUser } from "../../helpers/command-agents.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import { configText, type CrashProject } from "./crash-project.ts";

interface Rules {
  readonly event: "issues" | "issue_comment";
  /** Null without a concurrency key. */
  readonly onNew: OnNew | null;
  readonly gathers?: true;
}

export const agents: Readonly<Record<string, Rules>> = {
  waits: { event: "issues", onNew: "wait" },
  replaces: { event: "issues", onNew: "replace" },
  cancels: { event: "issues", onNew: "cancel" },
  gathers: { event: "issue_comment", onNew: null, gathers: true },
  "gathers-cancels": { event: "issue_comment", onNew: "cancel", gathers: true },
};

/** Plays the LLM's command line: notes its deliveries in order, and locks its key for a while. */
const cli = (marks: string): string => `#!/bin/sh
file=\${AL_DELIVERIES_FILE:-$AL_PAYLOAD_FILE}
key=$(sed -n 's/.*"number": *\\([0-9]*\\).*/\\1/p' "$file" | head -n 1)
numbers=$(grep -o '"n": *[0-9]*' "$file" | grep -o '[0-9]*$' | tr '\\n' ' ')
echo "$AL_INSTANCE $numbers" >> '${marks}/ran'
: > '${marks}/in-run'
exec 9>> '${marks}'/$AL_AGENT-$key
flock -n 9 || echo "$AL_AGENT $key: $AL_INSTANCE is not alone" >> '${marks}/clashes'
for i in 1 2 3 4 5; do sleep 0.1 9>&-; done
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","usage":{}}'
`;

const keyed = 'key = "{repository}#{number}"\n';

export async function keyedProject(): Promise<CrashProject> {
  const project = await LiveProject.of({ "marks/ran": "", "marks/clashes": "" });
  const { dir, home } = project;
  const marks = project.path("../marks");
  await project.write("../marks/claude", cli(marks), 0o755);
  await project.write("config.toml", configText(join(marks, "claude"), 10_000));
  for (const [name, { event, onNew, gathers }] of Object.entries(agents)) {
    await project.write(`agents/${name}/SKILL.md`, "Do it.\n");
    await project.write(
      `agents/${name}/config.toml`,
      `models = ["cli"]\ncredentials = []\nscale = 2\ntimeout = 86400
hooks.post = [": > '${marks}/in-post'; sleep 0.03"]
[[webhooks]]\nsource = "open"\nevents = ["${event}"]\n${ownUser}` +
        (onNew === null ? "" : `[concurrency]\n${keyed}onNew = "${onNew}"\n`) +
        (gathers ? `[debounce]\n${keyed}quiet = "1s"\nmost = "2s"\ndeliver = "all"\n` : ""),
    );
  }
  return { dir, home, marks, remove: () => project.remove() };
}
