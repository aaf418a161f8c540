import { z } from "zod";
import type { NamedOperations } from "../../operations/table.ts";
import { changes, jsonText, labelled, optionalText, since, tool } from "../tool.ts";

interface Given {
  readonly text?: string | undefined;
  readonly answer?: string | number | boolean | undefined;
  readonly since?: string | undefined;
}

interface ActSpec {
  readonly about: string;
  /** Its target is the field in the path, if it has one. */
  readonly address: keyof NamedOperations;
  /** The other fields of the input. */
  readonly input?: (given: Given) => object;
}

const run = "an instanceId";
const agent = "an agent";

/** The actions of `act`, with the operation of each. */
const acts = {
  replay: {
    about: "run the work of a trigger again (the id of an entry of runs)",
    address: "POST /api/triggers/:id/replay",
  },
  backfill: {
    about: `start the runs of ${agent} that its schedule missed since \`since\`, one after another`,
    address: "POST /api/agents/:name/backfill",
    input: ({ since: from = "" }) => ({ since: from }),
  },
  kill: { about: `end a run (${run})`, address: "POST /control/kill/:instanceId" },
  kill_all: { about: `end all runs of ${agent}`, address: "POST /control/agents/:name/kill" },
  pause: {
    about: `disable ${agent}: its work waits`,
    address: "POST /control/agents/:name/pause",
  },
  resume: { about: `enable ${agent}`, address: "POST /control/agents/:name/resume" },
  clone: {
    about: `copy ${agent} to a disabled agent named \`text\``,
    address: "POST /api/agents/:name/clone",
    input: ({ text: to }) => ({ to }),
  },
  pause_all: {
    about: "skip all scheduled runs; takes no target",
    address: "POST /control/pause",
  },
  pause_all_work: {
    about: "make all new work wait as well; takes no target",
    address: "POST /control/pause",
    input: () => ({ work: true }),
  },
  resume_all: {
    about: "end a pause of schedules or of all new work; takes no target",
    address: "POST /control/resume",
  },
  kill_everything: {
    about: "end all runs of all agents; takes no target",
    address: "POST /control/kill",
  },
  answer: {
    about: "answer a question (its id) with `answer`",
    address: "POST /api/questions/:id/answer",
    input: ({ answer }) => ({ answer }),
  },
  steer: {
    about: `send \`text\` to a run while it works (${run})`,
    address: "POST /api/runs/:instanceId/steer",
    input: ({ text }) => ({ text }),
  },
  continue: {
    about: `start a run with the session of an ended run (${run}) and \`text\``,
    address: "POST /api/runs/:instanceId/continue",
    input: ({ text: prompt }) => ({ prompt }),
  },
} as const satisfies Readonly<Record<string, ActSpec>>;
type ActionName = keyof typeof acts;
const actions = Object.keys(acts) as [ActionName, ...ActionName[]];

const done = labelled(
  z.object({
    action: z.enum(actions),
    target: z.string(),
    answer: optionalText.meta({ description: "The scheduler's answer, as JSON" }),
  }),
  ["action", "target"],
  ["answer"],
);

export const act = tool({
  title: "Act on a run, an agent or a question",
  description: `Performs one action on a target. ${actions.map((name) => `${name}: ${acts[name].about}`).join(". ")}.`,
  annotations: { ...changes, destructiveHint: true },
  input: z.object({
    action: z.enum(actions),
    target: z.string().max(200).default(""),
    text: z.string().optional(),
    answer: z.union([z.string(), z.number(), z.boolean()]).optional(),
    since,
  }),
  output: done.schema,
  run: async ({ action, target, ...given }, api) => {
    const { address, input = () => ({}) }: ActSpec = acts[action];
    const [, field] = /:(\w+)/.exec(address) ?? [];
    const asked = { ...(field !== undefined && { [field]: target }), ...input(given) };
    // The operation parses its input.
    const answer = await api.perform(address, asked);
    return done.of({ action, target, answer: jsonText(answer) });
  },
});
