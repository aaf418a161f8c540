import { realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { basename } from "node:path";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { runtimes } from "../../../../streams/runtimes.ts";
import { loadProject } from "../../../foundation/config/load-project.ts";
import { readAllAgents } from "../../../foundation/config/read-all-agents.ts";
import { resolveAgent } from "../../../foundation/config/resolve-agent.ts";
import { homeDir } from "../../../foundation/credentials/home-dir.ts";
import { knownToAgents } from "../../operations/known-to-agents.ts";
import { filterTable } from "../../../features/webhooks/providers/table.ts";
import type { Context } from "../context.ts";
import type { StartOptions } from "../start/run-scheduler.ts";
import { UserError } from "../../../foundation/errors.ts";

/** What an engine or a time zone is found by; the rest of a login's environment is nothing that a service has. */
const keptVariables = [
  "AL_HOME",
  "DOCKER_HOST",
  "DOCKER_TLS_VERIFY",
  "DOCKER_CERT_PATH",
  "DOCKER_CONFIG",
  "KUBECONFIG",
  "TZ",
];

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
  const { agents } = await readAllAgents(projectDir);
  return [...agents.values()].flatMap((files) => {
    const change = resolveAgent(files, project, known);
    return change.type === "set" ? [change.agent] : [];
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

/** What a systemd service of a project is made from. Paths are absolute. */
interface UnitFacts {
  readonly projectDir: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** OS user that runs the scheduler. */
  readonly user: string;
  /** Directory of the credentials. */
  readonly home: string;
  /** What the scheduler is to find in its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly graceSeconds: number;
  /** Some agent runs as another OS user, through sudo. */
  readonly needsSudo: boolean;
  /** Some agent runs in a container. */
  readonly needsEngine: boolean;
}

/** After the grace period: TERM and KILL of what still runs, and the last lines to write. */
const closingSeconds = 30;

/** The text of a systemd unit (systemd.service(5), systemd.exec(5)) that runs the project as a system service. */
export function systemdUnit(facts: UnitFacts): string {
  const { projectDir, command, user, env, graceSeconds, needsEngine } = facts;
  const environment = Object.entries(env).map(
    ([name, value]) => `Environment=${word(`${name}=${value}`)}`,
  );
  return `[Unit]
Description=${literal(`Almanac: agents of ${projectDir}`)}
Wants=network-online.target
After=network-online.target${needsEngine ? " docker.service podman.socket" : ""}
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
User=${literal(user)}
WorkingDirectory=${literal(projectDir)}
ExecStart=${command.map((each) => word(each).replaceAll("$", "$$$$")).join(" ")}
${environment.map((line) => `${line}\n`).join("")}Restart=on-failure
RestartSec=5
# A wrong option does not get better by itself.
RestartPreventExitStatus=2
# On SIGTERM runs may finish for ${graceSeconds} s, then they are ended.
TimeoutStopSec=${graceSeconds + closingSeconds}
# The scheduler ends its runs itself. After a crash they live on, and the next start follows them on.
KillMode=process
# An agent that takes too much memory is that agent's failure.
OOMPolicy=continue

${hardening(facts)}
[Install]
WantedBy=multi-user.target
`;
}

function hardening({ projectDir, home, needsSudo, user }: UnitFacts): string {
  const always = [
    "# No PrivateTmp: runs keep their logs below /tmp, where the next start must find them.",
    "# No ProtectProc, ProtectKernelTunables, ProtectHostname or RestrictNamespaces: with one of these the kernel",
    "# refuses runs a PID namespace with a /proc of its own.",
    "ProtectSystem=full",
    `ReadWritePaths=${word(projectDir)} ${word(`-${home}`)}`,
  ];
  const sudo = [
    "# sudo starts runs as other OS users, so privileges must be gained here. Without such agents print this again.",
    "NoNewPrivileges=no",
  ];
  const closed = [
    '# For an agent with another OS user as run_as, which needs sudo, print this again: "yes" here forbids it.',
    "NoNewPrivileges=yes",
    ...(user === "root" ? [] : ["CapabilityBoundingSet="]),
    "LockPersonality=yes",
    "ProtectControlGroups=yes",
    "ProtectKernelModules=yes",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "SystemCallArchitectures=native",
  ];
  return `${[...always, ...(needsSudo ? sudo : closed)].join("\n")}\n`;
}

/** A word of a list. Only a command's words may need `$` doubled, too: elsewhere it means nothing. */
function word(text: string): string {
  const escaped = literal(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return /^[\w./:@%+=,-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

function literal(text: string): string {
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    throw new UserError(
      "systemd_unit",
      `${JSON.stringify(text)} cannot be part of a systemd unit`,
      {
        hint: "use a path without control characters",
      },
    );
  }
  return text.replaceAll("%", "%%");
}
