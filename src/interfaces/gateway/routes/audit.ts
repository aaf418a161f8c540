import { auditQuerySchema, auditSchema } from "../../../features/people/audit-report.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";

/** The audit trail of people. */
export const auditRoutes = ({ operations }: GatewayDeps) => [
  routesOf("Audit").get("/api/audit", {
    summary: "The acts of people: when, who, from where",
    description: "Newest first; `before` takes the `next` of an earlier page.",
    query: auditQuerySchema,
    response: { 200: auditSchema },
    problems: [503],
    handle: ({ query }) => operations.audit(query),
  }),
];
