import { z } from "zod";
import {
  editFileSchema,
  fileEditedSchema,
  shownFilesSchema,
} from "../../../foundation/contracts/file-edits.ts";
import {
  agentHostsSchema,
  allowHostSchema,
  hostAllowedSchema,
} from "../../../foundation/contracts/run-hosts.ts";
import {
  enabledAnswer,
  killedAllAnswer,
  killedAnswer,
  killedRunAnswer,
  pausedAnswer,
  stoppingAnswer,
  triggeredAnswer,
} from "../api/answers.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { UserError } from "../../../foundation/errors.ts";
import { agentOf } from "../../../foundation/logs/log-reader.ts";
import {
  emptyBody,
  optionalBody,
  agentParams,
  instanceParams,
} from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";

const triggerBody = optionalBody({
  prompt: z.string().nullish().meta({ description: "What to do, for this run only" }),
});
const pauseBody = optionalBody({
  work: z.boolean().nullish().meta({ description: "Pause all new work, too" }),
});
const stopBody = optionalBody({
  now: z.boolean().nullish().meta({ description: "Kill the running runs" }),
});
const { post } = routesOf("Control");
const network = routesOf("Network");
const files = routesOf("Files");

/** The commands of an operator, as a thin layer over the scheduler's operations. */
export const controlRoutes = (deps: GatewayDeps) => [
  pauseRoute(deps),
  resumeRoute(deps),
  stopRoute(deps),
  switchAgent(deps, "enable", true, "Enable an agent"),
  switchAgent(deps, "resume", true, "Another word for enable"),
  switchAgent(deps, "disable", false, "Disable an agent: queued work waits, running runs continue"),
  switchAgent(deps, "pause", false, "Another word for disable"),
  ...runRoutes(deps),
];

function pauseRoute({ operations }: GatewayDeps) {
  return post("/control/pause", {
    summary:
      "Pause the scheduler: scheduled runs are skipped, and with work = true all new work waits",
    scope: "control",
    description:
      "With `work`, webhook deliveries, calls, reruns, retries and replays wait and start on resume, in order; manual " +
      "starts are a 409. A pause without it leaves paused work paused.",
    body: pauseBody,
    response: { 200: pausedAnswer },
    audit: ({ body }) => ({
      act: "pause",
      ...(body?.work === true ? { detail: "all new work" } : {}),
    }),
    problems: [503],
    handle: async ({ body }) => {
      const work = body?.work === true;
      await operations.setPaused(true, work);
      return { success: true as const, paused: true, ...(work ? { pausedWork: work } : {}) };
    },
  });
}

function resumeRoute({ operations }: GatewayDeps) {
  return post("/control/resume", {
    summary: "Resume the scheduler: ends a pause of schedules or of all new work",
    scope: "control",
    body: emptyBody,
    response: { 200: pausedAnswer },
    audit: () => ({ act: "resume" }),
    problems: [503],
    handle: async () => {
      await operations.setPaused(false);
      return { success: true as const, paused: false };
    },
  });
}

function stopRoute({ operations }: GatewayDeps) {
  return post("/control/stop", {
    summary:
      "Stop the scheduler: running runs get their grace period, or, with now = true, are killed",
    body: stopBody,
    response: { 202: stoppingAnswer },
    audit: ({ body }, { running }) => ({
      act: "stop",
      detail: `${counted(running, "run")}${body?.now === true ? ", now" : ""}`,
    }),
    handle: ({ body }, reply) => {
      const { running } = operations.snapshot().scheduler;
      // The answer is sent first: stopping closes this very server.
      reply.raw.once("close", () => operations.stop(body?.now === true));
      return { success: true as const, running };
    },
  });
}

/** Pausing one agent disables it, and resuming enables it. */
function switchAgent({ operations }: GatewayDeps, word: string, enabled: boolean, summary: string) {
  return post(`/control/agents/:name/${word}`, {
    summary,
    scope: "control",
    params: agentParams,
    body: emptyBody,
    response: { 200: enabledAnswer },
    audit: ({ params }) => ({ act: enabled ? "enable" : "disable", agent: params.name }),
    problems: [404, 409, 503],
    handle: async ({ params: { name: agent } }) => {
      await operations.setEnabled(agent, enabled);
      return { success: true as const, agent, enabled };
    },
  });
}

const runRoutes = ({ operations }: GatewayDeps) => [
  post("/control/trigger/:name", {
    summary: "Run an agent now, or queue the run",
    scope: "trigger",
    description:
      "With the header `Idempotency-Key`, of at most 200 characters, the agent is started once for each key: the same " +
      "request again answers as the first one, while the trigger history has its entry. With another prompt it is a 409.",
    params: agentParams,
    body: triggerBody,
    response: { 202: triggeredAnswer },
    audit: ({ body }, { agent, instanceId, repeated }) =>
      repeated ? null : { act: "trigger", agent, instanceId, detail: body?.prompt },
    problems: [404, 409, 413, 503],
    handle: async ({ params: { name: agent }, body, headers }) => {
      const key = idempotencyKey(headers["idempotency-key"]);
      const triggered = await operations.trigger(agent, body?.prompt ?? null, key);
      return { success: true as const, agent, ...triggered };
    },
  }),
  post("/control/kill", {
    summary: "End all running runs of all agents",
    scope: "control",
    body: emptyBody,
    response: { 200: killedAllAnswer },
    audit: (_request, { killed }) => ({
      act: "kill",
      detail: `${counted(killed, "run")} of all agents`,
    }),
    handle: async () => ({ success: true as const, killed: await operations.killAll() }),
  }),
  post("/control/agents/:name/kill", {
    summary: "End all running runs of an agent",
    scope: "control",
    params: agentParams,
    body: emptyBody,
    response: { 200: killedAnswer },
    audit: (_request, { agent, killed }) => ({
      act: "kill",
      agent,
      detail: counted(killed, "run"),
    }),
    problems: [404],
    handle: async ({ params: { name: agent } }) => ({
      success: true as const,
      agent,
      killed: await operations.killAgent(agent),
    }),
  }),
  post("/control/kill/:instanceId", {
    summary: "End one run",
    scope: "control",
    params: instanceParams,
    body: emptyBody,
    response: { 200: killedRunAnswer },
    audit: (_request, { instanceId }) => ({ act: "kill", agent: agentOf(instanceId), instanceId }),
    problems: [404],
    handle: async ({ params: { instanceId } }) => {
      await operations.killInstance(instanceId);
      return { success: true as const, instanceId };
    },
  }),
];

function idempotencyKey(given: string | string[] | undefined): string | null {
  if (given === undefined) return null;
  if (typeof given === "string" && given.length > 0 && given.length <= 200) return given;
  throw new UserError("malformed", "The header Idempotency-Key must have 1 to 200 characters.");
}

/** Lists the hosts that agents' runs were denied, and allows hosts from now on. */
export const hostRoutes = ({ operations }: GatewayDeps) => [
  network.get("/api/agents/:name/hosts", {
    summary: "The hosts that an agent's runs were denied in the last 30 days",
    params: agentParams,
    response: { 200: agentHostsSchema },
    problems: [404, 503],
    handle: ({ params }) => operations.agentHosts(params.name),
  }),
  network.post("/api/agents/:name/allow-host", {
    summary: "Allow a host for an agent",
    description:
      "Adds the host to `[network].allow` of the agent's own `config.toml`; comments and order stay. With `dryRun` the " +
      "answer has what would change, and nothing is written. It counts from when the scheduler has read the file again, " +
      "also for runs that are under way.",
    params: agentParams,
    body: allowHostSchema,
    response: { 200: hostAllowedSchema },
    audit: (_request, { agent, entry, written }) =>
      written ? { act: "allow-host", agent, detail: entry } : null,
    problems: [403, 404, 409],
    handle: ({ params, body }) => operations.allowHost(params.name, body),
  }),
];

/** Shows and edits agents' files. */
export const fileRoutes = ({ operations }: GatewayDeps) => [
  files.get("/api/agents/:name/files", {
    summary: "An agent's config.toml and SKILL.md as they are on disk, with their problems",
    params: agentParams,
    response: { 200: shownFilesSchema },
    problems: [404],
    handle: ({ params }) => operations.agentFiles(params.name),
  }),
  files.post("/api/agents/:name/files", {
    summary: "Edit an agent's config.toml or SKILL.md",
    description:
      "Refused with 409 if the file is not the one that `hash` names (`conflict`), or if the text adds an error " +
      "(`invalid_config`), and with 403 where `[gateway].edit` is false (`read_only`). With `dryRun` the answer has what " +
      "would change, and nothing is written. It counts from when the scheduler has read the file again.",
    params: agentParams,
    body: editFileSchema,
    response: { 200: fileEditedSchema },
    audit: (_request, { agent, file, change, written }) =>
      written ? { act: "edit", agent, detail: `${file}: ${changedLines(change)}` } : null,
    problems: [403, 404, 409, 413],
    handle: ({ params, body }) => operations.editFile(params.name, body),
  }),
];

/** How many lines a unified difference adds and removes: `+2 −1`. */
function changedLines(change: string): string {
  const count = (sign: string): number =>
    change.split("\n").filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3)))
      .length;
  return `+${count("+")} −${count("-")} lines`;
}
