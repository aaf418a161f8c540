import type { Trigger } from "../../../streams/vocabulary.ts";

/** The agents of the made day: each role in each area, as a company with six products may have them. */
const areas = ["web", "api", "mobile", "billing", "data", "docs"] as const;

/** The agent whose runs take a minute, most of it in one command. */
const slow = "deploy-web";

/** A minute of the hour that is far while a test runs: no schedule adds a run to the made ones. */
const tenMinutesAway = (new Date().getMinutes() + 10) % 60;

/** What a role's agents do, and how often a day. */
export interface Role {
  readonly name: string;
  readonly title: string;
  /** What starts it, as lines of its config. */
  readonly starts: (area: string) => string;
  /** What started its nth run, at this time. */
  readonly trigger: (area: string, n: number, at: number) => Trigger;
  /** Minutes between two runs. */
  readonly everyMinutes: number;
  readonly says: (area: string, n: number) => string;
}

const webhook = (event: string) => ({
  starts: (area: string) =>
    `[[webhooks]]\nsource = "github"\nevents = ["${event}"]\nactions = ["opened"]\nrepos = ["acme/${area}"]\n`,
  trigger: (area: string, n: number): Trigger => ({
    kind: "manual",
    prompt: `look at acme/${area}#${n}`,
  }),
});
const cron = (minutes: string) => ({
  starts: () => `schedule = "${minutes} * * * *"\n`,
  trigger: (_area: string, _n: number, at: number): Trigger => ({ kind: "cron", scheduledFor: at }),
});

const roles: readonly Role[] = [
  {
    name: "triage",
    title: "Issue triage",
    ...webhook("issues"),
    everyMinutes: 180,
    says: (area, n) => `Labelled acme/${area}#${400 + n}: bug, needs reproduction.`,
  },
  {
    name: "review",
    title: "Reviews pull requests",
    ...webhook("pull_request"),
    everyMinutes: 150,
    says: (area, n) => `Reviewed acme/${area}#${700 + n}: one change asked for.`,
  },
  {
    name: "deploy",
    title: "Deploys to staging",
    starts: () => "",
    trigger: (area, n) => ({ kind: "manual", prompt: `deploy ${area} build ${2_000 + n}` }),
    everyMinutes: 360,
    says: (area, n) => `Deployed ${area} build ${2_000 + n} to staging.`,
  },
  {
    name: "report",
    title: "Hourly report",
    ...cron(`${tenMinutesAway}`),
    everyMinutes: 60,
    says: (area, n) =>
      `Report ${n} of ${area}: ${12 + (n % 5)} open issues, error rate 0.${n % 9} %.`,
  },
  {
    name: "sync",
    title: "Synchronizes a database",
    ...cron(`${tenMinutesAway % 20}-59/20`),
    everyMinutes: 20,
    says: (area, n) => `Synchronized ${area}: ${100 + n * 7} rows.`,
  },
];

export const madeAgents = areas.flatMap((area) =>
  roles.map((role) => ({ name: `${role.name}-${area}`, role, area })),
);

/** One agent of the project. */
export type MadeAgent = (typeof madeAgents)[number];

/** The `config.toml` of an agent. */
export function madeConfig({ name, role, area }: MadeAgent): string {
  const keys = `models = ["${name === slow ? "slow" : "scripted"}"]\ncredentials = []\ncallable = true\ntags = ["${area}"]\n`;
  return `${keys}${role.starts(area)}[runtime]\ntype = "host-user"\nrun_as = "$USER"\n`;
}
