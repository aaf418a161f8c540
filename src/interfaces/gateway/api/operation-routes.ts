import type { FastifyReply, FastifyRequest } from "fastify";
import { emptyBody } from "../../../foundation/contracts/params.ts";
import { Problem } from "../../../foundation/errors.ts";
import { partsOf, type Call, type Operation } from "../../../foundation/operation.ts";
import type { OperationContext } from "../../operations/table.ts";
import { personOf } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import { limitOf } from "../token-limits.ts";
import type { Route } from "./route.ts";

/** The routes of the operations under a heading. */
export function operationRoutes(tag: string, { rows, context }: GatewayDeps): Route[] {
  return rows.filter((row) => row.tag === tag).map((row) => routeOf(row, context));
}

function routeOf(operation: Operation<OperationContext>, context: OperationContext): Route {
  const { tag, summary, description, problems, params, output } = operation;
  const { method, path: url, hasQuery } = partsOf(operation.address);
  const { input, scope, isSecret, isBackground } = operation;
  const body = method === "GET" ? undefined : hasQuery ? emptyBody : (input ?? emptyBody);
  const query = hasQuery ? input : undefined;
  const part = hasQuery ? "query" : "body";
  return {
    method,
    url,
    tag,
    summary,
    ...given({ description, problems, params, scope, query, body }),
    config: given({ isSecret, isBackground }),
    response: { [operation.status ?? 200]: output },
    ...(operation.isAbout === undefined
      ? {}
      : {
          isAbout: (request, isMine) =>
            operation.isAbout?.(inputOf(request, part), isMine, context) ?? false,
        }),
    ...(operation.audit === undefined
      ? {}
      : {
          audit: (request, answer) => operation.audit?.(inputOf(request, part), answer) ?? null,
        }),
    handle: (request, reply) => {
      if (isSecret) void reply.header("cache-control", "no-store");
      return operation.perform(inputOf(request, part), context, callOf(request, reply));
    },
  };
}

/** Without undefined members. */
function given<T extends object>(members: T) {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

function inputOf(request: FastifyRequest, part: "query" | "body"): object {
  return { ...(request.params as object), ...(request[part] as object | null | undefined) };
}

function callOf(request: FastifyRequest, reply: FastifyReply): Call {
  return {
    by: personOf(request),
    isMine: limitOf(request),
    idempotencyKey: () => idempotencyKey(request.headers["idempotency-key"]),
    afterAnswer: (run) => void reply.raw.once("close", run),
  };
}

function idempotencyKey(value: string | string[] | undefined): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && value.length > 0 && value.length <= 200) return value;
  throw new Problem("malformed", "The header Idempotency-Key must have 1 to 200 characters.");
}
