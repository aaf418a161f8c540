import { z } from "zod";
import type { Act } from "../../foundation/contracts/audit-acts.ts";
import { counted } from "../../foundation/contracts/format.ts";
import { agentParams, instanceParams, optionalBody } from "../../foundation/contracts/params.ts";
import { inboxLimits } from "../../foundation/contracts/questions.ts";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";
import { Problem } from "../../foundation/errors.ts";
import { agentOf } from "../../foundation/logs/log-reader.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import { backfill } from "./backfill.ts";
import type { RunContext } from "./run-context.ts";
import { inboxMessageSchema } from "./run-view.ts";
import { startManual } from "./start-manual.ts";
import { continueRun as continueSession, steer as steerRun } from "./steer.ts";

const { change } = operationsOf<RunContext>("Control");
const success = z.literal(true);
const text = z.string().trim().min(1).max(inboxLimits.text);

const pausedAnswer = z.object({
  success,
  paused: z.boolean(),
  pausedWork: success.optional().meta({ description: "Present if all new work waits" }),
});
const triggeredAnswer = z.object({
  success,
  agent: z.string(),
  triggerId: z.string().meta({ description: "Its entry in the trigger history" }),
  instanceId: nullableText.meta({ description: "The run; null while it is queued" }),
  queued: z.boolean(),
  repeated: success.optional().meta({
    description: "Present if an earlier request with the same idempotency key started it",
  }),
});

const pause = change("/control/pause", {
  summary:
    "Pause the scheduler: scheduled runs are skipped, and with work = true all new work waits",
  scope: "control",
  description:
    "With `work`, webhook deliveries, calls, reruns, retries and replays wait and start on resume, in order; manual " +
    "starts are a 409. A pause without `work` leaves paused work paused.",
  input: optionalBody({
    work: z.boolean().nullish().meta({ description: "Also pause all new work" }),
  }),
  output: pausedAnswer,
  audit: ({ work }): Act => ({ act: "pause", ...(work ? { detail: "all new work" } : {}) }),
  problems: [503],
  perform: async ({ work }, { switches }) => {
    await switches.setPaused(true, work === true);
    return { success: true as const, paused: true, ...(work ? { pausedWork: work } : {}) };
  },
});

const resume = change("/control/resume", {
  summary: "Resume the scheduler: ends a pause of schedules or of all new work",
  scope: "control",
  output: pausedAnswer,
  audit: () => ({ act: "resume" }),
  problems: [503],
  perform: async (_input, { switches }) => {
    await switches.setPaused(false);
    return { success: true as const, paused: false };
  },
});

const stop = change("/control/stop", {
  summary:
    "Stop the scheduler: running runs get their grace period, or, with now = true, are killed",
  input: optionalBody({
    now: z.boolean().nullish().meta({ description: "Kill the running runs" }),
  }),
  output: z.object({
    success,
    running: z.int().meta({ description: "Number of runs that are ended, or may finish" }),
  }),
  status: 202,
  audit: ({ now }, { running }) => ({
    act: "stop",
    detail: `${counted(running, "run")}${now === true ? ", now" : ""}`,
  }),
  perform: ({ now }, { status, stopping }, { afterAnswer }) => {
    const running = status.running();
    // Stopping closes the server that answers.
    afterAnswer(() => (now ? stopping.stopNow("al stop --now") : stopping.stop("al stop")));
    return { success: true as const, running };
  },
});

/** Pausing one agent disables it, and resuming enables it. */
function switchAgent<const Word extends string>(word: Word, enabled: boolean, summary: string) {
  return change(`/control/agents/:name/${word}`, {
    summary,
    scope: "control",
    params: agentParams,
    output: z.object({ success, agent: z.string(), enabled: z.boolean() }),
    audit: ({ name }) => ({ act: enabled ? "enable" : "disable", agent: name }),
    problems: [404, 409, 503],
    perform: async ({ name: agent }, { status, switches }) => {
      const { config } = knownAgent(status, agent);
      if (enabled && config?.scale === 0) {
        const message = `agent "${agent}" has scale = 0 in its config.toml; set scale there to enable it`;
        throw new Problem("disabled", message);
      }
      await switches.setEnabled(agent, enabled);
      return { success: true as const, agent, enabled };
    },
  });
}

const triggerAgent = change("/control/trigger/:name", {
  summary: "Run an agent now, or queue the run",
  scope: "trigger",
  description:
    "With the header `Idempotency-Key` (at most 200 characters), the agent is started once for each key: a repeated " +
    "request gets the first response while the trigger history has its entry. The same key with another prompt is a 409.",
  params: agentParams,
  input: optionalBody({
    prompt: z.string().nullish().meta({ description: "Extra instructions for this run only" }),
  }),
  output: triggeredAnswer,
  status: 202,
  audit: ({ prompt }, { agent, instanceId, repeated }) =>
    repeated ? null : { act: "trigger", agent, instanceId, detail: prompt },
  problems: [404, 409, 413, 503],
  perform: async ({ name: agent, prompt = null }, context, { idempotencyKey }) => {
    const trigger = { kind: "manual", prompt } as const;
    const start = (id?: string) => startManual(agent, trigger, context, id);
    const key = idempotencyKey();
    const triggered = await (key === null
      ? start()
      : context.startOnce({ agent, trigger, key }, start));
    return { success: true as const, agent, ...triggered };
  },
});

const killAll = change("/control/kill", {
  summary: "End all running runs of all agents",
  scope: "control",
  output: z.object({ success, killed: z.int() }),
  audit: (_input, { killed }) => ({
    act: "kill",
    detail: `${counted(killed, "run")} of all agents`,
  }),
  perform: (_input, { status, inputs }) => {
    const killed = status.running();
    inputs.kill$.next({ everything: "killed" });
    return { success: true as const, killed };
  },
});

const killAgent = change("/control/agents/:name/kill", {
  summary: "End all running runs of an agent",
  scope: "control",
  params: agentParams,
  output: z.object({ success, agent: z.string(), killed: z.int() }),
  audit: (_input, { agent, killed }) => ({ act: "kill", agent, detail: counted(killed, "run") }),
  problems: [404],
  perform: ({ name: agent }, { status, inputs }) => {
    const { running: killed } = knownAgent(status, agent);
    inputs.kill$.next({ agent });
    return { success: true as const, agent, killed };
  },
});

const killRun = change("/control/kill/:instanceId", {
  summary: "End one run",
  scope: "control",
  params: instanceParams,
  output: z.object({ success, instanceId: z.string() }),
  audit: ({ instanceId }) => ({ act: "kill", agent: agentOf(instanceId), instanceId }),
  problems: [404],
  perform: ({ instanceId }, { runs, inputs }) => {
    if (runs.find(instanceId) === undefined) {
      throw new Problem("unknown_instance", `no run "${instanceId}" is running`);
    }
    inputs.kill$.next({ instanceId });
    return { success: true as const, instanceId };
  },
});

const steer = change("/api/runs/:instanceId/steer", {
  summary: "Send a message to a run while it works, or stop it after its turn",
  description:
    "The model gets `text` after the tools of its current turn, or once the run has stopped waiting. With `stop` " +
    "the run finishes its turn and ends as `stopped`. A 409 gives the reason why the run accepts no message.",
  scope: "control",
  params: instanceParams,
  input: z.union([
    z.strictObject({ text: text.meta({ description: "For the model" }) }),
    z.strictObject({ stop: success }),
  ]),
  output: inboxMessageSchema,
  status: 202,
  audit: ({ instanceId }, { kind, text: detail }) => ({
    act: "steer",
    agent: agentOf(instanceId),
    instanceId,
    detail: kind === "stop" ? "stop after this turn" : detail,
  }),
  problems: [404, 409, 413, 503],
  perform: (input, context, { by }) =>
    steerRun(input.instanceId, "text" in input ? input.text : null, by, context),
});

const continueRun = change("/api/runs/:instanceId/continue", {
  summary: "Start a run with the session of an ended run",
  description:
    "A new run of the same agent, whose model sees the earlier conversation, and is told that the results of its " +
    "tools may be stale. A 409 gives the reason why the run can't be continued.",
  scope: "trigger",
  params: instanceParams,
  input: z.strictObject({ prompt: text.meta({ description: "For the model" }) }),
  output: triggeredAnswer,
  status: 202,
  audit: ({ instanceId, prompt }, started) => ({
    act: "continue",
    agent: started.agent,
    instanceId,
    detail: [started.instanceId, prompt].filter((part) => part !== null).join(": "),
  }),
  problems: [404, 409, 413, 503],
  perform: async ({ instanceId, prompt }, context, { by }) => {
    const started = await continueSession(instanceId, prompt, by, context);
    return { success: true as const, ...started };
  },
});

/** Operations on the scheduler, on agents and on runs. */
export const controlOperations = [
  pause,
  resume,
  stop,
  switchAgent("enable", true, "Enable an agent"),
  switchAgent("resume", true, "Alias of enable"),
  switchAgent("disable", false, "Disable an agent: queued work waits, running runs continue"),
  switchAgent("pause", false, "Alias of disable"),
  triggerAgent,
  killAll,
  killAgent,
  killRun,
  steer,
  continueRun,
  backfill,
] as const;
