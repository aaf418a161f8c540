import type { FastifyInstance } from "fastify";
import { locksAnswer } from "../api/answers.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";

/** The resources that runs hold. */
export function lockRoutes(app: FastifyInstance, { operations }: GatewayDeps): void {
  const schema = {
    tag: "Status",
    summary: "Resource locks that runs hold now",
    response: { 200: locksAnswer },
  };
  withZod(app).get("/locks/status", { schema }, () => ({ locks: operations.locks() }));
}
