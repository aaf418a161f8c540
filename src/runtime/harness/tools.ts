import { z } from "zod";
import type { Job } from "../../foundation/contracts/job.ts";
import type { RequestRow, ToolRow } from "../wire/requests/row.ts";
import { requestRows, schedulerRequests, type RunRequestName } from "../wire/requests/table.ts";

/** A tool that the harness offers to the model beside its own. */
export interface HarnessTool extends ToolRow {
  readonly request: RunRequestName;
  /** JSON Schema, for the model. */
  readonly parameters: z.core.JSONSchema.BaseSchema;
}

/** The tools of a run: the requests that it can make. */
export function toolsFor(job: Job): readonly HarnessTool[] {
  return allTools().filter(({ request }) => canMake(job, request));
}

/** A tool for each request that a run of any kind can make. */
export function allTools(): readonly HarnessTool[] {
  return requestRows.flatMap(([request, row]) =>
    row.tool === undefined ? [] : [{ ...row.tool, request, parameters: parametersOf(row) }],
  );
}

/** Whether a run can make a request. */
export function canMake({ trigger, channel, memory }: Job, name: RunRequestName): boolean {
  if (name === "rerun") return trigger.kind === "cron";
  if (name === "seen" || name === "memory-check") return memory !== undefined;
  return channel !== null || !Object.hasOwn(schedulerRequests, name);
}

/** Drops patterns, formats and length limits, which providers and models handle badly; requests are validated later. */
function parametersOf({ request }: RequestRow): HarnessTool["parameters"] {
  return z.toJSONSchema(request(z), {
    io: "input",
    override: ({ jsonSchema }) => {
      delete jsonSchema.pattern;
      delete jsonSchema.format;
      delete jsonSchema.maxLength;
      if (jsonSchema.propertyNames === undefined) return;
      delete jsonSchema.propertyNames;
      jsonSchema.additionalProperties = {};
    },
  });
}
