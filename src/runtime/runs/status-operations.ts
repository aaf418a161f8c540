import { z } from "zod";
import { schedulerSchema, snapshotSchema } from "../../../streams/status/wire.ts";
import { agentDetailSchema } from "../../foundation/config/agent-view.ts";
import { lockSchema } from "../../foundation/contracts/operator-api.ts";
import { agentParams } from "../../foundation/contracts/params.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { agentDetail } from "./agent-detail.ts";
import { limitedScheduler, limitedSnapshot } from "./limited-status.ts";
import { heldLocks } from "./lock-view.ts";
import type { RunContext } from "./run-context.ts";

const { read } = operationsOf<RunContext>("Status");

/** The scheduler, its agents and their locks as they are now. */
export const statusOperations = [
  read("/control/status", {
    summary: "The scheduler and its agents as they are now",
    output: snapshotSchema,
    isAbout: () => true,
    perform: (_input, context, { isMine }) =>
      isMine === null ? context.status.snapshot() : limitedSnapshot(context, isMine),
  }),
  read("/dashboard/api/scheduler", {
    summary: "The scheduler as a whole, without its agents",
    description: "For hidden tabs: asking for it does not prolong a session.",
    output: schedulerSchema,
    isBackground: true,
    isAbout: () => true,
    perform: (_input, context, { isMine }) =>
      isMine === null ? context.status.snapshot().scheduler : limitedScheduler(context, isMine),
  }),
  read("/locks/status", {
    summary: "Resource locks that runs hold now",
    output: z.object({ locks: z.array(lockSchema).readonly() }),
    isAbout: () => true,
    perform: (_input, { status }) => ({ locks: heldLocks(status.claims()) }),
  }),
  read("/dashboard/api/agents/:name", {
    summary: "An agent in full: its active config and its next ticks",
    params: agentParams,
    output: agentDetailSchema,
    problems: [404],
    perform: ({ name }, context) => agentDetail(name, context),
  }),
] as const;
