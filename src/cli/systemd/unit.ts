import { UserError } from "../../errors.ts";

/** What a systemd service of a project is made from. Paths are absolute. */
export interface UnitFacts {
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
