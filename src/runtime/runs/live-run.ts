import type { StopReason } from "../../../streams/outcomes.ts";
import type { Wait } from "../../foundation/contracts/run-state.ts";
import { basename, join } from "node:path";
import type { Subscription } from "rxjs";
import type { Clock } from "../../../streams/clock.ts";
import { createSuspension } from "../../../streams/runs/suspension.ts";
import type { RunStart, Suspension } from "../../../streams/runs/suspension.ts";
import type { LogEntry, LogLevel, RunEvent, RunRequest } from "../../../streams/vocabulary.ts";
import { runtimes } from "../../../streams/runtimes.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import { endedRun, mountedSocketDir } from "../wire/protocol.ts";
import type { ModelVerdict, RequestAnswer, RequestName, RunApiRequest } from "../wire/protocol.ts";
import type { McpTool } from "../../foundation/contracts/mcp.ts";
import type { Redacted, Redactor } from "../../foundation/credentials/redactor.ts";
import { messageOf } from "../../foundation/errors.ts";
import type { OpenedSocket } from "../run-api/run-sockets.ts";
import type { RunSocket } from "../run-api/run-socket.ts";
import type { McpClient } from "../wire/mcp-client.ts";
import { cappedMessage, maxOutputBytes } from "../wire/lines.ts";
import { createFreezer, type Freezer } from "./freezer.ts";
import { LatestModelCalls } from "./latest-model-calls.ts";
import { createPendingRequests } from "./pending-requests.ts";
import type { PendingRequest, PendingRequests, SuspendOptions } from "./pending-requests.ts";

/** The scheduler's own line about a run, or status text of it. */
type LiveRunEvent =
  | (Extract<RunEvent, { type: "output" }> & { readonly entry: Redacted<LogEntry> })
  | (Extract<RunEvent, { type: "status-text" }> & { readonly text: Redacted<string> });

export interface LiveRunDeps {
  /** A monotonic clock in whole ms. */
  readonly elapsed: () => number;
  readonly clock: Clock;
  /** Emits the scheduler's own events about the run. */
  readonly emit: (event: LiveRunEvent) => void;
  readonly redactValue: Redactor["redactValue"];
  /** Why the run's last call to a model was rejected for its budget, as stored; null if it was not. */
  readonly refusalOf: (instanceId: string) => string | null;
  /** Stops the environment of a waiting run, if its runtime can; the other function starts it again. May reject. */
  readonly freeze: (request: RunRequest) => Promise<void>;
  readonly thaw: (request: RunRequest) => Promise<void>;
  /** Creates the socket of a run that starts. Rejects with a Problem. */
  readonly openSocket: (request: RunRequest) => Promise<OpenedSocket>;
  readonly onProblem: (message: string) => void;
}

/** How long a run can work with an answer before it is frozen for its other waits, in ms. */
const restAfterMs = 10_000;

/** How long an adopted run may take to connect again, in ms: it pauses between its attempts. */
const connectMs = 8_000;

/** A lock that a request waits for. */
export interface WaitedLock {
  readonly resource: string;
}

/** An MCP server as a run uses it. */
export interface RunMcpServer {
  /** Null for a server inside the run. */
  readonly client: McpClient | null;
  /** By name. `change` is null for a tool that is as the agent knows it. */
  readonly tools: ReadonlyMap<string, RunMcpTool>;
}

export interface RunMcpTool {
  /** The tool's definition as the model sees it. */
  readonly tool: McpTool;
  /** The server's definition, which a person has to allow; null if the model sees it. */
  readonly change: McpTool | null;
}

/** A wait whose request is not answered. */
export interface OpenWait extends Wait {
  readonly run: LiveRun;
  readonly pending: PendingRequest<RequestAnswer<"wait">>;
  /** Resolves once the search of earlier events found no match, or the wait has ended. */
  lookedBack: Promise<void>;
}

/** A wait for money whose request is not answered. */
export interface OpenBudgetWait {
  readonly pending: PendingRequest<RequestAnswer<"budget-wait">>;
  /** The wait's subscriptions and timers; unsubscribed when it ends. */
  readonly over: Subscription;
  isStored: boolean;
  isSuspended: boolean;
  /** Why the call that the run is to repeat was rejected; null before it waits. */
  refused: string | null;
}

/** Owns the resources of one live run: slot, clock, socket and token, requests, waits, freezer. */
export class LiveRun implements Disposable {
  readonly request: RunRequest;
  readonly instanceId: string;
  readonly clock: Suspension;
  /** The requests that the run waits for. */
  readonly pending: PendingRequests;
  /** The locks that the run waits for, one for each request. */
  readonly waitedLocks = new Set<WaitedLock>();
  /**
   * The questions of its session without an answer, by their ids. One that it no longer waits for counts until its model goes on: a
   * command line that ends takes the commands of its shell with it.
   */
  readonly questions = new Map<string, { readonly prompt: string; isLeft: boolean }>();
  /** The open waits, by request id. */
  readonly waits = new Map<string, OpenWait>();
  /** The open waits for money, by request id. */
  readonly budgetWaits = new Map<string, OpenBudgetWait>();
  /** The names of its latest unlocks, whose answers are stored. */
  readonly unlocks: string[] = [];
  /** The run's connections to MCP servers, with the tools of each, by the server's config. */
  readonly mcp = new Map<string, Promise<RunMcpServer>>();
  /** The MCP servers whose tools have changed since their last list. */
  readonly changedMcp = new Set<string>();
  readonly modelCalls = new LatestModelCalls();
  /** How many bytes it has sent of each of its trees. */
  readonly sentBytes = new Map<string, number>();
  /** The denied connection attempts in the run's log; null before the first. */
  denials: Set<string> | null = null;
  readonly freezer: Freezer;
  /** Whether it has reported the end of its session, so that its hooks work now. */
  isSessionOver = false;
  /** Whether the scheduler has asked it to end. */
  isEnding = false;
  /** Why its last call to a model was rejected for its budget; null if it was not, or the run waits for money. */
  overBudget: string | null;
  /** Whether the provider refused the key of its last call to a model. */
  isKeyRefused = false;
  /** The last status text that the run itself set. */
  statusText = "";
  /** Null before its job is prepared. */
  socket: RunSocket | null;
  #begin: OpenedSocket["begin"];
  readonly #isAdopted: boolean;
  readonly #connected = Promise.withResolvers<true>();
  #isOver = false;

  readonly #deps: LiveRunDeps;
  readonly #endings = new Set<() => void>();
  /** Counts the scheduler's log lines about the run, which have the same limit as the run's own. */
  #loggedBytes = 0;
  /** Number of unanswered requests, of any kind. */
  #open = 0;
  /** Null while its clock runs. */
  #unpause: (() => void) | null = null;
  #cancelRest = (): void => undefined;
  /** Whether the last status text that was emitted is about a wait. */
  #isWaitShown = false;

  /** An adopted run has its `socket` already. */
  constructor(start: RunStart, socket: RunSocket | null, deps: LiveRunDeps) {
    const { request } = start;
    this.request = request;
    this.socket = socket;
    this.#isAdopted = socket !== null;
    this.instanceId = request.instanceId;
    this.overBudget = socket === null ? null : deps.refusalOf(request.instanceId);
    this.clock = createSuspension(start, deps.elapsed);
    this.#deps = deps;
    const { freeze, thaw, onProblem } = deps;
    const steps = { freeze: () => freeze(request), thaw: () => thaw(request) };
    this.freezer = createFreezer(steps, onProblem);
    const follow = (): void => this.#followRequests();
    this.pending = createPendingRequests((how) => this.#suspend(how), this.#wakeIn, follow);
  }

  get agent(): string {
    return this.request.agent.name;
  }

  /**
   * Creates its socket, as its job names it; null for an adopted run, which has its own. A restarted run gets another
   * one. Rejects with a Problem.
   */
  async openSocket(): Promise<Job["channel"]> {
    if (this.#isAdopted) return null;
    this.socket?.[Symbol.dispose]();
    const { runSocket, token, path, begin } = await this.#deps.openSocket(this.request);
    this.socket = runSocket;
    this.#begin = begin;
    // The run was stopped while it was prepared.
    if (this.#isOver) runSocket[Symbol.dispose]();
    const { isolates } = runtimes[this.request.agent.runtime.type];
    return { token, socket: isolates ? join(mountedSocketDir, basename(path)) : path };
  }

  /** Resolves once it is recorded that its process may receive a request. */
  async begin(): Promise<void> {
    await this.#begin?.();
  }

  /** The run is a new one, has asked for messages of people, or has reported the end of its session. */
  onConnected(): void {
    this.#connected.resolve(true);
  }

  /**
   * Resolves to whether the scheduler knows if the run's session has ended: an adopted one may have ended before. A run that
   * waits may be frozen, and has not ended it.
   */
  async isConnected(): Promise<boolean> {
    if (this.pending.pausing().length > 0) return true;
    const late = Promise.withResolvers<false>();
    const stop = this.#wakeIn(connectMs, () => late.resolve(false));
    return Promise.race([this.#connected.promise, late.promise]).finally(stop);
  }

  addModelCall(call: string, verdict: () => ModelVerdict | null): void {
    this.isKeyRefused = false;
    for (const [id, { isLeft }] of this.questions) if (isLeft) this.questions.delete(id);
    this.modelCalls.add(call, verdict);
  }

  /** Written for its post hooks, before the run is asked to end. */
  writeStopReason(reason: StopReason): void {
    this.isEnding = true;
    try {
      this.socket?.writeStopReason(reason);
    } catch (error) {
      const problem = `the post hooks of ${this.instanceId} can't know why it ends`;
      this.#deps.onProblem(`${problem}: ${messageOf(error)}`);
    }
  }

  /** Called when it is disposed, in the order of registration, or now if it was. The returned function takes it back. */
  onDispose(ending: () => void): () => void {
    if (this.#isOver) ending();
    else this.#endings.add(ending);
    return () => void this.#endings.delete(ending);
  }

  /** Writes a warning into the log of the run's agent, without known secrets. */
  warn(msg: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#log(40, msg, fields);
  }

  /** Logs at info level to the same log. */
  note(msg: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#log(30, msg, fields);
  }

  /** Shows why the run waits, until the wait or the run has ended. */
  showStatus(words: string): void {
    if (this.#isOver) return;
    this.#isWaitShown = true;
    this.#emitStatus(words);
  }

  /** Emits a status text of the run, without known secrets. */
  #emitStatus(words: string): void {
    const text = this.#deps.redactValue(words);
    const { agent, instanceId } = this;
    const at = this.#deps.clock.now();
    const needsMoney = [...this.budgetWaits.values()].some(({ isSuspended }) => isSuspended);
    const wait = needsMoney ? ({ needsMoney } as const) : {};
    this.#deps.emit({ type: "status-text", agent, at, instanceId, text, ...wait });
  }

  /** Counts a request as unanswered until `answer` settles; the run works again before the request is answered. */
  async whileOpen<T>(answer: () => Promise<T>): Promise<T> {
    this.#open++;
    this.#followRequests();
    try {
      return await answer();
    } finally {
      // Thaws first: a request that comes meanwhile must not freeze the run before it has the answer.
      await this.freezer.thaw();
      this.#open--;
      this.#cancelRest();
      // A timer of a run that is over would keep it in memory.
      if (!this.#isOver) this.#cancelRest = this.#wakeIn(restAfterMs, () => this.#followRequests());
    }
  }

  /** Cancels its timers. */
  stop(): void {
    this.#cancelRest();
    this.pending.stop();
  }

  /** Ends the requests, waits and locks of a finished run. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#cancelRest();
    this.freezer.forget();
    this.pending.refuseAll(endedRun("over"));
    const endings = [...this.#endings];
    this.#endings.clear();
    for (const ending of endings) ending();
    if (this.#isWaitShown) this.#showOwnStatus();
    this.socket?.[Symbol.dispose]();
  }

  #showOwnStatus(): void {
    this.#isWaitShown = false;
    this.#emitStatus(this.statusText);
  }

  #log(level: LogLevel, msg: string, fields: Readonly<Record<string, unknown>>): void {
    const { agent, instanceId } = this;
    const at = this.#deps.clock.now();
    if (this.#loggedBytes > maxOutputBytes) return;
    this.#loggedBytes += JSON.stringify([msg, fields]).length;
    const isLast = this.#loggedBytes > maxOutputBytes;
    const content = isLast ? { msg: cappedMessage, kind: "run" } : { msg, ...fields };
    // A scheduler that adopts the run looks for the last line of the run itself.
    const about = { level, time: at, agent, instanceId, scheduler: true };
    const entry = { ...about, ...this.#deps.redactValue(content) };
    this.#deps.emit({ type: "output", agent, at, instanceId, entry });
  }

  /**
   * The one rule of freezer and clock: a run is frozen, and its clock paused, exactly while each of its requests is a wait
   * for a trigger, a person or money. A run whose connections broke works until it has repeated its requests.
   */
  #followRequests(): void {
    if (this.#isOver) return;
    const pausing = this.pending.pausing();
    const waiting = pausing.reduce((sum, connections) => sum + connections, 0);
    if (waiting > 0 && waiting === this.#open && !pausing.includes(0)) {
      // The run may have its slot again, by the answer to another request.
      this.clock.suspend(false);
      this.#unpause ??= this.clock.pause();
      this.freezer.freeze();
    } else {
      this.#unpause?.();
      this.#unpause = null;
      void this.freezer.thaw();
    }
  }

  readonly #wakeIn = (ms: number, action: () => void): (() => void) => {
    const { clock } = this.#deps;
    return clock.wakeAt(clock.now() + ms, action);
  };

  #suspend({ text }: SuspendOptions): (ready: () => void) => void {
    const resume = this.clock.suspend(false);
    this.showStatus(text);
    return (ready) =>
      resume(() => {
        this.#showOwnStatus();
        ready();
      });
  }
}

/** The handlers of these requests. Each rejects with a Problem to refuse. */
export type Performers<N extends RequestName = RequestName> = {
  readonly [A in N]: (run: LiveRun, request: RunApiRequest<A>) => Promise<RequestAnswer<A>>;
};
