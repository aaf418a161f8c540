import type { Worker } from "node:worker_threads";
import { messageOf } from "../../errors.ts";
import type { SchemaProblem } from "./compile-schema.ts";
import type { SchemaAnswer, SchemaRequest } from "./schema-request.ts";
import { askSchemaThread, startSchemaThread } from "./schema-thread.ts";

/**
 * Checks JSON Schemas, and values by them, in a thread of its own: schemas come with agents of strangers, and one whose
 * pattern takes forever must not hold up the scheduler. The thread is started by the first check.
 */
export interface SchemaChecker {
  /** Null for a schema that can be used. Never rejects. */
  problemOf(schema: string): Promise<SchemaProblem | null>;
  /** Why a value, any JSON, does not meet a schema, in one line; null when it does. Never rejects. */
  mismatch(schema: string, value: unknown): Promise<string | null>;
}

interface CheckerOptions {
  /** How long one check may take, in ms. */
  readonly timeoutMs?: number;
}

const maxReasonCharacters = 280;

export function createSchemaChecker({ timeoutMs = 5_000 }: CheckerOptions = {}): SchemaChecker {
  let thread: Worker | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  /** The last check of each schema that is not over. */
  const last = new Map<string, Promise<unknown>>();

  async function check(request: SchemaRequest): Promise<SchemaAnswer> {
    const running = thread ?? (await started());
    try {
      return await askSchemaThread(running, request, timeoutMs);
    } catch (error) {
      await running.terminate();
      throw new Error(tooMuch, { cause: error });
    }
  }

  async function started(): Promise<Worker> {
    const running = await startSchemaThread();
    running.once("exit", () => (thread = null));
    return (thread = running);
  }

  /** One after the other: the time of a check is its own. */
  function inTurn(request: SchemaRequest): Promise<SchemaAnswer> {
    const answer = turn.then(() => check(request));
    turn = answer.catch(() => null);
    return answer;
  }

  /** One check of a schema at a time gets into the queue: slow ones leave time for those of other schemas. */
  async function inOwnTurn(request: SchemaRequest): Promise<SchemaAnswer> {
    const answer = (last.get(request.schema) ?? Promise.resolve()).then(() => inTurn(request));
    const over = answer.catch(() => null);
    last.set(request.schema, over);
    try {
      return await answer;
    } finally {
      if (last.get(request.schema) === over) last.delete(request.schema);
    }
  }

  return {
    problemOf: async (schema) => {
      try {
        const answer = await inOwnTurn({ schema, value: null });
        return answer.type === "schema" ? answer.problem : null;
      } catch (error) {
        return { line: 1, column: 1, message: messageOf(error) };
      }
    },
    mismatch: async (schema, value) => {
      try {
        const answer = await inOwnTurn({ schema, value: JSON.stringify(value) });
        return answer.type === "value" ? oneLine(answer.reason) : null;
      } catch (error) {
        return `it can't be checked: ${messageOf(error)}`;
      }
    },
  };
}

const tooMuch = "checking it takes too much time or memory; use simpler patterns";

/** Null stays null. What a value's keys are may be long. */
function oneLine(reason: string | null): string | null {
  return reason && reason.replace(/\s+/g, " ").slice(0, maxReasonCharacters);
}
