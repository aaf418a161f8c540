import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { endServer, listen } from "../listen.ts";

/** One request of the engine, and what the API server answered. */
export interface Exchange {
  /** Name of the test. */
  readonly test: string;
  /** Method and path with its query. */
  readonly asked: string;
  /** Only for patches. */
  readonly type?: string;
  readonly sent?: unknown;
  readonly status: number;
  readonly answer: unknown;
}

type Asked = Omit<Exchange, "status" | "answer" | "test">;

/** A server in front of the API server, or in place of it, for the test that `begin` names. */
export interface ExchangeServer {
  readonly url: string;
  begin(test: string): void;
  /** Throws if a request was not as recorded. */
  end(): void;
  close(): Promise<void>;
}

/** Passes requests on and records them into the file. `ask` sends one to the API server. */
export async function recordExchanges(
  file: string,
  ask: (asked: Asked, authorization: string) => Promise<{ status: number; body: string }>,
): Promise<ExchangeServer> {
  const all: Exchange[] = [];
  let test = "";
  return {
    ...(await serve(async (asked, authorization) => {
      const { status, body } = await ask(asked, authorization);
      const answer = shortened(JSON.parse(body));
      all.push({ test, ...asked, status, answer });
      return { status, answer };
    })),
    begin: (name) => void (test = name),
    end: () => {
      const lines = withoutRepeats(all).map((each) => `${JSON.stringify(each)}\n`);
      writeFileSync(file, lines.join(""));
    },
  };
}

/** Answers as the file has it: a list is as it was before the next change, however often it is asked for. */
export async function replayExchanges(file: string): Promise<ExchangeServer> {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const all = lines.map((line) => JSON.parse(line) as Exchange);
  let left: Exchange[] = [];
  const lists = new Map<string, Exchange>();
  const problems: string[] = [];
  const next = (asked: Asked): Exchange | undefined => {
    const change = left.findIndex((each) => !isList(each));
    const end = isList(asked) && change >= 0 ? change : left.length;
    const index = left.slice(0, end).findIndex((each) => isSame(each, asked));
    if (index < 0) return isList(asked) ? lists.get(asked.asked) : undefined;
    const [found] = left.splice(index, 1);
    if (found !== undefined && isList(found)) lists.set(found.asked, found);
    else left = left.filter((each, at) => at >= index || !isList(each));
    return found;
  };
  return {
    ...(await serve((asked) => {
      const found = next(asked);
      if (found !== undefined) return Promise.resolve(found);
      problems.push(`was not recorded: ${JSON.stringify(asked)}`);
      return Promise.resolve({ status: 400, answer: { message: problems.at(-1) } });
    })),
    begin: (name) => {
      left = all.filter((each) => each.test === name);
      lists.clear();
      if (left.length === 0) problems.push(`nothing was recorded of "${name}"`);
    },
    end: () => {
      const missing = left.filter((each) => !isList(each));
      problems.push(...missing.map((each) => `did not come: ${JSON.stringify(each)}`));
      if (problems.length > 0) throw new Error(problems.splice(0).join("\n"));
    },
  };
}

function isSame(recorded: Exchange, { asked, type, sent }: Asked): boolean {
  return (
    recorded.asked === asked && recorded.type === type && isDeepStrictEqual(recorded.sent, sent)
  );
}

type Answer = Pick<Exchange, "status" | "answer">;

async function serve(answer: (asked: Asked, authorization: string) => Promise<Answer>) {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const method = request.method ?? "GET";
    const given: Asked = {
      asked: `${method} ${request.url ?? ""}`,
      ...(method === "PATCH" && { type: request.headers["content-type"] ?? "" }),
      ...(body !== "" && { sent: JSON.parse(body) as unknown }),
    };
    const found = await answer(given, request.headers.authorization ?? "");
    response.writeHead(found.status, { "content-type": "application/json" });
    response.end(JSON.stringify(found.answer));
  };
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      response.writeHead(500).end(JSON.stringify({ message: String(error) }));
    });
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, close: () => endServer(server) };
}

/** Who owns which field, and what repeats the requests: most of each answer, and nothing that the engine reads. */
const untold = new Set([
  "managedFields",
  "template",
  "volumes",
  "containers",
  "volumeMounts",
  "tolerations",
]);

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([key]) => !untold.has(key));
  return Object.fromEntries(fields.map(([key, each]) => [key, shortened(each)]));
}

/** An engine polls its lists together: answers that are as those before them say nothing. */
function withoutRepeats(all: readonly Exchange[]): readonly Exchange[] {
  const polls: Exchange[][] = [];
  for (const each of all) {
    const poll = polls.at(-1);
    const isOfPoll = isList(each) && poll?.every((one) => isList(one) && one.asked !== each.asked);
    if (poll !== undefined && isOfPoll === true) poll.push(each);
    else polls.push([each]);
  }
  return polls
    .filter((poll, index) => !poll.every(isList) || stateOf(poll) !== stateOf(polls[index - 1]))
    .flat();
}

function isList({ asked }: Asked): boolean {
  return asked.startsWith("GET ");
}

/** All but the version of the lists, which grows with every change of the cluster. */
function stateOf(poll: readonly Exchange[] = []): string {
  const states = poll.map(({ test, asked, answer }) => {
    const { items = answer } = answer as { items?: unknown };
    return JSON.stringify([test, asked, items]);
  });
  return states.sort().join("\n");
}
