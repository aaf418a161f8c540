import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "../../helpers/scheduler.ts";

/** A project whose runs cost little and write down that they happened. */
export interface CrashProject extends TestProject {
  /** Where runs leave the file `ran`, a line each: agent, instance, number of the delivery. */
  readonly marks: string;
}

/** Two values of a setting, so that a change of `config.toml` can be told from its half. */
export const queueSizes = [6, 8] as const;

/** Variants of `config.toml`. */
export function configText(command: string, queueSize: number): string {
  return `workQueueSize = ${queueSize}
[harness]
type = "llm-cli"
command = "${command}"
[models.cli]
provider = "anthropic"
model = "stand-in"
authType = "none"
[webhooks.open]
type = "github"
allowUnsigned = true
`;
}

/** `worker` just runs; `locker` takes a lock and leaves it to its end, alone. */
const agents = {
  worker: { scale: 2, event: "issues" },
  locker: { scale: 1, event: "issue_comment" },
} as const;

/** Plays the LLM's command line: says that it runs, takes the agent's lock, and is done soon, or after `pause` seconds. */
const cli = (marks: string): string => `#!/bin/sh
n=$(sed -n 's/.*"n": *\\([0-9]*\\).*/\\1/p' "\${AL_PAYLOAD_FILE:-/dev/null}")
echo "$AL_AGENT $AL_INSTANCE \${n:-manual}" >> '${marks}/ran'
: > '${marks}/in-run'
[ "$AL_AGENT" = worker ] || rlock demo:x > /dev/null
sleep "$(cat '${marks}/pause' 2> /dev/null || echo 0.05)"
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","usage":{}}'
`;

/** Makes the project in a temporary folder. */
export async function crashProject(): Promise<CrashProject> {
  const folder = await mkdtemp(join(tmpdir(), "al-crash-"));
  const [dir, marks] = [join(folder, "project"), join(folder, "marks")];
  await mkdir(marks);
  await writeFile(join(marks, "ran"), "");
  await writeFile(join(marks, "claude"), cli(marks), { mode: 0o755 });
  for (const [name, { scale, event }] of Object.entries(agents)) {
    const agent = join(dir, "agents", name);
    await mkdir(agent, { recursive: true });
    await writeFile(join(agent, "SKILL.md"), "Do it.\n");
    await writeFile(
      join(agent, "config.toml"),
      `models = ["cli"]
credentials = []
scale = ${scale}
timeout = 600
hooks.post = [": > '${marks}/in-post'; sleep 0.03"]
[[webhooks]]
source = "open"
events = ["${event}"]
[runtime]
type = "host-user"
run_as = "$USER"
`,
    );
  }
  await writeFile(join(dir, "config.toml"), configText(join(marks, "claude"), queueSizes[0]));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  return { dir, home: join(folder, "home"), marks, remove };
}
