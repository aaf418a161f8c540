import { plainText } from "../../../contracts/plain-text.ts";
import { counted, durationText, outcomeText } from "../../../contracts/format.ts";
import { create } from "./dom.ts";
import { clockTime } from "./format.ts";
import { outputBlock } from "./log-output.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a tool call of an agent asks of the scheduler or of other agents, in words; null for another tool. */
export function abilityCall(tool: string, input: unknown): readonly HTMLElement[] | null {
  const parts = callParts(tool, fieldsOf(input));
  return parts === null ? null : parts.flatMap(partElement);
}

/** What came back, in words: null when it can't be told so. `output` is one JSON object. */
export function abilityResult(tool: string, output: string): readonly HTMLElement[] | null {
  const answer = parsedFields(output);
  if (answer === null || !Object.hasOwn(resultParts, tool)) return null;
  if (answer.ok !== true) {
    return typeof answer.detail === "string"
      ? [create("span", "result failed", plainText(answer.detail))]
      : null;
  }
  return (resultParts[tool]?.(answer) ?? []).flatMap(partElement);
}

/** Text of the page's own, or what came from a run: a name, or a block of text. */
type Part = string | { readonly code: string } | { readonly block: string };

function callParts(tool: string, input: Fields): readonly Part[] | null {
  const limit = secondsText(input.waitSeconds ?? input.timeoutSeconds);
  const wait = limit === "" ? "" : `, for up to ${limit}`;
  const calls = Array.isArray(input.callIds) ? counted(input.callIds.length, "call") : "calls";
  switch (tool) {
    case "al_lock":
      return [
        "locks ",
        code(input.resource),
        limit === "" ? "" : `, and waits for it up to ${limit}`,
      ];
    case "al_unlock":
      return ["frees ", code(input.resource)];
    case "al_lock_heartbeat":
      return ["keeps ", code(input.resource)];
    case "al_call":
      return ["calls ", code(input.agent), " with", block(input.context)];
    case "al_call_check":
      return [`asks what became of ${calls}`];
    case "al_call_wait":
      return [`waits for ${calls} to end${wait}`];
    case "wait_for_trigger":
      return [...waitParts(input), wait];
    default:
      return signalParts(tool, input);
  }
}

function signalParts(tool: string, input: Fields): readonly Part[] | null {
  switch (tool) {
    case "al_status":
      return ["says ", code(input.text)];
    case "al_return":
      return ["returns", block(input.value)];
    case "al_exit":
      return [`ends the run with code ${Number(input.code ?? 0)}`];
    case "al_rerun":
      return ["asks to be run again"];
    default:
      return null;
  }
}

function waitParts({ kind, source, event, where }: Fields): readonly Part[] {
  const conditions = Object.entries(fieldsOf(where)).map(
    ([path, value]) => `${path} = ${JSON.stringify(value)}`,
  );
  return [
    kind === "agent-call" ? "waits for a call" : "waits for a webhook",
    ...(typeof event === "string" ? [" ", code(event)] : []),
    ...(typeof source === "string" ? [" from ", code(source)] : []),
    ...(conditions.length === 0 ? [] : [" with ", code(conditions.join(", "))]),
  ];
}

const done: (answer: Fields) => readonly Part[] = () => [];

/** Of each tool whose answer is told in words. */
const resultParts: Readonly<Record<string, (answer: Fields) => readonly Part[]>> = {
  al_lock: ({ expiresAt, fencingToken }) => [
    `has it until ${timeOfDay(expiresAt)} · fencing token ${Number(fencingToken)}`,
  ],
  al_unlock: () => ["it is free"],
  al_lock_heartbeat: ({ expiresAt }) => [`has it until ${timeOfDay(expiresAt)}`],
  al_call: ({ callId, state }) => [`it is ${String(state)} · call `, code(callId)],
  al_call_check: callsParts,
  al_call_wait: callsParts,
  wait_for_trigger: ({ timedOut, limited, trigger }) => {
    const seconds = secondsText(fieldsOf(limited).timeoutSeconds);
    const within = seconds === "" ? "" : ` (${seconds}, as it may not wait longer)`;
    return timedOut === true ? [`nothing came in time${within}`] : ["it came", block(trigger)];
  },
  ...{ al_status: done, al_return: done, al_exit: done, al_rerun: done },
};

function callsParts({ calls, timedOut }: Fields): readonly Part[] {
  const each = (Array.isArray(calls) ? calls : []).map(fieldsOf).flatMap((call): Part[] => {
    const word = outcomeText(String(call.outcome ?? call.state));
    const why = typeof call.reason === "string" ? `: ${call.reason}` : "";
    const name = [code(call.agent), ` ${word}${plainText(why)}. `];
    return call.value === null || call.value === undefined ? name : [...name, block(call.value)];
  });
  return timedOut === true ? ["not all ended in time. ", ...each] : each;
}

function partElement(part: Part): HTMLElement[] {
  if (typeof part === "string") return part === "" ? [] : [create("span", "words", part)];
  if ("code" in part) return [create("code", "input", part.code)];
  return [outputBlock(part.block)];
}

function code(value: unknown): Part {
  return { code: plainText(typeof value === "string" ? value : JSON.stringify(value ?? null)) };
}

/** JSON is shown with its lines, also where it is in a text. */
function block(value: unknown): Part {
  const json = typeof value === "string" ? parsedFields(value) : value;
  const text = json === null || json === undefined ? String(value) : JSON.stringify(json, null, 2);
  return { block: plainText(text) };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function parsedFields(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Fields) : null;
  } catch {
    return null;
  }
}

function secondsText(seconds: unknown): string {
  return typeof seconds === "number" && seconds > 0 ? durationText(seconds * 1000) : "";
}

function timeOfDay(iso: unknown): string {
  const time = Date.parse(String(iso));
  return Number.isNaN(time) ? "its end" : clockTime(time);
}
