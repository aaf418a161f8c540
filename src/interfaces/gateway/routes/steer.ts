import { z } from "zod";
import { inboxLimits } from "../../../foundation/contracts/questions.ts";
import { agentOf } from "../../../foundation/logs/log-reader.ts";
import { inboxMessageSchema } from "../../views/run-view.ts";
import { triggeredAnswer } from "../api/answers.ts";
import { instanceParams } from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
import { personOf } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";

const { post } = routesOf("Control");
const text = z.string().trim().min(1).max(inboxLimits.text);

/** Lets people step into a live run, and continue one that has ended. */
export const steerRoutes = ({ operations }: GatewayDeps) => [
  post("/api/runs/:instanceId/steer", {
    summary: "Send a message to a run while it works, or stop it after its turn",
    description:
      "The model gets `text` after the tools of its current turn, or once the run has stopped waiting. With `stop` " +
      "the run finishes its turn and ends as `stopped`. A 409 says why the run takes no message.",
    scope: "control",
    params: instanceParams,
    body: z.union([
      z.strictObject({ text: text.meta({ description: "For the model" }) }),
      z.strictObject({ stop: z.literal(true) }),
    ]),
    response: { 202: inboxMessageSchema },
    audit: ({ params: { instanceId } }, { kind, text: detail }) => ({
      act: "steer",
      agent: agentOf(instanceId),
      instanceId,
      detail: kind === "stop" ? "stop after this turn" : detail,
    }),
    problems: [404, 409, 413, 503],
    handle: (request) => {
      const { params, body } = request;
      return operations.steer(
        params.instanceId,
        "text" in body ? body.text : null,
        personOf(request),
      );
    },
  }),
  post("/api/runs/:instanceId/continue", {
    summary: "Start a run with the session of one that has ended",
    description:
      "A new run of the same agent, whose model sees the earlier conversation, and is told that the results of its " +
      "tools may be stale. A 409 says why the run can't be continued.",
    scope: "trigger",
    params: instanceParams,
    body: z.strictObject({ prompt: text.meta({ description: "For the model" }) }),
    response: { 202: triggeredAnswer },
    audit: ({ params, body }, { agent, instanceId }) => ({
      act: "continue",
      agent,
      instanceId: params.instanceId,
      detail: [instanceId, body.prompt].filter((part) => part !== null).join(": "),
    }),
    problems: [404, 409, 413, 503],
    handle: async (request) => {
      const { params, body } = request;
      const started = await operations.continueRun(
        params.instanceId,
        body.prompt,
        personOf(request),
      );
      return { success: true as const, ...started };
    },
  }),
];
