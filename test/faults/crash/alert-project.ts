import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CrashProject } from "./crash-project.ts";

export const alertAgents = ["a", "b", "c", "d", "e", "f", "g", "h"] as const;

const config = (command: string): string => `[harness]
type = "llm-cli"
command = "${command}"
[models.cli]
provider = "anthropic"
model = "stand-in"
authType = "none"
[webhooks.open]
type = "github"
allowUnsigned = true
[alerts.ops]
type = "webhook"
`;

/** Fails three times of four, by chance. */
const cli = `#!/bin/sh
sleep 0.03
[ $(( $(od -An -N1 -tu1 /dev/urandom) % 4 )) = 0 ] || exit 3
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","usage":{}}'
`;

/** A project whose runs fail most of the time, and whose alerts go to `url`. */
export async function alertProject(url: string): Promise<CrashProject> {
  const folder = await mkdtemp(join(tmpdir(), "al-crash-"));
  const [dir, home, marks] = [join(folder, "project"), join(folder, "home"), join(folder, "marks")];
  await mkdir(marks);
  await writeFile(join(marks, "claude"), cli, { mode: 0o755 });
  const files = [
    ...alertAgents.flatMap((name) => [
      [join(dir, "agents", name, "SKILL.md"), "Do it.\n"] as const,
      [join(dir, "agents", name, "config.toml"), agentConfig] as const,
    ]),
    [join(dir, "config.toml"), config(join(marks, "claude"))] as const,
  ];
  for (const [path, text] of files) {
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, text);
  }
  const credential = join(home, "credentials", "alert_webhook", "default");
  await mkdir(credential, { recursive: true, mode: 0o700 });
  const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
  await writeFile(join(credential, "url"), url, { mode: 0o600 });
  await writeFile(join(credential, "secret"), secret, { mode: 0o600 });
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  return { dir, home, marks, remove };
}

const agentConfig = `models = ["cli"]
credentials = []
[[webhooks]]
source = "open"
events = ["issues"]
[runtime]
type = "host-user"
run_as = "$USER"
`;
