import { realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { basename } from "node:path";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { runtimes } from "../../../streams/runtimes.ts";
import { listAgents, readAgent } from "../../config/agent-files.ts";
import { loadProject } from "../../config/load-project.ts";
import { resolveAgent } from "../../config/resolve-agent.ts";
import { homeDir } from "../../credentials/home-dir.ts";
import { knownToAgents } from "../../known-to-agents.ts";
import { filterTable } from "../../webhooks/providers/table.ts";
import type { Context } from "../context.ts";
import type { StartOptions } from "../start/run-scheduler.ts";
import { systemdUnit } from "./unit.ts";

/** What an engine or a time zone is found by; the rest of a login's environment is nothing that a service has. */
const keptVariables = ["AL_HOME", "DOCKER_HOST", "TZ"];

/** Prints a systemd unit that starts the project with the same options, and beside it how to install it. */
export async function printUnit(context: Context, options: StartOptions): Promise<void> {
  const { out, env } = context;
  const projectDir = realpathSync(context.projectDir);
  const agents = await validAgents(projectDir);
  const user = userInfo().username;
  const needsSudo = agents.some(
    ({ runtime: { type, runAs } }) => runtimes[type].runsAsUser && !["$USER", user].includes(runAs),
  );
  const unit = systemdUnit({
    projectDir,
    user,
    needsSudo,
    command: [
      process.execPath,
      realpathSync(process.argv[1] ?? ""),
      ...argumentsOf(options, projectDir),
    ],
    home: homeDir(env),
    env: kept(env),
    graceSeconds: options.grace,
    needsEngine: agents.some(({ runtime }) => runtimes[runtime.type].needsImage),
  });
  const name = `almanac-${nameOf(projectDir)}`;
  if (out.json) return out.document({ name, file: `${name}.service`, unit });
  out.data(unit.trimEnd());
  for (const line of nextSteps(name, user)) out.note(line);
}

async function validAgents(projectDir: string): Promise<AgentConfig[]> {
  const { project } = await loadProject(projectDir, filterTable);
  const known = knownToAgents();
  const { names } = await listAgents(projectDir);
  const files = await Promise.all(names.map((name) => readAgent(projectDir, name)));
  return files.flatMap((each) => {
    const change = each === null ? null : resolveAgent(each, project, known);
    return change?.type === "set" ? [change.agent] : [];
  });
}

function argumentsOf(options: StartOptions, projectDir: string): string[] {
  const { webUi, port, host, grace } = options;
  return [
    ...["start", "--headless", "--project", projectDir, "--grace", String(grace)],
    ...(webUi ? ["--web-ui"] : []),
    ...(port === undefined ? [] : ["--port", String(port)]),
    ...(host === undefined ? [] : ["--host", host]),
  ];
}

function kept(env: NodeJS.ProcessEnv): Record<string, string> {
  const pairs = keptVariables.map((name) => [name, env[name] ?? ""] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== ""));
}

/** What systemd takes as part of a unit's name. */
function nameOf(projectDir: string): string {
  const name = basename(projectDir).replaceAll(/[^\w.-]+/g, "-");
  return name === "" ? "project" : name;
}

function nextSteps(name: string, user: string): string[] {
  const asRoot =
    user === "root"
      ? [
          "This unit runs the scheduler, and with it host-user agents of $USER, as root. Better: as another user.",
          "",
        ]
      : [];
  return [
    "",
    ...asRoot,
    `Save this as /etc/systemd/system/${name}.service, then:`,
    `  sudo systemctl daemon-reload`,
    `  sudo systemctl enable --now ${name}`,
    `  journalctl -u ${name} -f`,
  ];
}
