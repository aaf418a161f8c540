import { randomInt } from "node:crypto";
import type { ServerResponse } from "node:http";
import { bashCall, chatEvents } from "../../e2e/model-project.ts";
import { fakeProvider, type SeenRequest } from "../harness/fake-provider.ts";

/** What the model saw of one run, by the output of its commands. */
export interface Witnessed {
  /** Numbers of the turns whose command ran, in the order in which they came. */
  readonly turns: number[];
  /** Each process of a run has one of its own; two mean that the run was there twice. */
  readonly nonces: Set<string>;
}

/** The folder of a run goes with its container, so that no other process of the run has its nonce. */
const nonce = "cat nonce 2>/dev/null || tee nonce </proc/sys/kernel/random/uuid";
const turnCommand = (turn: number, ms: number) =>
  `sleep ${ms / 1000}; mkdir -p out memory; touch memory/$AL_INSTANCE; ` +
  `echo "turn ${turn} of $AL_INSTANCE by $(${nonce})" | tee -a out/turns`;
const turnPattern = /turn (\d+) of (\S+) by ([0-9a-f-]{36})/;

export async function witness(turns: number, pauseMs: number) {
  const runs = new Map<string, Witnessed>();
  const provider = await fakeProvider((request, response) => {
    const results = toolResults(request);
    const last = turnPattern.exec(results.at(-1) ?? "");
    if (last !== null) note(runs, last);
    answer(response, results.length < turns ? command(results.length + 1, pauseMs) : theEnd);
  });
  return { baseUrl: provider.baseUrl, runs, close: () => provider.close() };
}

/** A model that all runs ask: it has each do so many turns, and sees by their output which run does what. */
export type Witness = Awaited<ReturnType<typeof witness>>;

function note(runs: Map<string, Witnessed>, [, turn, run = "", nonceOfRun = ""]: RegExpExecArray) {
  const seen = runs.get(run) ?? { turns: [], nonces: new Set<string>() };
  runs.set(run, seen);
  seen.turns.push(Number(turn));
  seen.nonces.add(nonceOfRun);
}

const theEnd = { role: "assistant", content: "all turns are done" };

/** Runs of one batch do not keep step. */
function command(turn: number, pauseMs: number): object {
  return bashCall(turnCommand(turn, randomInt(pauseMs / 2, pauseMs)));
}

function answer(response: ServerResponse, delta: object): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(chatEvents(delta));
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

function toolResults({ body }: SeenRequest): readonly string[] {
  const messages = (body.messages ?? []) as readonly Message[];
  return messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => JSON.stringify(content));
}
