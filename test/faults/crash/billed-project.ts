import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { listen } from "../../helpers/listen.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import type { CrashProject } from "./crash-project.ts";

/** Tokens of each request to the provider. */
const inputTokens = 40;
/** Tokens of the provider's nth answer, unlike all others', which tell the calls in the store apart. */
const outputTokens = (n: number): number => 1_000 + n;
/** The price of a token, in nano-dollars. */
const tokenNano = 1_000;

/** Streams an answer in some pieces; counts the requests. */
export async function billingProvider(random: () => number) {
  const counted = { requests: 0 };
  const server = createServer((request, response) => {
    request.resume();
    const n = counted.requests++;
    const usage = { input_tokens: inputTokens, output_tokens: 1 };
    const delta = { type: "text_delta", text: "word ".repeat(50) };
    const events = [
      { type: "message_start", message: { usage } },
      ...Array.from({ length: 5 }, () => ({ type: "content_block_delta", index: 0, delta })),
      { type: "message_delta", delta: {}, usage: { output_tokens: outputTokens(n) } },
      { type: "message_stop" },
    ];
    response.writeHead(200, { "content-type": "text/event-stream" });
    const sending = setInterval(() => {
      const event = events.shift();
      if (event === undefined) response.end();
      else response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }, random() * 80);
    response.once("close", () => clearInterval(sending));
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  onTestFinished(() => server.close().closeAllConnections());
  return { counted, url };
}

/** Plays the LLM's command line: writes down that it runs, asks a person if it is the asker, and its model twice. */
const cli = (marks: string): string => `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const { execFileSync } = require("node:child_process");
const { AL_AGENT, AL_INSTANCE, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key } = process.env;
const note = (file, text) => appendFileSync("${marks}/" + file, AL_AGENT + " " + AL_INSTANCE + " " + text + "\\n");
note("ran", "0");
if (AL_AGENT === "asker") {
  const ask = "al-ask 'Go?' --choice a --choice b --timeout 10h < /dev/null";
  note("answers", execFileSync("sh", ["-c", ask]).toString().trim());
}
const headers = { "x-api-key": key, "content-type": "application/json", "anthropic-version": "2023-06-01" };
const messages = [{ role: "user", content: "hi" }];
const body = JSON.stringify({ model: "m", max_tokens: 100000, stream: true, messages });
const ask = async () => {
  const answer = await fetch(url + "/v1/messages", { method: "POST", headers, body });
  if (!(await answer.text()).includes("message_stop")) throw new Error("cut");
};
(async () => {
  for (let calls = 0, tries = 0; calls < 2; ) {
    try {
      await ask();
      calls += 1;
    } catch (error) {
      if (++tries > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  console.log(JSON.stringify({ type: "result", subtype: "success", is_error: false, num_turns: 1, result: "done", usage: {} }));
})();
`;

const starts = {
  worker: 'scale = 3\n[[webhooks]]\nsource = "open"\nevents = ["issues"]\n',
  ticker: 'schedule = "* * * * *"\n',
  asker: "scale = 3\ncallable = true\n",
} as const;

/** Agents that deliveries, ticks and MCP calls start, and whose model is paid. */
export async function billedProject(baseUrl: string): Promise<CrashProject> {
  const project = await LiveProject.of({
    "project/config.toml": `workQueueSize = 1000
[models.m]
provider = "anthropic"
model = "stand-in"
authType = "none"
baseUrl = "${baseUrl}"
price = { input = 1, output = 1 }
[webhooks.open]
type = "github"
allowUnsigned = true
`,
    "marks/ran": "",
    "marks/answers": "",
  });
  const { dir, home } = project;
  const marks = project.path("../marks");
  await project.write("../marks/claude", cli(marks), 0o755);
  for (const [name, lines] of Object.entries(starts)) {
    await project.write(`agents/${name}/SKILL.md`, "Do it.\n");
    await project.write(
      `agents/${name}/config.toml`,
      `models = ["m"]
credentials = []
timeout = 36000
${lines}[runtime]
type = "host-user"
run_as = "$USER"
[harness]
type = "llm-cli"
command = "${marks}/claude"
`,
    );
  }
  return { dir, home, marks, remove: () => project.remove() };
}

/** A call in the store. */
interface CallRow {
  readonly agent: string;
  readonly run: string;
  readonly output: number | null;
  readonly estimated: number;
  readonly reserved: number | null;
  readonly nano: number;
}

/** Differences between the costs in the store and the provider's count, and between the store's own sums. */
export function wrongCosts({ dir }: CrashProject, requests: number): readonly string[] {
  using db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
  const all = (sql: string): readonly unknown[] => db.prepare(sql).all();
  const calls = all(
    `SELECT agent, instance_id AS run, output, estimated, reserved, nano_usd AS nano FROM model_calls`,
  ) as readonly CallRow[];
  const accounts = all(
    "SELECT scope, length(window) AS kind, sum(nano) AS nano, sum(reserved) AS reserved FROM spend GROUP BY 1, 2",
  ) as readonly { scope: string; nano: number; reserved: number }[];
  const runs = all(
    "SELECT instance_id AS run, cost_usd AS usd FROM triggers WHERE cost_usd IS NOT NULL",
  ) as readonly { run: string; usd: number }[];
  const sumOf = (scope: string): number =>
    calls
      .filter(({ agent, run }) => ["project", `agent:${agent}`, `run:${run}`].includes(scope))
      .reduce((sum, { nano }) => sum + nano, 0);
  return [
    ...wrongCalls(calls, requests),
    ...accounts
      .filter(({ scope, nano, reserved }) => nano !== sumOf(scope) || reserved !== 0)
      .map((account) => `${JSON.stringify(account)}, but its calls cost ${sumOf(account.scope)}`),
    ...runs
      .filter(({ run, usd }) => Math.round(usd * 1e9) !== sumOf(`run:${run}`))
      .map(({ run, usd }) => `${run} cost ${usd} USD, but its calls ${sumOf(`run:${run}`)}`),
  ];
}

function* wrongCalls(calls: readonly CallRow[], requests: number) {
  const answers = new Set(Array.from({ length: requests }, (_, n) => outputTokens(n)));
  const cut = calls.filter(({ estimated }) => estimated === 1);
  for (const call of calls) {
    const { output, nano, reserved } = call;
    if (reserved !== null) yield "a call is open";
    // A cut call is between the request alone and all that the provider may have sent.
    const isRight = cut.includes(call)
      ? nano > 0 && nano <= (inputTokens + outputTokens(requests)) * tokenNano
      : answers.delete(output ?? -1) && nano === (inputTokens + (output ?? 0)) * tokenNano;
    if (!isRight) yield `no answer was counted as ${JSON.stringify(call)}`;
  }
  if (answers.size > cut.length) yield `${answers.size} answers, ${cut.length} cut calls`;
}
