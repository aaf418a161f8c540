import type { RunFunds } from "../../../src/features/spend/run-funds.ts";
import { createSpend } from "../../../src/features/spend/spend-store.ts";
import { openStore } from "../../../src/features/open-store.ts";
import { asyncScheduler, from, merge, NEVER, tap, type Observable } from "rxjs";
import type { SchedulerLike, Subscription } from "rxjs";
import type {
  RequestName,
  RequestAnswer,
  RequestBody,
} from "../../../src/runtime/wire/protocol.ts";
import { createMcpStore } from "../../../src/features/mcp/mcp-store.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import type { RequestContext } from "../../../src/runtime/runs/request-context.ts";
import { createInboxStore } from "../../../src/features/people/inbox-store.ts";
import { createInbox } from "../../../src/features/people/inbox.ts";
import { createSessionStore } from "../../../src/features/sessions/session-store.ts";
import { createQuestionStore } from "../../../src/features/people/question-store.ts";
import { createQuestions } from "../../../src/features/people/questions.ts";
import { createFirstEvents } from "../../../src/runtime/runs/first-events.ts";
import { createLiveRuns } from "../../../src/runtime/runs/live-runs.ts";
import { heldLocks } from "../../../src/runtime/runs/lock-view.ts";
import { createRunRequests, type RunRequests } from "../../../src/runtime/runs/run-requests.ts";
import { abandonBy, createInputs, dispatchTo } from "../../../src/foundation/scheduler/inputs.ts";
import { createStoredWork } from "../../../src/foundation/scheduler/stored-work.ts";
import { commitEvents } from "../../../src/foundation/scheduler/commit-events.ts";
import { createStatusStore } from "../../../src/foundation/scheduler/status-store.ts";
import { interpretStored } from "../../../src/features/webhooks/interpret.ts";
import { v7 as uuidV7 } from "uuid";
import { createClock } from "../../../streams/clock.ts";
import type { AdoptedRun } from "../../../streams/runs/adopted-runs.ts";
import { createSlots } from "../../../streams/runs/slots.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunEvent, Trigger, WorkItem } from "../../../streams/vocabulary.ts";
import { project as projectOf } from "../../foundation/config/samples.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { canonicalConfig } from "../../../src/foundation/config/canonical-config.ts";
import { handRunner } from "./hand-runner.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { graphOf } from "../../streams/graph.ts";
import { schedulerStatus } from "../../streams/status/board.ts";

/** The source of webhooks. */
export const githubSource = { name: "gh", type: "github", credential: null, allowUnsigned: true };

export interface WorldOptions {
  readonly agents: readonly AgentConfig[];
  readonly scale?: number | null;
  readonly maxCallDepth?: number;
  readonly maxReruns?: number;
  readonly connectMcp?: RequestContext["connectMcp"];
  /** Whether runs can pay their models that were refused a call. */
  readonly funds?: Observable<RunFunds>;
  /** How long a run takes to end that is stopped; at once by default. */
  readonly stopMs?: number;
  /** Its time, which is real by default. */
  readonly scheduler?: SchedulerLike;
}

/** Those that the world's redactor knows. */
export const worldSecret = "hunter2-hunter2";
export const otherSecret = "swordfish-swordfish";

/** A scheduler without sockets: the real store, graph and requests over runs that a test ends by hand. */
export type World = ReturnType<typeof createWorld>;

export function createWorld(options: WorldOptions, dir = tempDir(), adopt: readonly string[] = []) {
  const { scale = null, maxCallDepth = 3, maxReruns = 10, funds = NEVER } = options;
  const { stopMs = 0, scheduler = asyncScheduler } = options;
  const store = openStore(dir, () => scheduler.now());
  const project = {
    ...projectOf(""),
    webhooks: { gh: githubSource },
    scale,
    maxCallDepth,
    maxReruns,
  };
  const { schedules, work } = store.settings.pause();
  const inputs = createInputs(project, schedules, work);
  const dispatch = dispatchTo(inputs);
  const clock = createClock(scheduler);
  const slots = createSlots(scale);
  const firstEvents = createFirstEvents(() => false);
  const [events, problems, frozen]: [RunEvent[], string[], string[]] = [[], [], []];
  const { runner, end } = handRunner(stopMs);
  const onProblem = (message: string): void => void problems.push(message);
  const redactor = createRedactor();
  redactor.add([worldSecret, otherSecret]);
  const { redact, redactValue } = redactor;
  const runs = createLiveRuns({
    elapsed: () => Math.round(scheduler.now()),
    clock,
    refusalOf: (instanceId) => store.tables(createSpend).refusal(instanceId),
    redactValue,
    freeze: ({ instanceId }) => Promise.resolve(void frozen.push(`freeze ${instanceId}`)),
    thaw: ({ instanceId }) => Promise.resolve(void frozen.push(`thaw ${instanceId}`)),
    openSocket: () => Promise.reject(new Error("no run of this world has a socket")),
  });
  const questions = createQuestions({
    store: store.tables(createQuestionStore),
    clock,
    redactor,
    onCount: () => undefined,
    warn: onProblem,
  });
  const inbox = createInbox({
    store: store.tables(createInboxStore),
    clock,
    redactValue,
    onTaken: (taken) => inputs.withdraw$.next({ ...taken, why: "taken" }),
  });
  const [sessions, mcp] = [store.tables(createSessionStore), store.tables(createMcpStore)];
  const newRequests = (): RunRequests =>
    createRunRequests({
      clock,
      runs,
      store,
      firstEvents,
      dispatch,
      onProblem,
      redact,
      redactValue,
      splitSecrets: redactor.split,
      questions,
      inbox,
      mcp,
      project: () => project,
      configOf: (agent) => options.agents.find(({ name }) => name === agent),
      agentNames: () => options.agents.map(({ name }) => name),
      mustBeRunnable: () => undefined,
      abandon: abandonBy(inputs),
      onTaken: ({ agent, id }) => inputs.withdraw$.next({ agent, itemId: id, why: "taken" }),
      deliveryOf: (id) => {
        const receipt = store.receipts.get(id);
        return receipt && interpretStored(receipt, {});
      },
      funds: () => funds,
      connectMcp: options.connectMcp ?? (() => Promise.reject(new Error("no MCP servers here"))),
      endUnanswered: (instanceId) => inputs.kill$.next({ instanceId, as: "unanswered" }),
    });
  let started: RunRequests | null = null;
  const requests = (): RunRequests => {
    if (started === null) throw new Error("the world has not started");
    return started;
  };
  const open = store.openRuns().filter(({ instanceId }) => adopt.includes(instanceId));
  const adopted = open.map(({ item, instanceId, startedAt, waitedMs }): AdoptedRun => {
    const agent = options.agents.find(({ name }) => name === item.agent) ?? anAgent(item.agent);
    const request = { instanceId, agent, item };
    return { request, startedAt, waitedMs, report: (stop$) => runner.run(request, stop$) };
  });
  let instances = adopt.length * 10;
  const board = createStatusStore(schedulerStatus, () => ({}));
  const event$ = graphOf(
    scheduler,
    {
      ...inputs,
      agentChange$: merge(
        from(options.agents.map((agent) => ({ type: "set", agent, warnings: [] }) as const)),
        NEVER,
      ),
      adopted$: from(adopted),
    },
    {
      runner,
      clock,
      slots,
      owner: runs,
      claim: (request) => {
        const context = { projectDir: dir, mask: redact, container: null, project, files: {} };
        const config = canonicalConfig(request.agent, context);
        const version = { hash: `${request.agent.name}-1`, content: { config, instructions: "" } };
        const link = () => sessions.link(request, scheduler.now());
        return from(store.work.claim(request, version, null, link));
      },
      newInstanceId: (agent) => `${agent}-${++instances}`,
      newId: uuidV7,
      storedWork: createStoredWork({ store, warn: onProblem }),
    },
  );
  const log = (_level: number, message: string): void => onProblem(message);
  const commit = commitEvents(
    { store, status: board, inputs, project$: inputs.project$, dispatch, log },
    [],
  );
  const read = (event: RunEvent): void => {
    events.push(event);
    firstEvents.see(event);
    commit(event);
    requests().onEvent(event);
  };
  let subscription: Subscription | undefined;
  const close = (): void => {
    subscription?.unsubscribe();
    started?.stop();
    questions.stop();
    store.close();
  };
  onTestFinished(close);

  return {
    options,
    dir,
    store,
    runs,
    questions,
    inbox,
    sessions,
    frozen,
    events,
    problems,
    inputs,
    dispatch,
    get requests(): RunRequests {
      return requests();
    },
    /** Takes over what was left and runs. */
    start: async (): Promise<void> => {
      const { requeue } = await store.recover(new Set(adopt));
      started = newRequests();
      subscription = merge(
        started.lockStatus$.pipe(tap((event) => board.apply(event))),
        merge(runs.event$, event$).pipe(tap(read)),
        runs.problem$.pipe(tap(onProblem)),
      ).subscribe();
      dispatch(requeue);
      started.restore(new Set(adopt));
    },
    /** As a crash does: without a word to any part. */
    crash: close,
    /** Starts a run of the agent by hand, or by another trigger; its instance. */
    run: async (agent: string, trigger?: Trigger): Promise<string> => {
      const item: WorkItem = { ...anItem(uuidV7(), agent, trigger), at: Date.now() };
      await store.work.enqueue([item]);
      const first = firstEvents.of(item.id);
      dispatch([item]);
      const event = await first;
      if (event.type !== "started") throw new Error(`${agent}: ${event.type}`);
      return event.instanceId;
    },
    end,
    isLive: (instanceId: string): boolean => runs.find(instanceId) !== undefined,
    /** What the meter notes at a run whose call it refuses. */
    refuseCall: async (instanceId: string, reason: string): Promise<void> => {
      runs.get(instanceId).overBudget = reason;
      await store.tables(createSpend).recordRefusal(instanceId, reason);
    },
    /** Its answer may be left alone, as by a run that dies. */
    ask: <A extends RequestName>(
      instanceId: string,
      ability: A,
      request: RequestBody<A>,
      more: { readonly key?: string; readonly signal?: AbortSignal } = {},
    ): Promise<RequestAnswer<A>> => {
      const { key = uuidV7(), signal = new AbortController().signal } = more;
      return leftAlone(requests().perform<A>({ instanceId, ability, request, key, signal }));
    },
    /** Whether the run may reach a host, by its gates. */
    reach: (instanceId: string, host: string, signal = new AbortController().signal) =>
      leftAlone(requests().gates.host(runs.get(instanceId), { host, port: 443 }, signal)),
    /** The locks as operators see them. */
    locks: () => heldLocks(board.claims()),
    claims: () => [...board.claims()],
    history: () => store.history.query({ page: 1, limit: 200 }).triggers,
  };
}

/** That it is rejected is no error, whether somebody waits for it or not. */
function leftAlone<T>(asked: Promise<T>): Promise<T> {
  asked.catch(() => undefined);
  return asked;
}
