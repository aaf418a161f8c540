/** The agents of the made day: each role in each area, as a company with six products may have them. */
const areas = ["web", "api", "mobile", "billing", "data", "docs"] as const;

/** The agent whose runs take a minute, most of it in one command. */
export const slow = "deploy-web";

/** A minute of the hour that is far while a test runs: no schedule adds a run to the made ones. */
const tenMinutesAway = (new Date().getMinutes() + 10) % 60;

/** What a role's agents do, and how often a day. */
export interface Role {
  readonly name: string;
  readonly title: string;
  /** What starts it, as lines of its config. */
  readonly starts: (area: string) => string;
  readonly kind: "cron" | "webhook" | "agent-call";
  /** Minutes between two runs. */
  readonly everyMinutes: number;
  readonly says: (area: string, n: number) => string;
}

const webhook = (event: string, area: string): string =>
  `[[webhooks]]\nsource = "github"\nevents = ["${event}"]\nactions = ["opened"]\nrepos = ["acme/${area}"]\n`;

const roles: readonly Role[] = [
  {
    name: "triage",
    title: "Issue triage",
    starts: (area) => webhook("issues", area),
    kind: "webhook",
    everyMinutes: 180,
    says: (area, n) => `Labelled acme/${area}#${400 + n}: bug, needs reproduction.`,
  },
  {
    name: "review",
    title: "Reviews pull requests",
    starts: (area) => webhook("pull_request", area),
    kind: "webhook",
    everyMinutes: 150,
    says: (area, n) => `Reviewed acme/${area}#${700 + n}: one change asked for.`,
  },
  {
    name: "deploy",
    title: "Deploys to staging",
    starts: () => "",
    kind: "agent-call",
    everyMinutes: 360,
    says: (area, n) => `Deployed ${area} build ${2_000 + n} to staging.`,
  },
  {
    name: "report",
    title: "Hourly report",
    starts: () => `schedule = "${tenMinutesAway} * * * *"\n`,
    kind: "cron",
    everyMinutes: 60,
    says: (area, n) =>
      `Report ${n} of ${area}: ${12 + (n % 5)} open issues, error rate 0.${n % 9} %.`,
  },
  {
    name: "sync",
    title: "Synchronizes a database",
    starts: () => `schedule = "${tenMinutesAway % 20}-59/20 * * * *"\n`,
    kind: "cron",
    everyMinutes: 20,
    says: (area, n) => `Synchronized ${area}: ${100 + n * 7} rows.`,
  },
];

/** One agent of the project. */
export interface MadeAgent {
  readonly name: string;
  readonly role: Role;
  readonly area: string;
}

/** So many agents; the first thirty are those of the company, further ones get a number. */
export function madeAgents(count = 30): readonly MadeAgent[] {
  const all = areas.flatMap((area) => roles.map((role) => ({ role, area })));
  return Array.from({ length: count }, (_, n) => {
    const { role, area } = all[n % all.length] ?? { role: firstRole(), area: "web" };
    const round = Math.floor(n / all.length);
    const suffix = round === 0 ? "" : `-${round + 1}`;
    return { name: `${role.name}-${area}${suffix}`, role, area };
  });
}

function firstRole(): Role {
  const [role] = roles;
  if (role === undefined) throw new Error("there are no roles");
  return role;
}

/** The `config.toml` of an agent. */
export function madeConfig({ name, role, area }: MadeAgent): string {
  const keys = `models = ["${name === slow ? "slow" : "scripted"}"]\ncredentials = []\ncallable = true\ntags = ["${area}"]\n`;
  const [schedule, tables] =
    role.kind === "cron" ? [role.starts(area), ""] : ["", role.starts(area)];
  return `${keys}${schedule}${tables}[runtime]\ntype = "host-user"\nrun_as = "$USER"\n`;
}
