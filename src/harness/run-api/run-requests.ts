import { z } from "zod";
import type { Job } from "../../contracts/job.ts";
import { runRequests, RunApiError, maxTextLength } from "../../contracts/run-api.ts";
import type { RequestName } from "../../contracts/run-api.ts";
import { schemaProblems } from "../../contracts/schema-problems.ts";
import type { RunMessage } from "../../contracts/run-messages.ts";
import { withPayloadFile } from "./awaited-trigger.ts";
import type { RunApiClient } from "./client.ts";
import { returnMessages } from "./return-messages.ts";
import type { SessionExit } from "./session-exit.ts";

/** What the run does by itself: it tells the scheduler in its output, so that it works while that is away. */
const signals = {
  status: z.strictObject({ text: z.string().trim().min(1).max(maxTextLength) }),
  return: z.strictObject({ value: z.unknown() }),
  rerun: z.strictObject({}),
  exit: z.strictObject({ code: z.int().min(0).max(255).optional() }),
} as const;
type Signal = keyof typeof signals;

export type RunRequestName = RequestName | Signal;

/** One JSON object; `ok` is true. */
export type Answer = Readonly<Record<string, unknown>>;

/** What an agent can do while it runs, whether a tool or a command asks for it. */
export interface RunRequests {
  /** Rejects with a RefusedError or a RunApiError that says why not. */
  perform(name: RunRequestName, input: unknown, signal: AbortSignal): Promise<Answer>;
}

/** A refusal of the run's own. */
class RefusedError extends Error {
  readonly problem: { readonly error: string; readonly detail: string };

  constructor(error: string, detail: string) {
    super(detail);
    this.name = "RefusedError";
    this.problem = { error, detail };
  }
}

export interface RunRequestsOptions {
  readonly job: Pick<Job, "trigger" | "workDir">;
  readonly emit: (message: RunMessage) => void;
  /** Null where the run can't reach the scheduler. */
  readonly client: RunApiClient | null;
  readonly exit: SessionExit;
  /** Takes secrets out of a JSON-like value. */
  readonly redact: (value: unknown) => unknown;
}

const statusCharacters = 500;
/** Of a returned value, as JSON. */
const maxValueBytes = maxTextLength;

export function createRunRequests(options: RunRequestsOptions): RunRequests {
  const { client, job } = options;
  return {
    perform: async (name, input, signal) => {
      if (isSignal(name)) {
        const schema: z.ZodType<object> = signals[name];
        signalWith(name, checked(schema, input), options);
        return { ok: true };
      }
      if (!isAbility(name))
        throw new RefusedError("malformed", `there is no ability "${String(name)}"`);
      if (client === null) {
        throw new RefusedError("unavailable", "this run has no way to the scheduler");
      }
      const { request }: { request: z.ZodType<Parameters<typeof client.ask>[1]> } =
        runRequests[name];
      const asked = checked(request, input);
      mustBeShowable(asked, options.redact);
      const answer = await client.ask(name, asked, signal);
      return name === "wait" ? withPayloadFile(answer, job) : answer;
    },
  };
}

/** The refusal as an answer, for a model or a program; anything else is thrown on. */
export function refusedAnswer(error: unknown): Answer {
  if (!(error instanceof RunApiError || error instanceof RefusedError)) throw error;
  return { ok: false, ...error.problem };
}

function isSignal(name: string): name is Signal {
  return Object.hasOwn(signals, name);
}

function isAbility(name: string): name is RequestName {
  return Object.hasOwn(runRequests, name);
}

function signalWith(name: Signal, input: unknown, options: RunRequestsOptions): void {
  const { emit, redact, exit, job } = options;
  const { text = "", value, code = 0 } = input as { text?: string; value?: unknown; code?: number };
  switch (name) {
    case "status":
      return emit({ type: "status", text: text.replace(/\s+/g, " ").slice(0, statusCharacters) });
    case "return":
      return returnMessages(redact(small(value))).forEach(emit);
    case "rerun":
      if (job.trigger.kind === "cron") return emit({ type: "rerun" });
      throw new RefusedError(
        "not_scheduled",
        `only a run that its schedule started is started again; this one came by a ${job.trigger.kind} trigger`,
      );
    case "exit":
      return exit.ask(code);
  }
}

/** What people are shown of a request names something, so a secret in it can't be taken out. */
function mustBeShowable(request: object, redact: RunRequestsOptions["redact"]): void {
  const shown = request as Readonly<Record<string, unknown>>;
  for (const name of ["resource", "source", "event"]) {
    if (redact(shown[name]) === shown[name]) continue;
    throw new RefusedError("malformed", `${name}: it holds a secret, and people are shown it`);
  }
}

function small(value: unknown): unknown {
  const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
  if (bytes <= maxValueBytes) return value ?? null;
  const detail = `the value has ${bytes} bytes as JSON, and may have ${maxValueBytes}`;
  throw new RefusedError("malformed", detail);
}

function checked<T>(schema: z.ZodType<T>, input: unknown): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new RefusedError("malformed", schemaProblems(result.error));
}
