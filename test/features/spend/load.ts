import type { SpendMeter } from "../../../src/features/spend/meter.ts";
import type { CallPlan } from "../../../src/foundation/contracts/model-gateway.ts";
import { randomBy } from "../../helpers/random.ts";
import { answered, plan } from "./support.ts";

export interface LoadCall {
  readonly plan: CallPlan;
  /** Tokens of the answer that the model would give without a limit. */
  readonly output: number;
  /** Turns of the event loop until the call begins, and that the model takes. */
  readonly startsAfter: number;
  readonly takes: number;
}

/** The calls of 50 runs of 5 agents, in random sizes and at random moments. */
export function randomCalls(seed: number, count = 1_000): readonly LoadCall[] {
  const random = randomBy(seed);
  const whole = (most: number) => Math.floor(random() * most);
  return Array.from({ length: count }, () => {
    const run = whole(50);
    const maxOutputTokens = random() < 0.2 ? null : 2_000 + whole(20_000);
    const names = { agent: `agent-${run % 5}`, instanceId: `agent-${run % 5}-${seed}-${run}` };
    return {
      plan: { ...plan, ...names, requestBytes: whole(9_000), maxOutputTokens },
      output: whole(maxOutputTokens ?? 22_000),
      startsAfter: whole(6),
      takes: whole(4),
    };
  });
}

/** The cost of all calls in nano-dollars. */
export function costOfAll(calls: readonly LoadCall[]): number {
  const tokens = calls.map(({ output, plan: { requestBytes } }) => output + inputOf(requestBytes));
  return tokens.reduce((sum, one) => sum + one, 0) * 1_000;
}

/** Tokens of a request: one for four bytes, as models count text. */
function inputOf(requestBytes: number): number {
  return Math.ceil(requestBytes / 4);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Plays a call against a model that answers in its time; returns whether it was granted. */
export async function playCall(
  meter: SpendMeter,
  call: LoadCall,
  onGrant: () => void = () => undefined,
): Promise<boolean> {
  for (let n = 0; n < call.startsAfter; n++) await turn();
  const begun = await meter.begin(call.plan, new AbortController().signal);
  if (!begun.granted) return false;
  onGrant();
  for (let n = 0; n < call.takes; n++) await turn();
  const { maxOutputTokens, requestBytes } = call.plan;
  const most = begun.maxOutputTokens ?? maxOutputTokens ?? 64_000;
  const input = inputOf(requestBytes);
  const usage = { input, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
  begun.settle(answered(0, { usage: { ...usage, output: Math.min(call.output, most) } }));
  return true;
}
