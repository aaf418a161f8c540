import { attributes, longestContent, type Span } from "./span.ts";
import { runSpanId, spanIdInRun } from "./trace-ids.ts";

/** The run that called a tool. */
export interface Caller {
  readonly traceId: string;
  readonly instanceId: string;
  readonly agent: string;
}

/** A call of a tool without a result so far. */
export interface OpenCall {
  readonly tool: string;
  /** Epoch ms. */
  readonly startMs: number;
  /** JSON; null to leave it out. */
  readonly input: string | null;
}

/** A call of a tool that is over: it has a result, or its run ended. */
export interface ToolCall extends OpenCall {
  /** The model's id of the call, which may be that of an earlier one, too. */
  readonly id: string;
  /** Epoch ms. */
  readonly endMs: number;
  /** The class of its failure; null if it succeeded. */
  readonly failure: string | null;
  /** Null to leave it out. */
  readonly output: string | null;
}

export function toolSpan({ traceId, instanceId, agent }: Caller, call: ToolCall): Span {
  const { id, tool, startMs, endMs, failure, input, output } = call;
  const content = { "gen_ai.tool.call.arguments": input, "gen_ai.tool.call.result": output };
  return {
    traceId,
    spanId: spanIdInRun("tool", instanceId, `${id}/${startMs}`),
    parentId: runSpanId(instanceId),
    name: `execute_tool ${tool}`,
    kind: "internal",
    startMs,
    endMs: Math.max(startMs, endMs),
    attributes: {
      ...attributes({
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": id,
        "gen_ai.tool.type": "function",
        "gen_ai.agent.name": agent,
        "gen_ai.conversation.id": instanceId,
        "error.type": failure,
      }),
      ...attributes(content, longestContent),
    },
    links: [],
    error: failure,
  };
}
