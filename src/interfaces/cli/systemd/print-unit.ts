import { realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { basename } from "node:path";
import { runtimes } from "../../../../streams/runtimes.ts";
import { homeDir } from "../../../foundation/credentials/read-secret.ts";
import { checkAgents, loadProject } from "../../../runtime/agents/project-files.ts";
import type { Context } from "../context.ts";
import type { StartOptions } from "../start/run-scheduler.ts";
import { Problem } from "../../../foundation/errors.ts";

/** Variables that find an engine or a time zone; a service has nothing else of a login's environment. */
const keptVariables = [
  "AL_HOME",
  "DOCKER_HOST",
  "DOCKER_TLS_VERIFY",
  "DOCKER_CERT_PATH",
  "DOCKER_CONFIG",
  "KUBECONFIG",
  "TZ",
];

/** For the time after the grace period: TERM and KILL of remaining runs, and the last lines to write. */
const closingSeconds = 30;

/** systemd.service(5), systemd.exec(5); `{name}` stands for a value. */
const template = `[Unit]
Description={description}
Wants=network-online.target
After=network-online.target{engine}
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
User={user}
WorkingDirectory={directory}
ExecStart={command}
{environment}Restart=on-failure
RestartSec=5
# A restart does not fix a wrong option.
RestartPreventExitStatus=2
# On SIGTERM runs may finish for {grace} s, then they are ended.
TimeoutStopSec={timeout}
# The scheduler ends its runs itself. After a crash they live on, and the next start follows them on.
KillMode=process
# An agent that uses too much memory fails alone.
OOMPolicy=continue

# No PrivateTmp: runs keep their logs below /tmp, where the next start must find them.
# No ProtectProc, ProtectKernelTunables, ProtectHostname or RestrictNamespaces: with one of these the kernel
# refuses runs a PID namespace with a /proc of its own.
ProtectSystem=full
ReadWritePaths={writable}
{privileges}
[Install]
WantedBy=multi-user.target
`;

const withSudo = `# sudo starts runs as other OS users, so privileges must be gained here. Without such agents print this again.
NoNewPrivileges=no
`;

const withoutSudo = `# For an agent with another OS user as run_as, which needs sudo, print this again: "yes" here forbids it.
NoNewPrivileges=yes
{capabilities}LockPersonality=yes
ProtectControlGroups=yes
ProtectKernelModules=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
`;

/** Prints a systemd unit that starts the project with the same options, and on standard error how to install it. */
export async function printUnit(context: Context, options: StartOptions): Promise<void> {
  const { out, env } = context;
  const projectDir = realpathSync(context.projectDir);
  const { configs: agents } = await checkAgents(projectDir, await loadProject(projectDir));
  const user = userInfo().username;
  const command = [process.execPath, realpathSync(process.argv[1] ?? "")];
  const needsSudo = agents.some(
    ({ runtime: { type, runAs } }) => runtimes[type].runsAsUser && !["$USER", user].includes(runAs),
  );
  const unit = systemdUnit({
    projectDir,
    user,
    needsSudo,
    needsEngine: agents.some(({ runtime }) => runtimes[runtime.type].needsImage),
    command: [...command, ...argumentsOf(options, projectDir)],
    home: homeDir(env),
    env: keptVariables.flatMap((name) => (env[name] ? [`${name}=${env[name]}`] : [])),
    graceSeconds: options.grace,
  });
  const name = `almanac-${nameOf(projectDir)}`;
  if (out.json) return out.document({ name, file: `${name}.service`, unit });
  out.data(unit.trimEnd());
  for (const line of nextSteps(name, user)) out.note(line);
}

/** Paths are absolute. */
interface UnitFacts {
  readonly projectDir: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** OS user that runs the scheduler. */
  readonly user: string;
  /** Directory of the credentials. */
  readonly home: string;
  /** `NAME=value` of the scheduler's environment. */
  readonly env: readonly string[];
  readonly graceSeconds: number;
  /** An agent runs as another OS user, through sudo. */
  readonly needsSudo: boolean;
  /** An agent runs in a container. */
  readonly needsEngine: boolean;
}

/** The text of a systemd unit that runs the project as a system service. */
export function systemdUnit(facts: UnitFacts): string {
  const { projectDir, command, user, home, env, graceSeconds } = facts;
  const values: Readonly<Record<string, string>> = {
    description: literal(`Almanac: agents of ${projectDir}`),
    engine: facts.needsEngine ? " docker.service podman.socket" : "",
    user: literal(user),
    directory: literal(projectDir),
    command: command.map((each) => word(each).replaceAll("$", "$$$$")).join(" "),
    environment: env.map((pair) => `Environment=${word(pair)}\n`).join(""),
    grace: String(graceSeconds),
    timeout: String(graceSeconds + closingSeconds),
    writable: `${word(projectDir)} ${word(`-${home}`)}`,
    capabilities: user === "root" ? "" : "CapabilityBoundingSet=\n",
  };
  const text = template.replace("{privileges}", facts.needsSudo ? withSudo : withoutSudo);
  return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}

function argumentsOf(options: StartOptions, projectDir: string): string[] {
  const { webUi, port, host, grace } = options;
  return [
    "start",
    "--headless",
    "--project",
    projectDir,
    "--grace",
    String(grace),
    ...(webUi ? ["--web-ui"] : []),
    ...(port === undefined ? [] : ["--port", String(port)]),
    ...(host === undefined ? [] : ["--host", host]),
  ];
}

/** The project's directory as part of a unit's name. */
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

/** A word of a list. Only a command's words need `$` doubled: elsewhere it has no meaning. */
function word(text: string): string {
  const escaped = literal(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return /^[\w./:@%+=,-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

function literal(text: string): string {
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    throw new Problem(
      "systemd_unit",
      `${JSON.stringify(text)} cannot be part of a systemd unit`,
      "use a path without control characters",
    );
  }
  return text.replaceAll("%", "%%");
}
