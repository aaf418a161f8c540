import { answerWith, done, shownName, type RequestRow, type Zod } from "./row.ts";

/** The most tools of one server. */
const maxTools = 512;

const tool = (z: Zod) =>
  z.object({
    name: z.string().min(1).max(128),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
  });

const call = (z: Zod) => ({
  server: shownName(z),
  tool: z.string().min(1).max(128),
  arguments: z.record(z.string(), z.unknown()),
});

/** Requests about the tools of MCP servers, which the harness offers to the model. */
export const mcpRequests = {
  /** The tools that the agent has of a server; `found` are those of a server inside the run. */
  "mcp-tools": {
    request: (z) =>
      z.strictObject({ server: shownName(z), found: z.array(tool(z)).max(maxTools).optional() }),
    answer: (z) =>
      answerWith(z, {
        tools: z.array(tool(z)),
        /** Why the server can't be used; null if it can. */
        problem: z.string().nullable(),
      }),
  },
  /** The servers whose tools have changed since their last list. */
  "mcp-changes": {
    request: (z) => z.strictObject({}),
    answer: (z) => answerWith(z, { servers: z.array(z.string()) }),
  },
  /** Calls a tool of a server outside the run. */
  "mcp-call": {
    request: (z) => z.strictObject({ ...call(z), traceparent: z.string().max(128).optional() }),
    answer: (z) =>
      answerWith(z, {
        content: z.array(z.looseObject({ type: z.string() })),
        isError: z.boolean(),
      }),
    isVital: true,
  },
  /** Waits until a call of a tool inside the run may be sent. */
  "mcp-allow": { request: (z) => z.strictObject(call(z)), answer: done, isVital: true },
} as const satisfies Readonly<Record<string, RequestRow>>;
