import type { Program } from "./play.ts";
import type { Step } from "./cli-provider.ts";

const done: Step = { text: "Done." };

/** The shell of a command line. */
const shells = {
  claude: (command: string) => ({ tool: "Bash", args: { command, description: "a command" } }),
  gemini: (command: string) => ({ tool: "run_shell_command", args: { command } }),
} as const;

/** Takes a lock, calls an agent, asks a person, and uses both MCP servers; codex by the tools of its own server. */
function useTools(program: Program, body: string, index: number): Step {
  const lock = `demo:${program}`;
  const [, callId = ""] = /callId\\*":\\*"([\w-]+)/.exec(body) ?? [];
  const question = "Deploy?";
  const server = "almanac";
  const asked: readonly Step[] =
    program === "codex"
      ? [
          { server, tool: "al_lock", args: { resource: lock, waitSeconds: 100 } },
          { server, tool: "al_call", args: { agent: "callee", context: "hi" } },
          { server, tool: "al_call_wait", args: { callIds: [callId] } },
          { server, tool: "al_ask", args: { question, choices: ["yes", "no"] } },
        ]
      : [
          `rlock ${lock} --wait 100`,
          "echo hi | al-subagent callee",
          `al-subagent-wait ${callId}`,
          `al-ask ${question} --choice yes --choice no`,
        ].map(shells[program]);
  const steps: readonly Step[] = [
    ...asked,
    { server: "slow", tool: "slow_note", args: {} },
    { server: "all", tool: "echo", args: { message: "hello" } },
  ];
  return steps[index] ?? done;
}

/** claude starts a sub-agent in the background, and ends its turn before that is done. */
function useSubAgent(body: string): Step {
  const { messages } = JSON.parse(body) as { readonly messages: readonly object[] };
  const text = JSON.stringify(messages);
  if (!text.includes('"tool_result"')) {
    if (text.includes("SUBTASK")) return { text: "Sub-agent done." };
    const [prompt] = /case:[\w-]+/.exec(body) ?? [];
    const args = {
      description: "d",
      prompt: `SUBTASK of ${prompt}`,
      subagent_type: "general-purpose",
    };
    return { tool: "Agent", args: { ...args, run_in_background: true } };
  }
  return { text: text.includes("<task-notification>") ? "Final." : "Interim." };
}

/** The limit of a subscription, in each provider's own form. */
const limits: Readonly<Record<Program, Step>> = {
  claude: {
    status: 429,
    headers: {
      "anthropic-ratelimit-unified-status": "rejected",
      "retry-after": "7200",
    },
    error: { type: "rate_limit_error", message: "the limit is reached" },
  },
  codex: {
    status: 429,
    error: {
      type: "usage_limit_reached",
      message: "the limit is reached",
      plan_type: "pro",
      resets_in_seconds: 7_200,
    },
  },
  gemini: {
    status: 429,
    error: {
      code: 429,
      status: "RESOURCE_EXHAUSTED",
      message: "the limit is reached",
      details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7200s" }],
    },
  },
};

const throttled: Step = {
  status: 429,
  error: { type: "rate_limit_error", message: "slow down" },
};

const expired: Step = {
  status: 401,
  error: { code: 401, type: "authentication_error", message: "the login has expired" },
};

const faults: readonly Step[] = [
  "overloads after its first text",
  "breaks off",
  "ends early",
  "falls silent",
];

/** What the model of each case does, by the number of the request, or of the tools' results in it. */
export const cases = {
  faults: (_program: Program, _body: string, index: number): Step => faults[index] ?? done,
  overload: (): Step => "overloads after its first text",
  limit: (program: Program): Step => limits[program],
  expired: (): Step => expired,
  tools: (program: Program, body: string): Step => useTools(program, body, resultsIn(body)),
  throttled: (_program: Program, body: string, index: number): Step => {
    if (index === 1) return throttled;
    return resultsIn(body) === 0 ? { tool: "exec_command", args: { cmd: "true" } } : done;
  },
  early: (_program: Program, body: string, index: number): Step => {
    const counted = shells.claude("echo ran >> ran.txt; wc -l < ran.txt");
    if (index === 0) return { broken: counted };
    return resultsIn(body) === 0 ? counted : done;
  },
  subagent: (_program: Program, body: string): Step => useSubAgent(body),
} as const;

export type Case = keyof typeof cases;

function resultsIn(body: string): number {
  return (
    body.split(/"type":"tool_result"|"type":"function_call_output"|"functionResponse":/).length - 1
  );
}
