import { z } from "zod";
import { changes, jsonText, labelled, optionalText, part, tool } from "../tool.ts";

interface Given {
  readonly text?: string | undefined;
  readonly answer?: string | number | boolean | undefined;
}

interface ActSpec {
  readonly about: string;
  readonly path: (target: string) => string;
  readonly body?: (given: Given) => object;
}

const run = "an instanceId";
const agent = "an agent";

/** The actions of `act`, with the route of each. `target` is a part of a path already. */
const acts = {
  replay: {
    about: "run the work of a trigger again (the id of an entry of runs)",
    path: (id) => `/api/triggers/${id}/replay`,
  },
  kill: { about: `end a run (${run})`, path: (id) => `/control/kill/${id}` },
  kill_all: { about: `end all runs of ${agent}`, path: (name) => `/control/agents/${name}/kill` },
  pause: {
    about: `disable ${agent}: its work waits`,
    path: (name) => `/control/agents/${name}/pause`,
  },
  resume: { about: `enable ${agent}`, path: (name) => `/control/agents/${name}/resume` },
  pause_all: {
    about: "skip the ticks of all schedules; without a target",
    path: () => "/control/pause",
  },
  pause_all_work: {
    about: "let all new work wait, too; without a target",
    path: () => "/control/pause",
    body: () => ({ work: true }),
  },
  resume_all: {
    about: "end a pause of schedules or of all new work; without a target",
    path: () => "/control/resume",
  },
  kill_everything: {
    about: "end all runs of all agents; without a target",
    path: () => "/control/kill",
  },
  answer: {
    about: "answer a question (its id) with `answer`",
    path: (id) => `/api/questions/${id}/answer`,
    body: ({ answer }) => ({ answer }),
  },
  steer: {
    about: `send \`text\` to a run while it works (${run})`,
    path: (id) => `/api/runs/${id}/steer`,
    body: ({ text: message }) => ({ text: message }),
  },
  continue: {
    about: `start a run with the session of one that has ended (${run}) and \`text\``,
    path: (id) => `/api/runs/${id}/continue`,
    body: ({ text: prompt }) => ({ prompt }),
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
  description: `Does one action to a target. ${actions.map((name) => `${name}: ${acts[name].about}`).join(". ")}.`,
  annotations: { ...changes, destructiveHint: true },
  input: z.object({
    action: z.enum(actions),
    target: z.string().max(200).default(""),
    text: z.string().optional(),
    answer: z.union([z.string(), z.number(), z.boolean()]).optional(),
  }),
  output: done.schema,
  run: async ({ action, target, ...given }, api) => {
    const { path, body = () => ({}) }: ActSpec = acts[action];
    const answer = await api.post(path(part(target)), body(given));
    return done.of({ action, target, answer: jsonText(answer) });
  },
});
